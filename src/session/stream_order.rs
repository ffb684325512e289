//! Decides whether a frame or sample continues its stream. One bad datagram must not affect the decision about later ones.
use super::gaps::SequenceGaps;
use crate::time::RosTime;

/// Number of consecutive rising numbers from which numbers are used: some senders never change theirs.
const MIN_RISING: u32 = 3;
/// Numbers with a difference of at most this are consecutive.
const MAX_NUMBER_STEP: i32 = 16;
/// Maximum step of time: a multiple of the usual step, plus a constant in s for streams with a short step.
const MAX_STEP_RATIO: f64 = 3.0;
const STEP_SLACK_S: f64 = 0.02;
/// Step of the slowest stream in s; also the maximum first step.
const MAX_STEP_S: f64 = 3.0;
/// Minimum period of a stream in ns: a burst seems to have a shorter period.
const MIN_PERIOD_NS: f64 = 1e6;
/// Maximum age of a late position in s.
const MAX_LATE_S: f64 = 1.0;
/// A restarted stream is accepted after this number of consecutive positions.
const MIN_CONFIRMATIONS: u32 = 3;
/// These positions must span at least this time and this number of usual periods, in which the old stream is silent.
const MIN_SILENCE_NS: i64 = 100_000_000;
const MIN_SILENT_PERIODS: f64 = 1.5;
/// A restarted stream without rising numbers is accepted after this time; also the limit of the required silence and the delay.
const MAX_WAIT_NS: i64 = 2_000_000_000;
/// Weight of a new step in the estimate of the usual step.
const LEARNING_RATE: f64 = 0.125;

/// Position of a frame or sample in its stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamPosition {
    /// Number, if the sender sends one.
    pub id: Option<i32>,
    /// Simulation time in s.
    pub time: f64,
    /// Arrival of its first datagram.
    pub arrival: RosTime,
}

/// How a position relates to its stream; result of [`StreamOrder::check`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Continuity {
    /// It continues the stream.
    Next,
    /// Enough consecutive positions contradicted the stream: the stream restarted.
    Restart,
    /// It is older than the last position, and is not known to have arrived before.
    Late,
    /// It has the number and time of the last position.
    Same,
    /// It is older than the last position, and has arrived before.
    Duplicate,
    /// It contradicts the stream; if enough positions follow it, they are accepted as a restart.
    Unconfirmed,
}

/// The order of one stream.
///
/// * A position continues the stream if it follows the last one in number and time. The maximum step of time depends on the
///   usual step, the numbers, and the silence before.
/// * Positions that contradict the stream are accepted as a restart when three consecutive ones follow each other for 100 ms
///   (or 1.5 usual periods, if that is longer) while none continues the stream.
/// * Numbers are used after three of them have risen. Skipped numbers are counted as lost until they arrive late. Numbers of
///   refused positions are not lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOrder {
    last: Option<StreamPosition>,
    /// Usual step of simulation time in s, and of arrival in ns.
    step: Option<UsualStep>,
    /// Delay of the last arrival in ns beyond the usual step: the next position may arrive earlier by this delay.
    delay: f64,
    /// Number of consecutive rising numbers.
    rising: u32,
    gaps: SequenceGaps,
    candidate: Option<RestartCandidate>,
}

#[derive(Clone, Copy, Debug)]
struct UsualStep {
    time: f64,
    arrival: f64,
}

/// Consecutive positions that contradict the stream.
#[derive(Clone, Copy, Debug)]
struct RestartCandidate {
    first: StreamPosition,
    last: StreamPosition,
    count: u32,
    /// The numbers rise by small steps, or are missing.
    is_consecutive: bool,
}

impl RestartCandidate {
    fn new(position: StreamPosition) -> Self {
        Self { first: position, last: position, count: 1, is_consecutive: true }
    }

    /// Adds a position if it follows the last one.
    fn add(&mut self, position: StreamPosition) -> bool {
        let step = position.time - self.last.time;
        let is_new = step > 0.0 || position.id != self.last.id;
        if !is_new || !(0.0..=MAX_STEP_S).contains(&step) || position.arrival < self.first.arrival {
            return false;
        }
        self.is_consecutive &= distance(self.last.id, position.id)
            .is_none_or(|distance| (1..=MAX_NUMBER_STEP).contains(&distance));
        (self.last, self.count) = (position, self.count + 1);
        true
    }
}

impl StreamOrder {
    /// Checks a position. After [`Continuity::Next`] and [`Continuity::Restart`] the caller passes it to [`Self::advance`].
    pub fn check(&mut self, position: StreamPosition) -> Continuity {
        let Some(last) = self.last else {
            self.gaps.begin(position.id);
            return Continuity::Next;
        };
        let distance = self.distance(&last, &position);
        let step = position.time - last.time;
        if self.follows(&last, &position, distance) {
            self.candidate = None;
            self.note_number(position.id);
            return Continuity::Next;
        }
        if step == 0.0 && position.id.is_some() && position.id == last.id {
            return Continuity::Same;
        }
        if let Some(candidate) = self.confirm(position) {
            self.restart_from(candidate);
            self.note_number(position.id);
            return Continuity::Restart;
        }
        let is_older = distance.map_or(step < 0.0, |distance| distance < 0 && step <= 0.0);
        if !is_older || step < -MAX_LATE_S {
            if let Some(id) = position.id.filter(|_| self.uses_numbers()) {
                self.gaps.refuse(id);
            }
            return Continuity::Unconfirmed;
        }
        let number = position.id.filter(|_| self.uses_numbers());
        if number.is_none_or(|id| self.gaps.receive(id)) {
            Continuity::Late
        } else {
            Continuity::Duplicate
        }
    }

    /// Makes an accepted position the last one.
    pub fn advance(&mut self, position: StreamPosition) {
        if let Some(last) = self.last {
            self.rising = match distance(last.id, position.id) {
                Some(1..=MAX_NUMBER_STEP) => self.rising.saturating_add(1),
                // Without numbers, only the time was checked.
                None => self.rising,
                Some(_) if self.rising >= MIN_RISING => self.rising,
                Some(_) => 0,
            };
            self.learn(&last, &position);
        }
        self.last = Some(position);
    }

    /// Count of skipped numbers that have not arrived late.
    pub fn lost(&self) -> u64 {
        self.gaps.lost
    }

    /// Continues the count of a previous stream.
    pub(super) fn continue_lost(&mut self, lost: u64) {
        self.gaps.lost = lost;
    }

    fn uses_numbers(&self) -> bool {
        self.rising >= MIN_RISING
    }

    /// Difference of the numbers; `None` while numbers are not used.
    fn distance(&self, last: &StreamPosition, position: &StreamPosition) -> Option<i32> {
        self.uses_numbers().then(|| distance(last.id, position.id)).flatten()
    }

    fn note_number(&mut self, id: Option<i32>) {
        match id {
            Some(id) if self.uses_numbers() => {
                self.gaps.receive(id);
            }
            id => self.gaps.begin(id),
        }
    }

    fn follows(&self, last: &StreamPosition, next: &StreamPosition, distance: Option<i32>) -> bool {
        let time = next.time - last.time;
        if time < 0.0 || distance.is_some_and(|distance| distance < 1) {
            return false;
        }
        if distance.is_none() && time == 0.0 && next.id.is_some() && next.id == last.id {
            return false;
        }
        let Some(step) = self.step else { return time <= MAX_STEP_S };
        let distance = f64::from(distance.unwrap_or(0));
        // Allows as many steps as fit into the silence: those frames were lost or not sent.
        let silence = elapsed(last, next) as f64 + self.delay;
        let missed = silence / step.arrival.max(MIN_PERIOD_NS);
        let max_time = MAX_STEP_RATIO * step.time * (missed.max(distance) + 1.0) + STEP_SLACK_S;
        let max_advance = MAX_STEP_RATIO * time + 4.0 * step.time;
        time <= max_time && (distance - 4.0) * step.time <= max_advance
    }

    fn learn(&mut self, last: &StreamPosition, position: &StreamPosition) {
        let (time, arrival) = (position.time - last.time, elapsed(last, position) as f64);
        if time <= 0.0 {
            return;
        }
        let Some(usual) = self.step else {
            self.step = Some(UsualStep { time, arrival });
            return;
        };
        // The previous delay is halved, because the usual step is only an estimate.
        let late = arrival - time * usual.arrival / usual.time;
        self.delay = (0.5 * self.delay + late).clamp(0.0, MAX_WAIT_NS as f64);
        let gap = usual.arrival;
        self.step = Some(UsualStep {
            time: usual.time + LEARNING_RATE * (time.min(MAX_STEP_RATIO * usual.time) - usual.time),
            arrival: gap
                + LEARNING_RATE * (arrival.min(MAX_STEP_RATIO * gap.max(MIN_PERIOD_NS)) - gap),
        });
    }

    /// Adds a position that contradicts the stream. Once the restart is confirmed, returns the candidate without this position.
    fn confirm(&mut self, position: StreamPosition) -> Option<RestartCandidate> {
        let candidate = self.candidate.get_or_insert_with(|| RestartCandidate::new(position));
        let before = *candidate;
        if candidate.last == position || !candidate.add(position) {
            *candidate = RestartCandidate::new(position);
            return None;
        }
        let periods = self.step.map_or(0.0, |step| MIN_SILENT_PERIODS * step.arrival) as i64;
        let required = if candidate.is_consecutive {
            periods.clamp(MIN_SILENCE_NS, MAX_WAIT_NS)
        } else {
            MAX_WAIT_NS
        };
        let duration = elapsed(&candidate.first, &position);
        (candidate.count >= MIN_CONFIRMATIONS && duration >= required).then_some(before)
    }

    /// Makes the candidate the stream.
    fn restart_from(&mut self, candidate: RestartCandidate) {
        let steps = f64::from(candidate.count.saturating_sub(1).max(1));
        let (first, last) = (candidate.first, candidate.last);
        let time = (last.time - first.time) / steps;
        let arrival = elapsed(&first, &last) as f64 / steps;
        self.step = (time > 0.0).then_some(UsualStep { time, arrival });
        self.delay = 0.0;
        let has_numbers = candidate.is_consecutive && last.id.is_some();
        self.rising = if has_numbers { MIN_RISING } else { 0 };
        self.gaps.begin(last.id);
        self.last = Some(last);
        self.candidate = None;
    }
}

fn distance(from: Option<i32>, to: Option<i32>) -> Option<i32> {
    Some(to?.wrapping_sub(from?))
}

fn elapsed(from: &StreamPosition, to: &StreamPosition) -> i64 {
    to.arrival.0.saturating_sub(from.arrival.0).max(0)
}
