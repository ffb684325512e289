//! Does this frame or sample go on from the stream it came in? One bad datagram must not decide what comes after it.
use super::gaps::Gaps;
use crate::time::RosTime;

/// Numbers in a row that must rise before they count as numbers: some senders never change theirs.
const COUNTING: u32 = 3;
/// Between two neighbours numbers differ by no more than this while nothing is known of their time.
const NEAR: i32 = 16;
/// A step may be so many times the usual one.
const LONGER: f64 = 3.0;
/// ... and a little more, in s, where the usual one is short.
const SLACK_S: f64 = 0.02;
/// The slowest stream; also the longest first step that is believed.
const LONGEST_STEP_S: f64 = 3.0;
/// No stream is faster; what comes in bursts only seems to be.
const SHORTEST_NS: f64 = 1e6;
/// What is older by more is no straggler.
const STRAGGLER_S: f64 = 1.0;
/// Another stream is believed after so many that follow each other ...
const WITNESSES: u32 = 3;
/// ... over at least so long, and over this many usual periods, during which the stream itself is silent.
const SILENCE_NS: i64 = 100_000_000;
const SILENT_PERIODS: f64 = 1.5;
/// Numbers that follow nothing at all are believed after so long; also the longest time that anything takes.
const ENOUGH_NS: i64 = 2_000_000_000;
/// How fast the usual step is learnt.
const LEARN: f64 = 0.125;

/// What a frame or sample says of itself, and when it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its number, where the sender counts.
    pub id: Option<i32>,
    /// Simulation time in s.
    pub time: f64,
    /// Arrival of its first datagram.
    pub arrival: RosTime,
}

/// What [`Order::judge`] thinks of a mark.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It goes on from the last one.
    Next,
    /// It goes on from others that contradicted the stream: this is the stream now.
    Restart,
    /// It is older than what came before it.
    Late,
    /// It has number and time of the last one.
    Same,
    /// It is older, and was here before.
    Duplicate,
    /// Its number or time follows from nothing; more like it would be believed.
    Unconfirmed,
}

/// The order of one stream. Told the arrival of everything, it reads no clock.
///
/// * What follows the last one, in number and time, is next. How far time may step depends on the usual step, on the
///   numbers, and on how long nothing came.
/// * Everything else is believed when three in a row follow each other for 100 ms (or 1.5 usual periods, if that is
///   more) while nothing comes that follows the stream: the sender was started anew.
/// * Numbers count once three in a row have risen. Those that are left out are lost, until they come late.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    last: Option<Mark>,
    /// Usual step of simulation time in s, and of arrival in ns.
    step: Option<Step>,
    /// By how much the last one came later than usual, in ns: the next one may be as much nearer to it.
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
    /// Their numbers follow each other, or there are none.
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

    /// Takes one more, if it follows.
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
    /// Judges a mark. What is [`Verdict::Next`] or [`Verdict::Restart`] becomes the last one with [`Self::advance`].
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
            return Verdict::Unconfirmed;
        }
        let counted = mark.id.filter(|_| self.counting());
        if counted.is_none_or(|id| self.gaps.saw(id)) {
            Verdict::Late
        } else {
            Verdict::Duplicate
        }
    }

    /// A mark that was believed is there whole.
    pub fn advance(&mut self, mark: Mark) {
        if let Some(last) = self.last {
            self.rising = match distance(last.id, mark.id) {
                Some(1..=NEAR) => self.rising.saturating_add(1),
                // It is the time that was looked at.
                None => self.rising,
                Some(_) if self.rising >= COUNTING => self.rising,
                Some(_) => 0,
            };
            self.learn(&last, &mark);
        }
        self.last = Some(mark);
    }

    /// Numbers that were left out and have not come since.
    pub fn lost(&self) -> u64 {
        self.gaps.lost()
    }

    fn counting(&self) -> bool {
        self.rising >= COUNTING
    }

    /// How far the number is from the last one; `None` if numbers say nothing here.
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
        // As many as would fit into the silence: then they are lost, or were never made.
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
        // Half of what was known, as the usual steps are not known well.
        let late = arrival - time * usual.arrival / usual.time;
        self.delay = (0.5 * self.delay + late).clamp(0.0, ENOUGH_NS as f64);
        let gap = usual.arrival;
        self.step = Some(Step {
            time: usual.time + LEARN * (time.min(LONGER * usual.time) - usual.time),
            arrival: gap + LEARN * (arrival.min(LONGER * gap.max(SHORTEST_NS)) - gap),
        });
    }

    /// Notes a mark that contradicts the stream. Once enough of them agree, returns those before it.
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

    /// The candidate is the stream.
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
