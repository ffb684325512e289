//! Faults in the setup of a link: a second autopilot, an autopilot other than PX4, stamps of another clock. Each is logged when it
//! appears; the doctor reports those that persist.
use crate::wire::mavlink::numbers::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A second autopilot or a wrong stamp that was not detected for this time is over.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A stamp farther than this from the present, in s, is of another clock, or too old for an estimator.
const MAX_GAP: f64 = 1.0;
/// Kinds that need no warning: PX4, and the generic autopilot, which claims no modes of its own.
const KNOWN: [u8; 2] = [MAV_AUTOPILOT_GENERIC, MAV_AUTOPILOT_PX4];

/// The faults, and when each was last detected. A check returns the warning about a new fault.
#[derive(Debug, Default)]
pub(super) struct LinkWarnings {
    /// Other systems with an autopilot.
    systems: BTreeMap<u8, Duration>,
    /// Topics whose stamps are far from the present, and by how much in s.
    stamps: BTreeMap<&'static str, (Duration, f64)>,
    /// Kinds of autopilots other than PX4, as long as the bridge runs.
    kinds: BTreeSet<u8>,
}

impl LinkWarnings {
    /// Checks a heartbeat of another system: this vehicle with another id, or another vehicle on its port.
    pub(super) fn check_system(&mut self, now: Duration, id: u8, autopilot: u8) -> Option<String> {
        let is_new = autopilot != MAV_AUTOPILOT_INVALID && self.systems.insert(id, now).is_none();
        is_new.then(|| {
            format!(
                "an autopilot with system id {id} speaks on the link of this vehicle: its messages are dropped. Start it with the \
                 vehicle's own id (MAV_SYS_ID), or serve it as vehicle {id} (vehicles)"
            )
        })
    }

    /// Checks the kind of the vehicle's autopilot: the bridge's modes and checks are those of PX4.
    pub(super) fn check_autopilot(&mut self, autopilot: u8) -> Option<String> {
        let is_new = !KNOWN.contains(&autopilot) && self.kinds.insert(autopilot);
        is_new.then(|| kind_text(autopilot))
    }

    /// Checks the distance of a stamp from the present, in s.
    pub(super) fn stamp(&mut self, now: Duration, topic: &'static str, gap: f64) -> Option<String> {
        if gap.abs() <= MAX_GAP {
            self.stamps.remove(topic);
            return None;
        }
        let is_new = self.stamps.insert(topic, (now, gap)).is_none();
        is_new.then(|| {
            format!(
                "{topic}: {}; it is sent as it is, and PX4 drops measurements that are too old",
                gap_text(gap)
            )
        })
    }

    /// The present faults.
    pub(super) fn present(&mut self, now: Duration) -> Option<String> {
        self.systems.retain(|_, seen| *seen + TIMEOUT > now);
        self.stamps.retain(|_, (seen, _)| *seen + TIMEOUT > now);
        let systems = (self.systems.keys())
            .map(|id| format!("system {id} sends an autopilot's heartbeats on the same link"));
        let stamps =
            (self.stamps.iter()).map(|(topic, (_, gap))| format!("{topic}: {}", gap_text(*gap)));
        let kinds = self.kinds.iter().map(|autopilot| kind_text(*autopilot));
        let all: Vec<_> = systems.chain(stamps).chain(kinds).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

fn kind_text(autopilot: u8) -> String {
    let name = match autopilot {
        MAV_AUTOPILOT_ARDUPILOTMEGA => "ArduPilot".to_owned(),
        other => format!("of type {other} (MAV_AUTOPILOT)"),
    };
    format!(
        "the autopilot is {name}, not PX4: names of modes are unknown (CMODE(n); set_mode takes numbers), and what PX4 would \
         misunderstand is not checked"
    )
}

fn gap_text(gap: f64) -> String {
    let what = if gap > 0.0 { "in the future" } else { "old" };
    format!("the stamp is {:.1} s {what}", gap.abs())
}
