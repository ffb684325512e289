//! Estimates the offset between an autopilot's clock and ours from TIMESYNC requests and answers.
//!
//! The autopilot read its clock between our request and the arrival of its answer, so the offset is known to half of the
//! round trip. A line through the samples of the last seconds, weighted by round trip, gives offset and drift. (A
//! simulated autopilot may run some per cent slower than our clock.)
use crate::wire::mavlink::raw::Timesync;
use std::collections::VecDeque;
use std::time::Duration;

/// Rates and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimesyncSettings {
    /// Period of requests; 0: none.
    pub period: Duration,
    /// Period of the first requests, until there is an offset.
    pub first_period: Duration,
    /// Longer round trips are ignored.
    pub longest_round_trip: Duration,
}

impl Default for TimesyncSettings {
    /// 10 Hz, as mavros for PX4.
    fn default() -> Self {
        Self {
            period: Duration::from_millis(100),
            first_period: Duration::from_millis(50),
            longest_round_trip: Duration::from_millis(500),
        }
    }
}

/// Samples of the line, and their maximum age.
const SAMPLES: usize = 40;
const WINDOW_NS: i64 = 2_000_000_000;
/// Requests whose answers may still arrive.
const ASKED: usize = 16;
/// Samples needed for an offset.
const ENOUGH: usize = 3;
/// Noise of every sample: scheduling at both ends.
const NOISE_NS: f64 = 50e3;
/// A sample is off if its distance from the line exceeds half its round trip plus this and this fraction of the elapsed
/// time.
const TOLERANCE_NS: f64 = 3e6;
const TOLERANCE_DRIFT: f64 = 0.05;
/// Largest ratio of our clock's speed to a simulated autopilot's, and its inverse.
const MOST_SPEED: f64 = 5.0;
/// Samples in a row that agree with each other but not with the line, before the line is dropped.
const WITNESSES: usize = 3;
/// Largest step back of the autopilot's clock between two reordered answers.
const REORDERED_NS: i64 = 50_000_000;
/// A sample further than this from the prediction belongs to another run of the autopilot, if more follow it.
const ANOTHER_RUN_NS: i64 = 1_000_000_000;
/// How long the shortest transit time is kept; the clocks drift apart meanwhile.
const SHORTEST_WAY: Duration = Duration::from_millis(250);

/// Result of a TIMESYNC message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimesyncOutcome {
    /// The autopilot's request; send this answer.
    Reply(Timesync),
    /// A valid answer; one that is off is not used.
    Sample(TimesyncSample),
    /// The autopilot's clock contradicts the estimate, which was restarted.
    Relearnt {
        /// The newest answer.
        sample: TimesyncSample,
        /// The clock went back: the autopilot restarted. Otherwise it was stopped, set, or changed its speed.
        went_back: bool,
    },
    /// Not an answer to us, or too late.
    Ignored,
}

/// One exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimesyncSample {
    /// The autopilot's clock in ns.
    pub remote_ns: i64,
    /// Offset of this exchange in ns: our clock (as on the wire) minus the autopilot's.
    pub observed_ns: i64,
    /// Estimated offset in ns; the observed one until there is an estimate.
    pub estimated_ns: i64,
    /// Round trip.
    pub round_trip: Duration,
}

/// Figures so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TimesyncCounters {
    /// Requests sent.
    pub asked: u64,
    /// Answers used.
    pub used: u64,
    /// Answers that contradict the estimate.
    pub off: u64,
    /// Answers to others, duplicates, or too late.
    pub ignored: u64,
    /// Requests answered.
    pub answered: u64,
    /// Restarts of the estimate.
    pub relearnt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// Middle of the round trip in ns of our clock.
    host: i64,
    remote: i64,
    round_trip: i64,
}

impl Exchange {
    fn offset(&self) -> i64 {
        self.host.saturating_sub(self.remote)
    }
}

/// Our clock as a function of the autopilot's: offset = at_origin + drift * (remote - origin). A copy converts times
/// between two exchanges.
#[derive(Clone, Copy, Debug)]
pub struct ClockLine {
    origin: i64,
    at_origin: f64,
    base: i64,
    drift: f64,
    /// Three standard errors of the drift.
    drift_error: f64,
    /// Three standard errors of the offset, where the samples are densest.
    error: f64,
    /// Distance from there to the origin.
    from_middle: f64,
}

impl ClockLine {
    /// A clock with a constant lead over the autopilot's, in ns.
    pub fn constant(offset_ns: i64) -> Self {
        Self {
            origin: 0,
            at_origin: 0.0,
            base: offset_ns,
            drift: 0.0,
            drift_error: 0.0,
            error: 0.0,
            from_middle: 0.0,
        }
    }

    /// Our time in ns when the autopilot's clock shows `remote_ns`.
    pub fn host_ns(&self, remote_ns: i64) -> i64 {
        remote_ns.saturating_add(self.offset(remote_ns))
    }

    /// The autopilot's clock in ns at our time, to a few ms.
    pub fn remote_ns(&self, host_ns: i64) -> i64 {
        host_ns.saturating_sub(self.offset(host_ns.saturating_sub(self.base)))
    }

    fn offset(&self, remote: i64) -> i64 {
        let since = remote.saturating_sub(self.origin) as f64;
        self.base
            .saturating_add((self.at_origin + self.drift * since).round() as i64)
    }

    /// Uncertainty of the offset.
    fn uncertainty(&self, remote: i64) -> f64 {
        let since = remote.saturating_sub(self.origin) as f64 + self.from_middle;
        self.error + self.drift_error * since.abs()
    }
}

/// The clock of one autopilot.
///
/// Our clock is monotonic; on the wire it has a selectable epoch, because autopilots translate the stamps of our
/// messages by the same offset.
#[derive(Debug)]
pub struct TimesyncEstimator {
    settings: TimesyncSettings,
    epoch_ns: i64,
    asked: VecDeque<i64>,
    next: Duration,
    samples: VecDeque<Exchange>,
    off: Vec<Exchange>,
    line: Option<ClockLine>,
    heard: Heard,
    counters: TimesyncCounters,
}

/// The autopilot's clock as its samples show it, after an unknown transit time.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    /// The newest time in ns.
    newest: Option<i64>,
    /// Samples in a row that contradict it.
    odd: usize,
    /// Least difference of our clock and the autopilot's, which is at the shortest transit, in this period and the one
    /// before.
    least: [Option<i64>; 2],
    since: Duration,
}

impl Heard {
    fn least(&self) -> Option<i64> {
        self.least.into_iter().flatten().min()
    }
}

impl TimesyncEstimator {
    /// `epoch_ns`: wire time in ns at zero of our monotonic clock.
    pub fn new(settings: TimesyncSettings, epoch_ns: i64) -> Self {
        Self {
            settings,
            epoch_ns,
            asked: VecDeque::with_capacity(ASKED),
            next: Duration::ZERO,
            samples: VecDeque::with_capacity(SAMPLES),
            off: Vec::new(),
            line: None,
            heard: Heard::default(),
            counters: TimesyncCounters::default(),
        }
    }

    /// Changes the epoch by so little that the estimate still holds: wire time runs slightly faster or slower than the
    /// monotonic clock.
    pub fn set_epoch(&mut self, epoch_ns: i64) {
        self.epoch_ns = epoch_ns;
    }

    /// Drops the estimate, for example when the autopilot is lost.
    pub fn reset(&mut self) {
        self.asked.clear();
        self.samples.clear();
        self.off.clear();
        self.line = None;
        self.heard = Heard::default();
    }

    /// Takes the time of a sample that the autopilot sent as soon as it was taken. Returns whether the autopilot
    /// restarted, which samples show earlier than answers; the estimate is dropped then.
    pub fn hear(&mut self, now: Duration, remote_ns: i64) -> bool {
        let ahead = self.wire(now).saturating_sub(remote_ns);
        let Heard { newest, .. } = self.heard;
        let went_back = newest.is_some_and(|n| remote_ns.saturating_add(ANOTHER_RUN_NS) < n);
        let least = self.heard.least();
        let odd = went_back || least.is_some_and(|l| ahead.saturating_add(ANOTHER_RUN_NS) < l);
        self.heard.odd = if odd { self.heard.odd + 1 } else { 0 };
        if odd && self.heard.odd < WITNESSES {
            return false;
        }
        if odd {
            self.reset();
        }
        let heard = &mut self.heard;
        if now.saturating_sub(heard.since) >= SHORTEST_WAY {
            let [this, _] = heard.least;
            heard.least = [None, this];
            heard.since = now;
        }
        let [this, _] = &mut heard.least;
        *this = Some(this.map_or(ahead, |least| least.min(ahead)));
        heard.newest = newest.filter(|_| !odd).max(Some(remote_ns));
        odd && went_back
    }

    /// Returns the due request.
    pub fn tick(&mut self, now: Duration) -> Option<Timesync> {
        if self.settings.period.is_zero() || now < self.next {
            return None;
        }
        let period = if self.line.is_none() {
            self.settings.first_period.min(self.settings.period)
        } else {
            self.settings.period
        };
        self.next = now.saturating_add(period);
        if self.asked.len() >= ASKED {
            self.asked.pop_front();
        }
        let ts1 = self.wire(now);
        self.asked.push_back(ts1);
        self.counters.asked += 1;
        Some(Timesync {
            ts1,
            ..Timesync::default()
        })
    }

    /// When [`tick`](Self::tick) has work.
    pub fn deadline(&self) -> Option<Duration> {
        (!self.settings.period.is_zero()).then_some(self.next)
    }

    /// Handles a message of the autopilot.
    pub fn receive(&mut self, now: Duration, message: &Timesync) -> TimesyncOutcome {
        let host = self.wire(now);
        if message.tc1 == 0 {
            self.counters.answered += 1;
            return TimesyncOutcome::Reply(Timesync {
                tc1: host,
                ts1: message.ts1,
                ..Timesync::default()
            });
        }
        let known = self.asked.iter().position(|ts1| *ts1 == message.ts1);
        let round_trip = host.saturating_sub(message.ts1);
        let longest = as_ns(self.settings.longest_round_trip);
        if let Some(at) = known {
            self.asked.remove(at);
        }
        if known.is_none() || message.tc1 < 0 || !(0..=longest).contains(&round_trip) {
            self.counters.ignored += 1;
            return TimesyncOutcome::Ignored;
        }
        let exchange = Exchange {
            host: message.ts1.saturating_add(round_trip / 2),
            remote: message.tc1,
            round_trip,
        };
        let relearnt = self.learn(exchange);
        let sample = TimesyncSample {
            remote_ns: exchange.remote,
            observed_ns: exchange.offset(),
            estimated_ns: (self.line).map_or(exchange.offset(), |l| l.offset(exchange.remote)),
            round_trip: Duration::from_nanos(round_trip.unsigned_abs()),
        };
        match relearnt {
            Some(went_back) => TimesyncOutcome::Relearnt { sample, went_back },
            None => TimesyncOutcome::Sample(sample),
        }
    }

    /// Our wire time minus the autopilot's in ns, at the newest sample.
    pub fn offset(&self) -> Option<i64> {
        let newest = self.samples.back()?;
        Some(self.line?.offset(newest.remote))
    }

    /// Our wire time as a function of the autopilot's, if known.
    pub fn line(&self) -> Option<ClockLine> {
        self.line
    }

    /// The same before the first answers: from the sample of the last seconds with the shortest transit.
    pub fn rough(&self) -> Option<ClockLine> {
        self.heard.least().map(ClockLine::constant)
    }

    /// Our wire time in ns when the autopilot's clock shows `remote_ns`.
    pub fn host_ns(&self, remote_ns: i64) -> Option<i64> {
        Some(self.line?.host_ns(remote_ns))
    }

    /// Shortest round trip of the last seconds.
    pub fn round_trip(&self) -> Option<Duration> {
        let shortest = self.samples.iter().map(|s| s.round_trip).min()?;
        Some(Duration::from_nanos(shortest.unsigned_abs()))
    }

    /// How much faster our clock runs than the autopilot's, in ppm.
    pub fn drift_ppm(&self) -> Option<f64> {
        Some(self.line?.drift * 1e6)
    }

    /// Counters so far.
    pub fn counters(&self) -> TimesyncCounters {
        self.counters
    }

    fn wire(&self, now: Duration) -> i64 {
        // A request with time 0 would not be taken as one.
        self.epoch_ns.saturating_add(as_ns(now)).max(1)
    }

    /// Adds an exchange. If it restarts the estimate, returns whether the clock went back.
    fn learn(&mut self, exchange: Exchange) -> Option<bool> {
        let newest = self.samples.back().map(|s| s.remote);
        let went_back =
            newest.is_some_and(|newest| exchange.remote < newest.saturating_sub(REORDERED_NS));
        if !went_back && !self.is_off(&exchange) {
            self.off.clear();
            self.counters.used += 1;
            self.add(exchange);
            return None;
        }
        self.counters.off += 1;
        // Witnesses must agree: nearly the same time passed on both clocks.
        if (self.off.last()).is_some_and(|last| !agree(last, &exchange)) {
            self.off.clear();
        }
        self.off.push(exchange);
        if self.off.len() < WITNESSES {
            return None;
        }
        self.samples.clear();
        self.line = None;
        self.heard = Heard::default();
        self.counters.relearnt += 1;
        for exchange in std::mem::take(&mut self.off) {
            self.add(exchange);
        }
        Some(went_back)
    }

    fn is_off(&self, exchange: &Exchange) -> bool {
        let (Some(line), Some(newest)) = (self.line, self.samples.back()) else {
            // Without a line, samples must agree with each other.
            return (self.samples.back()).is_some_and(|last| !agree(last, exchange));
        };
        let since = exchange.remote.saturating_sub(newest.remote).max(0) as f64;
        let allowed = exchange.round_trip as f64 / 2.0
            + TOLERANCE_NS
            + TOLERANCE_DRIFT * since
            + line.uncertainty(exchange.remote);
        let off = exchange
            .offset()
            .saturating_sub(line.offset(exchange.remote));
        (off as f64).abs() > allowed
    }

    fn add(&mut self, exchange: Exchange) {
        if self.samples.len() >= SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(exchange);
        let oldest = exchange.host.saturating_sub(WINDOW_NS);
        while self.samples.front().is_some_and(|s| s.host < oldest) {
            self.samples.pop_front();
        }
        if self.samples.len() >= ENOUGH || self.line.is_some() {
            self.line = self.fit();
        }
    }

    /// Weighted least squares. Offsets are relative to one of them, to keep ns precision in f64.
    fn fit(&self) -> Option<ClockLine> {
        let newest = self.samples.back()?;
        let (origin, base) = (newest.remote, newest.offset());
        let shortest = self.samples.iter().map(|s| s.round_trip).min()? as f64;
        let weighed = self.samples.iter().map(|s| {
            // The shortest round trip has an unknown delay, too.
            let noise = (s.round_trip as f64 - 0.75 * shortest) / 2.0 + NOISE_NS;
            let x = s.remote.saturating_sub(origin) as f64;
            let y = s.offset().saturating_sub(base) as f64;
            (1.0 / (noise * noise), x, y)
        });
        let (w, wx, wy) = weighed.clone().fold((0.0, 0.0, 0.0), |sum, (w, x, y)| {
            (sum.0 + w, sum.1 + w * x, sum.2 + w * y)
        });
        let (x_mean, y_mean) = (wx / w, wy / w);
        let (xx, xy) = weighed.fold((0.0, 0.0), |sum, (w, x, y)| {
            let (dx, dy) = (x - x_mean, y - y_mean);
            (sum.0 + w * dx * dx, sum.1 + w * dx * dy)
        });
        // A short span determines the drift poorly; the previous drift is better than noise.
        let before = self.line.map_or(0.0, |line| line.drift);
        let (drift, drift_error) = if xx > 0.0 {
            let error = 3.0 / xx.sqrt();
            (before + shrink(xy / xx - before, error), error)
        } else {
            (before, 0.0)
        };
        Some(ClockLine {
            origin,
            at_origin: y_mean - drift * x_mean,
            base,
            drift,
            drift_error,
            error: 3.0 / w.sqrt(),
            from_middle: -x_mean,
        })
    }
}

/// Shrinks a deviation by its error: kept if far above it, 0 if far below.
fn shrink(deviation: f64, error: f64) -> f64 {
    let square = deviation * deviation;
    if square > 0.0 {
        deviation * square / (square + error * error)
    } else {
        0.0
    }
}

/// Whether both clocks can have advanced by the same time.
fn agree(a: &Exchange, b: &Exchange) -> bool {
    let there = b.remote.saturating_sub(a.remote);
    let here = b.host.saturating_sub(a.host) as f64;
    let noise = a.round_trip.saturating_add(b.round_trip) as f64 / 2.0 + TOLERANCE_NS;
    let passed = there.max(0) as f64;
    there >= -REORDERED_NS
        && here <= passed * MOST_SPEED + noise
        && here >= passed / MOST_SPEED - noise
}

fn as_ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
