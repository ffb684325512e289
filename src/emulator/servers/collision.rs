//! Watches for collisions while somebody wants to know: in the reports of vehicles, and as `CopterSim` tells them.
use super::report;
use crate::emulator::shared::Shared;
use crate::emulator::stage::{Contact, contacts};
use crate::emulator::world::Object;
use crate::wire::{CrashPacket, IntoBytes as _, NETWORK_GROUP};
use std::collections::BTreeMap;
use std::net::UdpSocket;

/// Looks per second of simulation time.
const RATE: f64 = 50.0;
/// What `CopterSim` calls everything that has no id: a target of at least 0 is a collision.
const NO_ID: i32 = 0;

/// What was touched at the last look.
#[derive(Debug, Default)]
pub(super) struct Watch {
    due: f64,
    touched: BTreeMap<u16, Contact>,
    /// Speeds down in m/s.
    speeds: BTreeMap<u16, f64>,
}

impl Watch {
    /// Looks, if it is time to, and reports what has changed.
    pub(super) fn look(&mut self, shared: &Shared, socket: &UdpSocket, now: f64) {
        let reports = shared.reports().vehicle_data;
        let collides = shared.stage().collides();
        if !(reports || collides) {
            if !self.touched.is_empty() {
                self.touched.clear();
                shared.collide(BTreeMap::new());
            }
            return;
        }
        if now < self.due {
            return;
        }
        self.due = now + 1.0 / RATE;
        let drawn = shared.drawn(shared.snapshot(now));
        let lies =
            |id: &u16| self.touched.get(id).is_some_and(|contact| contact.with == Object::Ground);
        let speed = |id: u16| match lies(&id) {
            true => f64::INFINITY,
            false => self.speeds.get(&id).copied().unwrap_or(0.0),
        };
        let found = {
            let stage = shared.stage();
            contacts(&drawn, |a, b| stage.attached(a, b), speed)
        };
        let touched: BTreeMap<u16, Contact> = found.into_iter().map(|c| (c.id, c)).collect();
        let speeds = drawn.vehicles.iter().map(|(id, k)| (*id, k.velocity.z));
        self.speeds = speeds.collect();
        let with = |all: &BTreeMap<u16, Contact>, id: &u16| all.get(id).map(|c| c.with);
        let changed: Vec<u16> = (drawn.vehicles.iter().map(|(id, _)| *id))
            .filter(|id| with(&touched, id) != with(&self.touched, id))
            .collect();
        self.touched = touched;
        shared.collide(self.touched.clone());
        for id in changed {
            let contact = self.touched.get(&id);
            if let Some(contact) = contact.filter(|_| collides) {
                tell(shared, socket, contact);
            }
            if reports {
                report::send_vehicle(shared, socket, &drawn, id);
            }
        }
    }

    /// Forgets what was touched.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }
}

/// Tells a collision in the 12 bytes of `CopterSim`: to its user, and as the renderer reports it.
fn tell(shared: &Shared, socket: &UdpSocket, contact: &Contact) {
    let options = &shared.options;
    let packet = CrashPacket::new(contact.id.into(), target_id(contact.with));
    let bytes = packet.as_bytes();
    // There may be no listener.
    if options.world.vehicles.iter().any(|v| v.id == contact.id)
        && let Some(client) = shared.client(contact.id)
    {
        let port = options.ports.true_state(contact.id);
        let _ = socket.send_to(bytes, (client, port));
    }
    let _ = socket.send_to(bytes, (options.client, options.ports.report));
    if options.multicast {
        let _ = socket.send_to(bytes, (NETWORK_GROUP, options.ports.report));
    }
}

/// The id of what `CopterSim` says a vehicle collided with.
pub(super) fn target_id(with: Object) -> i32 {
    match with {
        Object::Vehicle(id) => id.into(),
        _ => NO_ID,
    }
}
