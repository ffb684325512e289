//! Detects collisions while they are requested: for the reports of vehicles, and for the crash packets of `CopterSim`.
use super::{report, send_to_all, send_to_client};
use crate::emulator::renderer::{Contact, contacts};
use crate::emulator::shared::SharedState;
use crate::emulator::world::Object;
use crate::wire::{CrashPacket, IntoBytes as _};
use std::{collections::BTreeMap, net::UdpSocket};

/// Checks per second of simulation time.
const RATE: f64 = 50.0;
/// Target of a collision with a body without an id; a negative target would mean that there is no collision.
const NO_ID: i32 = 0;

/// Contacts at the last check.
#[derive(Debug, Default)]
pub(super) struct CollisionWatch {
    due: f64,
    touched: BTreeMap<u16, Contact>,
    /// Downward speeds in m/s.
    speeds: BTreeMap<u16, f64>,
}

impl CollisionWatch {
    /// Checks when due, and reports changes.
    pub(super) fn check(&mut self, shared: &SharedState, socket: &UdpSocket, now: f64) {
        let reports = shared.reports.lock().vehicle_data;
        let sends_crashes = shared.renderer.lock().reports_collisions();
        if !(reports || sends_crashes) {
            if !self.touched.is_empty() {
                self.touched.clear();
                *shared.contacts.lock() = BTreeMap::new();
            }
            return;
        }
        if now < self.due {
            return;
        }
        self.due = now + 1.0 / RATE;
        let drawn = shared.draw(shared.snapshot(now));
        let is_on_ground =
            |id: &u16| self.touched.get(id).is_some_and(|contact| contact.with == Object::Ground);
        let last_speed = |id: u16| self.speeds.get(&id).copied().unwrap_or(0.0);
        let speed = |id: u16| if is_on_ground(&id) { f64::INFINITY } else { last_speed(id) };
        let renderer = shared.renderer.lock();
        let found = contacts(&drawn, |a, b| renderer.is_attached(a, b), speed);
        drop(renderer);
        let touched: BTreeMap<u16, Contact> = found.into_iter().map(|c| (c.id, c)).collect();
        self.speeds = drawn.vehicles.iter().map(|(id, k)| (*id, k.velocity.z)).collect();
        let other_body = |all: &BTreeMap<u16, Contact>, id: &u16| all.get(id).map(|c| c.with);
        let changed: Vec<u16> = (drawn.vehicles.iter().map(|(id, _)| *id))
            .filter(|id| other_body(&touched, id) != other_body(&self.touched, id))
            .collect();
        self.touched = touched;
        *shared.contacts.lock() = self.touched.clone();
        for id in changed {
            let contact = self.touched.get(&id);
            if let Some(contact) = contact.filter(|_| sends_crashes) {
                send_crash(shared, socket, contact);
            }
            if reports {
                report::send_vehicle(shared, socket, &drawn, id);
            }
        }
    }
}

/// Sends a crash packet to the client of the vehicle's `CopterSim`, and to the report port as the renderer does.
fn send_crash(shared: &SharedState, socket: &UdpSocket, contact: &Contact) {
    let options = &shared.options;
    let packet = CrashPacket::new(contact.id.into(), target_id(contact.with));
    if options.world.vehicle(contact.id).is_some() {
        send_to_client(shared, socket, contact.id, packet.as_bytes());
    }
    send_to_all(shared, socket, packet.as_bytes(), Some(options.client), options.ports.report);
}

/// Returns the id that `CopterSim` reports for the other body of a collision.
pub(super) fn target_id(with: Object) -> i32 {
    if let Object::Vehicle(id) = with { id.into() } else { NO_ID }
}
