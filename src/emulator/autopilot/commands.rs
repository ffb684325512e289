//! Commands and mode changes: PX4's acknowledgements, their order, and its texts.
#![expect(deprecated, reason = "PX4 still answers with PROTOCOL_VERSION")]
use super::flight::Reposition;
use super::modes::{ACCEPTED, REJECTED};
use super::queues::{CRITICAL, INFO};
use super::{Autopilot, STEP, mode::Mode, orbit::Orbit};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::{
    AUTOPILOT_VERSION_DATA, HEARTBEAT_DATA, HOME_POSITION_DATA, MESSAGE_INTERVAL_DATA,
    MavDoRepositionFlags, MavResult, PROTOCOL_VERSION_DATA,
};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{CommandAck, CommandInt, CommandLong, SetMode};
use crate::wire::mavlink::{Frame, MavMessage, MessageData as _};

const DENIED: MavResult = MavResult::MAV_RESULT_DENIED;
const UNSUPPORTED: MavResult = MavResult::MAV_RESULT_UNSUPPORTED;
const FAILED: MavResult = MavResult::MAV_RESULT_FAILED;
/// The upper 32 bits of an f64 NaN, as an integer.
const NAN_AS_INT: i32 = 0x7ff8_0000;
/// Floats near INT32_MAX, which means "here" in COMMAND_INT; COMMAND_LONG uses NaN.
const INT_MAX_AS_FLOAT: std::ops::RangeInclusive<f64> = 2_147_483_520.0..=2_147_483_904.0;
/// Largest distance in m of a take-off's goal: for a farther goal the vehicle stays on the ground.
const TOO_FAR: f64 = 100_000.0;
/// Value of parameter 2 that forces disarming; arming is never forced.
const FORCE: f32 = 21196.0;
/// VEHICLE_CMD_CUSTOM_1 of PX4.
const CUSTOM_1: u16 = 1;
/// Accepted commands without an effect on the emulator.
#[rustfmt::skip] // a table
const WITHOUT_EFFECT: [u16; 9] = [
    MAV_CMD_NAV_ROI, MAV_CMD_DO_SET_ACTUATOR, MAV_CMD_DO_GO_AROUND, MAV_CMD_DO_SET_ROI_LOCATION, MAV_CMD_DO_SET_ROI_NONE,
    MAV_CMD_DO_SET_ROI, MAV_CMD_PREFLIGHT_CALIBRATION, MAV_CMD_PREFLIGHT_STORAGE, MAV_CMD_REQUEST_FLIGHT_INFORMATION,
];
/// Commands without an answer: their component is not emulated.
#[rustfmt::skip] // a table
const UNANSWERED: [u16; 14] = [
    CUSTOM_1, MAV_CMD_DO_DIGICAM_CONTROL, MAV_CMD_DO_MOUNT_CONTROL, MAV_CMD_DO_SET_CAM_TRIGG_DIST, MAV_CMD_DO_GRIPPER,
    MAV_CMD_PREFLIGHT_SET_SENSOR_OFFSETS, MAV_CMD_ACTUATOR_TEST, MAV_CMD_INJECT_FAILURE, MAV_CMD_START_RX_PAIR,
    MAV_CMD_REQUEST_CAMERA_INFORMATION, MAV_CMD_SET_CAMERA_MODE, MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW,
    MAV_CMD_DO_VTOL_TRANSITION, MAV_CMD_PAYLOAD_PREPARE_DEPLOY,
];

#[derive(Clone, Copy, Debug)]
struct Command {
    number: u16,
    /// Altitudes are above sea level: PX4 ignores the frame of COMMAND_INT.
    p: [f64; 7],
    target: (u8, u8),
    /// Whether x and y are encoded as in the other one of COMMAND_LONG and COMMAND_INT, which PX4 denies.
    is_misread: bool,
}

impl Command {
    fn parse(frame: &Frame<'_>, own_id: u8) -> Option<Self> {
        if let Some(long) = CommandLong::parse(frame) {
            let p = long.params.map(f64::from);
            let is_misread = [4, 5].iter().all(|i| INT_MAX_AS_FLOAT.contains(&p[*i]));
            let target = (long.target_system, long.target_component);
            Some(Self { number: long.command, p, target, is_misread })
        } else if let Some(int) = CommandInt::parse(frame) {
            let [a, b, c, d] = int.params.map(f64::from);
            let [x, y] = match (int.x, int.y) {
                (i32::MAX, i32::MAX) => [f64::NAN; 2],
                (x, y) => [x, y].map(|v| f64::from(v) * 1e-7),
            };
            let p = [a, b, c, d, x, y, int.z.into()];
            let target = (int.target_system, int.target_component);
            let is_misread = [int.x, int.y] == [NAN_AS_INT; 2];
            Some(Self { number: int.command, p, target, is_misread })
        } else {
            let mode = SetMode::parse(frame)?;
            let [_, _, main, sub] = mode.custom_mode.to_le_bytes();
            let p = [mode.base_mode, main, sub, 0, 0, 0, 0].map(f64::from);
            let system = if mode.target_system == 0 { own_id } else { mode.target_system };
            let target = (system, 1);
            Some(Self { number: MAV_CMD_DO_SET_MODE, p, target, is_misread: false })
        }
    }
}

impl Autopilot {
    /// Handles a command or a mode change; `false` if the frame is neither.
    pub(super) fn handle_command(&mut self, frame: &Frame<'_>) -> bool {
        let Some(command) = Command::parse(frame, self.setup.id) else { return false };
        let acknowledge = |pilot: &mut Self, result: MavResult| {
            let ack = CommandAck {
                command: command.number,
                result: result as u8,
                target_system: frame.system,
                target_component: frame.component,
                ..CommandAck::default()
            };
            pilot.replies.push(ack.into());
        };
        // PX4 executes broadcasts (system 0) of requests only; component 0 addresses all components of its own system.
        let is_request =
            matches!(command.number, MAV_CMD_REQUEST_MESSAGE | MAV_CMD_REQUEST_PROTOCOL_VERSION);
        let (system, component) = command.target;
        let is_own_system = system == self.setup.id || (is_request && system == 0);
        if command.is_misread {
            acknowledge(self, DENIED);
        } else if is_own_system && (is_request || matches!(component, 0 | 1)) {
            if command.number == MAV_CMD_REQUEST_PROTOCOL_VERSION {
                acknowledge(self, ACCEPTED); // before the answer
            }
            if let Some(result) = self.execute(&command) {
                acknowledge(self, result);
            }
        }
        true
    }

    /// Executes a command and returns the result to acknowledge, if any.
    fn execute(&mut self, command: &Command) -> Option<MavResult> {
        let p = &command.p;
        Some(match command.number {
            MAV_CMD_COMPONENT_ARM_DISARM => self.arm_or_disarm(p[0], p[1] as f32 == FORCE)?,
            MAV_CMD_DO_SET_MODE => self.set_mode(p[0] as u8, p[1] as u8, p[2] as u8),
            MAV_CMD_NAV_TAKEOFF => self.take_off(Mode::Takeoff, p),
            MAV_CMD_NAV_VTOL_TAKEOFF => self.take_off(Mode::VtolTakeoff, p),
            MAV_CMD_DO_ORBIT => self.orbit(p),
            MAV_CMD_NAV_LAND => self.change_with_text(Mode::Land, "Landing at current position\t"),
            // VEHICLE_CMD_NAV_PRECLAND of PX4.
            MAV_CMD_NAV_LAND_LOCAL => {
                self.change_with_text(Mode::PrecisionLand, "Precision landing\t")
            }
            MAV_CMD_NAV_RETURN_TO_LAUNCH => {
                self.change_with_text(Mode::Return, "Returning to launch\t")
            }
            MAV_CMD_DO_CHANGE_SPEED => self.change_speed(p[1]),
            MAV_CMD_DO_SET_HOME => self.set_home(p),
            MAV_CMD_DO_REPOSITION => self.reposition(p),
            MAV_CMD_DO_FLIGHTTERMINATION if p[0] < 0.5 => DENIED,
            MAV_CMD_DO_FLIGHTTERMINATION => self.change(Mode::Termination),
            MAV_CMD_DO_CHANGE_ALTITUDE => self.change_altitude(p[0]),
            // The landing sequence of a mission is not emulated.
            MAV_CMD_DO_LAND_START => MavResult::MAV_RESULT_CANCELLED,
            MAV_CMD_MISSION_START => self.start_mission(p[0]),
            MAV_CMD_GET_HOME_POSITION => self.send_once(HOME_POSITION_DATA::ID),
            MAV_CMD_GET_MESSAGE_INTERVAL => self.send_interval(p[0] as u32),
            MAV_CMD_SET_MESSAGE_INTERVAL => self.set_interval(p[0] as u32, p[1]),
            MAV_CMD_REQUEST_MESSAGE => self.send_once(p[0] as u32),
            MAV_CMD_REQUEST_PROTOCOL_VERSION => {
                self.send_once(PROTOCOL_VERSION_DATA::ID);
                return None;
            }
            MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES => self.send_once(AUTOPILOT_VERSION_DATA::ID),
            // The emulator cannot reboot itself.
            MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN if p[0] == 0.0 => ACCEPTED,
            MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN => DENIED,
            MAV_CMD_DO_SET_STANDARD_MODE => FAILED,
            MAV_CMD_DO_FIGURE_EIGHT => {
                self.texts.push(CRITICAL, "Figure 8 command not supported.");
                return None;
            }
            MAV_CMD_EXTERNAL_POSITION_ESTIMATE => REJECTED,
            number if WITHOUT_EFFECT.contains(&number) => ACCEPTED,
            number if UNANSWERED.contains(&number) => return None,
            _ => UNSUPPORTED,
        })
    }

    fn arm_or_disarm(&mut self, what: f64, is_forced: bool) -> Option<MavResult> {
        let action = what.round();
        if action == 1.0 {
            Some(self.arm("Armed by external command\t"))
        } else if action == 0.0 {
            Some(self.in_flight(|pilot| pilot.modes.disarm(is_forced, &mut pilot.texts)))
        } else {
            let text = format!("Unsupported ARM_DISARM param: {what:.3}\t");
            self.texts.push(CRITICAL, text);
            None
        }
    }

    /// Executes a command. A vehicle in its scripted flight counts as armed and in the air; accepting ends that flight.
    fn in_flight(&mut self, execute: impl FnOnce(&mut Self) -> MavResult) -> MavResult {
        if !self.is_on_script() {
            return execute(self);
        }
        self.modes.start_from_script();
        let result = execute(self);
        if result == ACCEPTED {
            self.spin_up();
        } else {
            self.modes.return_to_script();
        }
        result
    }

    pub(super) fn change(&mut self, mode: Mode) -> MavResult {
        if mode == Mode::Loiter && self.is_loitering() {
            return ACCEPTED; // keeps its goal
        }
        let result = self.in_flight(|pilot| pilot.modes.change(mode, &mut pilot.texts));
        if result == ACCEPTED {
            if let Some(body) = &self.body {
                self.flight.restart(body, self.now);
            }
            self.flight.reposition = None;
            self.flight.orbit = None;
            self.flight.takeoff = None;
            if mode == Mode::Mission {
                self.mission.start();
            }
        }
        result
    }

    fn change_with_text(&mut self, mode: Mode, text: &str) -> MavResult {
        let result = self.change(mode);
        if result == ACCEPTED {
            self.texts.push(INFO, text);
        }
        result
    }

    fn set_mode(&mut self, base: u8, main: u8, sub: u8) -> MavResult {
        if base & MAV_MODE_FLAG_CUSTOM_MODE_ENABLED == 0 {
            return ACCEPTED; // PX4 ignores a mode without the custom bit
        }
        let mode = match (main, sub) {
            (1, _) => Mode::Manual,
            (2, _) => Mode::Altitude,
            (3, 2) => Mode::PositionSlow,
            (3, _) => Mode::Position,
            (4, 2) => Mode::Takeoff,
            (4, 3) => Mode::Loiter,
            (4, 0 | 4) => Mode::Mission,
            (4, 5) => Mode::Return,
            (4, 6) => Mode::Land,
            (4, 8) => Mode::Follow,
            (4, 9) => Mode::PrecisionLand,
            (4, 11..=18) => Mode::External(sub - 11),
            (4, _) => {
                self.texts.push(CRITICAL, "Unsupported auto mode\t");
                return REJECTED;
            }
            (5, _) => Mode::Acro,
            (6, _) => Mode::Offboard,
            (7, _) => Mode::Stabilized,
            // Unknown number: PX4 acknowledges and changes nothing.
            _ => return ACCEPTED,
        };
        self.change(mode)
    }

    fn is_loitering(&self) -> bool {
        self.modes.active == Mode::Loiter && !self.is_on_script()
    }

    /// Converts a command's latitude, longitude and altitude to m, NED from the map centre. For NaN: the horizontal
    /// position of `fallback`, or the height of the vehicle.
    fn position(&self, [latitude, longitude, altitude]: [f64; 3], fallback: Vec3) -> Vec3 {
        let mut position = fallback;
        if latitude.is_finite() && longitude.is_finite() {
            position = self.geo.project([latitude, longitude, 0.0]);
        }
        position.z = if altitude.is_finite() {
            self.geo.centre[2] - altitude
        } else {
            self.motion.pose.position.z
        };
        position
    }

    /// Flies to the goal in a straight line. If the goal is too far away, for example at latitude 0, longitude 0, PX4 idles
    /// on the ground until it disarms.
    fn take_off(&mut self, mode: Mode, p: &[f64; 7]) -> MavResult {
        let result = self.change(mode);
        let here = self.motion.pose.position;
        let mut goal = self.position([p[4], p[5], p[6]], here);
        if result == ACCEPTED && p[6].is_finite() {
            if goal.z > here.z {
                self.texts.push(CRITICAL, "Already higher than takeoff altitude\t");
                goal.z = here.z;
            }
            if (goal - here).xy().norm() > TOO_FAR {
                goal.z = f64::NAN;
            }
            self.flight.takeoff = Some(goal);
        }
        result
    }

    fn start_mission(&mut self, first: f64) -> MavResult {
        if !self.mission.is_ready() {
            self.texts.push(CRITICAL, "Mission start denied! No valid mission\t");
            return DENIED;
        }
        let result = self.change(Mode::Mission);
        if result == ACCEPTED {
            let _ = self.mission.set_current(first.max(0.0) as u16); // a missing item changes nothing
            let current = self.mission.current_message();
            self.replies.push(current);
            return self.arm("Armed by mission start\t");
        }
        result
    }

    /// Sets the speed until the mode changes; 0 or less restores the default.
    fn change_speed(&mut self, speed: f64) -> MavResult {
        let speed_override = Some(speed).filter(|speed| *speed > 0.0);
        self.flight.cruise = speed_override;
        self.mission.change_speed(speed);
        if let Some(reposition) = &mut self.flight.reposition {
            reposition.speed = speed_override.or(reposition.speed);
        }
        ACCEPTED
    }

    fn set_home(&mut self, p: &[f64; 7]) -> MavResult {
        if p[0] > 0.5 {
            self.set_home_here();
        } else if p[4..].iter().all(|x| x.is_finite()) {
            self.home = self.geo.to_ned([p[4], p[5], p[6]]);
            self.home_yaw = p[3].to_radians();
            self.send_home();
        } else {
            return DENIED;
        }
        ACCEPTED
    }

    /// Unless CHANGE_MODE is the only flag, PX4 answers "unsupported", but flies to the goal nevertheless if it loiters. A
    /// vehicle that is not armed drops the goal.
    fn reposition(&mut self, p: &[f64; 7]) -> MavResult {
        const CHANGE_MODE: u32 =
            MavDoRepositionFlags::MAV_DO_REPOSITION_FLAGS_CHANGE_MODE.bits() as u32;
        let is_loitering = self.is_loitering();
        let fallback = if p[3].is_finite() || p[6].is_finite() {
            let here = self.motion.pose.position;
            self.flight.destination.unwrap_or(here)
        } else {
            self.stopping_point()
        };
        let cruise = self.flight.cruise.filter(|_| is_loitering);
        let result = match p[1] as u32 {
            CHANGE_MODE => self.change(Mode::Loiter),
            _ => UNSUPPORTED,
        };
        if self.modes.is_armed && (result == ACCEPTED || is_loitering) {
            self.flight.reposition = Some(Reposition {
                goal: self.position([p[4], p[5], p[6]], fallback),
                yaw: p[3],
                speed: Some(p[0]).filter(|speed| *speed > 0.0).or(cruise),
            });
        }
        result
    }

    /// Loiters at another altitude in m above sea level, at the position where the vehicle comes to rest.
    fn change_altitude(&mut self, altitude: f64) -> MavResult {
        let stop = self.stopping_point();
        let speed = self.flight.cruise.filter(|_| self.is_loitering());
        let result = self.change(Mode::Loiter);
        if self.modes.is_armed && result == ACCEPTED {
            self.flight.reposition = Some(Reposition {
                goal: self.position([f64::NAN, f64::NAN, altitude], stop),
                yaw: f64::NAN,
                speed,
            });
        }
        result
    }

    fn orbit(&mut self, p: &[f64; 7]) -> MavResult {
        let centre = self.position([p[4], p[5], p[6]], self.motion.pose.position);
        let result = self.change(Mode::Orbit);
        if result == ACCEPTED {
            self.flight.orbit = Orbit::new(p[0], p[1], p[2], centre);
            if self.flight.orbit.is_none() {
                self.texts.push(CRITICAL, "Orbit radius limit exceeded\t");
            }
        }
        result
    }

    /// Position at which the braking vehicle comes to rest.
    fn stopping_point(&self) -> Vec3 {
        let motion = &self.motion;
        self.speeds.stopping_point(motion.pose.position, motion.velocity)
    }

    /// Sends a message once; its acknowledgement follows it.
    fn send_once(&mut self, id: u32) -> MavResult {
        let message = if id == PROTOCOL_VERSION_DATA::ID {
            let version = PROTOCOL_VERSION_DATA {
                version: 200,
                min_version: 100,
                max_version: 200,
                ..Default::default()
            };
            Some(MavMessage::PROTOCOL_VERSION(version).into())
        } else {
            self.message(id)
        };
        let result = if message.is_some() { ACCEPTED } else { DENIED };
        self.replies.extend(message);
        result
    }

    fn send_interval(&mut self, id: u32) -> MavResult {
        let interval = self.streams.iter().find(|s| s.id == id);
        let interval_us = match interval {
            Some(s) if s.period.is_finite() => (s.period * 1e6) as i32,
            _ => -1,
        };
        let interval = MESSAGE_INTERVAL_DATA { interval_us, message_id: id as u16 };
        self.replies.push(MavMessage::MESSAGE_INTERVAL(interval).into());
        ACCEPTED
    }

    fn set_interval(&mut self, id: u32, interval_us: f64) -> MavResult {
        let control = self.setup.control;
        let now = self.now;
        let found = self.streams.iter_mut().find(|s| s.id == id && id != HEARTBEAT_DATA::ID);
        let Some(stream) = found else { return FAILED };
        stream.period = if interval_us < 0.0 {
            f64::INFINITY
        } else if interval_us == 0.0 {
            stream.default_period(control)
        } else {
            (interval_us * 1e-6).max(STEP)
        };
        stream.due = now;
        ACCEPTED
    }
}
