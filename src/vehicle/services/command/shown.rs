//! Calls that are answered when the vehicle shows the new state, or with the reason of its refusal: `set_mode`, `cmd/arming`,
//! `cmd/takeoff`, in the UDP modes `cmd/takeoff_local`, and commands for which [`goal_of`] returns a goal.
//!
//! An acknowledgement proves nothing: PX4 accepts modes that it does not have, OFFBOARD without setpoints, and take-offs
//! to its own height.
use super::pending_calls::{RequestedChange, answer};
use super::{coordinates::here, goal::VehicleGoal, outcome::CommandService, refuse};
use crate::msgs::mavros_msgs::srv::*;
use crate::vehicle::Fcu;
use crate::vehicle::mode::{self, OFFBOARD};
use crate::vehicle::service_table::VehicleCall;
use crate::wire::mavlink::numbers::*;
use crate::{session::MavCommand, wire::mavlink::raw};
use std::time::Duration;

/// Minimum climb of a take-off in m; less is noise of the estimate.
const MIN_CLIMB: f64 = 0.3;
/// CopterSim is in OFFBOARD while setpoints arrive; PX4 leaves OFFBOARD after a second without setpoints.
const MAX_SETPOINT_AGE: Duration = Duration::from_secs(1);

/// The goal of a command whose change the heartbeat shows: arming, and modes of PX4.
pub(super) fn goal_of(fcu: &Fcu, command: &raw::CommandLong) -> Option<VehicleGoal> {
    if command.target_system != fcu.system {
        return None;
    }
    let [first, ..] = command.params;
    let is_px4 = fcu.is_px4();
    let mode = || MavCommand::from(*command).custom_mode().map(VehicleGoal::Mode);
    match command.command {
        MAV_CMD_COMPONENT_ARM_DISARM if first.round() == 0.0 => Some(VehicleGoal::Armed(false)),
        MAV_CMD_COMPONENT_ARM_DISARM if first.round() == 1.0 => Some(VehicleGoal::Armed(true)),
        MAV_CMD_DO_SET_MODE if is_px4 && first as u8 & MAV_MODE_FLAG_CUSTOM_MODE_ENABLED != 0 => {
            mode()
        }
        MAV_CMD_NAV_RETURN_TO_LAUNCH | MAV_CMD_NAV_LAND if is_px4 && fcu.abilities().acks => mode(),
        _ => None,
    }
}

/// Sends a command, and answers when the vehicle shows the change.
pub(super) fn change<S: CommandService>(
    call: VehicleCall<'_, S>,
    goal: VehicleGoal,
    what: String,
    command: impl Into<MavCommand>,
) {
    let change = RequestedChange { goal, what, answer: answer(call.responder) };
    call.autopilot.services.command.change(&mut call.autopilot.fcu, change, command);
}

pub(super) fn arm(call: VehicleCall<'_, CommandBool>, request: CommandBoolRequest) {
    let goal = VehicleGoal::Armed(request.value);
    let what = if request.value { "arm" } else { "disarm" }.to_owned();
    let params = [f32::from(u8::from(request.value)), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let command = call.autopilot.fcu.command(MAV_CMD_COMPONENT_ARM_DISARM, 1, params);
    change(call, goal, what, command);
}

pub(super) fn set_mode(call: VehicleCall<'_, SetMode>, request: SetModeRequest) {
    let fcu = &mut call.autopilot.fcu;
    let mut base_mode = request.base_mode;
    let (custom_mode, goal) = if request.custom_mode.is_empty() {
        (0, VehicleGoal::BaseMode(base_mode))
    } else {
        let Some(number) = mode::number(&request.custom_mode) else {
            let known: Vec<_> = mode::names().collect();
            let why = format!("there is no such mode; known: {}", known.join(", "));
            refuse(fcu, format!("set_mode {:?}: {why}", request.custom_mode));
            return call.responder.respond(SetModeResponse { mode_sent: false });
        };
        let is_new = |at: Duration| fcu.now.mono.saturating_sub(at) <= MAX_SETPOINT_AGE;
        if number == OFFBOARD && !fcu.abilities().acks && !fcu.last_setpoint.is_some_and(is_new) {
            let link = fcu.abilities().name;
            let why = format!(
                "set_mode OFFBOARD: no setpoint was sent in the last second; with {link} CopterSim enters OFFBOARD by \
                 itself when setpoints arrive, and no other mode"
            );
            refuse(fcu, why);
            return call.responder.respond(SetModeResponse { mode_sent: false });
        }
        let present = fcu.heartbeat.map_or(0, |h| h.base_mode);
        base_mode |= MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
            | present & (MAV_MODE_FLAG_SAFETY_ARMED | MAV_MODE_FLAG_HIL_ENABLED);
        (number, VehicleGoal::Mode(number))
    };
    let what = if request.custom_mode.is_empty() {
        format!("set_mode {base_mode}")
    } else {
        format!("set_mode {}", request.custom_mode)
    };
    let command = raw::SetMode { custom_mode, target_system: fcu.system, base_mode };
    change(call, goal, what, command);
}

/// Sends a take-off; an unarmed vehicle takes off once it is armed.
pub(super) fn take_off(call: VehicleCall<'_, CommandTOL>, r: CommandTOLRequest) {
    let fcu = &mut call.autopilot.fcu;
    let [latitude, longitude] = here(fcu, MAV_CMD_NAV_TAKEOFF, [r.latitude, r.longitude], f32::NAN);
    let params = [r.min_pitch, 0.0, 0.0, r.yaw, latitude, longitude, r.altitude];
    let command = fcu.command(MAV_CMD_NAV_TAKEOFF, 1, params);
    if let Some(why) = not_above(fcu, r.altitude.into()) {
        refuse(fcu, why);
        return call.responder.respond(CommandTOL::response(false, MAV_RESULT_DENIED));
    }
    warn_not_carried(fcu, call.name, &[r.min_pitch, r.yaw]);
    let (goal, what) = (VehicleGoal::take_off(fcu), call.name.to_owned());
    change(call, goal, what, command);
}

/// Warns if pitch, yaw or rate are set: CopterSim's structs have only the position of a take-off.
pub(super) fn warn_not_carried(fcu: &mut Fcu, call: &str, more: &[f32]) {
    let is_set = |value: &f32| *value != 0.0 && value.is_finite();
    if !fcu.abilities().acks && more.iter().any(is_set) {
        let link = fcu.abilities().name;
        let text = format!(
            "{call}: {link} carries only the position of a take-off; pitch, yaw and rate are left to the vehicle"
        );
        fcu.warn(text);
    }
}

/// Why a take-off to this altitude is refused, if it is: PX4 accepts a take-off that does not climb, and reports the fault only
/// when armed, if at all.
fn not_above(fcu: &Fcu, altitude: f64) -> Option<String> {
    let checked = fcu.settings.px4_checks && !fcu.settings.quirks && fcu.abilities().acks;
    // NaN leaves the altitude to PX4.
    let here = (fcu.amsl).filter(|here| checked && fcu.is_px4() && altitude < here + MIN_CLIMB)?;
    Some(format!(
        "cmd/takeoff to {altitude:.1} m: not above the vehicle, which is at {here:.1} m above sea level, so PX4 would \
         not climb; send NaN for PX4's own take-off altitude"
    ))
}
