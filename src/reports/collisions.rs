//! What a vehicle collides with, from its first contact until it is free again.
use crate::time::SimTime;
use crate::wire::{CrashPacket, VehicleReportPacket};

/// What a vehicle hit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Hit {
    /// The ground.
    Ground,
    /// An object of the scene.
    Object,
    /// The vehicle with this id.
    Vehicle(i32),
}

/// A collision.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// With what.
    pub hit: Hit,
    /// Its name; empty if it is not reported.
    pub name: String,
    /// Point of contact and centre of what was hit in m, NED, where they are reported.
    pub place: Option<[[f32; 3]; 2]>,
}

/// A time that goes back further is that of a simulation that was started again; less far, of a late datagram.
const RESTART_NS: i64 = 1_000_000_000;

/// The collision of one vehicle, held until it ends.
#[derive(Clone, Debug, Default)]
pub struct Latch {
    contact: Option<Contact>,
    /// It is known from the short datagram alone, which also says when it is over.
    by_event: bool,
    last: Option<SimTime>,
    count: u32,
}

impl Latch {
    /// Returns the collision, or `None` while the vehicle is free.
    pub fn contact(&self) -> Option<&Contact> {
        self.contact.as_ref()
    }

    /// Returns how many collisions there were.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Takes a report of the vehicle; returns whether a collision began, ended or became another.
    pub fn report(&mut self, report: &VehicleReportPacket) -> bool {
        let mut changed = false;
        if let Some(time) = SimTime::checked_from_secs(report.sim_time.get()) {
            if let Some(last) = self.last.filter(|last| time < *last) {
                if last.0 - time.0 < RESTART_NS {
                    return false;
                }
                changed = self.free();
            }
            self.last = Some(time);
        }
        let hit = match report.crash_type.get() {
            0 => return self.free() || changed,
            -2 => Hit::Ground,
            id if id > 0 => Hit::Vehicle(id),
            _ => Hit::Object,
        };
        let name = report.target_name();
        let same =
            |known: &&Contact| known.hit == hit && (known.name == name || known.name.is_empty());
        if self.contact.as_ref().filter(same).is_some() && !self.by_event {
            return changed;
        }
        let place = [report.contact, report.target].map(|point| point.map(|x| x.get()));
        let finite = place.iter().flatten().all(|x| x.is_finite());
        let known = self.contact.as_ref().is_some_and(|known| known.hit == hit);
        self.begin(
            Contact {
                hit,
                name,
                place: finite.then_some(place),
            },
            known,
        );
        self.by_event = false;
        true
    }

    /// Takes the datagram that tells of a collision with a vehicle and of nothing else; returns as [`Self::report`].
    pub fn event(&mut self, event: &CrashPacket) -> bool {
        match event.target_id.get() {
            id if id < 0 => self.by_event && self.free(),
            id => {
                let hit = Hit::Vehicle(id);
                if self.contact.as_ref().is_some_and(|known| known.hit == hit) {
                    return false;
                }
                self.begin(
                    Contact {
                        hit,
                        name: String::new(),
                        place: None,
                    },
                    false,
                );
                self.by_event = true;
                true
            }
        }
    }

    /// Ends the collision: the simulation was started again, for example; returns whether there was one.
    pub fn free(&mut self) -> bool {
        self.by_event = false;
        self.contact.take().is_some()
    }

    fn begin(&mut self, contact: Contact, known: bool) {
        self.contact = Some(contact);
        self.count = self.count.saturating_add(u32::from(!known));
    }
}
