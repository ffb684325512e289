//! Services that send one command and answer with the vehicle's acknowledgement.
use super::changes::{self, tell_unsaid};
use super::ending::{Ending, FAILED, UNSUPPORTED};
use super::goal::Goal;
use super::place::{self, flies_px4, here};
use super::wanted::{Caller, Change};
use super::{Waiter, long, refuse};
use crate::msgs::Service;
use crate::msgs::mavros_msgs::srv::{
    CommandAck, CommandAckResponse, CommandHome, CommandHomeResponse, CommandInt,
    CommandIntResponse, CommandLong, CommandLongResponse, CommandTOL, CommandTOLLocal,
    CommandTOLLocalRequest, CommandTOLLocalResponse, CommandTOLResponse, CommandTriggerControl,
    CommandTriggerControlResponse, CommandTriggerInterval, CommandTriggerIntervalResponse,
    CommandVtolTransition, CommandVtolTransitionResponse, MessageInterval, MessageIntervalResponse,
    MountConfigure, MountConfigureResponse, StreamRate, StreamRateResponse,
};
use crate::ros::{Responder, RosError};
use crate::session::MavCommand;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::raw;
use std::f32::consts::FRAC_PI_2;

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.service::<CommandLong>("cmd/command", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        let command = {
            let [x, y] = match place::has_place(r.command) {
                true => here(fcu, [r.param5, r.param6]),
                false => [r.param5, r.param6],
            };
            let params = [r.param1, r.param2, r.param3, r.param4, x, y, r.param7];
            let mut command = long(fcu, r.command, r.confirmation, params);
            if r.broadcast {
                tracing::warn!(
                    "PX4 ignores broadcast commands; {} is sent nevertheless",
                    r.command
                );
                (command.target_system, command.target_component) = (0, 0);
            }
            command
        };
        let reply = |success, result| CommandLongResponse { success, result };
        send_long(autopilot, "cmd/command", command, responder, (Caller::Command, reply));
    })?;
    open.service::<CommandInt>("cmd/command_int", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        if let Some(why) = place::misread_frame(fcu, r.command, r.frame) {
            refuse(fcu, &format!("cmd/command_int: {why}"));
            return responder.respond(CommandIntResponse { success: false });
        }
        let [x, y] = match place::has_place(r.command) {
            true => place::here_int(fcu, [r.x, r.y]),
            false => [r.x, r.y],
        };
        let command = raw::CommandInt {
            params: [r.param1, r.param2, r.param3, r.param4],
            x,
            y,
            z: r.z,
            command: r.command,
            target_system: if r.broadcast { 0 } else { fcu.system },
            target_component: if r.broadcast { 0 } else { fcu.component },
            frame: r.frame,
            current: r.current,
            autocontinue: r.autocontinue,
        };
        let reply = |success, _| CommandIntResponse { success };
        send(autopilot, "cmd/command_int", command, responder, reply);
    })?;
    open.service::<CommandTOL>("cmd/land", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        let [lat, lon] = here(fcu, [r.latitude, r.longitude]);
        let command = long(fcu, 21, 1, [0.0, 0.0, 0.0, r.yaw, lat, lon, r.altitude]);
        let reply = |success, result| CommandTOLResponse { success, result };
        send_long(autopilot, "cmd/land", command, responder, (Caller::TakeOffOrLand, reply));
    })?;
    local(
        open,
        "cmd/takeoff_local",
        TAKE_OFF_LOCAL,
        "PX4 has no MAV_CMD_NAV_TAKEOFF_LOCAL; use cmd/takeoff",
    )?;
    local(
        open,
        "cmd/land_local",
        LAND_LOCAL,
        "PX4 takes the number of MAV_CMD_NAV_LAND_LOCAL for a precision landing; use cmd/land",
    )?;
    command::<CommandHome, _>(
        open,
        "cmd/set_home",
        |fcu, r| {
            let current = f32::from(u8::from(r.current_gps));
            let (lat, lon, alt) = (r.latitude, r.longitude, r.altitude);
            long(fcu, 179, 1, [current, 0.0, 0.0, r.yaw, lat, lon, alt])
        },
        |success, result| CommandHomeResponse { success, result },
    )?;
    command::<CommandTriggerControl, _>(
        open,
        "cmd/trigger_control",
        |fcu, r| {
            let flags = [r.trigger_enable, r.sequence_reset, r.trigger_pause];
            let [enable, reset, pause] = flags.map(|flag| f32::from(u8::from(flag)));
            long(fcu, 2003, 1, [enable, reset, pause, 0.0, 0.0, 0.0, 0.0])
        },
        |success, result| CommandTriggerControlResponse { success, result },
    )?;
    command::<CommandTriggerInterval, _>(
        open,
        "cmd/trigger_interval",
        |fcu, r| {
            let (cycle, integration) = (r.cycle_time, r.integration_time);
            long(fcu, 214, 1, [cycle, integration, 0.0, 0.0, 0.0, 0.0, 0.0])
        },
        |success, result| CommandTriggerIntervalResponse { success, result },
    )?;
    command::<CommandVtolTransition, _>(
        open,
        "cmd/vtol_transition",
        |fcu, r| {
            let state = f32::from(r.state);
            long(fcu, 3000, 0, [state, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        },
        |success, result| CommandVtolTransitionResponse { success, result },
    )?;
    command::<MessageInterval, _>(
        open,
        "set_message_interval",
        |fcu, r| {
            // 0 selects the default rate, -1 switches the message off.
            let interval = if r.message_rate > 0.0 { 1e6 / r.message_rate } else { r.message_rate };
            let id = r.message_id as f32;
            long(fcu, 511, 0, [id, interval, 0.0, 0.0, 0.0, 0.0, 0.0])
        },
        |success, _| MessageIntervalResponse { success },
    )?;
    command::<MountConfigure, _>(
        open,
        "mount_control/configure",
        |fcu, r| {
            let flags = [r.stabilize_roll, r.stabilize_pitch, r.stabilize_yaw];
            let [roll, pitch, yaw] = flags.map(|flag| f32::from(u8::from(flag)));
            let inputs = [r.roll_input, r.pitch_input, r.yaw_input].map(f32::from);
            let [a, b, c] = inputs;
            long(fcu, 204, 0, [f32::from(r.mode), roll, pitch, yaw, a, b, c])
        },
        |success, result| MountConfigureResponse { success, result },
    )?;
    open.service::<StreamRate>("set_stream_rate", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        let request = raw::RequestDataStream {
            rate: r.message_rate,
            target_system: fcu.system,
            target_component: fcu.component,
            stream: r.stream_id,
            start: r.on_off.into(),
        };
        if let Err(refusal) = fcu.send(request) {
            tracing::warn!(vehicle = fcu.settings.id, %refusal, "set_stream_rate: not sent");
        }
        responder.respond(StreamRateResponse::default());
    })?;
    open.service::<CommandAck>("cmd/command_ack", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        let ack = raw::CommandAck {
            command: r.command,
            result: r.result,
            progress: r.progress,
            result_param2: r.result_param2.cast_signed(),
            target_system: fcu.system,
            target_component: fcu.component,
        };
        let success = fcu.send(ack).is_ok();
        let result = if success { 0 } else { FAILED };
        responder.respond(CommandAckResponse { success, result });
    })
}

/// Opens a service that sends one command and answers whether it was accepted.
fn command<S: Service, C: Into<MavCommand>>(
    open: &Open<'_>,
    name: &'static str,
    make: impl Fn(&Fcu, &S::Request) -> C + Send + 'static,
    reply: fn(bool, u8) -> S::Response,
) -> Result<(), RosError> {
    open.service::<S>(name, move |autopilot: &mut Autopilot, request, responder| {
        let command = make(&autopilot.fcu, &request);
        send(autopilot, name, command, responder, reply);
    })
}

/// How a service is answered: when the vehicle shows a change, or with a result.
type Answers<S> = (fn(Responder<S>) -> Caller, fn(bool, u8) -> <S as Service>::Response);

/// Sends a command; where the heartbeat shows what it changes, that answers the call, else its result.
fn send_long<S: Service>(
    autopilot: &mut Autopilot,
    name: &'static str,
    command: raw::CommandLong,
    responder: Responder<S>,
    (caller, reply): Answers<S>,
) {
    let fcu = &mut autopilot.fcu;
    let Some(goal) = changes::goal_of(fcu, &command) else {
        return send(autopilot, name, command, responder, reply);
    };
    let (what, caller) = (name.to_owned(), caller(responder));
    let change = Change { goal, what, caller };
    autopilot.services.command.change(fcu, change, command);
}

/// Sends a command; its result answers the call.
fn send<S: Service>(
    autopilot: &mut Autopilot,
    name: &'static str,
    command: impl Into<MavCommand>,
    responder: Responder<S>,
    reply: fn(bool, u8) -> S::Response,
) {
    let then = move |fcu: &mut Fcu, end: Ending| {
        let (success, number) = end.result();
        if !success {
            let why = end.describe(fcu);
            tracing::warn!(vehicle = fcu.settings.id, service = name, why, "command failed");
            fcu.notice(format!("{name}: {why}"));
            fcu.count(Counter::CommandFailed);
        }
        responder.respond(reply(success, number));
    };
    let waiter = Waiter::Caller(Box::new(then));
    let fcu = &mut autopilot.fcu;
    autopilot.services.command.start(fcu, command, waiter);
}

/// MAV_CMD_NAV_TAKEOFF_LOCAL, NAV_LAND_LOCAL.
const TAKE_OFF_LOCAL: u16 = 24;
const LAND_LOCAL: u16 = 23;

/// Opens one of the two commands that PX4 does not support; CopterSim's structs have the first.
fn local(
    open: &Open<'_>,
    name: &'static str,
    number: u16,
    why: &'static str,
) -> Result<(), RosError> {
    open.service::<CommandTOLLocal>(name, move |autopilot, request, responder| {
        let fcu = &mut autopilot.fcu;
        if fcu.settings.px4_checks && flies_px4(fcu) {
            tracing::warn!(vehicle = fcu.settings.id, service = name, why, "refused");
            fcu.notice(format!("{name}: {why}"));
            fcu.count(Counter::CommandRefused);
            return responder
                .respond(CommandTOLLocalResponse { success: false, result: UNSUPPORTED });
        }
        let command = long(fcu, number, 1, local_params(&request, number, fcu.settings.quirks));
        if number == TAKE_OFF_LOCAL && !fcu.settings.quirks {
            let more = [request.min_pitch, request.yaw, request.rate];
            tell_unsaid(fcu, name, &more);
            let (goal, what) = (Goal::take_off(fcu), name.to_owned());
            let caller = Caller::TakeOffLocal(responder);
            let change = Change { goal, what, caller };
            return autopilot.services.command.change(fcu, change, command);
        }
        let then = move |fcu: &mut Fcu, end: Ending| {
            let (success, result) = end.result();
            if !success {
                fcu.notice(format!("{name}: {}", end.describe(fcu)));
                fcu.count(Counter::CommandFailed);
            }
            responder.respond(CommandTOLLocalResponse { success, result });
        };
        let waiter = Waiter::Caller(Box::new(then));
        autopilot.services.command.start(fcu, command, waiter);
    })
}

/// The commands have y (east) before x (north). mavros passes height and yaw unchanged.
fn local_params(r: &CommandTOLLocalRequest, number: u16, as_mavros: bool) -> [f32; 7] {
    let [x, y, z] = [r.position.x, r.position.y, r.position.z].map(|v| v as f32);
    let first = if number == TAKE_OFF_LOCAL { [r.min_pitch, 0.0] } else { [0.0, r.offset] };
    let [a, b] = first;
    if as_mavros {
        [a, b, r.rate, r.yaw, y, x, z]
    } else {
        [a, b, r.rate, FRAC_PI_2 - r.yaw, x, y, -z]
    }
}
