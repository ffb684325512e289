//! A replay step by step: who asks for steps, and who takes them. There is at most one replay in a process (ADR 0015).
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

static GATE: OnceLock<Gate> = OnceLock::new();

/// How far to play.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// So many datagrams and frames.
    Messages(u64),
    /// So long in the time of the recording, after what was played last.
    Time(Duration),
    /// All that is left, at the speed of the replay.
    Rest,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stepped {
    /// Datagrams and frames that were played.
    pub messages: u64,
    /// Time of the last one after the beginning of the recording.
    pub at: Duration,
    /// The recording has ended, at or before the end of the step.
    pub ended: bool,
}

/// Called when the bridge has handled all of a step.
type Done = Box<dyn FnOnce(Stepped) + Send>;

/// Where steps wait until they are taken, in the order of asking.
#[derive(Default)]
pub struct Gate {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    asked: VecDeque<(Step, Done)>,
    /// Why nothing is played any more.
    over: Option<Stepped>,
}

/// The gate of the replay in this process, if it is one step by step.
pub(super) fn gate() -> Option<&'static Gate> {
    GATE.get()
}

impl Gate {
    /// Lets the replay of this process wait for steps.
    pub(super) fn install() -> &'static Self {
        GATE.get_or_init(Self::default)
    }

    /// Asks for a step; does not wait.
    pub fn ask(&self, step: Step, done: impl FnOnce(Stepped) + Send + 'static) {
        let mut queue = self.lock();
        match queue.over {
            Some(last) => {
                drop(queue);
                done(Stepped {
                    messages: 0,
                    ..last
                });
            }
            None => {
                queue.asked.push_back((step, Box::new(done)));
                self.changed.notify_all();
            }
        }
    }

    /// Waits for the next step, at most for `most`.
    fn next(&self, most: Duration) -> Option<(Step, Done)> {
        let empty = |queue: &mut Queue| queue.asked.is_empty();
        let waited = self.changed.wait_timeout_while(self.lock(), most, empty);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.asked.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gate {{ asked: {} }}", self.lock().asked.len())
    }
}

/// Takes the steps, on the thread that plays.
pub(super) struct Stepper<'a> {
    gate: &'a Gate,
    current: Option<Current>,
    /// Time of what was played last, after the beginning of the recording.
    at: Duration,
}

struct Current {
    step: Step,
    /// Where [`Step::Time`] ends.
    until: Duration,
    played: u64,
    done: Done,
}

impl<'a> Stepper<'a> {
    /// The recording is played from `at` on.
    pub(super) fn new(gate: &'a Gate, at: Duration) -> Self {
        Self {
            gate,
            current: None,
            at,
        }
    }

    /// Whether what comes next, at this time, may be played now. Waits up to `most` for a step that says so.
    pub(super) fn lets(&mut self, time: Duration, most: Duration) -> bool {
        loop {
            match &self.current {
                Some(Current { until, .. }) if time > *until => self.finish(false),
                Some(_) => return true,
                None => {
                    let Some((step, done)) = self.gate.next(most) else {
                        return false;
                    };
                    let until = match step {
                        Step::Time(length) => self.at.saturating_add(length),
                        Step::Messages(_) | Step::Rest => Duration::MAX,
                    };
                    self.current = Some(Current {
                        step,
                        until,
                        played: 0,
                        done,
                    });
                    if step == Step::Messages(0) {
                        self.finish(false);
                    }
                }
            }
        }
    }

    /// Whether the rest is played, which has a speed.
    pub(super) fn runs(&self) -> bool {
        matches!(&self.current, Some(current) if current.step == Step::Rest)
    }

    /// A message of this time was handled.
    pub(super) fn played(&mut self, time: Duration) {
        self.at = self.at.max(time);
        let Some(current) = &mut self.current else {
            return;
        };
        current.played += 1;
        if current.step == Step::Messages(current.played) {
            self.finish(false);
        }
    }

    fn finish(&mut self, ended: bool) {
        if let Some(current) = self.current.take() {
            (current.done)(Stepped {
                messages: current.played,
                at: self.at,
                ended,
            });
        }
    }
}

/// Nothing is played any more: all steps have ended, also those that come.
impl Drop for Stepper<'_> {
    fn drop(&mut self) {
        self.finish(true);
        let over = Stepped {
            messages: 0,
            at: self.at,
            ended: true,
        };
        let mut queue = self.gate.lock();
        queue.over = Some(over);
        let asked = std::mem::take(&mut queue.asked);
        drop(queue);
        for (_, done) in asked {
            done(over);
        }
    }
}
