use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The simulation clock: 0 at start, running at its own speed, able to pause and to restart.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimClock {
    anchor: Instant,
    anchor_time: f64,
    rate: f64,
    drift: f64,
    paused: bool,
    start_ns: u64,
}

impl SimClock {
    pub(super) fn new(speed: f64, drift_ppm: f64) -> Self {
        let drift = 1.0 + drift_ppm * 1e-6;
        let (anchor, start_ns) = both_clocks();
        Self {
            anchor,
            anchor_time: 0.0,
            rate: speed,
            drift,
            paused: false,
            start_ns,
        }
    }

    /// Returns simulation time in s.
    pub(super) fn now(&self) -> f64 {
        if self.paused {
            return self.anchor_time;
        }
        self.anchor_time + self.anchor.elapsed().as_secs_f64() * self.rate * self.drift
    }

    /// Returns how long it takes until simulation time `time`; `None` while paused.
    pub(super) fn until(&self, time: f64) -> Option<Duration> {
        let seconds = (time - self.now()) / (self.rate * self.drift);
        (!self.paused).then(|| {
            Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::from_secs(1))
        })
    }

    /// Returns the wall clock in ns since 1970 at simulation time 0.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    pub(super) fn restart(&mut self) {
        let (anchor, start_ns) = both_clocks();
        *self = Self {
            anchor,
            anchor_time: 0.0,
            start_ns,
            ..*self
        };
    }

    pub(super) fn set_paused(&mut self, paused: bool) {
        self.settle();
        self.paused = paused;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused
    }

    pub(super) fn set_speed(&mut self, speed: f64) {
        self.settle();
        self.rate = speed;
    }

    fn settle(&mut self) {
        self.anchor_time = self.now();
        self.anchor = Instant::now();
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
