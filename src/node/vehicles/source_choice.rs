//! Which of two sources of true states is published: the true-state port, or the autopilot's link.
use crate::time::RosTime;
use std::time::Duration;

/// After this silence on the true-state port the bridge uses the states from the autopilot's link.
const PORT_SILENCE: Duration = Duration::from_secs(2);

/// Chooses by arrival times, not by the order of the two receiving threads, so that a replay repeats the choice.
#[derive(Default)]
pub(super) struct SourceChoice {
    /// Arrival of the last datagram on the port; before the first one, arrival of the link's first state.
    port_seen: Option<RosTime>,
    link_seen: Option<RosTime>,
    uses_link: bool,
}

impl SourceChoice {
    /// Takes notice of a datagram on the port.
    pub(super) fn hear_port(&mut self, arrival: RosTime) {
        self.port_seen = Some(arrival);
        self.uses_link = false;
    }

    /// Takes notice of a state on the link; returns whether it is to be published.
    ///
    /// A state that was queued while later datagrams of the port were handled is not.
    pub(super) fn hear_link(&mut self, arrival: RosTime) -> bool {
        let silence = PORT_SILENCE.as_nanos() as i64;
        let is_clock_set_back =
            self.link_seen.is_some_and(|last| last.0.saturating_sub(arrival.0) >= silence);
        if is_clock_set_back {
            self.port_seen = None;
        }
        self.link_seen = Some(arrival);
        let port_seen = *self.port_seen.get_or_insert(arrival);
        self.uses_link = arrival.0.saturating_sub(port_seen.0) >= silence;
        self.uses_link
    }

    /// Whether the link's states are published, because the port is silent.
    pub(super) fn uses_link(&self) -> bool {
        self.uses_link
    }
}

#[cfg(test)]
mod tests {
    use super::SourceChoice;
    use crate::time::RosTime;

    fn at(seconds: i64) -> RosTime {
        RosTime(seconds * 1_000_000_000)
    }

    #[test]
    fn the_link_is_used_in_a_silence_of_the_port() {
        let mut choice = SourceChoice::default();
        assert!(!choice.hear_link(at(10)), "the port has 2 s from the first state of the link");
        assert!(choice.hear_link(at(12)));
        choice.hear_port(at(13));
        assert!(!choice.uses_link() && !choice.hear_link(at(14)));
        assert!(choice.hear_link(at(15)) && choice.uses_link());
    }

    #[test]
    fn queued_states_of_the_link_do_not_follow_later_ones_of_the_port() {
        let mut choice = SourceChoice::default();
        choice.hear_port(at(14));
        let published: Vec<_> = (10..17).map(|second| choice.hear_link(at(second))).collect();
        assert_eq!(published, [false, false, false, false, false, false, true]);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_end_the_states_of_the_link() {
        let mut choice = SourceChoice::default();
        choice.hear_port(at(5_000));
        assert!(choice.hear_link(at(5_002)));
        assert!(!choice.hear_link(at(1_400)));
        assert!(choice.hear_link(at(1_402)));
        choice.hear_link(RosTime(i64::MIN));
        choice.hear_link(RosTime(i64::MAX));
    }
}
