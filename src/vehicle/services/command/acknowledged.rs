//! The table of command services, and the services that answer with the vehicle's acknowledgement.
use super::coordinates::{UNSET, flies_px4, here, misread_frame};
use super::outcome::{CommandOutcome, CommandService};
use super::shown::{self, warn_not_carried};
use super::{Waiter, goal::VehicleGoal, refuse};
use crate::msgs::mavros_msgs::srv::*;
use crate::vehicle::service_table::{VehicleCall, services};
use crate::vehicle::{Counter, Fcu};
use crate::wire::mavlink::numbers::*;
use crate::{session::MavCommand, wire::mavlink::raw};
use std::f32::consts::FRAC_PI_2;

services! {
    CommandBool("cmd/arming", "arms or disarms; waits until the heartbeat shows it") => shown::arm;
    SetMode("set_mode", "changes the mode; waits until the vehicle is in it") => shown::set_mode;
    CommandTOL("cmd/takeoff", "MAV_CMD_NAV_TAKEOFF") => shown::take_off;
    CommandLong("cmd/command", "COMMAND_LONG; waits for the result") => |call, r| {
        let fcu = &mut call.autopilot.fcu;
        let [x, y] = here(fcu, r.command, [r.param5, r.param6], f32::NAN);
        let params = [r.param1, r.param2, r.param3, r.param4, x, y, r.param7];
        let mut command = fcu.command(r.command, r.confirmation, params);
        if r.broadcast {
            tracing::warn!("PX4 ignores broadcast commands; {} is sent nevertheless", r.command);
            (command.target_system, command.target_component) = (0, 0);
        }
        send_long(call, command);
    };
    CommandInt("cmd/command_int", "COMMAND_INT; waits for the result") => |call, r| {
        let fcu = &mut call.autopilot.fcu;
        if let Some(why) = misread_frame(fcu, r.command, r.frame) {
            refuse(fcu, format!("{}: {why}", call.name));
            return call.responder.respond(CommandIntResponse { success: false });
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
        send(call, command);
    };
    CommandTOL("cmd/land", "MAV_CMD_NAV_LAND") => |call, r| {
        let fcu = &mut call.autopilot.fcu;
        let [lat, lon] = here(fcu, MAV_CMD_NAV_LAND, [r.latitude, r.longitude], f32::NAN);
        let params = [0.0, 0.0, 0.0, r.yaw, lat, lon, r.altitude];
        let command = fcu.command(MAV_CMD_NAV_LAND, 1, params);
        send_long(call, command);
    };
    CommandTOLLocal("cmd/takeoff_local", "in the UDP modes, takes off to a position relative to home; otherwise refused: PX4 has no such command") => |call, r| {
        let why = "PX4 has no MAV_CMD_NAV_TAKEOFF_LOCAL; use cmd/takeoff";
        send_local(call, MAV_CMD_NAV_TAKEOFF_LOCAL, why, &r);
    };
    CommandTOLLocal("cmd/land_local", "refused: PX4 takes its number for a precision landing, and the UDP modes have no landing") => |call, r| {
        let why = "PX4 takes the number of MAV_CMD_NAV_LAND_LOCAL for a precision landing; use cmd/land";
        send_local(call, MAV_CMD_NAV_LAND_LOCAL, why, &r);
    };
    CommandHome("cmd/set_home", "MAV_CMD_DO_SET_HOME") => |call, r| {
        let params = [flag(r.current_gps), 0.0, 0.0, r.yaw, r.latitude, r.longitude, r.altitude];
        command(call, MAV_CMD_DO_SET_HOME, 1, params);
    };
    CommandTriggerControl("cmd/trigger_control", "MAV_CMD_DO_TRIGGER_CONTROL") => |call, r| {
        let [enable, reset, pause] = [r.trigger_enable, r.sequence_reset, r.trigger_pause].map(flag);
        let params = [enable, reset, pause, 0.0, 0.0, 0.0, 0.0];
        command(call, MAV_CMD_DO_TRIGGER_CONTROL, 1, params);
    };
    CommandTriggerInterval("cmd/trigger_interval", "MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL") => |call, r| {
        let params = [r.cycle_time, r.integration_time, 0.0, 0.0, 0.0, 0.0, 0.0];
        command(call, MAV_CMD_DO_SET_CAM_TRIGG_INTERVAL, 1, params);
    };
    CommandVtolTransition("cmd/vtol_transition", "MAV_CMD_DO_VTOL_TRANSITION") => |call, r| {
        let params = [f32::from(r.state), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        command(call, MAV_CMD_DO_VTOL_TRANSITION, 0, params);
    };
    MessageInterval("set_message_interval", "MAV_CMD_SET_MESSAGE_INTERVAL") => |call, r| {
        // 0 selects the default rate, -1 switches the message off.
        let interval = if r.message_rate > 0.0 { 1e6 / r.message_rate } else { r.message_rate };
        let params = [r.message_id as f32, interval, 0.0, 0.0, 0.0, 0.0, 0.0];
        command(call, MAV_CMD_SET_MESSAGE_INTERVAL, 0, params);
    };
    MountConfigure("mount_control/configure", "MAV_CMD_DO_MOUNT_CONFIGURE") => |call, r| {
        let [roll, pitch, yaw] = [r.stabilize_roll, r.stabilize_pitch, r.stabilize_yaw].map(flag);
        let [a, b, c] = [r.roll_input, r.pitch_input, r.yaw_input].map(f32::from);
        let params = [f32::from(r.mode), roll, pitch, yaw, a, b, c];
        command(call, MAV_CMD_DO_MOUNT_CONFIGURE, 0, params);
    };
    StreamRate("set_stream_rate", "REQUEST_DATA_STREAM") => |call, r| {
        let fcu = &mut call.autopilot.fcu;
        let request = raw::RequestDataStream {
            rate: r.message_rate,
            target_system: fcu.system,
            target_component: fcu.component,
            stream: r.stream_id,
            start: r.on_off.into(),
        };
        if let Err(refusal) = fcu.send(request) {
            tracing::warn!(vehicle = fcu.settings.id, %refusal, "{}: not sent", call.name);
        }
        call.responder.respond(StreamRateResponse::default());
    };
    CommandAck("cmd/command_ack", "sends a COMMAND_ACK") => |call, r| {
        let fcu = &mut call.autopilot.fcu;
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
        call.responder.respond(CommandAckResponse { success, result });
    };
}

fn flag(set: bool) -> f32 {
    f32::from(u8::from(set))
}

/// Sends a COMMAND_LONG; its result answers the call.
fn command<S: CommandService>(call: VehicleCall<'_, S>, id: u16, confirm: u8, params: [f32; 7]) {
    let command = call.autopilot.fcu.command(id, confirm, params);
    send(call, command);
}

/// Sends a COMMAND_LONG. Answers when the heartbeat shows the command's change; without such a change, with the result.
fn send_long<S: CommandService>(call: VehicleCall<'_, S>, command: raw::CommandLong) {
    match shown::goal_of(&call.autopilot.fcu, &command) {
        Some(goal) => {
            let what = call.name.to_owned();
            shown::change(call, goal, what, command);
        }
        None => send(call, command),
    }
}

/// Sends a command; its result answers the call.
fn send<S: CommandService>(call: VehicleCall<'_, S>, command: impl Into<MavCommand>) {
    let VehicleCall { autopilot, name, responder } = call;
    let then = move |fcu: &mut Fcu, end: CommandOutcome| {
        let (success, number) = end.result();
        if !success {
            fcu.warn(format!("{name}: {}", end.describe(fcu)));
            fcu.count(Counter::CommandFailed);
        }
        responder.respond(S::response(success, number));
    };
    let waiter = Waiter::Caller(Box::new(then));
    autopilot.services.command.start(&mut autopilot.fcu, command, waiter);
}

/// Sends the local take-off, which CopterSim supports, or the local landing; PX4 supports neither.
fn send_local(
    call: VehicleCall<'_, CommandTOLLocal>,
    number: u16,
    why: &str,
    r: &CommandTOLLocalRequest,
) {
    let fcu = &mut call.autopilot.fcu;
    if fcu.settings.px4_checks && flies_px4(fcu) {
        refuse(fcu, format!("{}: {why}", call.name));
        return call.responder.respond(CommandTOLLocal::response(false, MAV_RESULT_UNSUPPORTED));
    }
    let command = fcu.command(number, 1, local_params(r, number, fcu.settings.quirks));
    if number == MAV_CMD_NAV_TAKEOFF_LOCAL && !fcu.settings.quirks {
        warn_not_carried(fcu, call.name, &[r.min_pitch, r.yaw, r.rate]);
        let (goal, what) = (VehicleGoal::take_off(fcu), call.name.to_owned());
        return shown::change(call, goal, what, command);
    }
    send(call, command);
}

/// In these commands y (east) precedes x (north) of NED. mavros takes the ENU position and yaw of ROS as NED.
fn local_params(r: &CommandTOLLocalRequest, number: u16, as_mavros: bool) -> [f32; 7] {
    let [x, y, z] = [r.position.x, r.position.y, r.position.z].map(|v| v as f32);
    let [pitch, offset] =
        if number == MAV_CMD_NAV_TAKEOFF_LOCAL { [r.min_pitch, 0.0] } else { [0.0, r.offset] };
    if as_mavros {
        [pitch, offset, r.rate, r.yaw, y, x, z]
    } else {
        [pitch, offset, r.rate, FRAC_PI_2 - r.yaw, x, y, -z]
    }
}
