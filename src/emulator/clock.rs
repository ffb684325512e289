//! Simulation time: it runs with the host's clock, but never further than the simulation has been computed.
use super::autopilot::STEP;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time in s of which the steps are made up for after a delay. More is lost, as by a computer that is too slow: vehicles
/// would fly it blindly.
const MOST: f64 = 100.0 * STEP;

/// Simulation time as a function of the host's, which it is told: 0 at the start, running at its own speed, able to pause.
#[derive(Clone, Copy, Debug)]
pub struct SimTime {
    /// Time of the host at which simulation time was `anchor_time`.
    anchor: Duration,
    anchor_time: f64,
    speed: f64,
    paused: bool,
    /// What happens after this time in s is not known yet.
    horizon: f64,
}

impl SimTime {
    /// Begins at 0 when the host's time is `host`; `speed` is in simulation seconds per second. Nothing limits it until
    /// [`SimTime::reach`] or [`SimTime::stand`] does.
    pub fn new(host: Duration, speed: f64) -> Self {
        Self {
            anchor: host,
            anchor_time: 0.0,
            speed,
            paused: false,
            horizon: f64::INFINITY,
        }
    }

    /// Time in s that it would be if the simulation was computed.
    fn free(&self, host: Duration) -> f64 {
        if self.paused {
            return self.anchor_time;
        }
        self.anchor_time + host.saturating_sub(self.anchor).as_secs_f64() * self.speed
    }

    /// Simulation time in s.
    pub fn now(&self, host: Duration) -> f64 {
        self.free(host).min(self.horizon)
    }

    /// How long it takes until simulation time `time` in s; `None` while paused.
    pub fn until(&self, host: Duration, time: f64) -> Option<Duration> {
        /// Where the simulation is not computed yet, whoever waits for it looks again so often.
        const LOOK: Duration = Duration::from_millis(1);
        if self.paused {
            return None;
        }
        let seconds = (time - self.free(host)) / self.speed;
        let wait = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::from_secs(1));
        Some(if time > self.horizon {
            wait.max(LOOK)
        } else {
            wait
        })
    }

    /// The host's time when simulation time was, or will be, `time` in s, as far as is known now.
    fn host_at(&self, time: f64) -> f64 {
        self.anchor.as_secs_f64() + (time - self.anchor_time) / self.speed
    }

    /// The simulation has been computed until `time` in s.
    pub fn reach(&mut self, time: f64) {
        self.horizon = time;
    }

    /// Time stands at 0 until the simulation has been computed.
    pub fn stand(&mut self) {
        self.horizon = 0.0;
    }

    /// Lets time go on from where it stands, and forgets what was missed.
    fn lose(&mut self, host: Duration) {
        self.anchor_time = self.now(host);
        self.anchor = host;
    }

    /// Stops time or lets it go on.
    pub fn set_paused(&mut self, host: Duration, paused: bool) {
        self.lose(host);
        self.paused = paused;
    }

    /// Changes the speed.
    pub fn set_speed(&mut self, host: Duration, speed: f64) {
        self.lose(host);
        self.speed = speed;
    }
}

/// The steps of a simulation, one after the other: none is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    done: u64,
}

impl Steps {
    /// Simulation time in s of the next step. What happens before it is known.
    pub fn next(&self) -> f64 {
        self.done as f64 * STEP
    }

    /// The step that is to be computed now, if there is one; everybody may see what happens until [`Steps::next`] then,
    /// which [`SimTime::reach`] says. A simulation that is too late lets time stand still instead of hurrying.
    pub fn due(&mut self, time: &mut SimTime, host: Duration) -> Option<f64> {
        let next = self.next();
        if time.free(host) - next > MOST {
            time.lose(host);
        }
        (next <= time.free(host)).then(|| {
            self.done += 1;
            next
        })
    }
}

/// [`SimTime`] by this machine's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimClock {
    time: SimTime,
    base: Instant,
    drift: f64,
    speed: f64,
    start_ns: u64,
    /// Counts restarts: whoever computes an older run does not set the time of this one.
    run: u64,
    /// Somebody computes the simulation, and time waits for them.
    computed: bool,
}

impl SimClock {
    pub(super) fn new(speed: f64, drift_ppm: f64, computed: bool) -> Self {
        let drift = 1.0 + drift_ppm * 1e-6;
        let (base, start_ns) = both_clocks();
        let mut clock = Self {
            time: SimTime::new(Duration::ZERO, speed * drift),
            base,
            drift,
            speed,
            start_ns,
            run: 0,
            computed,
        };
        if computed {
            clock.time.stand();
        }
        clock
    }

    fn host(&self) -> Duration {
        self.base.elapsed()
    }

    /// Returns simulation time in s.
    pub(super) fn now(&self) -> f64 {
        self.time.now(self.host())
    }

    /// Returns how long it takes until simulation time `time`; `None` while paused.
    pub(super) fn until(&self, time: f64) -> Option<Duration> {
        self.time.until(self.host(), time)
    }

    /// Returns the wall clock in ns since 1970 at simulation time 0.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Returns the wall clock in ns since 1970 at simulation time `time` in s: time may have stood still before it.
    pub(super) fn wall_ns_at(&self, time: f64) -> u64 {
        self.start_ns
            .saturating_add_signed((self.time.host_at(time) * 1e9) as i64)
    }

    pub(super) fn restart(&mut self) {
        let (run, paused) = (self.run + 1, self.time.paused);
        let drift_ppm = (self.drift - 1.0) * 1e6;
        *self = Self::new(self.speed, drift_ppm, self.computed);
        self.run = run;
        self.time.paused = paused;
    }

    /// Number of restarts.
    pub(super) fn run(&self) -> u64 {
        self.run
    }

    /// Returns the step of run `run` that is to be computed now.
    pub(super) fn due(&mut self, run: u64, steps: &mut Steps) -> Option<f64> {
        let host = self.host();
        (run == self.run).then(|| steps.due(&mut self.time, host))?
    }

    /// Run `run` has been computed until simulation time `time` in s.
    pub(super) fn reach(&mut self, run: u64, time: f64) {
        if run == self.run {
            self.time.reach(time);
        }
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        self.time.set_paused(self.host(), paused);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.time.paused
    }

    pub(super) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
        self.time.set_speed(self.host(), speed * self.drift);
    }
}

/// Returns both clocks at one instant; read again if this thread was held up between the readings.
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
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as u64)
}
