//! Presence of the vehicles: the newest heartbeat of each `CopterSim`, and each vehicle's first position.
use parking_lot::Mutex;
use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc, time::Instant};

#[derive(Clone, Copy, Debug)]
pub(super) struct LastHeartbeat {
    pub(super) from: Ipv4Addr,
    /// Whether this is the sender that the bridge expects.
    pub(super) is_expected: bool,
    pub(super) at: Instant,
}

/// Start position of a vehicle: north and east in m, heading in rad.
pub(super) type StartPosition = [f64; 3];

#[derive(Default)]
struct PresenceState {
    heartbeats: BTreeMap<u16, LastHeartbeat>,
    first_positions: BTreeMap<u16, StartPosition>,
}

/// Shared handle: sources of vehicles write, services and `/diagnostics` read.
#[derive(Clone, Default)]
pub(super) struct Presence(Arc<Mutex<PresenceState>>);

impl Presence {
    pub(super) fn record_heartbeat(&self, vehicle: u16, heartbeat: LastHeartbeat) {
        self.0.lock().heartbeats.insert(vehicle, heartbeat);
    }

    /// Records the position of a vehicle, unless one is recorded already.
    pub(super) fn record_position(&self, vehicle: u16, position: StartPosition) {
        self.0.lock().first_positions.entry(vehicle).or_insert(position);
    }

    pub(super) fn heartbeats(&self) -> BTreeMap<u16, LastHeartbeat> {
        self.0.lock().heartbeats.clone()
    }

    pub(super) fn first_position(&self, vehicle: u16) -> Option<StartPosition> {
        self.0.lock().first_positions.get(&vehicle).copied()
    }
}
