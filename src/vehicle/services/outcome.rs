//! `set_mode`, `cmd/arming` and `cmd/takeoff`: they answer when the vehicle shows it, or with the reason why it will not.
//!
//! An acknowledgement alone proves nothing: PX4 accepts modes that it does not have, OFFBOARD without setpoints, and
//! take-offs to where it is.
mod goal;

use super::commands::{CommandPart, Waiter};
use super::result::{Ending, FAILED};
use crate::msgs::mavros_msgs::srv::{
    CommandBool, CommandBoolRequest, CommandBoolResponse, CommandTOL, CommandTOLRequest,
    CommandTOLResponse, SetMode, SetModeRequest, SetModeResponse,
};
use crate::ros::{Responder, RosError};
use crate::session::{Command, CommandEnd};
use crate::vehicle::mode::{self, CUSTOM_MODE_ENABLED};
use crate::vehicle::reasons::Reasons;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::raw;
use goal::{Goal, PX4, Seen};
use std::time::Duration;

const ARMED: u8 = 128;
const HIL: u8 = 32;
/// MAV_CMD_COMPONENT_ARM_DISARM.
const ARM_DISARM: u16 = 400;
/// MAV_CMD_NAV_TAKEOFF.
const TAKE_OFF: u16 = 22;
/// MAV_CMD_REQUEST_MESSAGE.
const REQUEST_MESSAGE: u16 = 512;
/// PX4's OFFBOARD.
const OFFBOARD: u32 = 6 << 16;
/// After the acknowledgement the heartbeat is asked for, so that callers need not wait for the next one.
const ASK: [Duration; 3] = [
    Duration::from_millis(10),
    Duration::from_millis(80),
    Duration::from_millis(400),
];
/// PX4's reason comes a little before or after its refusal, maybe in two parts.
const FOR_REASON: Duration = Duration::from_millis(150);
/// MAV_RESULT_DENIED.
const DENIED: u8 = 2;
/// Least height in m that a take-off climbs; less is noise of the estimate.
const CLIMB: f64 = 0.3;
/// Callers at a time.
const CALLERS: usize = 64;
/// CopterSim is in OFFBOARD while setpoints come; PX4 gives up after a second.
const SETPOINT_AGE: Duration = Duration::from_secs(1);

enum Caller {
    Arming(Responder<CommandBool>),
    Mode(Responder<SetMode>),
    TakeOff(Responder<CommandTOL>),
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
    texts: Reasons,
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
        open.service::<CommandTOL>("cmd/takeoff", |autopilot, request, responder| {
            take_off(autopilot, &request, responder);
        })?;
        Ok(Self {
            wanted: Vec::new(),
            next_id: 0,
        })
    }

    fn want(&mut self, fcu: &mut Fcu, goal: Goal, what: String, caller: Caller, command: Command) {
        if self.wanted.len() >= CALLERS {
            // The responder answers with the default: no success.
            return fcu.count(Counter::TooManyCalls);
        }
        let id = self.next_id;
        self.next_id += 1;
        self.wanted.push(Wanted {
            id,
            goal,
            what,
            caller,
            stage: Stage::Queued(command),
            texts: Reasons::default(),
        });
    }

    /// The next command that waits for nothing, and its number.
    pub(super) fn next_command(&mut self) -> Option<(u64, Command)> {
        let (mut arming, mut mode, mut take_off) = (false, false, false);
        for wanted in &mut self.wanted {
            let before = match wanted.goal {
                Goal::Armed(_) => &mut arming,
                Goal::Mode(_) | Goal::BaseMode(_) => &mut mode,
                Goal::TakeOff(_) => &mut take_off,
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
            CommandEnd::TimedOut { .. } if wanted.goal.seen(fcu) == Seen::Reached => {
                self.finish(fcu, at, Ok(()));
            }
            // The vehicle knows nothing of it, and gives no reason.
            CommandEnd::NotSent => self.finish(fcu, at, Err(end)),
            _ => {
                wanted.stage = Stage::Refused {
                    end,
                    until: now + FOR_REASON,
                };
            }
        }
    }

    /// Answers who waits for what the vehicle shows now.
    pub(super) fn look(&mut self, fcu: &mut Fcu) {
        let now = fcu.now.mono;
        let mut at = 0;
        while let Some(wanted) = self.wanted.get(at) {
            let Stage::Accepted { since, .. } = wanted.stage else {
                at += 1;
                continue;
            };
            let heard = now >= since + FOR_REASON;
            match wanted.goal.seen(fcu) {
                Seen::Reached => self.finish(fcu, at, Ok(())),
                // It has time to complain first.
                _ if wanted.goal.is_denied_by(&wanted.texts) => {
                    self.finish(fcu, at, Err(CommandEnd::Broadcast.into()));
                }
                Seen::Promised if heard => self.finish(fcu, at, Ok(())),
                _ => at += 1,
            }
        }
    }

    /// The vehicle said something.
    pub(super) fn text(&mut self, message: &raw::StatusText) {
        let sent = |wanted: &&mut Wanted| !matches!(wanted.stage, Stage::Queued(_));
        for wanted in self.wanted.iter_mut().filter(sent) {
            wanted.texts.hear(message);
        }
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu, commands: &mut CommandPart) {
        let now = fcu.now.mono;
        self.look(fcu);
        let mut ask = false;
        let mut at = 0;
        while let Some(wanted) = self.wanted.get_mut(at) {
            let to_show = wanted.goal.time_to_show();
            let end = match &mut wanted.stage {
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
        let asks = fcu.abilities().acks && fcu.heartbeat.is_some_and(|h| h.autopilot == PX4);
        if ask && asks {
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
                let then = wanted.goal.time_to_show();
                Some(since + ASK.get(asked).copied().unwrap_or(then))
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
            let texts = wanted.texts.joined();
            if !texts.is_empty() {
                why = format!("{why}: {texts}");
            }
            tracing::warn!(vehicle = fcu.settings.id, "{}: {why}", wanted.what);
            fcu.notice(format!("{}: {why}", wanted.what));
            fcu.count(Counter::CommandFailed);
        }
        match wanted.caller {
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
            let why = format!("there is no such mode; known: {}", known.join(", "));
            refuse(fcu, &format!("set_mode {:?}: {why}", request.custom_mode));
            return caller.respond(SetModeResponse { mode_sent: false });
        };
        let recent = |at: Duration| fcu.now.mono.saturating_sub(at) <= SETPOINT_AGE;
        if number == OFFBOARD && !fcu.abilities().acks && !fcu.last_setpoint.is_some_and(recent) {
            let link = fcu.abilities().name;
            let why = format!(
                "set_mode OFFBOARD: no setpoint was sent in the last second; with {link} CopterSim changes to OFFBOARD by \
                 itself when setpoints come, and to nothing else"
            );
            refuse(fcu, &why);
            return caller.respond(SetModeResponse { mode_sent: false });
        }
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

/// Takes off, if the vehicle is armed; otherwise it does so when it is armed.
fn take_off(autopilot: &mut Autopilot, r: &CommandTOLRequest, caller: Responder<CommandTOL>) {
    let services = &mut autopilot.services;
    let fcu = &mut autopilot.fcu;
    let command = raw::CommandLong {
        params: [
            r.min_pitch,
            0.0,
            0.0,
            r.yaw,
            r.latitude,
            r.longitude,
            r.altitude,
        ],
        command: TAKE_OFF,
        target_system: fcu.system,
        target_component: fcu.component,
        confirmation: 1,
    };
    if let Some(why) = not_above(fcu, r.altitude.into()) {
        refuse(fcu, &why);
        let (success, result) = (false, DENIED);
        return caller.respond(CommandTOLResponse { success, result });
    }
    let goal = Goal::take_off(fcu);
    let caller = Caller::TakeOff(caller);
    let outcomes = &mut services.outcomes;
    outcomes.want(fcu, goal, "cmd/takeoff".to_owned(), caller, command.into());
    services.settle(fcu);
}

/// Why a take-off to this altitude would be none. PX4 accepts it, and says so only when it is armed, if at all.
fn not_above(fcu: &Fcu, altitude: f64) -> Option<String> {
    let checked = fcu.settings.px4_checks && !fcu.settings.quirks && fcu.abilities().acks;
    let px4 = fcu.heartbeat.is_some_and(|h| h.autopilot == PX4);
    // What is not a number leaves it to PX4.
    let here = (fcu.amsl).filter(|here| checked && px4 && altitude < here + CLIMB)?;
    Some(format!(
        "cmd/takeoff to {altitude:.1} m: that is not above the vehicle, which is at {here:.1} m above sea level, and PX4 \
         would stay where it is; NaN takes PX4's own take-off altitude"
    ))
}

fn refuse(fcu: &mut Fcu, why: &str) {
    tracing::warn!(vehicle = fcu.settings.id, "{why}");
    fcu.notice(why.to_owned());
    fcu.count(Counter::CommandRefused);
}
