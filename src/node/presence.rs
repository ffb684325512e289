//! What was heard of the vehicles: their `CopterSim`'s newest heartbeat, and where each was first.
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The newest heartbeat of a vehicle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    /// Its sender.
    pub(super) from: Ipv4Addr,
    /// Whether the bridge expects it from there.
    pub(super) expected: bool,
    pub(super) at: Instant,
}

/// Place of a vehicle: north and east in m, heading in rad.
pub(super) type Place = [f64; 3];

#[derive(Default)]
struct Seen {
    beats: BTreeMap<u16, Beat>,
    first: BTreeMap<u16, Place>,
}

/// Shared by the sources that hear of vehicles and those that ask.
#[derive(Clone, Default)]
pub(super) struct Presence(Arc<Mutex<Seen>>);

impl Presence {
    /// Takes a heartbeat.
    pub(super) fn beat(&self, vehicle: u16, beat: Beat) {
        self.lock().beats.insert(vehicle, beat);
    }

    /// Takes the place of a vehicle; only the first one counts.
    pub(super) fn place(&self, vehicle: u16, place: Place) {
        self.lock().first.entry(vehicle).or_insert(place);
    }

    /// The newest heartbeats.
    pub(super) fn beats(&self) -> BTreeMap<u16, Beat> {
        self.lock().beats.clone()
    }

    /// Where a vehicle was first.
    pub(super) fn first(&self, vehicle: u16) -> Option<Place> {
        self.lock().first.get(&vehicle).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
