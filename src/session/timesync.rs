//! Estimates the offset between an autopilot's clock and the host's clock from TIMESYNC requests and answers.
//!
//! The autopilot reads its clock between the request and the arrival of its answer, so the error of the offset is at most half
//! the round trip. A line through the samples of the last seconds, weighted by round trip, gives offset and drift. (The clock of
//! a simulated autopilot may be a few per cent slower than the host's.)
use crate::{time::shrink, wire::mavlink::raw::Timesync};
use std::collections::VecDeque;
use std::time::Duration;

/// Periods and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimesyncSettings {
    /// Period of requests; 0: none.
    pub period: Duration,
    /// Period of the first requests, until there is an offset.
    pub first_period: Duration,
    /// Answers with a longer round trip are ignored.
    pub max_round_trip: Duration,
}

impl Default for TimesyncSettings {
    /// 10 Hz, like mavros for PX4.
    fn default() -> Self {
        Self {
            period: Duration::from_millis(100),
            first_period: Duration::from_millis(50),
            max_round_trip: Duration::from_millis(500),
        }
    }
}

/// Maximum number and age of the samples of the line.
const MAX_SAMPLES: usize = 40;
const WINDOW_NS: i64 = 2_000_000_000;
/// Maximum number of requests without an answer.
const MAX_OPEN_REQUESTS: usize = 16;
/// Minimum number of samples for an offset.
const MIN_SAMPLES: usize = 3;
/// Noise of every sample, caused by scheduling at both ends.
const NOISE_NS: f64 = 50e3;
/// A sample is an outlier if its distance from the line exceeds the sum of half its round trip, the uncertainty of the line, this
/// constant and this fraction of the elapsed time.
const TOLERANCE_NS: f64 = 3e6;
const TOLERANCE_DRIFT: f64 = 0.05;
/// Maximum ratio between the speeds of the host's clock and a simulated autopilot's.
const MAX_SPEED_RATIO: f64 = 5.0;
/// Number of consecutive outliers, or of sensor samples whose stamps jump, after which the estimate is dropped.
const MIN_CONFIRMATIONS: usize = 3;
/// Maximum step back of the autopilot's clock between two reordered answers.
const MAX_REORDERING_NS: i64 = 50_000_000;
/// Stamps of sensor samples that jump back or ahead by more than this contradict the estimate.
const JUMP_NS: i64 = 1_000_000_000;
/// The shortest transit time is taken over the current and the previous period of this length; an older one is wrong after drift.
const TRANSIT_PERIOD: Duration = Duration::from_millis(250);

/// Result of a TIMESYNC message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimesyncOutcome {
    /// The autopilot's request; send this answer.
    Reply(Timesync),
    /// A valid answer, used unless it is an outlier.
    Sample(TimesyncSample),
    /// The autopilot's clock contradicted the estimate, which was restarted.
    Restarted {
        /// The newest answer.
        sample: TimesyncSample,
        /// The clock went back: the autopilot restarted. Otherwise it was stopped, set, or changed its speed.
        went_back: bool,
    },
    /// An answer to another station, a duplicate, or an answer that came too late.
    Ignored,
}

/// One exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimesyncSample {
    /// The autopilot's clock in ns.
    pub remote_ns: i64,
    /// Offset of this exchange in ns: the host's clock (as on the wire) minus the autopilot's.
    pub observed_ns: i64,
    /// Estimated offset in ns; the observed one until there is an estimate.
    pub estimated_ns: i64,
    /// Round trip.
    pub round_trip: Duration,
}

/// Counters so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TimesyncCounters {
    /// Requests sent.
    pub asked: u64,
    /// Answers used.
    pub used: u64,
    /// Outliers: answers that contradict the estimate.
    pub outliers: u64,
    /// Answers to other stations, duplicates, and late answers.
    pub ignored: u64,
    /// Requests answered.
    pub answered: u64,
    /// Restarts of the estimate because of answers.
    pub restarted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// Middle of the round trip in ns of the host's clock.
    host: i64,
    remote: i64,
    round_trip: i64,
}

impl Exchange {
    fn offset(&self) -> i64 {
        self.host.saturating_sub(self.remote)
    }
}

/// The host's clock as a function of the autopilot's: host = remote + base + at_origin + drift * (remote - origin). Copies of
/// it convert times between two exchanges.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockLine {
    origin: i64,
    at_origin: f64,
    base: i64,
    drift: f64,
    /// Three standard errors of the drift.
    drift_error: f64,
    /// Three standard errors of the offset at the weighted mean of the samples.
    error: f64,
    /// `origin` minus the weighted mean time of the samples.
    from_mean: f64,
}

impl ClockLine {
    /// Creates a line with a constant offset in ns.
    pub fn constant(offset_ns: i64) -> Self {
        Self { base: offset_ns, ..Self::default() }
    }

    /// The host's time in ns when the autopilot's clock shows `remote_ns`.
    pub fn host_ns(&self, remote_ns: i64) -> i64 {
        remote_ns.saturating_add(self.offset(remote_ns))
    }

    /// The autopilot's clock in ns at a time of the host, with an error of a few ms.
    pub fn remote_ns(&self, host_ns: i64) -> i64 {
        host_ns.saturating_sub(self.offset(host_ns.saturating_sub(self.base)))
    }

    fn offset(&self, remote: i64) -> i64 {
        let elapsed = remote.saturating_sub(self.origin) as f64;
        self.base.saturating_add((self.at_origin + self.drift * elapsed).round() as i64)
    }

    /// Uncertainty of the offset.
    fn uncertainty(&self, remote: i64) -> f64 {
        let elapsed = remote.saturating_sub(self.origin) as f64 + self.from_mean;
        self.error + self.drift_error * elapsed.abs()
    }
}

/// The clock of one autopilot.
///
/// The host's clock is monotonic; on the wire it has a selectable epoch, because autopilots also convert the stamps
/// of other received messages with the offset from TIMESYNC.
#[derive(Debug)]
pub struct TimesyncEstimator {
    settings: TimesyncSettings,
    epoch_ns: i64,
    open_requests: VecDeque<i64>,
    next: Duration,
    samples: VecDeque<Exchange>,
    outliers: Vec<Exchange>,
    line: Option<ClockLine>,
    sample_clock: SampleClock,
    counters: TimesyncCounters,
}

/// The autopilot's clock according to the stamps of its sensor samples, which arrive after an unknown transit time.
#[derive(Clone, Copy, Debug, Default)]
struct SampleClock {
    /// The newest stamp in ns.
    newest: Option<i64>,
    /// Number of consecutive samples whose stamps jump.
    outliers: usize,
    /// Minimum difference between the host's clock and the stamps (shortest transit) in the current and in the previous period.
    min_difference: [Option<i64>; 2],
    period_start: Duration,
}

impl SampleClock {
    fn min_difference(&self) -> Option<i64> {
        self.min_difference.into_iter().flatten().min()
    }
}

impl TimesyncEstimator {
    /// Creates an estimator. `epoch_ns` is the wire time in ns at zero of the host's monotonic clock.
    pub fn new(settings: TimesyncSettings, epoch_ns: i64) -> Self {
        Self {
            settings,
            epoch_ns,
            open_requests: VecDeque::with_capacity(MAX_OPEN_REQUESTS),
            next: Duration::ZERO,
            samples: VecDeque::with_capacity(MAX_SAMPLES),
            outliers: Vec::new(),
            line: None,
            sample_clock: SampleClock::default(),
            counters: TimesyncCounters::default(),
        }
    }

    /// Changes the epoch and keeps the estimate, so the change must be small: wire time may run slightly faster or slower than
    /// the monotonic clock.
    pub fn set_epoch(&mut self, epoch_ns: i64) {
        self.epoch_ns = epoch_ns;
    }

    /// Drops the estimate, for example when the autopilot is lost.
    pub fn reset(&mut self) {
        self.open_requests.clear();
        self.samples.clear();
        self.outliers.clear();
        self.line = None;
        self.sample_clock = SampleClock::default();
    }

    /// Handles the stamp of a sensor sample that the autopilot sent at once. A confirmed jump of the stamps drops the estimate.
    /// Returns whether they jumped back: the autopilot restarted, which samples show earlier than answers do.
    pub fn sample_time(&mut self, now: Duration, remote_ns: i64) -> bool {
        let difference = self.wire_time(now).saturating_sub(remote_ns);
        let SampleClock { newest, .. } = self.sample_clock;
        let went_back = newest.is_some_and(|n| remote_ns.saturating_add(JUMP_NS) < n);
        let min = self.sample_clock.min_difference();
        let is_outlier = went_back || min.is_some_and(|m| difference.saturating_add(JUMP_NS) < m);
        let outliers = if is_outlier { self.sample_clock.outliers + 1 } else { 0 };
        self.sample_clock.outliers = outliers;
        if is_outlier && outliers < MIN_CONFIRMATIONS {
            return false;
        }
        if is_outlier {
            self.reset();
        }
        let sample_clock = &mut self.sample_clock;
        if now.saturating_sub(sample_clock.period_start) >= TRANSIT_PERIOD {
            let [current, _] = sample_clock.min_difference;
            sample_clock.min_difference = [None, current];
            sample_clock.period_start = now;
        }
        let [current, _] = &mut sample_clock.min_difference;
        *current = Some(current.map_or(difference, |min| min.min(difference)));
        sample_clock.newest = newest.filter(|_| !is_outlier).max(Some(remote_ns));
        is_outlier && went_back
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
        if self.open_requests.len() >= MAX_OPEN_REQUESTS {
            self.open_requests.pop_front();
        }
        let ts1 = self.wire_time(now);
        self.open_requests.push_back(ts1);
        self.counters.asked += 1;
        Some(Timesync { ts1, ..Timesync::default() })
    }

    /// Returns the time at which [`tick`](Self::tick) next has work.
    pub fn deadline(&self) -> Option<Duration> {
        (!self.settings.period.is_zero()).then_some(self.next)
    }

    /// Handles a message of the autopilot.
    pub fn receive(&mut self, now: Duration, message: &Timesync) -> TimesyncOutcome {
        let host = self.wire_time(now);
        if message.tc1 == 0 {
            self.counters.answered += 1;
            return TimesyncOutcome::Reply(Timesync {
                tc1: host,
                ts1: message.ts1,
                ..Timesync::default()
            });
        }
        let request = self.open_requests.iter().position(|ts1| *ts1 == message.ts1);
        let round_trip = host.saturating_sub(message.ts1);
        let longest = as_ns(self.settings.max_round_trip);
        if let Some(at) = request {
            self.open_requests.remove(at);
        }
        if request.is_none() || message.tc1 < 0 || !(0..=longest).contains(&round_trip) {
            self.counters.ignored += 1;
            return TimesyncOutcome::Ignored;
        }
        let exchange = Exchange {
            host: message.ts1.saturating_add(round_trip / 2),
            remote: message.tc1,
            round_trip,
        };
        let restarted = self.learn(exchange);
        let sample = TimesyncSample {
            remote_ns: exchange.remote,
            observed_ns: exchange.offset(),
            estimated_ns: (self.line).map_or(exchange.offset(), |l| l.offset(exchange.remote)),
            round_trip: Duration::from_nanos(round_trip.unsigned_abs()),
        };
        match restarted {
            Some(went_back) => TimesyncOutcome::Restarted { sample, went_back },
            None => TimesyncOutcome::Sample(sample),
        }
    }

    /// The host's wire time as a function of the autopilot's time, if known.
    pub fn line(&self) -> Option<ClockLine> {
        self.line
    }

    /// Like [`Self::line`], for use before the first answers: the constant offset of the recent sample with the shortest transit.
    pub fn coarse_line(&self) -> Option<ClockLine> {
        self.sample_clock.min_difference().map(ClockLine::constant)
    }

    /// Counters so far.
    pub fn counters(&self) -> TimesyncCounters {
        self.counters
    }

    fn wire_time(&self, now: Duration) -> i64 {
        // An answer with `tc1` 0 would be taken for a request.
        self.epoch_ns.saturating_add(as_ns(now)).max(1)
    }

    /// Adds an exchange. If it restarts the estimate, returns whether the clock went back.
    fn learn(&mut self, exchange: Exchange) -> Option<bool> {
        let newest = self.samples.back().map(|s| s.remote);
        let went_back =
            newest.is_some_and(|newest| exchange.remote < newest.saturating_sub(MAX_REORDERING_NS));
        if !went_back && !self.is_outlier(&exchange) {
            self.outliers.clear();
            self.counters.used += 1;
            self.add(exchange);
            return None;
        }
        self.counters.outliers += 1;
        // Consecutive outliers must agree: the clocks must have advanced at a plausible ratio.
        if (self.outliers.last()).is_some_and(|last| !agree(last, &exchange)) {
            self.outliers.clear();
        }
        self.outliers.push(exchange);
        if self.outliers.len() < MIN_CONFIRMATIONS {
            return None;
        }
        self.samples.clear();
        self.line = None;
        self.sample_clock = SampleClock::default();
        self.counters.restarted += 1;
        for exchange in std::mem::take(&mut self.outliers) {
            self.add(exchange);
        }
        Some(went_back)
    }

    fn is_outlier(&self, exchange: &Exchange) -> bool {
        let (Some(line), Some(newest)) = (self.line, self.samples.back()) else {
            // Without a line, samples must agree with each other.
            return (self.samples.back()).is_some_and(|last| !agree(last, exchange));
        };
        let elapsed = exchange.remote.saturating_sub(newest.remote).max(0) as f64;
        let allowed = exchange.round_trip as f64 / 2.0
            + TOLERANCE_NS
            + TOLERANCE_DRIFT * elapsed
            + line.uncertainty(exchange.remote);
        let deviation = exchange.offset().saturating_sub(line.offset(exchange.remote));
        (deviation as f64).abs() > allowed
    }

    fn add(&mut self, exchange: Exchange) {
        if self.samples.len() >= MAX_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(exchange);
        let oldest = exchange.host.saturating_sub(WINDOW_NS);
        while self.samples.front().is_some_and(|s| s.host < oldest) {
            self.samples.pop_front();
        }
        if self.samples.len() >= MIN_SAMPLES || self.line.is_some() {
            self.line = self.fit();
        }
    }

    /// Weighted least squares. Offsets are relative to one of them, to keep ns precision in f64.
    fn fit(&self) -> Option<ClockLine> {
        let newest = self.samples.back()?;
        let (origin, base) = (newest.remote, newest.offset());
        let shortest = self.samples.iter().map(|s| s.round_trip).min()? as f64;
        let weighted = self.samples.iter().map(|s| {
            // Even the shortest round trip has an unknown delay.
            let noise = (s.round_trip as f64 - 0.75 * shortest) / 2.0 + NOISE_NS;
            let x = s.remote.saturating_sub(origin) as f64;
            let y = s.offset().saturating_sub(base) as f64;
            (1.0 / (noise * noise), x, y)
        });
        let (w, wx, wy) = weighted
            .clone()
            .fold((0.0, 0.0, 0.0), |sum, (w, x, y)| (sum.0 + w, sum.1 + w * x, sum.2 + w * y));
        let (x_mean, y_mean) = (wx / w, wy / w);
        let (xx, xy) = weighted.fold((0.0, 0.0), |sum, (w, x, y)| {
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
            from_mean: -x_mean,
        })
    }
}

/// Whether the times by which the two clocks advanced have a tolerated ratio.
fn agree(a: &Exchange, b: &Exchange) -> bool {
    let remote_step = b.remote.saturating_sub(a.remote);
    let host_step = b.host.saturating_sub(a.host) as f64;
    let noise = a.round_trip.saturating_add(b.round_trip) as f64 / 2.0 + TOLERANCE_NS;
    let elapsed = remote_step.max(0) as f64;
    remote_step >= -MAX_REORDERING_NS
        && host_step <= elapsed * MAX_SPEED_RATIO + noise
        && host_step >= elapsed / MAX_SPEED_RATIO - noise
}

fn as_ns(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
