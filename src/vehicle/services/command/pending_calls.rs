//! Calls that wait until the vehicle shows the requested change.
use super::goal::{GoalProgress, VehicleGoal};
use super::outcome::{CommandOutcome, CommandService};
use crate::session::{CommandEnd, CommandGroup, MavCommand};
use crate::vehicle::reasons::Reasons;
use crate::vehicle::{Counter, Fcu};
use crate::wire::mavlink::numbers::*;
use crate::{ros::Responder, wire::mavlink::raw};
use std::time::Duration;

/// Times after the acknowledgement to request the heartbeat, so that callers need not wait for the periodic one.
const REQUEST_DELAYS: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(80), Duration::from_millis(400)];
/// Time after which an accepted command that ends the flight or disarms is sent again if the heartbeat does not show its change:
/// the acknowledgement may belong to another command.
const REPEAT_DELAY: Duration = Duration::from_millis(600);
/// PX4 sends the reason shortly before or after its refusal, possibly in two chunks.
const REASON_TIME: Duration = Duration::from_millis(150);
/// Limit of waiting calls; beyond it the oldest is answered as overridden, although its command was sent.
const MAX_CALLS: usize = 128;
/// End of a command that was accepted, or sent on a link without acknowledgements, but whose change the vehicle does not show.
const NOT_SHOWN: CommandEnd = CommandEnd::Broadcast;

pub(super) struct RequestedChange {
    pub(super) goal: VehicleGoal,
    /// Name in texts: "arm", "set_mode OFFBOARD".
    pub(super) what: String,
    pub(super) answer: Answer,
}

/// Answers a call with success and MAV_RESULT.
pub(super) type Answer = Box<dyn FnOnce(bool, u8) + Send>;

/// Returns the [`Answer`] that responds to a caller.
pub(super) fn answer<S: CommandService>(caller: Responder<S>) -> Answer {
    Box::new(move |success, result| caller.respond(S::response(success, result)))
}

enum CallStage {
    /// The command was sent.
    Commanded,
    /// The command was accepted; the heartbeat does not show its change yet.
    Accepted { since: Duration, requests: usize },
    /// The command was refused; the reason may still arrive.
    Refused { end: CommandOutcome, until: Duration },
}

struct PendingCall {
    id: u64,
    change: RequestedChange,
    command: MavCommand,
    /// The vehicle did not show the change when the caller requested it; a later heartbeat that shows it proves success.
    was_unshown: bool,
    /// Number of heartbeats at the command or its acknowledgement: only later ones prove the change.
    heartbeat_count: u64,
    /// The command was accepted, but the heartbeat did not show its change, so it was sent again.
    was_repeated: bool,
    stage: CallStage,
    texts: Reasons,
}

impl PendingCall {
    fn is_take_off(&self) -> bool {
        matches!(self.change.goal, VehicleGoal::TakeOff(_))
    }

    /// Whether a heartbeat after the command shows the change. Never for a take-off: a vehicle may climb for another reason.
    fn is_shown(&self, fcu: &Fcu) -> bool {
        let is_newer = fcu.heartbeat_count > self.heartbeat_count && !self.is_take_off();
        is_newer && self.change.goal.progress(fcu) == GoalProgress::Reached
    }
}

/// All waiting changes.
#[derive(Default)]
pub(super) struct PendingCalls {
    calls: Vec<PendingCall>,
    next_id: u64,
}

impl PendingCalls {
    /// Adds a call whose command is about to be sent; returns its id.
    pub(super) fn push(
        &mut self,
        fcu: &mut Fcu,
        change: RequestedChange,
        command: MavCommand,
    ) -> u64 {
        if self.calls.len() >= MAX_CALLS {
            fcu.count(Counter::TooManyCalls);
            self.finish(fcu, 0, Err(CommandEnd::Overridden.into()));
        }
        let id = self.next_id;
        self.next_id += 1;
        self.calls.push(PendingCall {
            id,
            was_unshown: change.goal.progress(fcu) != GoalProgress::Reached,
            heartbeat_count: fcu.heartbeat_count,
            was_repeated: false,
            change,
            command,
            stage: CallStage::Commanded,
            texts: Reasons::default(),
        });
        id
    }

    /// Overrides accepted calls of other commands in the group of `command`, which is about to be sent. Calls that are not
    /// accepted yet end with their command.
    pub(super) fn override_by(&mut self, fcu: &mut Fcu, command: &MavCommand) {
        self.override_accepted(fcu, |other| {
            other.group() == command.group() && !other.equals(command)
        });
    }

    /// Overrides accepted changes of the mode, because another station or the vehicle itself has changed it.
    pub(super) fn override_modes(&mut self, fcu: &mut Fcu) {
        self.override_accepted(fcu, |other| other.group() == Some(CommandGroup::Mode));
    }

    fn override_accepted(&mut self, fcu: &mut Fcu, is_overridden: impl Fn(&MavCommand) -> bool) {
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            let is_accepted = matches!(call.stage, CallStage::Accepted { .. });
            if is_accepted && is_overridden(&call.command) {
                self.finish(fcu, at, Err(CommandEnd::Overridden.into()));
            } else {
                at += 1;
            }
        }
    }

    /// Handles the result of a command.
    pub(super) fn handle_end(&mut self, fcu: &mut Fcu, id: u64, end: CommandOutcome) {
        let now = fcu.now.mono;
        let mut calls = self.calls.iter_mut().enumerate();
        let Some((at, call)) = calls.find(|(_, call)| call.id == id) else { return };
        match end.end {
            // Links without acknowledgements generate heartbeats from the vehicle's reports.
            CommandEnd::Acked { result: MAV_RESULT_ACCEPTED, .. } | CommandEnd::Broadcast => {
                call.heartbeat_count = fcu.heartbeat_count;
                call.stage = CallStage::Accepted { since: now, requests: 0 };
            }
            // The acknowledgement was lost, or this autopilot sends none.
            CommandEnd::TimedOut { .. } if call.is_shown(fcu) => {
                self.finish(fcu, at, Ok(()));
            }
            // The vehicle sends no reason: the command did not reach it, or another one overrode it.
            CommandEnd::NotSent | CommandEnd::Overridden | CommandEnd::LinkLost => {
                self.finish(fcu, at, Err(end));
            }
            _ => {
                call.stage = CallStage::Refused { end, until: now + REASON_TIME };
            }
        }
    }

    /// Answers the calls whose change the vehicle shows or has denied; returns the commands that it carried out without having
    /// accepted them.
    pub(super) fn answer_shown(&mut self, fcu: &mut Fcu) -> Vec<MavCommand> {
        let now = fcu.now.mono;
        let mut shown = Vec::new();
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            let CallStage::Accepted { since, .. } = call.stage else {
                // The acknowledgement is lost, or the refusal was that of an earlier, equal command.
                if call.was_unshown && call.is_shown(fcu) {
                    shown.push(call.command);
                    self.finish(fcu, at, Ok(()));
                } else {
                    at += 1;
                }
                continue;
            };
            let had_time = now >= since + REASON_TIME;
            let is_newer = fcu.heartbeat_count > call.heartbeat_count || call.is_take_off();
            match call.change.goal.progress(fcu) {
                GoalProgress::Reached if is_newer => self.finish(fcu, at, Ok(())),
                GoalProgress::Failed => self.finish(fcu, at, Err(NOT_SHOWN.into())),
                _ if call.change.goal.is_denied_by(&call.texts) => {
                    self.finish(fcu, at, Err(NOT_SHOWN.into()));
                }
                // The vehicle had time to deny the goal by a text.
                GoalProgress::Promised if had_time => self.finish(fcu, at, Ok(())),
                _ => at += 1,
            }
        }
        shown
    }

    /// Adds a status text to the possible reasons of all calls.
    pub(super) fn add_text(&mut self, message: &raw::StatusText) {
        for call in &mut self.calls {
            call.texts.add(message);
        }
    }

    /// Ends calls past their deadline; returns whether to request the heartbeat, and the commands to send again.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> (bool, Vec<(u64, MavCommand)>) {
        let now = fcu.now.mono;
        let (mut asks, mut repeats) = (false, Vec::new());
        let mut at = 0;
        while let Some(call) = self.calls.get_mut(at) {
            let to_show = call.change.goal.time_to_show();
            let end = match &mut call.stage {
                CallStage::Refused { end, until } if now >= *until => *end,
                CallStage::Accepted { since, .. } if now >= *since + to_show => NOT_SHOWN.into(),
                CallStage::Accepted { since, requests } => {
                    let shows_other = fcu.heartbeat_count > call.heartbeat_count
                        && (call.command.ends_flight() || call.command.disarms())
                        && call.change.goal.progress(fcu) != GoalProgress::Reached;
                    if shows_other && now >= *since + REPEAT_DELAY && !call.was_repeated {
                        call.was_repeated = true;
                        repeats.push((call.id, call.command));
                    }
                    if REQUEST_DELAYS.get(*requests).is_some_and(|after| now >= *since + *after) {
                        *requests += 1;
                        asks = true;
                    }
                    at += 1;
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.finish(fcu, at, Err(end));
        }
        if fcu.abilities().acks { (asks && fcu.is_px4(), repeats) } else { (false, Vec::new()) }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let due = |call: &PendingCall| match call.stage {
            CallStage::Commanded => None,
            CallStage::Refused { until, .. } => Some(until),
            CallStage::Accepted { since, requests } => {
                // Each heartbeat is checked when it arrives.
                let then = call.change.goal.time_to_show();
                Some(since + REQUEST_DELAYS.get(requests).copied().unwrap_or(then))
            }
        };
        self.calls.iter().filter_map(due).min()
    }

    /// Fails the calls of a lost vehicle, except those whose command is still repeated because it makes the vehicle safer.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            if call.command.is_safer() && matches!(call.stage, CallStage::Commanded) {
                at += 1;
            } else {
                self.finish(fcu, at, Err(CommandEnd::LinkLost.into()));
            }
        }
    }

    /// Removes the call `at` this index and answers it.
    fn finish(&mut self, fcu: &mut Fcu, at: usize, outcome: Result<(), CommandOutcome>) {
        if at >= self.calls.len() {
            return;
        }
        let call = self.calls.remove(at);
        let success = outcome.is_ok();
        let number = match outcome {
            Ok(()) => MAV_RESULT_ACCEPTED,
            Err(end) => match end.result() {
                // Accepted, but never shown.
                (true, _) => MAV_RESULT_FAILED,
                (false, number) => number,
            },
        };
        if let Err(end) = outcome {
            let mut why = match end.end {
                NOT_SHOWN => call.change.goal.describe_failure(fcu),
                _ => end.describe(fcu),
            };
            let texts = call.texts.joined();
            if !texts.is_empty() {
                why = format!("{why}: {texts}");
            }
            fcu.warn(format!("{}: {why}", call.change.what));
            fcu.count(Counter::CommandFailed);
        }
        (call.change.answer)(success, number);
    }
}
