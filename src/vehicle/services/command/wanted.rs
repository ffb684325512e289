//! Changes that callers wait for, until the vehicle shows them.
use super::ending::{Ending, FAILED};
use super::goal::{Goal, PX4, Seen};
use crate::msgs::mavros_msgs::srv::{
    CommandBool, CommandBoolResponse, CommandTOL, CommandTOLResponse, SetMode, SetModeResponse,
};
use crate::ros::Responder;
use crate::session::{Command, CommandEnd};
use crate::vehicle::reasons::Reasons;
use crate::vehicle::{Counter, Fcu};
use crate::wire::mavlink::raw;
use std::time::Duration;

/// Times after the acknowledgement to request the heartbeat, so that callers need not wait for the periodic one.
const ASK: [Duration; 3] = [
    Duration::from_millis(10),
    Duration::from_millis(80),
    Duration::from_millis(400),
];
/// PX4 sends the reason shortly before or after its refusal, possibly in two chunks.
const FOR_REASON: Duration = Duration::from_millis(150);
/// Limit of waiting callers.
const CALLERS: usize = 64;

/// A requested change.
pub(super) struct Change {
    pub(super) goal: Goal,
    /// Name in texts: "arm", "set_mode OFFBOARD".
    pub(super) what: String,
    pub(super) caller: Caller,
}

pub(super) enum Caller {
    Arming(Responder<CommandBool>),
    Mode(Responder<SetMode>),
    TakeOff(Responder<CommandTOL>),
}

enum Stage {
    /// An earlier call of this kind is not finished: its change must be visible before the next one.
    Queued(Command),
    /// The command was sent.
    Commanded,
    /// Accepted; the heartbeat does not show it yet.
    Accepted { since: Duration, asked: usize },
    /// Refused; the reason may still arrive.
    Refused { end: Ending, until: Duration },
}

struct Call {
    id: u64,
    change: Change,
    stage: Stage,
    texts: Reasons,
}

/// All waiting changes.
#[derive(Default)]
pub(super) struct Wanted {
    calls: Vec<Call>,
    next_id: u64,
}

impl Wanted {
    pub(super) fn push(&mut self, fcu: &mut Fcu, change: Change, command: Command) {
        if self.calls.len() >= CALLERS {
            // The dropped responder answers with the default: no success.
            return fcu.count(Counter::TooManyCalls);
        }
        let id = self.next_id;
        self.next_id += 1;
        self.calls.push(Call {
            id,
            change,
            stage: Stage::Queued(command),
            texts: Reasons::default(),
        });
    }

    /// The next command that no earlier call blocks, and its number.
    pub(super) fn next_command(&mut self) -> Option<(u64, Command)> {
        let (mut arming, mut mode, mut take_off) = (false, false, false);
        for call in &mut self.calls {
            let before = match call.change.goal {
                Goal::Armed(_) => &mut arming,
                Goal::Mode(_) | Goal::BaseMode(_) => &mut mode,
                Goal::TakeOff(_) => &mut take_off,
            };
            if std::mem::replace(before, true) {
                continue;
            }
            if let Stage::Queued(command) = call.stage {
                call.stage = Stage::Commanded;
                return Some((call.id, command));
            }
        }
        None
    }

    /// Handles the result of a command.
    pub(super) fn ended(&mut self, fcu: &mut Fcu, id: u64, end: Ending) {
        let now = fcu.now.mono;
        let mut calls = self.calls.iter_mut().enumerate();
        let Some((at, call)) = calls.find(|(_, call)| call.id == id) else {
            return;
        };
        match end.end {
            // Links without acknowledgements make heartbeats from the vehicle's reports.
            CommandEnd::Acked { result: 0, .. } | CommandEnd::Broadcast => {
                call.stage = Stage::Accepted {
                    since: now,
                    asked: 0,
                };
            }
            // The acknowledgement was lost, or this autopilot sends none.
            CommandEnd::TimedOut { .. } if call.change.goal.seen(fcu) == Seen::Reached => {
                self.finish(fcu, at, Ok(()));
            }
            // The vehicle did not get the command, so it gives no reason.
            CommandEnd::NotSent => self.finish(fcu, at, Err(end)),
            _ => {
                call.stage = Stage::Refused {
                    end,
                    until: now + FOR_REASON,
                };
            }
        }
    }

    /// Answers the calls whose change the vehicle shows now.
    pub(super) fn look(&mut self, fcu: &mut Fcu) {
        let now = fcu.now.mono;
        let mut at = 0;
        while let Some(call) = self.calls.get(at) {
            let Stage::Accepted { since, .. } = call.stage else {
                at += 1;
                continue;
            };
            let heard = now >= since + FOR_REASON;
            match call.change.goal.seen(fcu) {
                Seen::Reached => self.finish(fcu, at, Ok(())),
                // The vehicle gets time to send a reason first.
                _ if call.change.goal.is_denied_by(&call.texts) => {
                    self.finish(fcu, at, Err(CommandEnd::Broadcast.into()));
                }
                Seen::Promised if heard => self.finish(fcu, at, Ok(())),
                _ => at += 1,
            }
        }
    }

    /// Takes a status text.
    pub(super) fn text(&mut self, message: &raw::StatusText) {
        let sent = |call: &&mut Call| !matches!(call.stage, Stage::Queued(_));
        for call in self.calls.iter_mut().filter(sent) {
            call.texts.hear(message);
        }
    }

    /// Ends calls past their deadline; returns whether to request the heartbeat.
    pub(super) fn poll(&mut self, fcu: &mut Fcu) -> bool {
        let now = fcu.now.mono;
        self.look(fcu);
        let mut ask = false;
        let mut at = 0;
        while let Some(call) = self.calls.get_mut(at) {
            let to_show = call.change.goal.time_to_show();
            let end = match &mut call.stage {
                Stage::Refused { end, until } if now >= *until => *end,
                Stage::Accepted { since, .. } if now >= *since + to_show => {
                    CommandEnd::Broadcast.into()
                }
                Stage::Accepted { since, asked } => {
                    if ASK.get(*asked).is_some_and(|after| now >= *since + *after) {
                        *asked += 1;
                        ask = true;
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
        ask && fcu.abilities().acks && fcu.heartbeat.is_some_and(|h| h.autopilot == PX4)
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let due = |call: &Call| match call.stage {
            Stage::Queued(_) | Stage::Commanded => None,
            Stage::Refused { until, .. } => Some(until),
            Stage::Accepted { since, asked } => {
                let then = call.change.goal.time_to_show();
                Some(since + ASK.get(asked).copied().unwrap_or(then))
            }
        };
        self.calls.iter().filter_map(due).min()
    }

    /// The vehicle is lost: all calls fail.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        while !self.calls.is_empty() {
            self.finish(fcu, 0, Err(CommandEnd::LinkLost.into()));
        }
    }

    fn finish(&mut self, fcu: &mut Fcu, at: usize, outcome: Result<(), Ending>) {
        if at >= self.calls.len() {
            return;
        }
        let call = self.calls.remove(at);
        let success = outcome.is_ok();
        let number = match outcome {
            Ok(()) => 0,
            Err(end) => match end.result() {
                // Accepted, but never shown.
                (true, _) => FAILED,
                (false, number) => number,
            },
        };
        if let Err(end) = outcome {
            let mut why = match end.end {
                CommandEnd::Broadcast => call.change.goal.missed(fcu),
                _ => end.describe(),
            };
            let texts = call.texts.joined();
            if !texts.is_empty() {
                why = format!("{why}: {texts}");
            }
            tracing::warn!(vehicle = fcu.settings.id, "{}: {why}", call.change.what);
            fcu.notice(format!("{}: {why}", call.change.what));
            fcu.count(Counter::CommandFailed);
        }
        match call.change.caller {
            Caller::Arming(responder) => responder.respond(CommandBoolResponse {
                success,
                result: number,
            }),
            Caller::Mode(responder) => responder.respond(SetModeResponse { mode_sent: success }),
            Caller::TakeOff(responder) => responder.respond(CommandTOLResponse {
                success,
                result: number,
            }),
        }
    }
}
