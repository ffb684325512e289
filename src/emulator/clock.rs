//! Simulation time: runs with the host's clock, but never ahead of the computed simulation.
use super::autopilot::STEP;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum delay in s that the simulation catches up: during the catch-up, vehicles get no new inputs. A longer delay is dropped.
const MAX_DELAY: f64 = 100.0 * STEP;

/// Simulation time as a function of host time: it starts at 0, has its own speed, and can be paused.
#[derive(Clone, Copy, Debug)]
pub struct SimTime {
    /// Host time at simulation time `anchor_time`.
    anchor: Duration,
    anchor_time: f64,
    speed: f64,
    is_paused: bool,
    /// The simulation is computed up to this time in s.
    horizon: f64,
}

impl SimTime {
    /// Starts at 0 at host time `host`; `speed` is in simulation seconds per second. The time has no upper limit
    /// until [`SimTime::reach`] or [`SimTime::hold`].
    pub fn new(host: Duration, speed: f64) -> Self {
        Self { anchor: host, anchor_time: 0.0, speed, is_paused: false, horizon: f64::INFINITY }
    }

    /// Simulation time in s, not limited to the computed time.
    fn free(&self, host: Duration) -> f64 {
        if self.is_paused {
            return self.anchor_time;
        }
        self.anchor_time + host.saturating_sub(self.anchor).as_secs_f64() * self.speed
    }

    /// Simulation time in s.
    pub fn now(&self, host: Duration) -> f64 {
        self.free(host).min(self.horizon)
    }

    /// Duration until simulation time `time` in s; `None` while paused.
    pub fn until(&self, host: Duration, time: f64) -> Option<Duration> {
        /// Polling interval of waiters for a time that is not computed yet.
        const POLL_PERIOD: Duration = Duration::from_millis(1);
        if self.is_paused {
            return None;
        }
        let seconds = (time - self.free(host)) / self.speed;
        let wait = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::from_secs(1));
        Some(if time > self.horizon { wait.max(POLL_PERIOD) } else { wait })
    }

    /// Host time in s at simulation time `time` in s, if neither a pause nor a change of speed follows.
    fn host_at(&self, time: f64) -> f64 {
        self.anchor.as_secs_f64() + (time - self.anchor_time) / self.speed
    }

    /// Sets the computed time in s.
    pub fn reach(&mut self, time: f64) {
        self.horizon = time;
    }

    /// Holds time at 0 until the simulation is computed.
    pub fn hold(&mut self) {
        self.horizon = 0.0;
    }

    /// Continues from the current time and drops the delay.
    fn drop_delay(&mut self, host: Duration) {
        self.anchor_time = self.now(host);
        self.anchor = host;
    }

    /// Pauses or resumes.
    pub fn set_paused(&mut self, host: Duration, is_paused: bool) {
        self.drop_delay(host);
        self.is_paused = is_paused;
    }

    /// Changes the speed.
    pub fn set_speed(&mut self, host: Duration, speed: f64) {
        self.drop_delay(host);
        self.speed = speed;
    }
}

/// The steps of a simulation, in order and without gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    done: u64,
}

impl Steps {
    /// Simulation time in s of the next step; the motion before it is known.
    pub fn next(&self) -> f64 {
        self.done as f64 * STEP
    }

    /// Returns the step to compute now, if any; then [`SimTime::reach`] makes the time up to
    /// [`Steps::next`] available. A simulation that is too late to catch up delays simulation time.
    pub fn due(&mut self, time: &mut SimTime, host: Duration) -> Option<f64> {
        let next = self.next();
        if time.free(host) - next > MAX_DELAY {
            time.drop_delay(host);
        }
        (next <= time.free(host)).then(|| {
            self.done += 1;
            next
        })
    }
}

/// [`SimTime`] on this machine's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimClock {
    time: SimTime,
    base: Instant,
    drift: f64,
    /// Simulation seconds per second, without the drift.
    pub(super) speed: f64,
    /// The wall clock in ns since 1970 at simulation time 0.
    pub(super) start_ns: u64,
    /// Number of restarts; a thread that computes an older run does not set the time of this one.
    pub(super) run: u64,
    /// Whether simulation time waits for the thread that computes the simulation.
    waits_for_steps: bool,
}

impl SimClock {
    pub(super) fn new(speed: f64, drift_ppm: f64, waits_for_steps: bool) -> Self {
        let drift = 1.0 + drift_ppm * 1e-6;
        let (base, start_ns) = both_clocks();
        let mut clock = Self {
            time: SimTime::new(Duration::ZERO, speed * drift),
            base,
            drift,
            speed,
            start_ns,
            run: 0,
            waits_for_steps,
        };
        if waits_for_steps {
            clock.time.hold();
        }
        clock
    }

    fn host(&self) -> Duration {
        self.base.elapsed()
    }

    pub(super) fn now(&self) -> f64 {
        self.time.now(self.host())
    }

    /// Returns the duration until simulation time `time`; `None` while paused.
    pub(super) fn until(&self, time: f64) -> Option<Duration> {
        self.time.until(self.host(), time)
    }

    /// Returns the wall clock in ns since 1970 at simulation time `time` in s, earlier pauses included.
    pub(super) fn wall_ns_at(&self, time: f64) -> u64 {
        self.start_ns.saturating_add_signed((self.time.host_at(time) * 1e9) as i64)
    }

    pub(super) fn restart(&mut self) {
        let (run, is_paused) = (self.run + 1, self.time.is_paused);
        let drift_ppm = (self.drift - 1.0) * 1e6;
        *self = Self::new(self.speed, drift_ppm, self.waits_for_steps);
        self.run = run;
        self.time.is_paused = is_paused;
    }

    /// Returns the step of run `run` to compute now.
    pub(super) fn due(&mut self, run: u64, steps: &mut Steps) -> Option<f64> {
        let host = self.host();
        (run == self.run).then(|| steps.due(&mut self.time, host))?
    }

    /// Sets the computed time of run `run` in s.
    pub(super) fn reach(&mut self, run: u64, time: f64) {
        if run == self.run {
            self.time.reach(time);
        }
    }

    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.time.set_paused(self.host(), is_paused);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.time.is_paused
    }

    pub(super) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
        self.time.set_speed(self.host(), speed * self.drift);
    }
}

/// Returns the monotonic clock and the wall clock in ns at one instant; reads again if this thread was preempted in between.
fn both_clocks() -> (Instant, u64) {
    const TOGETHER: Duration = Duration::from_micros(20);
    const TRIES: u32 = 100;
    let mut anchor = Instant::now();
    let mut wall = wall_ns();
    for _ in 0..TRIES {
        if anchor.elapsed() < TOGETHER {
            break;
        }
        anchor = Instant::now();
        wall = wall_ns();
    }
    (anchor, wall)
}

/// Returns the wall clock in ms since 1970.
pub(super) fn wall_ms() -> i64 {
    (wall_ns() / 1_000_000) as i64
}

/// Returns the wall clock in ns since 1970.
pub(super) fn wall_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}
