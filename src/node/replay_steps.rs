//! Steps of a replay. The standard input or a service requests them; the replay, one per process (ADR 0014), runs them.
use parking_lot::{Condvar, Mutex};
use std::{collections::VecDeque, fmt, sync::OnceLock, time::Duration};

static STEPS: OnceLock<StepQueue> = OnceLock::new();

/// Extent of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReplayStep {
    /// This number of datagrams and frames.
    Messages(u64),
    /// This much time of the recording, from the last message on.
    Time(Duration),
    /// The rest of the recording, at the speed of the replay.
    Rest,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StepResult {
    /// Datagrams and frames that were played.
    pub messages: u64,
    /// Time of the last played message since the beginning of the recording.
    pub at: Duration,
    /// The recording has ended, at or before the end of the step.
    pub ended: bool,
}

/// Called when the bridge has handled all of a step.
type OnStepEnd = Box<dyn FnOnce(StepResult) + Send>;

/// Queue of requested steps.
#[derive(Default)]
pub struct StepQueue {
    queue: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    requested: VecDeque<(ReplayStep, OnStepEnd)>,
    /// Result of all further steps, once the replay has ended.
    ended_with: Option<StepResult>,
}

/// The queue of the replay in this process, if it runs in steps.
pub(super) fn step_queue() -> Option<&'static StepQueue> {
    STEPS.get()
}

impl StepQueue {
    /// Makes the replay of this process wait for steps.
    pub(super) fn install() -> &'static Self {
        STEPS.get_or_init(Self::default)
    }

    /// Requests a step; does not wait.
    pub fn request(&self, step: ReplayStep, done: impl FnOnce(StepResult) + Send + 'static) {
        let mut queue = self.queue.lock();
        match queue.ended_with {
            Some(last) => {
                drop(queue);
                done(StepResult { messages: 0, ..last });
            }
            None => {
                queue.requested.push_back((step, Box::new(done)));
                self.changed.notify_all();
            }
        }
    }

    /// Waits up to `timeout` for the next step.
    fn next(&self, timeout: Duration) -> Option<(ReplayStep, OnStepEnd)> {
        let empty = |queue: &mut QueueState| queue.requested.is_empty();
        let mut queue = self.queue.lock();
        self.changed.wait_while_for(&mut queue, empty, timeout);
        queue.requested.pop_front()
    }
}

impl fmt::Debug for StepQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StepQueue {{ requested: {} }}", self.queue.lock().requested.len())
    }
}

/// Runs the steps, on the thread of the replay.
pub(super) struct StepRunner<'a> {
    steps: &'a StepQueue,
    current: Option<CurrentStep>,
    /// Time of the last message since the beginning of the recording.
    at: Duration,
}

struct CurrentStep {
    step: ReplayStep,
    /// Time at which [`ReplayStep::Time`] ends.
    until: Duration,
    played: u64,
    done: OnStepEnd,
}

impl<'a> StepRunner<'a> {
    pub(super) fn new(steps: &'a StepQueue, at: Duration) -> Self {
        Self { steps, current: None, at }
    }

    /// Whether the next message, at this time of the recording, may be played. Waits up to `timeout` for a step that covers it.
    pub(super) fn may_play(&mut self, time: Duration, timeout: Duration) -> bool {
        loop {
            match &self.current {
                Some(CurrentStep { until, .. }) if time > *until => self.finish(false),
                Some(_) => return true,
                None => {
                    let Some((step, done)) = self.steps.next(timeout) else { return false };
                    let until = match step {
                        ReplayStep::Time(length) => self.at.saturating_add(length),
                        ReplayStep::Messages(_) | ReplayStep::Rest => Duration::MAX,
                    };
                    self.current = Some(CurrentStep { step, until, played: 0, done });
                    if step == ReplayStep::Messages(0) {
                        self.finish(false);
                    }
                }
            }
        }
    }

    /// Whether the current step is [`ReplayStep::Rest`], which has a speed.
    pub(super) fn plays_rest(&self) -> bool {
        matches!(&self.current, Some(current) if current.step == ReplayStep::Rest)
    }

    /// Records that a message of this time was handled.
    pub(super) fn count_played(&mut self, time: Duration) {
        self.at = self.at.max(time);
        let Some(current) = &mut self.current else { return };
        current.played += 1;
        if current.step == ReplayStep::Messages(current.played) {
            self.finish(false);
        }
    }

    fn finish(&mut self, ended: bool) {
        if let Some(current) = self.current.take() {
            (current.done)(StepResult { messages: current.played, at: self.at, ended });
        }
    }
}

/// Ends the current, all queued and all further steps.
impl Drop for StepRunner<'_> {
    fn drop(&mut self) {
        self.finish(true);
        let ended_with = StepResult { messages: 0, at: self.at, ended: true };
        let mut queue = self.steps.queue.lock();
        queue.ended_with = Some(ended_with);
        let requested = std::mem::take(&mut queue.requested);
        drop(queue);
        for (_, done) in requested {
            done(ended_with);
        }
    }
}
