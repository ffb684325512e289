//! What is counted, as users see it.
use rfly_bridge::vehicle::{Counter, CounterKind};
use std::collections::BTreeSet;

#[test]
fn every_counter_has_a_name_of_its_own() {
    let names: BTreeSet<_> = Counter::ALL.iter().map(|c| c.name()).collect();
    assert_eq!(names.len(), Counter::ALL.len());
}

#[test]
fn what_is_not_for_the_vehicle_is_no_drop() {
    for counter in [Counter::ForeignComponent, Counter::ForeignSystem, Counter::TimesyncIgnored] {
        assert_eq!(counter.kind(), CounterKind::Ignored);
    }
    for counter in [Counter::CommandRetransmitted, Counter::TimesyncRelearnt, Counter::LinkLost] {
        assert_eq!(counter.kind(), CounterKind::Event);
    }
    for counter in [Counter::MavlinkChecksum, Counter::Late, Counter::SetpointRefused] {
        assert_eq!(counter.kind(), CounterKind::Drop);
    }
}
