//! Decides whether a frame or sample continues its stream. One bad datagram must not decide about the next ones.
use super::gaps::Gaps;
use crate::time::RosTime;

/// Rising numbers in a row after which numbers are used: some senders never change theirs.
const COUNTING: u32 = 3;
/// Largest difference of two neighbouring numbers where their time is not considered.
const NEAR: i32 = 16;
/// Limit of a step as a multiple of the usual one.
const LONGER: f64 = 3.0;
/// ... plus this, in s, for streams with a short step.
const SLACK_S: f64 = 0.02;
/// Step of the slowest stream in s; also the longest first step that is accepted.
const LONGEST_STEP_S: f64 = 3.0;
/// Shortest period of a stream in ns; bursts only seem faster.
const SHORTEST_NS: f64 = 1e6;
/// Age in s up to which a mark is a straggler.
const STRAGGLER_S: f64 = 1.0;
/// A contradicting stream is accepted after so many marks that follow each other ...
const WITNESSES: u32 = 3;
/// ... over at least this time and this many usual periods, during which the old stream is silent.
const SILENCE_NS: i64 = 100_000_000;
const SILENT_PERIODS: f64 = 1.5;
/// Contradicting marks without rising numbers are accepted after this time; also the upper limit of all times.
const ENOUGH_NS: i64 = 2_000_000_000;
/// Learning rate of the usual step.
const LEARN: f64 = 0.125;

/// Number and time of a frame or sample, and its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Number, if the sender counts.
    pub id: Option<i32>,
    /// Simulation time in s.
    pub time: f64,
    /// Arrival of its first datagram.
    pub arrival: RosTime,
}

/// Result of [`Order::judge`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It continues the stream.
    Next,
    /// It continues other marks that contradicted the stream: the stream restarted.
    Restart,
    /// It is older than the last one.
    Late,
    /// It has the last one's number and time.
    Same,
    /// It is older, and arrived before.
    Duplicate,
    /// Its number or time does not continue the stream; further marks that follow it would be accepted.
    Unconfirmed,
}

/// The order of one stream. It is given all arrival times and reads no clock.
///
/// * A mark that follows the last one in number and time is next. The allowed step of time depends on the usual step, on
///   the numbers, and on the silence before.
/// * Other marks are accepted when three in a row follow each other for 100 ms (or 1.5 usual periods, if that is more)
///   while none continues the stream: the sender restarted.
/// * Numbers count once three in a row have risen. Skipped numbers are lost until they arrive late, unless they are those of
///   marks that were refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    last: Option<Mark>,
    /// Usual step of simulation time in s and of arrival in ns.
    step: Option<Step>,
    /// Delay of the last one over the usual arrival in ns: the next step may be that much shorter.
    delay: f64,
    /// Rising numbers in a row.
    rising: u32,
    gaps: Gaps,
    candidate: Option<Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    time: f64,
    arrival: f64,
}

/// Marks that contradict the stream but not each other.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    first: Mark,
    last: Mark,
    count: u32,
    /// Their numbers follow each other, or are missing.
    numbered: bool,
}

impl Candidate {
    fn new(mark: Mark) -> Self {
        Self {
            first: mark,
            last: mark,
            count: 1,
            numbered: true,
        }
    }

    /// Adds a mark if it follows.
    fn add(&mut self, mark: Mark) -> bool {
        let step = mark.time - self.last.time;
        let moved = step > 0.0 || mark.id != self.last.id;
        if !(moved && (0.0..=LONGEST_STEP_S).contains(&step)) || mark.arrival < self.first.arrival {
            return false;
        }
        self.numbered &=
            distance(self.last.id, mark.id).is_none_or(|distance| (1..=NEAR).contains(&distance));
        (self.last, self.count) = (mark, self.count + 1);
        true
    }
}

impl Order {
    /// Judges a mark. One that is [`Verdict::Next`] or [`Verdict::Restart`] becomes the last one by [`Self::advance`].
    pub fn judge(&mut self, mark: Mark) -> Verdict {
        let Some(last) = self.last else {
            self.gaps.begin(mark.id);
            return Verdict::Next;
        };
        let distance = self.distance(&last, &mark);
        let step = mark.time - last.time;
        if self.follows(&last, &mark, distance) {
            self.candidate = None;
            self.count(mark.id);
            return Verdict::Next;
        }
        if step == 0.0 && mark.id.is_some() && mark.id == last.id {
            return Verdict::Same;
        }
        if let Some(others) = self.confirms(mark) {
            self.take_over(others);
            self.count(mark.id);
            return Verdict::Restart;
        }
        let older = distance.map_or(step < 0.0, |distance| distance < 0 && step <= 0.0);
        if !older || step < -STRAGGLER_S {
            if let Some(id) = mark.id.filter(|_| self.counting()) {
                self.gaps.refuse(id);
            }
            return Verdict::Unconfirmed;
        }
        let counted = mark.id.filter(|_| self.counting());
        if counted.is_none_or(|id| self.gaps.saw(id)) {
            Verdict::Late
        } else {
            Verdict::Duplicate
        }
    }

    /// Makes an accepted mark, complete by now, the last one.
    pub fn advance(&mut self, mark: Mark) {
        if let Some(last) = self.last {
            self.rising = match distance(last.id, mark.id) {
                Some(1..=NEAR) => self.rising.saturating_add(1),
                // Without numbers only the time was judged.
                None => self.rising,
                Some(_) if self.rising >= COUNTING => self.rising,
                Some(_) => 0,
            };
            self.learn(&last, &mark);
        }
        self.last = Some(mark);
    }

    /// Numbers that were skipped and have not arrived since.
    pub fn lost(&self) -> u64 {
        self.gaps.lost()
    }

    fn counting(&self) -> bool {
        self.rising >= COUNTING
    }

    /// Difference of the numbers; `None` if numbers are not used.
    fn distance(&self, last: &Mark, mark: &Mark) -> Option<i32> {
        self.counting()
            .then(|| distance(last.id, mark.id))
            .flatten()
    }

    /// Notes a number of the stream.
    fn count(&mut self, id: Option<i32>) {
        match id {
            Some(id) if self.counting() => {
                self.gaps.saw(id);
            }
            id => self.gaps.begin(id),
        }
    }

    fn follows(&self, last: &Mark, mark: &Mark, distance: Option<i32>) -> bool {
        let time = mark.time - last.time;
        if time < 0.0 || distance.is_some_and(|distance| distance < 1) {
            return false;
        }
        if distance.is_none() && time == 0.0 && mark.id.is_some() && mark.id == last.id {
            return false;
        }
        let Some(step) = self.step else {
            return time <= LONGEST_STEP_S;
        };
        let distance = f64::from(distance.unwrap_or(0));
        // Allows as many steps as fit into the silence: those frames were lost, or never sent.
        let silence = elapsed(last, mark) as f64 + self.delay;
        let missed = silence / step.arrival.max(SHORTEST_NS);
        let longest = LONGER * step.time * (missed.max(distance) + 1.0) + SLACK_S;
        let furthest = LONGER * time + 4.0 * step.time;
        time <= longest && (distance - 4.0) * step.time <= furthest
    }

    fn learn(&mut self, last: &Mark, mark: &Mark) {
        let (time, arrival) = (mark.time - last.time, elapsed(last, mark) as f64);
        if time <= 0.0 {
            return;
        }
        let Some(usual) = self.step else {
            self.step = Some(Step { time, arrival });
            return;
        };
        // The old delay counts half, because the usual step is an estimate.
        let late = arrival - time * usual.arrival / usual.time;
        self.delay = (0.5 * self.delay + late).clamp(0.0, ENOUGH_NS as f64);
        let gap = usual.arrival;
        self.step = Some(Step {
            time: usual.time + LEARN * (time.min(LONGER * usual.time) - usual.time),
            arrival: gap + LEARN * (arrival.min(LONGER * gap.max(SHORTEST_NS)) - gap),
        });
    }

    /// Notes a mark that contradicts the stream. Once enough of them agree, returns the candidate before this one.
    fn confirms(&mut self, mark: Mark) -> Option<Candidate> {
        let candidate = self.candidate.get_or_insert_with(|| Candidate::new(mark));
        let before = *candidate;
        if candidate.last == mark || !candidate.add(mark) {
            *candidate = Candidate::new(mark);
            return None;
        }
        let periods = self.step.map_or(0.0, |step| SILENT_PERIODS * step.arrival) as i64;
        let long = match candidate.numbered {
            true => periods.clamp(SILENCE_NS, ENOUGH_NS),
            false => ENOUGH_NS,
        };
        let lasted = elapsed(&candidate.first, &mark);
        (candidate.count >= WITNESSES && lasted >= long).then_some(before)
    }

    /// The candidate becomes the stream.
    fn take_over(&mut self, candidate: Candidate) {
        let steps = f64::from(candidate.count.saturating_sub(1).max(1));
        let (first, last) = (candidate.first, candidate.last);
        let time = (last.time - first.time) / steps;
        let arrival = elapsed(&first, &last) as f64 / steps;
        self.step = (time > 0.0).then_some(Step { time, arrival });
        self.delay = 0.0;
        let numbered = candidate.numbered && last.id.is_some();
        self.rising = if numbered { COUNTING } else { 0 };
        self.gaps.begin(last.id);
        self.last = Some(last);
        self.candidate = None;
    }
}

fn distance(from: Option<i32>, to: Option<i32>) -> Option<i32> {
    Some(to?.wrapping_sub(from?))
}

fn elapsed(from: &Mark, to: &Mark) -> i64 {
    to.arrival.0.saturating_sub(from.arrival.0).max(0)
}
