//! The simulator's clocks: one per vehicle, shared by all sources on that clock.
use crate::time::{
    AlignerSettings, ClockStatus, Heartbeat, Observation, RosTime, SimTime, SourceKind, StampMode,
    TimeAligner,
};
use crate::{
    config::Params, msgs::rosgraph_msgs::msg::Clock, ros::Publisher, transport::played_time,
};
use parking_lot::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{collections::BTreeMap, sync::Arc};

/// Returns the host's wall clock; during a replay that of the recording.
pub(super) fn host_now() -> RosTime {
    if let Some(time) = played_time() {
        return RosTime(time);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    RosTime(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// Returns the time since `start`. During a replay it is the recording's time since 1970, so that timed work is due at the
/// same datagrams in each run.
pub(super) fn elapsed(start: Instant) -> Duration {
    let nanos = |time| Duration::from_nanos(u64::try_from(time).unwrap_or(0));
    played_time().map_or_else(|| start.elapsed(), nanos)
}

pub(super) struct SimClock(Mutex<ClockState>);

struct ClockState {
    aligner: TimeAligner,
    /// Publisher of `/clock` in mode `sim`; only the first vehicle's clock has it.
    publisher: Option<Publisher<Clock>>,
    published: Option<SimTime>,
    restarts: u64,
}

impl SimClock {
    fn new(settings: AlignerSettings) -> Self {
        let aligner = TimeAligner::new(settings);
        Self(Mutex::new(ClockState { aligner, publisher: None, published: None, restarts: 0 }))
    }

    /// Records that the tick `sim` arrived at `host`, and returns its stamp; `None` if the tick cannot be from this simulation.
    pub(super) fn stamp(&self, sim: SimTime, host: RosTime, kind: SourceKind) -> Option<RosTime> {
        let state = &mut *self.0.lock();
        let observation = state.aligner.observe(sim, host, kind);
        let stamp = state.aligner.stamp_at(sim, host);
        // A corrupt time stamp must not reach `/clock`.
        if let Some(publisher) = &state.publisher
            && observation != Observation::Rejected
            && stamp.is_some()
        {
            let restarts = state.aligner.status().restarts;
            // A late image must not turn the clock back; a restart of the simulator does.
            if state.published.is_none_or(|last| sim > last) || restarts != state.restarts {
                state.published = Some(sim);
                state.restarts = restarts;
                if publisher.subscribers() > 0 {
                    let clock = RosTime(sim.0).to_msg();
                    // The publisher counts failures.
                    let _counted = publisher.publish(&Clock { clock });
                }
            }
        }
        stamp
    }

    /// Returns the stamp of a tick without updating the clock: for times that may be old or from another program.
    pub(super) fn stamp_of(&self, sim: SimTime, host: RosTime) -> Option<RosTime> {
        self.0.lock().aligner.stamp_at(sim, host)
    }

    /// Whether this clock publishes `/clock`, and the topic has a subscriber.
    pub(super) fn is_read(&self) -> bool {
        self.0.lock().publisher.as_ref().is_some_and(|publisher| publisher.subscribers() > 0)
    }

    pub(super) fn heartbeat(&self, heartbeat: Heartbeat) {
        self.0.lock().aligner.heartbeat(heartbeat);
    }

    /// Returns the simulation time at a host time; `None` before the first tick.
    pub(super) fn sim_time_at(&self, host: RosTime) -> Option<SimTime> {
        self.0.lock().aligner.sim_time_at(host)
    }

    pub(super) fn status(&self) -> ClockStatus {
        self.0.lock().aligner.status()
    }
}

/// Stamps messages that have no simulator tick: with the host's time, or in mode `sim` with simulation time. Simulation time is
/// 0 until the first tick, as `now()` of a node with `use_sim_time` is until the first `/clock`.
#[derive(Clone)]
pub(super) struct HeaderClock(Option<Arc<SimClock>>);

impl HeaderClock {
    pub(super) fn now(&self) -> RosTime {
        let host = host_now();
        match &self.0 {
            None => host,
            Some(clock) => RosTime(clock.sim_time_at(host).map_or(0, |sim| sim.0)),
        }
    }
}

#[derive(Clone)]
pub(super) struct SimClocks {
    by_vehicle: BTreeMap<u16, Arc<SimClock>>,
    mode: StampMode,
}

impl SimClocks {
    /// Creates one clock per vehicle; `vehicles` must not be empty.
    pub(super) fn new(params: &Params, vehicles: &[u16]) -> Self {
        let settings = AlignerSettings {
            mode: params.time.mode,
            estimator: params.time.estimator,
            ..AlignerSettings::default()
        };
        let by_vehicle =
            vehicles.iter().map(|id| (*id, Arc::new(SimClock::new(settings)))).collect();
        Self { by_vehicle, mode: settings.mode }
    }

    /// Publishes the time of the first vehicle on `/clock`.
    pub(super) fn publish_on(&self, publisher: Publisher<Clock>) {
        if let Some(clock) = self.by_vehicle.values().next() {
            clock.0.lock().publisher = Some(publisher);
        }
    }

    /// Returns the clock that stamps messages about a vehicle, or about the bridge itself.
    pub(super) fn headers(&self, vehicle: Option<u16>) -> HeaderClock {
        HeaderClock(match self.mode {
            StampMode::Sim => self.of(vehicle),
            StampMode::Aligned | StampMode::Arrival => None,
        })
    }

    /// Returns the clock of a vehicle, or else that of the first vehicle.
    pub(super) fn of(&self, vehicle: Option<u16>) -> Option<Arc<SimClock>> {
        vehicle
            .and_then(|id| self.by_vehicle.get(&id))
            .or_else(|| self.by_vehicle.values().next())
            .cloned()
    }

    /// Returns the clock of this vehicle only.
    pub(super) fn get(&self, vehicle: u16) -> Option<&Arc<SimClock>> {
        self.by_vehicle.get(&vehicle)
    }

    /// The estimated speed of the simulation relative to real time.
    pub(super) fn speed(&self) -> f64 {
        let mut status = self.by_vehicle.values().map(|clock| clock.status());
        let running = status.find(|status| status.observations > 0);
        running.map_or(1.0, |status| status.speed())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, &Arc<SimClock>)> {
        self.by_vehicle.iter().map(|(id, clock)| (*id, clock))
    }
}
