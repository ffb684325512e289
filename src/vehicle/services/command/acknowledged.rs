//! Services that send one command and answer with the vehicle's acknowledgement.
use super::coordinates::{UNSET, flies_px4, here, misread_frame};
use super::goal::VehicleGoal;
use super::outcome::CommandOutcome;
use super::pending_calls::{RequestedChange, answer};
use super::shown::{self, warn_not_carried};
use super::{Waiter, refuse};
use crate::msgs::Service;
use crate::msgs::mavros_msgs::srv::*;
use crate::ros::{Responder, RosError};
use crate::session::MavCommand;
use crate::vehicle::mav::*;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::raw;
use std::f32::consts::FRAC_PI_2;

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    open.service::<CommandLong>("cmd/command", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        let [x, y] = here(fcu, r.command, [r.param5, r.param6], f32::NAN);
        let params = [r.param1, r.param2, r.param3, r.param4, x, y, r.param7];
        let mut command = fcu.command(r.command, r.confirmation, params);
        if r.broadcast {
            tracing::warn!("PX4 ignores broadcast commands; {} is sent nevertheless", r.command);
            (command.target_system, command.target_component) = (0, 0);
        }
        let reply = |success, result| CommandLongResponse { success, result };
        send_long(autopilot, "cmd/command", command, responder, reply);
    })?;
    open.service::<CommandInt>("cmd/command_int", |autopilot, r, responder| {
        let fcu = &mut autopilot.fcu;
        if let Some(why) = misread_frame(fcu, r.command, r.frame) {
            refuse(fcu, format!("cmd/command_int: {why}"));
            return responder.respond(CommandIntResponse { success: false });
        }
        let [x, y] = here(fcu, r.command, [r.x, r.y], UNSET);
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
        let [lat, lon] = here(fcu, MAV_CMD_NAV_LAND, [r.latitude, r.longitude], f32::NAN);
        let params = [0.0, 0.0, 0.0, r.yaw, lat, lon, r.altitude];
        let command = fcu.command(MAV_CMD_NAV_LAND, 1, params);
        let reply = |success, result| CommandTOLResponse { success, result };
        send_long(autopilot, "cmd/land", command, responder, reply);
    })?;
    local(
        open,
        "cmd/takeoff_local",
        MAV_CMD_NAV_TAKEOFF_LOCAL,
        "PX4 has no MAV_CMD_NAV_TAKEOFF_LOCAL; use cmd/takeoff",
    )?;
    local(
        open,
        "cmd/land_local",
        MAV_CMD_NAV_LAND_LOCAL,
        "PX4 takes the number of MAV_CMD_NAV_LAND_LOCAL for a precision landing; use cmd/land",
    )?;
    command::<CommandHome>(
        open,
        ("cmd/set_home", MAV_CMD_DO_SET_HOME, 1),
        |r| [flag(r.current_gps), 0.0, 0.0, r.yaw, r.latitude, r.longitude, r.altitude],
        |success, result| CommandHomeResponse { success, result },
    )?;
    command::<CommandTriggerControl>(
        open,
        ("cmd/trigger_control", MAV_CMD_DO_TRIGGER_CONTROL, 1),
        |r| {
            let flags = [r.trigger_enable, r.sequence_reset, r.trigger_pause];
            let [enable, reset, pause] = flags.map(flag);
            [enable, reset, pause, 0.0, 0.0, 0.0, 0.0]
        },
        |success, result| CommandTriggerControlResponse { success, result },
    )?;
    command::<CommandTriggerInterval>(
        open,
        ("cmd/trigger_interval", MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL, 1),
        |r| [r.cycle_time, r.integration_time, 0.0, 0.0, 0.0, 0.0, 0.0],
        |success, result| CommandTriggerIntervalResponse { success, result },
    )?;
    command::<CommandVtolTransition>(
        open,
        ("cmd/vtol_transition", MAV_CMD_DO_VTOL_TRANSITION, 0),
        |r| [f32::from(r.state), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        |success, result| CommandVtolTransitionResponse { success, result },
    )?;
    command::<MessageInterval>(
        open,
        ("set_message_interval", MAV_CMD_SET_MESSAGE_INTERVAL, 0),
        |r| {
            // 0 selects the default rate, -1 switches the message off.
            let interval = if r.message_rate > 0.0 { 1e6 / r.message_rate } else { r.message_rate };
            [r.message_id as f32, interval, 0.0, 0.0, 0.0, 0.0, 0.0]
        },
        |success, _| MessageIntervalResponse { success },
    )?;
    command::<MountConfigure>(
        open,
        ("mount_control/configure", MAV_CMD_DO_MOUNT_CONFIGURE, 0),
        |r| {
            let [roll, pitch, yaw] =
                [r.stabilize_roll, r.stabilize_pitch, r.stabilize_yaw].map(flag);
            let [a, b, c] = [r.roll_input, r.pitch_input, r.yaw_input].map(f32::from);
            [f32::from(r.mode), roll, pitch, yaw, a, b, c]
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
        let result = if success { MAV_RESULT_ACCEPTED } else { MAV_RESULT_FAILED };
        responder.respond(CommandAckResponse { success, result });
    })
}

fn flag(set: bool) -> f32 {
    f32::from(u8::from(set))
}

/// Opens a service, given as name, MAV_CMD and confirmation, that sends one command and answers whether it was accepted.
fn command<S: Service>(
    open: &Open<'_>,
    (name, command, confirmation): (&'static str, u16, u8),
    params: impl Fn(&S::Request) -> [f32; 7] + Send + 'static,
    reply: fn(bool, u8) -> S::Response,
) -> Result<(), RosError> {
    open.service::<S>(name, move |autopilot, request, responder| {
        let command = autopilot.fcu.command(command, confirmation, params(&request));
        send(autopilot, name, command, responder, reply);
    })
}

/// Sends a command; where the heartbeat shows what it changes, that answers the call, else its result.
fn send_long<S: Service>(
    autopilot: &mut Autopilot,
    name: &'static str,
    command: raw::CommandLong,
    responder: Responder<S>,
    reply: fn(bool, u8) -> S::Response,
) {
    let fcu = &mut autopilot.fcu;
    let Some(goal) = shown::goal_of(fcu, &command) else {
        return send(autopilot, name, command, responder, reply);
    };
    let (what, answer) = (name.to_owned(), answer(responder, reply));
    let change = RequestedChange { goal, what, answer };
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
    let then = move |fcu: &mut Fcu, end: CommandOutcome| {
        let (success, number) = end.result();
        if !success {
            fcu.warn(format!("{name}: {}", end.describe(fcu)));
            fcu.count(Counter::CommandFailed);
        }
        responder.respond(reply(success, number));
    };
    let waiter = Waiter::Caller(Box::new(then));
    let fcu = &mut autopilot.fcu;
    autopilot.services.command.start(fcu, command, waiter);
}

/// Opens one of the two commands that PX4 does not support; CopterSim's structs have the first.
fn local(
    open: &Open<'_>,
    name: &'static str,
    number: u16,
    why: &'static str,
) -> Result<(), RosError> {
    let reply = |success, result| CommandTOLLocalResponse { success, result };
    open.service::<CommandTOLLocal>(name, move |autopilot, request, responder| {
        let fcu = &mut autopilot.fcu;
        if fcu.settings.px4_checks && flies_px4(fcu) {
            refuse(fcu, format!("{name}: {why}"));
            return responder.respond(reply(false, MAV_RESULT_UNSUPPORTED));
        }
        let params = local_params(&request, number, fcu.settings.quirks);
        let command = fcu.command(number, 1, params);
        if number == MAV_CMD_NAV_TAKEOFF_LOCAL && !fcu.settings.quirks {
            let more = [request.min_pitch, request.yaw, request.rate];
            warn_not_carried(fcu, name, &more);
            let (goal, what) = (VehicleGoal::take_off(fcu), name.to_owned());
            let change = RequestedChange { goal, what, answer: answer(responder, reply) };
            return autopilot.services.command.change(fcu, change, command);
        }
        send(autopilot, name, command, responder, reply);
    })
}

/// The commands have y (east) before x (north). mavros passes height and yaw unchanged.
fn local_params(r: &CommandTOLLocalRequest, number: u16, as_mavros: bool) -> [f32; 7] {
    let [x, y, z] = [r.position.x, r.position.y, r.position.z].map(|v| v as f32);
    let first =
        if number == MAV_CMD_NAV_TAKEOFF_LOCAL { [r.min_pitch, 0.0] } else { [0.0, r.offset] };
    let [a, b] = first;
    if as_mavros {
        [a, b, r.rate, r.yaw, y, x, z]
    } else {
        [a, b, r.rate, FRAC_PI_2 - r.yaw, x, y, -z]
    }
}
