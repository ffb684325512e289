//! Tracks the collision of a vehicle from the first contact until the vehicle is free again.
use crate::time::SimTime;
use crate::wire::{CrashPacket, VehicleReportPacket};

/// What a vehicle collides with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// The ground.
    Ground,
    /// An object of the scene.
    Object,
    /// The vehicle, or the object created at run time, with this id.
    Vehicle(i32),
}

/// A collision.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// What the vehicle collides with.
    pub obstacle: Obstacle,
    /// Name of the obstacle; empty if the renderer does not report it.
    pub name: String,
    /// Point of contact and centre of the obstacle in m, NED, if the renderer reports them.
    pub points: Option<[[f32; 3]; 2]>,
}

/// A larger step back in time means that the simulation restarted; a smaller one, that a datagram is late.
const RESTART_NS: i64 = 1_000_000_000;

/// The present collision of one vehicle, and the number of collisions.
#[derive(Clone, Debug, Default)]
pub struct CollisionState {
    contact: Option<Contact>,
    /// Whether only a [`CrashPacket`] has reported it; another one reports its end.
    is_from_event: bool,
    last: Option<SimTime>,
    count: u32,
}

impl CollisionState {
    /// Returns the collision, or `None` while the vehicle is free.
    pub fn contact(&self) -> Option<&Contact> {
        self.contact.as_ref()
    }

    /// Returns the number of collisions so far.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Processes a report of the vehicle; returns whether the collision changed.
    pub fn report(&mut self, report: &VehicleReportPacket) -> bool {
        let mut changed = false;
        if let Some(time) = SimTime::checked_from_secs(report.sim_time.get()) {
            if let Some(last) = self.last.filter(|last| time < *last) {
                if last.0 - time.0 < RESTART_NS {
                    return false;
                }
                changed = self.end();
            }
            self.last = Some(time);
        }
        let obstacle = match report.crash_type.get() {
            0 => return self.end() || changed,
            -2 => Obstacle::Ground,
            id if id > 0 => Obstacle::Vehicle(id),
            _ => Obstacle::Object,
        };
        let name = report.target_name();
        let is_same = |current: &&Contact| {
            current.obstacle == obstacle && (current.name == name || current.name.is_empty())
        };
        if self.contact.as_ref().filter(is_same).is_some() && !self.is_from_event {
            return changed;
        }
        let points = [report.contact, report.target].map(|point| point.map(|x| x.get()));
        let is_finite = points.iter().flatten().all(|x| x.is_finite());
        let is_counted = self.contact.as_ref().is_some_and(|current| current.obstacle == obstacle);
        self.begin(Contact { obstacle, name, points: is_finite.then_some(points) }, is_counted);
        self.is_from_event = false;
        true
    }

    /// Processes a [`CrashPacket`], which reports only collisions with vehicles; returns whether the collision changed.
    pub fn event(&mut self, event: &CrashPacket) -> bool {
        match event.target_id.get() {
            id if id < 0 => self.is_from_event && self.end(),
            id => {
                let obstacle = Obstacle::Vehicle(id);
                if self.contact.as_ref().is_some_and(|current| current.obstacle == obstacle) {
                    return false;
                }
                self.begin(Contact { obstacle, name: String::new(), points: None }, false);
                self.is_from_event = true;
                true
            }
        }
    }

    /// Ends the collision, for example because the simulation restarted; returns whether there was one.
    pub fn end(&mut self) -> bool {
        self.is_from_event = false;
        self.contact.take().is_some()
    }

    fn begin(&mut self, contact: Contact, is_counted: bool) {
        self.contact = Some(contact);
        self.count = self.count.saturating_add(u32::from(!is_counted));
    }
}
