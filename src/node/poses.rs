//! Where the served vehicles were in the last seconds, shared: `vehicles` writes it, `sensors` asks for the time of a frame.
use crate::frames::VehiclePose;
use crate::time::SimTime;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// States kept of a vehicle: more than 2 s at 200 Hz.
const KEPT: usize = 512;

/// A pose that is farther from an instant in time is not near, in ns.
const NEAR_NS: u64 = 100_000_000;

/// The true poses of the vehicles over time.
#[derive(Clone, Default)]
pub(super) struct Poses(Arc<Inner>);

#[derive(Default)]
struct Inner {
    wanted: AtomicUsize,
    vehicles: Mutex<BTreeMap<u16, VecDeque<(SimTime, VehiclePose)>>>,
}

/// Whether one reader wants states.
pub(super) struct Want {
    poses: Poses,
    wanted: bool,
}

impl Want {
    pub(super) fn set(&mut self, wanted: bool) {
        let count = &self.poses.0.wanted;
        match (std::mem::replace(&mut self.wanted, wanted), wanted) {
            (false, true) => count.fetch_add(1, Ordering::Relaxed),
            (true, false) => count.fetch_sub(1, Ordering::Relaxed),
            _ => return,
        };
    }

    pub(super) fn is_set(&self) -> bool {
        self.wanted
    }
}

impl Drop for Want {
    fn drop(&mut self) {
        self.set(false);
    }
}

/// The pose of a vehicle at an instant.
pub(super) enum At {
    /// It was there.
    There(VehiclePose),
    /// Its state of this instant has not come yet.
    NotYet,
    /// It is older than what is kept, or the vehicle has no states.
    Unknown,
}

impl Poses {
    fn vehicles(&self) -> MutexGuard<'_, BTreeMap<u16, VecDeque<(SimTime, VehiclePose)>>> {
        let vehicles = self.0.vehicles.lock();
        vehicles.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether states are needed as they come.
    pub(super) fn are_wanted(&self) -> bool {
        self.0.wanted.load(Ordering::Relaxed) > 0
    }

    /// Somebody who may want them.
    pub(super) fn wants(&self) -> Want {
        let poses = self.clone();
        Want {
            poses,
            wanted: false,
        }
    }

    pub(super) fn push(&self, time: SimTime, pose: &VehiclePose) {
        if !self.are_wanted() {
            return;
        }
        let mut vehicles = self.vehicles();
        let past = vehicles.entry(pose.vehicle).or_default();
        // A simulation that was started again.
        if past.back().is_some_and(|(last, _)| time < *last) {
            past.clear();
        }
        while past.len() >= KEPT {
            past.pop_front();
        }
        past.push_back((time, *pose));
    }

    /// Returns the newest pose up to an instant, if it is not older than a tenth of a second.
    pub(super) fn near(&self, vehicle: u16, time: SimTime) -> Option<VehiclePose> {
        let vehicles = self.vehicles();
        let past = vehicles.get(&vehicle)?;
        let later = past.partition_point(|(at, _)| *at <= time);
        let (at, pose) = past.get(later.checked_sub(1)?)?;
        (time.0.abs_diff(at.0) <= NEAR_NS).then_some(*pose)
    }

    /// Returns the pose at an instant, between two states in proportion.
    pub(super) fn at(&self, vehicle: u16, time: SimTime) -> At {
        let vehicles = self.vehicles();
        let Some(past) = vehicles.get(&vehicle) else {
            return At::Unknown;
        };
        let later = past.partition_point(|(at, _)| *at < time);
        match (
            later.checked_sub(1).and_then(|i| past.get(i)),
            past.get(later),
        ) {
            (_, Some((at, pose))) if *at == time => At::There(*pose),
            (Some((from, a)), Some((to, b))) => {
                let share = (time.0 - from.0) as f64 / (to.0 - from.0) as f64;
                At::There(a.towards(b, share))
            }
            (Some(_), None) => At::NotYet,
            (None, _) => At::Unknown,
        }
    }
}
