//! What `/diagnostics` suggests about a sensor that does not deliver.
use rfly_bridge::node::{LinkState, delivery_hint};
use rfly_bridge::wire::SensorKind;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_simulator_that_starts_is_given_time() {
    for others in [false, true] {
        let early = Duration::from_secs(12);
        let found = delivery_hint(SensorKind::Rgb, LinkState::Waiting, others, early);
        assert_eq!(found, None);
        assert!(delivery_hint(SensorKind::Rgb, LinkState::Waiting, others, LONG).is_some());
    }
}

#[test]
fn a_sensor_that_alone_delivers_nothing_may_be_one_of_map_or_edition() {
    for kind in SensorKind::ALL {
        let found = delivery_hint(kind, LinkState::Waiting, true, LONG).expect("a hint");
        assert!(found.contains("edition"), "{found}");
        assert_eq!(found.contains("maps"), kind == SensorKind::Mid360);
    }
    let none = delivery_hint(SensorKind::Mid360, LinkState::Waiting, false, LONG);
    assert!(none.expect("a hint").contains("no sensor delivers"));
}

#[test]
fn a_sensor_that_stopped_may_be_one_of_a_changed_map() {
    for others in [false, true] {
        let found = delivery_hint(SensorKind::Rgb, LinkState::Lost, others, LONG);
        assert!(found.expect("a hint").contains("RflyChangeMapbyName"));
    }
}
