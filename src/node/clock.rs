//! The simulator's clocks, one per vehicle, shared by all sources of that clock.
use crate::config::Params;
use crate::config::params::{TimeEstimator, TimeMode};
use crate::msgs::rosgraph_msgs::msg::Clock;
use crate::ros::Publisher;
use crate::time::{
    AlignerSettings, ClockStatus, Estimator, Heartbeat, Observation, RosTime, SimTime, StampMode,
    Stream, TimeAligner,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the host's wall clock.
pub(crate) fn host_now() -> RosTime {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    RosTime(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// One clock of the simulator.
pub(crate) struct SimClock {
    state: Mutex<State>,
    /// Publishes `/clock` in mode `sim`; only the clock of the first vehicle has one.
    publisher: Option<Publisher<Clock>>,
}

struct State {
    aligner: TimeAligner,
    published: Option<SimTime>,
    restarts: u64,
}

impl SimClock {
    fn new(settings: AlignerSettings, publisher: Option<Publisher<Clock>>) -> Self {
        let state = State {
            aligner: TimeAligner::new(settings),
            published: None,
            restarts: 0,
        };
        Self {
            state: Mutex::new(state),
            publisher,
        }
    }

    /// Learns that the tick `sim` arrived at `host` and returns its stamp.
    pub(crate) fn stamp(&self, sim: SimTime, host: RosTime, stream: Stream) -> RosTime {
        let mut state = self.lock();
        let seen = state.aligner.observe(sim, host, stream);
        let stamp = state.aligner.stamp(sim).unwrap_or(host);
        // A damaged time stamp must not become the time of all nodes.
        if let Some(publisher) = &self.publisher
            && seen != Observation::Rejected
        {
            let restarts = state.aligner.status().restarts;
            // A late image is no reason to turn the clock back, a restarted simulator is.
            if state.published.is_none_or(|last| sim > last) || restarts != state.restarts {
                state.published = Some(sim);
                state.restarts = restarts;
                let clock = Clock {
                    clock: RosTime(sim.0).to_msg(),
                };
                // A failure is in the counters of the publisher.
                let _counted = publisher.publish(&clock);
            }
        }
        stamp
    }

    /// Takes a heartbeat into account.
    pub(crate) fn heartbeat(&self, heartbeat: Heartbeat) {
        self.lock().aligner.heartbeat(heartbeat);
    }

    /// Returns what is known about the clock.
    pub(crate) fn status(&self) -> ClockStatus {
        self.lock().aligner.status()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The clocks by vehicle.
#[derive(Clone)]
pub(crate) struct SimClocks {
    by_vehicle: BTreeMap<u16, Arc<SimClock>>,
}

impl SimClocks {
    /// Creates a clock per vehicle; `vehicles` is not empty.
    pub(crate) fn new(
        params: &Params,
        vehicles: &[u16],
        mut publisher: Option<Publisher<Clock>>,
    ) -> Self {
        let settings = AlignerSettings {
            mode: match params.time.mode {
                TimeMode::Aligned => StampMode::Aligned,
                TimeMode::Sim => StampMode::Sim,
                TimeMode::Arrival => StampMode::Arrival,
            },
            estimator: match params.time.estimator {
                TimeEstimator::Envelope => Estimator::Envelope,
                TimeEstimator::Vendor => Estimator::Vendor,
            },
            ..AlignerSettings::default()
        };
        let by_vehicle = vehicles
            .iter()
            .map(|id| (*id, Arc::new(SimClock::new(settings, publisher.take()))))
            .collect();
        Self { by_vehicle }
    }

    /// Returns the clock of a vehicle; what is attached to none uses the clock of the first.
    pub(crate) fn of(&self, vehicle: Option<u16>) -> Option<Arc<SimClock>> {
        vehicle
            .and_then(|id| self.by_vehicle.get(&id))
            .or_else(|| self.by_vehicle.values().next())
            .cloned()
    }

    /// Returns the clock of exactly this vehicle.
    pub(crate) fn get(&self, vehicle: u16) -> Option<&Arc<SimClock>> {
        self.by_vehicle.get(&vehicle)
    }

    /// Iterates over vehicles and clocks.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &Arc<SimClock>)> {
        self.by_vehicle.iter().map(|(id, clock)| (*id, clock))
    }
}
