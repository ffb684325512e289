use super::envelope::{Envelope, Point, plausible_prior};
use super::settings::{AlignerSettings, Estimator, Heartbeat, Observation, SourceKind, StampMode};
use super::{ClockStatus, RosTime, SimTime};
use super::{spread::DelayHistogram, timeline::Timeline, vendor::VendorRule};

/// An observation farther than this from the line contradicts the clock.
const BAND_NS: f64 = 250e6;
/// A late observation whose tick is this far behind the newest one belongs to another run.
const OTHER_RUN_NS: i64 = 2_000_000_000;
/// A tick this far ahead of the estimate belongs to another run, or is damaged.
const AHEAD_NS: i64 = 1_000_000_000;
/// Ticks of the present run keep their stamps until they are this far behind the newest one.
const FORGOTTEN_NS: i64 = 20_000_000_000;
/// The first datagram of a run may have overtaken earlier ticks by this much.
const LEAD_NS: i64 = 200_000_000;
/// Evidence needed to accept contradicting observations: number of different ticks, and host time from first to last. A burst
/// of delayed datagrams is shorter.
const RESTART_TICKS: u32 = 2;
const RESTART_NS: i64 = 50_000_000;
const STEP_TICKS: u32 = 3;
const STEP_NS: i64 = 200_000_000;
/// Simulated time continues for this long without a tick; then the simulation counts as paused.
const COAST_NS: i64 = 100_000_000;
/// A smaller change of speed can be jitter, because a candidate may last only [`RESTART_NS`].
const OTHER_SPEED: f64 = 0.25;

/// Estimates the host's time of every simulator tick. One per simulator clock, shared by all its sensors.
///
/// Stamps rise with the tick within a run, one tick always gets the same stamp (for the last 20 s of ticks), and no
/// stamp precedes those of an earlier run. The stamps of two ticks differ by the simulator's time, up to the drift and a
/// correction: at most 0.5 % (5 % in the first 3 s of a run) for an error below 25 ms; for larger ones see `docs/time.md`.
/// Memory is constant; nothing is allocated after construction.
#[derive(Clone, Debug)]
pub struct TimeAligner {
    settings: AlignerSettings,
    run: Option<Run>,
    timeline: Timeline,
    candidate: Option<Candidate>,
    delays: DelayHistogram,
    vendor: VendorRule,
    /// A heartbeat announced a restart; no tick has confirmed it yet.
    is_restart_announced: bool,
    restarts: u64,
    steps: u64,
    observations: u64,
    rejected: u64,
}

/// Period with one relation between the clocks.
#[derive(Clone, Debug)]
struct Run {
    /// Origin of the envelope's coordinates.
    sim: i64,
    host: i64,
    envelope: Envelope,
    /// Latest tick so far of this run.
    newest: i64,
}

impl Run {
    fn new(origin: Tick, prior: f64, window_s: f64) -> Self {
        let envelope = Envelope::new(Point::default(), prior, window_s * 1e9);
        Self { sim: origin.sim, host: origin.host, envelope, newest: origin.sim }
    }

    fn point(&self, tick: Tick) -> Point {
        let x = tick.sim.saturating_sub(self.sim);
        Point { x: x as f64, y: tick.host.saturating_sub(self.host).saturating_sub(x) as f64 }
    }

    /// Returns the estimated host time of a tick.
    fn estimate(&self, sim: i64) -> i64 {
        let x = sim.saturating_sub(self.sim);
        self.host.saturating_add(x).saturating_add(self.envelope.at(x as f64).round() as i64)
    }

    fn host_per_sim(&self) -> f64 {
        (1.0 + self.envelope.drift()).max(0.01)
    }
}

#[derive(Clone, Copy, Debug)]
struct Tick {
    sim: i64,
    host: i64,
}

/// Observations that contradict the clock but not each other: possibly a new run.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    first: Tick,
    last: Tick,
    /// The tick with the shortest delay.
    best: Tick,
    ticks: u32,
    /// The ticks are off the timeline: far behind or far ahead.
    is_foreign: bool,
    /// Stamp of the first tick if foreign; the others follow in simulator time.
    stamp: i64,
    /// Ticks before the first one, up to this distance, still get stamps later than those of the previous run.
    lead: i64,
}

impl Candidate {
    fn agrees(&self, tick: Tick) -> bool {
        let host = tick.host.saturating_sub(self.last.host);
        let sim = tick.sim.saturating_sub(self.last.sim);
        (host.saturating_sub(sim) as f64).abs() <= BAND_NS
    }

    fn add(&mut self, tick: Tick) {
        if tick.sim > self.last.sim {
            self.ticks += 1;
            self.last = tick;
        }
        if tick.host.saturating_sub(tick.sim) < self.best.host.saturating_sub(self.best.sim) {
            self.best = tick;
        }
    }

    /// Returns the initial drift: `usual`, unless the speed of the simulation has clearly changed.
    fn drift(&self, usual: f64) -> f64 {
        let host = self.last.host.saturating_sub(self.first.host) as f64;
        let sim = self.last.sim.saturating_sub(self.first.sim) as f64;
        let observed = host / sim.max(1.0) - 1.0;
        if (observed - usual).abs() > OTHER_SPEED { observed.clamp(-0.99, 100.0) } else { usual }
    }

    fn covers(&self, sim: i64) -> bool {
        self.is_foreign && (self.first.sim.saturating_sub(self.lead)..=self.last.sim).contains(&sim)
    }

    fn stamp(&self, sim: i64) -> i64 {
        self.stamp.saturating_add(sim.saturating_sub(self.first.sim))
    }
}

impl TimeAligner {
    /// Creates an aligner without observations.
    pub fn new(settings: AlignerSettings) -> Self {
        Self {
            settings,
            run: None,
            timeline: Timeline::new(),
            candidate: None,
            delays: DelayHistogram::new(),
            vendor: VendorRule::default(),
            is_restart_announced: false,
            restarts: 0,
            steps: 0,
            observations: 0,
            rejected: 0,
        }
    }

    /// Handles a heartbeat: for the vendor's rule, and as the announcement of a restart.
    pub fn heartbeat(&mut self, heartbeat: Heartbeat) {
        self.is_restart_announced |= self.vendor.heartbeat(heartbeat);
    }

    /// Handles the arrival of tick `sim` at `host`.
    pub fn observe(&mut self, sim: SimTime, host: RosTime, kind: SourceKind) -> Observation {
        let tick = Tick { sim: sim.0, host: host.0 };
        let is_announced = self.is_restart_announced;
        let result = self.observe_tick(tick);
        if result == Observation::Restart {
            self.vendor.restart(is_announced);
        }
        self.vendor.observe(sim, host, kind);
        match result {
            Observation::Rejected => self.rejected += 1,
            _ => self.observations += 1,
        }
        result
    }

    /// Returns the stamp of a tick. `None` before the first observation, for a tick far from the present run, and always
    /// for [`StampMode::Arrival`], which stamps datagrams instead of ticks.
    pub fn stamp(&mut self, sim: SimTime) -> Option<RosTime> {
        match (self.settings.mode, self.settings.estimator) {
            (StampMode::Sim, _) => (self.is_in_run(sim.0) && sim.0 >= 0).then_some(RosTime(sim.0)),
            (StampMode::Arrival, _) => None,
            (StampMode::Aligned, Estimator::Vendor) => {
                self.vendor.stamp(sim).filter(|_| self.is_in_run(sim.0))
            }
            (StampMode::Aligned, Estimator::Envelope) => self.align(sim.0).map(RosTime),
        }
    }

    /// Like [`Self::stamp`]; in [`StampMode::Arrival`] returns `host`, the arrival.
    pub fn stamp_at(&mut self, sim: SimTime, host: RosTime) -> Option<RosTime> {
        match self.settings.mode {
            StampMode::Arrival => Some(host),
            StampMode::Aligned | StampMode::Sim => self.stamp(sim),
        }
    }

    /// Observes a tick and returns its stamp. A sensor calls it for every complete frame, with the arrival of its first
    /// datagram. `None` if the tick belongs to another simulation, or is not confirmed yet.
    pub fn receive(&mut self, sim: SimTime, host: RosTime, kind: SourceKind) -> Option<RosTime> {
        self.observe(sim, host, kind);
        self.stamp_at(sim, host)
    }

    /// Returns the simulator's time at an instant of the host, at any speed of the simulation: extrapolates from the
    /// newest tick by 100 ms at most, because a simulation without ticks is paused. `None` before the first tick.
    pub fn sim_time_at(&self, host: RosTime) -> Option<SimTime> {
        let run = self.run.as_ref()?;
        let since = host.0.saturating_sub(run.estimate(run.newest)) as f64 / run.host_per_sim();
        let since = (since.round() as i64).clamp(0, COAST_NS);
        Some(SimTime(run.newest.saturating_add(since)))
    }

    /// Returns the state of the clock.
    pub fn status(&self) -> ClockStatus {
        let (mut offset_ns, mut pending_ns) = (0, 0);
        if let (Some(run), Some(sim), Some(stamp)) =
            (&self.run, self.timeline.frontier(), self.timeline.latest())
        {
            offset_ns = stamp.saturating_sub(sim);
            pending_ns = run.estimate(sim).saturating_sub(stamp);
        }
        ClockStatus {
            offset_ns,
            spread: self.delays.spread(),
            drift_ppm: self.run.as_ref().map_or(0.0, |run| run.envelope.drift() * 1e6),
            pending_ns,
            restarts: self.restarts,
            steps: self.steps,
            observations: self.observations,
            rejected: self.rejected,
        }
    }

    /// Adds a tick to the run, or to the candidate, which replaces the run once there is enough evidence.
    fn observe_tick(&mut self, tick: Tick) -> Observation {
        let Some(run) = &mut self.run else {
            self.run = Some(Run::new(tick, 0.0, self.settings.window_s));
            let (sim, host) = (tick.sim.saturating_sub(LEAD_NS), tick.host.saturating_sub(LEAD_NS));
            self.timeline.begin(sim, host, 1.0, tick.sim);
            return Observation::Accepted;
        };
        let point = run.point(tick);
        let excess = run.envelope.excess(point);
        if excess.abs() <= BAND_NS {
            run.envelope.add(point);
            run.newest = run.newest.max(tick.sim);
            self.delays.add(excess.max(0.0));
            self.candidate = None;
            return Observation::Accepted;
        }
        let is_another_run = excess > 0.0 && self.is_of_another_run(tick.sim);
        // A tick that continues a candidate far ahead is foreign, too, although `newest` may have moved since.
        let continues = |c: Candidate| c.is_foreign && excess < 0.0 && c.agrees(tick);
        let is_foreign = is_another_run
            || self.candidate.is_some_and(continues)
            || (excess < -(AHEAD_NS as f64) && tick.sim > self.newest().saturating_add(AHEAD_NS));
        // Ticks far ahead must not move `newest` ahead step by step.
        if !is_foreign
            && excess > -(AHEAD_NS as f64)
            && let Some(run) = &mut self.run
        {
            run.newest = run.newest.max(tick.sim);
        }
        let candidate = match &mut self.candidate {
            Some(candidate) if candidate.is_foreign == is_foreign && candidate.agrees(tick) => {
                candidate.add(tick);
                *candidate
            }
            slot => {
                // Stamps of the previous candidate are not on the timeline.
                let previous = slot.filter(|c| c.is_foreign).map(|c| c.stamp(c.last.sim));
                let latest = self.timeline.latest().max(previous);
                let after = latest.unwrap_or(i64::MIN).saturating_add(1_000);
                let stamp = tick.host.max(after);
                let lead = stamp.saturating_sub(after).min(LEAD_NS);
                *slot.insert(Candidate {
                    first: tick,
                    last: tick,
                    best: tick,
                    ticks: 1,
                    is_foreign,
                    stamp,
                    lead,
                })
            }
        };
        let elapsed = tick.host.saturating_sub(candidate.first.host);
        let (ticks, duration) = match (is_another_run, self.is_restart_announced) {
            (true, true) => (1, 0),
            (true, false) => (RESTART_TICKS, RESTART_NS),
            (false, _) => (STEP_TICKS, STEP_NS),
        };
        if candidate.ticks < ticks || elapsed < duration {
            return Observation::Rejected;
        }
        self.accept(candidate, tick, is_another_run)
    }

    /// Replaces the run by the candidate.
    fn accept(&mut self, candidate: Candidate, tick: Tick, is_restart: bool) -> Observation {
        let usual = self.run.as_ref().map_or(0.0, |run| plausible_prior(run.envelope.drift()));
        let prior = candidate.drift(usual);
        let mut run = Run::new(candidate.best, prior, self.settings.window_s);
        run.envelope.add(run.point(tick));
        run.newest = candidate.last.sim.max(self.newest());
        if candidate.is_foreign {
            run.newest = candidate.last.sim;
            let begin = candidate.first.sim.saturating_sub(candidate.lead);
            self.timeline.begin(begin, candidate.stamp(begin), 1.0, candidate.last.sim);
        }
        self.run = Some(run);
        self.candidate = None;
        self.delays = DelayHistogram::new();
        if is_restart {
            self.is_restart_announced = false;
            self.restarts += 1;
            Observation::Restart
        } else {
            self.steps += 1;
            Observation::Step
        }
    }

    fn align(&mut self, sim: i64) -> Option<i64> {
        let run = self.run.as_ref()?;
        match &self.candidate {
            Some(c) if c.covers(sim) => Some(c.stamp(sim)),
            _ if self.is_in_run(sim) => {
                self.timeline.extend(sim, run.estimate(sim), run.host_per_sim())
            }
            _ => None,
        }
    }

    /// Whether a tick can belong to the present run.
    fn is_in_run(&self, sim: i64) -> bool {
        let oldest = self.newest().saturating_sub(FORGOTTEN_NS);
        self.run.is_some()
            && sim >= self.timeline.begin.max(oldest)
            && sim <= self.newest().saturating_add(AHEAD_NS)
    }

    fn newest(&self) -> i64 {
        self.run.as_ref().map_or(0, |run| run.newest)
    }

    fn is_of_another_run(&self, sim: i64) -> bool {
        sim < self.timeline.begin || sim < self.newest().saturating_sub(OTHER_RUN_NS)
    }
}
