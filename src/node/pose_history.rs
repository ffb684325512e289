//! True poses of the served vehicles in the last seconds: `vehicles` writes them, `sensors` and `reports` read them.
use crate::{frames::VehiclePose, time::SimTime};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Poses kept per vehicle: more than 2 s at 200 Hz.
const MAX_POSES: usize = 512;

/// Largest age of a pose for [`PoseHistory::latest_at`], in ns.
const MAX_AGE_NS: u64 = 100_000_000;

#[derive(Clone, Default)]
pub(super) struct PoseHistory(Arc<SharedPoses>);

#[derive(Default)]
struct SharedPoses {
    demands: AtomicUsize,
    vehicles: Mutex<BTreeMap<u16, VecDeque<(SimTime, VehiclePose)>>>,
}

/// Demand of one reader: the history keeps poses while at least one reader has set its demand.
pub(super) struct PoseDemand {
    poses: PoseHistory,
    is_set: bool,
}

impl PoseDemand {
    pub(super) fn set(&mut self, is_set: bool) {
        let count = &self.poses.0.demands;
        let was_set = std::mem::replace(&mut self.is_set, is_set);
        if is_set && !was_set && count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Nothing was added without a reader: older poses would be interpolated over that gap.
            self.poses.0.vehicles.lock().clear();
        }
        if was_set && !is_set {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set
    }
}

impl Drop for PoseDemand {
    fn drop(&mut self) {
        self.set(false);
    }
}

pub(super) enum PoseAt {
    /// The interpolated pose.
    Known(VehiclePose),
    /// The state of this time has not arrived yet.
    NotYet,
    /// The time is older than the history, or the vehicle has no states.
    Unknown,
}

impl PoseHistory {
    pub(super) fn are_wanted(&self) -> bool {
        self.0.demands.load(Ordering::Relaxed) > 0
    }

    /// Returns a demand, not set, for a new reader.
    pub(super) fn demand(&self) -> PoseDemand {
        let poses = self.clone();
        PoseDemand { poses, is_set: false }
    }

    pub(super) fn push(&self, time: SimTime, pose: &VehiclePose) {
        if !self.are_wanted() {
            return;
        }
        let mut vehicles = self.0.vehicles.lock();
        let past = vehicles.entry(pose.vehicle).or_default();
        // The simulation was restarted.
        if past.back().is_some_and(|(last, _)| time < *last) {
            past.clear();
        }
        while past.len() >= MAX_POSES {
            past.pop_front();
        }
        past.push_back((time, *pose));
    }

    /// Returns the newest pose at or before a time, if it is at most 0.1 s older.
    pub(super) fn latest_at(&self, vehicle: u16, time: SimTime) -> Option<VehiclePose> {
        let vehicles = self.0.vehicles.lock();
        let past = vehicles.get(&vehicle)?;
        let later = past.partition_point(|(at, _)| *at <= time);
        let (at, pose) = past.get(later.checked_sub(1)?)?;
        (time.0.abs_diff(at.0) <= MAX_AGE_NS).then_some(*pose)
    }

    /// Returns the pose at a time, interpolated between two states.
    pub(super) fn at(&self, vehicle: u16, time: SimTime) -> PoseAt {
        let vehicles = self.0.vehicles.lock();
        let Some(past) = vehicles.get(&vehicle) else { return PoseAt::Unknown };
        let later = past.partition_point(|(at, _)| *at < time);
        match (later.checked_sub(1).and_then(|i| past.get(i)), past.get(later)) {
            (_, Some((at, pose))) if *at == time => PoseAt::Known(*pose),
            (Some((from, a)), Some((to, b))) => {
                let fraction = (time.0 - from.0) as f64 / (to.0 - from.0) as f64;
                PoseAt::Known(a.towards(b, fraction))
            }
            (Some(_), None) => PoseAt::NotYet,
            (None, _) => PoseAt::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::frames::{Attitude, Vector, VehiclePose};
    use crate::node::pose_history::{PoseAt, PoseHistory};
    use crate::time::SimTime;

    #[test]
    fn poses_from_before_a_time_without_readers_are_forgotten() {
        let poses = PoseHistory::default();
        let mut demand = poses.demand();
        let push = |at| {
            let position = Vector::from([0.0; 3]);
            let attitude = Attitude::identity();
            poses.push(SimTime(at), &VehiclePose { vehicle: 1, position, attitude });
        };
        demand.set(true);
        push(1_000);
        demand.set(false);
        demand.set(true);
        push(3_000);
        push(5_000);
        assert!(matches!(poses.at(1, SimTime(2_000)), PoseAt::Unknown));
        assert!(matches!(poses.at(1, SimTime(4_000)), PoseAt::Known(_)));
    }
}
