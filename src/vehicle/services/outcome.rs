//! `set_mode` and `cmd/arming`: they answer when the vehicle's heartbeat shows it, or with the reason why it will not.
//!
//! An acknowledgement alone proves nothing: PX4 accepts modes that it does not have, and OFFBOARD without setpoints.
use super::commands::{CommandPart, Waiter};
use super::result::{Ending, FAILED};
use crate::msgs::mavros_msgs::srv::{
    CommandBool, CommandBoolRequest, CommandBoolResponse, SetMode, SetModeRequest, SetModeResponse,
};
use crate::ros::{Responder, RosError};
use crate::session::{Command, CommandEnd};
use crate::vehicle::mode::{self, CUSTOM_MODE_ENABLED};
use crate::vehicle::{Autopilot, Fcu, Open};
use crate::wire::mavlink::raw;
use std::time::Duration;

const ARMED: u8 = 128;
const HIL: u8 = 32;
/// Bits of `base_mode` that are a mode: manual, stabilized, guided, auto.
const MODE_BITS: u8 = 64 | 16 | 8 | 4;
/// MAV_CMD_COMPONENT_ARM_DISARM.
const ARM_DISARM: u16 = 400;
/// MAV_CMD_REQUEST_MESSAGE.
const REQUEST_MESSAGE: u16 = 512;
/// PX4's OFFBOARD.
const OFFBOARD: u32 = 6 << 16;
/// MAV_STATE_STANDBY; PX4 reports less when it could not be armed in its present mode.
const STANDBY: u8 = 3;
/// MAV_AUTOPILOT_PX4.
const PX4: u8 = 12;

/// Time for the heartbeat to show what was acknowledged; it comes once a second.
const TO_SHOW: Duration = Duration::from_millis(2500);
/// After the acknowledgement the heartbeat is asked for, so that callers need not wait for the next one.
const ASK: [Duration; 3] = [
    Duration::from_millis(10),
    Duration::from_millis(80),
    Duration::from_millis(400),
];
/// PX4's reason comes a little before or after its refusal, maybe in two parts.
const FOR_REASON: Duration = Duration::from_millis(150);
/// Callers at a time, and texts kept for each.
const CALLERS: usize = 64;
const TEXTS: usize = 6;
const MOST_TEXT: usize = 500;

#[derive(Clone, Copy, Debug)]
enum Goal {
    Armed(bool),
    Mode(u32),
    /// Of an autopilot without own modes.
    BaseMode(u8),
}

enum Caller {
    Arming(Responder<CommandBool>),
    Mode(Responder<SetMode>),
}

enum Stage {
    /// Another call of the kind is not over: what it asked for must be seen before it may change again.
    Queued(Command),
    /// The command is on its way.
    Commanded,
    /// It was accepted; the heartbeat is to show it.
    Accepted { since: Duration, asked: usize },
    /// It was refused; the reason may still come.
    Refused { end: Ending, until: Duration },
}

struct Wanted {
    id: u64,
    goal: Goal,
    /// For people: "arm", "set_mode OFFBOARD".
    what: String,
    caller: Caller,
    stage: Stage,
    /// With the number that their chunks share.
    texts: Vec<(u16, String)>,
}

/// Everybody who waits for the vehicle to be as they asked.
pub(super) struct Outcomes {
    wanted: Vec<Wanted>,
    next_id: u64,
}

impl Outcomes {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        open.service::<CommandBool>("cmd/arming", |autopilot, request, responder| {
            arm(autopilot, &request, responder);
        })?;
        open.service::<SetMode>("set_mode", |autopilot, request, responder| {
            set_mode(autopilot, &request, responder);
        })?;
        Ok(Self {
            wanted: Vec::new(),
            next_id: 0,
        })
    }

    fn want(&mut self, fcu: &mut Fcu, goal: Goal, what: String, caller: Caller, command: Command) {
        if self.wanted.len() >= CALLERS {
            // The responder answers with the default: no success.
            return fcu.count("too_many_calls");
        }
        let id = self.next_id;
        self.next_id += 1;
        self.wanted.push(Wanted {
            id,
            goal,
            what,
            caller,
            stage: Stage::Queued(command),
            texts: Vec::new(),
        });
    }

    /// The next command that waits for nothing, and its number.
    pub(super) fn next_command(&mut self) -> Option<(u64, Command)> {
        let (mut arming, mut mode) = (false, false);
        for wanted in &mut self.wanted {
            let before = match wanted.goal {
                Goal::Armed(_) => &mut arming,
                Goal::Mode(_) | Goal::BaseMode(_) => &mut mode,
            };
            if std::mem::replace(before, true) {
                continue;
            }
            if let Stage::Queued(command) = wanted.stage {
                wanted.stage = Stage::Commanded;
                return Some((wanted.id, command));
            }
        }
        None
    }

    /// A command ended.
    pub(super) fn ended(&mut self, fcu: &mut Fcu, id: u64, end: Ending) {
        let now = fcu.now.mono;
        let Some(at) = self.wanted.iter().position(|w| w.id == id) else {
            return;
        };
        let Some(wanted) = self.wanted.get_mut(at) else {
            return;
        };
        match end.end {
            // Links of other kinds make heartbeats of what the vehicle reports.
            CommandEnd::Acked { result: 0, .. } | CommandEnd::Broadcast => {
                wanted.stage = Stage::Accepted {
                    since: now,
                    asked: 0,
                };
            }
            // The answer was lost, or this autopilot gives none.
            CommandEnd::TimedOut { .. } if wanted.goal.is_shown(fcu) => {
                self.finish(fcu, at, Ok(()));
            }
            _ => {
                wanted.stage = Stage::Refused {
                    end,
                    until: now + FOR_REASON,
                };
            }
        }
    }

    /// The autopilot's heartbeat came.
    pub(super) fn heartbeat(&mut self, fcu: &mut Fcu) {
        let mut at = 0;
        while let Some(wanted) = self.wanted.get(at) {
            let accepted = matches!(wanted.stage, Stage::Accepted { .. });
            if accepted && wanted.goal.is_shown(fcu) {
                self.finish(fcu, at, Ok(()));
            } else {
                at += 1;
            }
        }
    }

    /// The vehicle said something.
    pub(super) fn text(&mut self, message: &raw::StatusText) {
        /// MAV_SEVERITY_WARNING; what is less grave is no reason.
        const WARNING: u8 = 4;
        if self.wanted.is_empty() || message.severity > WARNING {
            return;
        }
        let len = message.text.iter().take_while(|byte| **byte != 0).count();
        let text = String::from_utf8_lossy(message.text.get(..len).unwrap_or_default());
        let sent = |wanted: &&mut Wanted| !matches!(wanted.stage, Stage::Queued(_));
        for wanted in self.wanted.iter_mut().filter(sent) {
            let goes_on = message.id != 0 && message.chunk > 0;
            let room = wanted.texts.len() < TEXTS;
            match wanted.texts.last_mut() {
                Some((id, begun)) if goes_on && *id == message.id => {
                    begun.extend(text.chars().take(MOST_TEXT.saturating_sub(begun.len())));
                }
                _ if room => {
                    wanted.texts.push((message.id, text.clone().into_owned()));
                }
                _ => {}
            }
        }
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu, commands: &mut CommandPart) {
        let now = fcu.now.mono;
        let mut ask = false;
        let mut at = 0;
        while let Some(wanted) = self.wanted.get_mut(at) {
            let end = match &mut wanted.stage {
                Stage::Refused { end, until } if now >= *until => *end,
                Stage::Accepted { since, .. } if now >= *since + TO_SHOW => {
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
        if ask && fcu.heartbeat.is_some_and(|h| h.autopilot == PX4) {
            let heartbeat = raw::CommandLong {
                command: REQUEST_MESSAGE,
                target_system: fcu.system,
                target_component: fcu.component,
                ..raw::CommandLong::default()
            };
            commands.start(fcu, heartbeat, Waiter::Nobody);
        }
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let due = |wanted: &Wanted| match wanted.stage {
            Stage::Queued(_) | Stage::Commanded => None,
            Stage::Refused { until, .. } => Some(until),
            Stage::Accepted { since, asked } => {
                Some(since + ASK.get(asked).copied().unwrap_or(TO_SHOW))
            }
        };
        self.wanted.iter().filter_map(due).min()
    }

    /// Nothing is heard of the vehicle any more.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        while !self.wanted.is_empty() {
            self.finish(fcu, 0, Err(CommandEnd::LinkLost.into()));
        }
    }

    fn finish(&mut self, fcu: &mut Fcu, at: usize, outcome: Result<(), Ending>) {
        if at >= self.wanted.len() {
            return;
        }
        let wanted = self.wanted.remove(at);
        let success = outcome.is_ok();
        let number = match outcome {
            Ok(()) => 0,
            Err(end) => match end.result() {
                // Accepted, but it never came to be.
                (true, _) => FAILED,
                (false, number) => number,
            },
        };
        if let Err(end) = outcome {
            let mut why = match end.end {
                CommandEnd::Broadcast => wanted.goal.missed(fcu),
                _ => end.describe(),
            };
            let texts: Vec<_> = wanted.texts.iter().map(|(_, text)| text.trim()).collect();
            if !texts.is_empty() {
                why = format!("{why}: {}", texts.join("; "));
            }
            tracing::warn!(vehicle = fcu.settings.id, "{}: {why}", wanted.what);
            fcu.notice(format!("{}: {why}", wanted.what));
            fcu.count("command_failed");
        }
        match wanted.caller {
            Caller::Arming(responder) => responder.respond(CommandBoolResponse {
                success,
                result: number,
            }),
            Caller::Mode(responder) => responder.respond(SetModeResponse { mode_sent: success }),
        }
    }
}

impl Goal {
    /// Whether the newest heartbeat shows it.
    fn is_shown(self, fcu: &Fcu) -> bool {
        let Some(heartbeat) = fcu.heartbeat else {
            return false;
        };
        match self {
            Self::Armed(armed) => armed == fcu.armed(),
            Self::Mode(custom_mode) => {
                let custom = heartbeat.base_mode & CUSTOM_MODE_ENABLED != 0;
                // On the ground PX4 shows OFFBOARD also without setpoints, but could not be armed in it.
                let idle = custom_mode == OFFBOARD
                    && heartbeat.autopilot == PX4
                    && !fcu.armed()
                    && heartbeat.system_status < STANDBY;
                custom && heartbeat.custom_mode == custom_mode && !idle
            }
            Self::BaseMode(base_mode) => heartbeat.base_mode & MODE_BITS == base_mode & MODE_BITS,
        }
    }

    /// Why it was accepted and is not so, in words.
    fn missed(self, fcu: &Fcu) -> String {
        let Some(heartbeat) = fcu.heartbeat else {
            return "accepted, but the vehicle is not connected any more".to_owned();
        };
        let name = mode::name(
            heartbeat.base_mode,
            heartbeat.custom_mode,
            heartbeat.autopilot,
        );
        match self {
            Self::Armed(true) => "accepted, but the vehicle did not arm".to_owned(),
            Self::Armed(false) => "accepted, but the vehicle did not disarm".to_owned(),
            Self::Mode(OFFBOARD) if heartbeat.custom_mode == OFFBOARD => {
                "OFFBOARD is chosen but not active: setpoints must stream before and after, or the vehicle is not ready"
                    .to_owned()
            }
            Self::Mode(_) | Self::BaseMode(_) => {
                format!("accepted, but the vehicle stays in {name}")
            }
        }
    }
}

fn arm(autopilot: &mut Autopilot, request: &CommandBoolRequest, caller: Responder<CommandBool>) {
    let services = &mut autopilot.services;
    let fcu = &mut autopilot.fcu;
    let goal = Goal::Armed(request.value);
    let what = if request.value { "arm" } else { "disarm" }.to_owned();
    let mut command = raw::CommandLong {
        command: ARM_DISARM,
        target_system: fcu.system,
        target_component: fcu.component,
        confirmation: 1,
        ..raw::CommandLong::default()
    };
    let [first, ..] = &mut command.params;
    *first = f32::from(u8::from(request.value));
    let caller = Caller::Arming(caller);
    let outcomes = &mut services.outcomes;
    outcomes.want(fcu, goal, what, caller, command.into());
    services.settle(fcu);
}

fn set_mode(autopilot: &mut Autopilot, request: &SetModeRequest, caller: Responder<SetMode>) {
    let services = &mut autopilot.services;
    let fcu = &mut autopilot.fcu;
    let mut base_mode = request.base_mode;
    let (custom_mode, goal) = if request.custom_mode.is_empty() {
        (0, Goal::BaseMode(base_mode))
    } else {
        let Some(number) = mode::number(&request.custom_mode) else {
            let known: Vec<_> = mode::names().collect();
            let why = format!(
                "set_mode {:?}: there is no such mode; known: {}",
                request.custom_mode,
                known.join(", ")
            );
            tracing::warn!(vehicle = fcu.settings.id, "{why}");
            fcu.notice(why);
            fcu.count("command_refused");
            return caller.respond(SetModeResponse { mode_sent: false });
        };
        let now = fcu.heartbeat.map_or(0, |h| h.base_mode);
        base_mode |= CUSTOM_MODE_ENABLED | now & (ARMED | HIL);
        (number, Goal::Mode(number))
    };
    let what = if request.custom_mode.is_empty() {
        format!("set_mode {base_mode}")
    } else {
        format!("set_mode {}", request.custom_mode)
    };
    let command = raw::SetMode {
        custom_mode,
        target_system: fcu.system,
        base_mode,
    };
    let caller = Caller::Mode(caller);
    let outcomes = &mut services.outcomes;
    outcomes.want(fcu, goal, what, caller, command.into());
    services.settle(fcu);
}
