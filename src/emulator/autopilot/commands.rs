//! Commands and mode changes: PX4's acknowledgements, their order, and its texts.
#![expect(deprecated, reason = "PX4 still answers with PROTOCOL_VERSION")]
use super::flight::Reposition;
use super::modes::{ACCEPTED, Mode, REJECTED};
use super::orbit::Orbit;
use super::outbox::{CRITICAL, INFO};
use super::{Autopilot, STEP, fields};
use crate::emulator::world::Vec3;
use crate::wire::mavlink::dialect::{MESSAGE_INTERVAL_DATA, PROTOCOL_VERSION_DATA};
use crate::wire::mavlink::raw::{CommandAck, CommandInt, CommandLong, SetMode};
use crate::wire::mavlink::{Frame, MavMessage};

/// MAV_RESULT.
const DENIED: u8 = 2;
/// MAV_RESULT.
const UNSUPPORTED: u8 = 3;
/// MAV_RESULT.
const FAILED: u8 = 4;
/// MAV_RESULT.
const CANCELLED: u8 = 6;
/// The upper half of a NaN in an integer.
const NAN_AS_INT: i32 = 0x7ff8_0000;
/// INT32_MAX and its neighbours in a COMMAND_LONG: "here" is NaN there.
const INT_MAX_AS_FLOAT: std::ops::RangeInclusive<f64> = 2_147_483_520.0..=2_147_483_904.0;
/// A vehicle does not take off for a place that is farther away, in m.
const TOO_FAR: f64 = 100_000.0;
/// Forces arming and disarming.
const FORCE: f32 = 21196.0;

/// A command of either message type.
#[derive(Clone, Copy, Debug)]
struct Command {
    number: u16,
    /// Altitudes are above sea level: PX4 ignores the frame of COMMAND_INT.
    p: [f64; 7],
    from: (u8, u8),
}

/// Response to a command.
enum Answer {
    /// Acknowledge with this result.
    Result(u8),
    /// The answer has been queued, or there is none.
    Silence,
}

impl Autopilot {
    /// Handles a command or a mode change; `false` if the frame is neither.
    pub(super) fn command(&mut self, frame: &Frame<'_>) -> bool {
        let from = (frame.system, frame.component);
        let (command, target, misread) = if let Some(long) = CommandLong::parse(frame) {
            let command = Command { number: long.command, p: long.params.map(f64::from), from };
            let misread = [4, 5].iter().all(|i| INT_MAX_AS_FLOAT.contains(&command.p[*i]));
            (command, (long.target_system, long.target_component), misread)
        } else if let Some(int) = CommandInt::parse(frame) {
            let [a, b, c, d] = int.params.map(f64::from);
            let place = match (int.x, int.y) {
                (i32::MAX, i32::MAX) => [f64::NAN; 2],
                (x, y) => [x, y].map(|v| f64::from(v) * 1e-7),
            };
            let command = Command {
                number: int.command,
                p: [a, b, c, d, place[0], place[1], int.z.into()],
                from,
            };
            let misread = [int.x, int.y] == [NAN_AS_INT; 2];
            (command, (int.target_system, int.target_component), misread)
        } else if let Some(mode) = SetMode::parse(frame) {
            let [_, _, main, sub] = mode.custom_mode.to_le_bytes();
            let p = [mode.base_mode, main, sub, 0, 0, 0, 0].map(f64::from);
            if mode.target_system != 0 && mode.target_system != self.setup.id {
                return true;
            }
            let command = Command { number: 176, p, from };
            (command, (self.setup.id, 1), false)
        } else {
            return false;
        };
        if misread {
            self.acknowledge(&command, DENIED);
            return true;
        }
        // PX4 does not accept broadcast commands; component 0 addresses all components of its own system.
        let requests = matches!(command.number, 512 | 519);
        let system = target.0 == self.setup.id || (requests && target.0 == 0);
        if system && (requests || matches!(target.1, 0 | 1)) {
            let answer = self.obey(&command);
            if let Answer::Result(result) = answer {
                self.acknowledge(&command, result);
            }
        }
        true
    }

    fn acknowledge(&mut self, command: &Command, result: u8) {
        self.replies.push(
            CommandAck {
                command: command.number,
                result,
                target_system: command.from.0,
                target_component: command.from.1,
                ..CommandAck::default()
            }
            .into(),
        );
    }

    fn obey(&mut self, command: &Command) -> Answer {
        let p = &command.p;
        match command.number {
            400 => self.arm_or_disarm(p[0], p[1] as f32 == FORCE),
            176 => Answer::Result(self.set_mode(p[0] as u8, p[1] as u8, p[2] as u8)),
            22 => Answer::Result(self.take_off(Mode::Takeoff, &command.p)),
            84 => Answer::Result(self.take_off(Mode::VtolTakeoff, &command.p)),
            34 => Answer::Result(self.orbit(p)),
            21 => self.change_saying(Mode::Land, "Landing at current position\t"),
            23 => self.change_saying(Mode::PrecisionLand, "Precision landing\t"),
            20 => self.change_saying(Mode::Return, "Returning to launch\t"),
            178 => Answer::Result(self.change_speed(p[1])),
            179 => Answer::Result(self.set_home(command)),
            192 => Answer::Result(self.reposition(command)),
            185 => Answer::Result(self.terminate(p[0])),
            186 => Answer::Result(self.change_altitude(p[0])),
            // There is no landing in a mission.
            189 => Answer::Result(CANCELLED),
            300 => Answer::Result(self.start_mission(p[0])),
            410 => Answer::Result(self.tell(242)),
            510 => Answer::Result(self.tell_interval(p[0] as u32)),
            511 => Answer::Result(self.set_interval(p[0] as u32, p[1])),
            512 => Answer::Result(self.tell(p[0] as u32)),
            519 => {
                self.acknowledge(command, ACCEPTED);
                let _ = self.tell(300);
                Answer::Silence
            }
            520 => {
                let version = self.message(148);
                self.replies.extend(version);
                Answer::Result(ACCEPTED)
            }
            // The emulator cannot reboot itself.
            246 => Answer::Result(if p[0] == 0.0 { ACCEPTED } else { DENIED }),
            262 => Answer::Result(FAILED),
            80 | 187 | 191 | 195 | 197 | 201 | 241 | 245 | 528 => Answer::Result(ACCEPTED),
            35 => {
                self.texts.say(CRITICAL, "Figure 8 command not supported.");
                Answer::Silence
            }
            43003 => Answer::Result(REJECTED),
            // The component that would answer is not emulated.
            1 | 203 | 205 | 206 | 211 | 242 | 310 | 420 | 500 | 521 | 530 | 1000 | 3000 | 30001 => {
                Answer::Silence
            }
            _ => Answer::Result(UNSUPPORTED),
        }
    }

    fn arm_or_disarm(&mut self, what: f64, force: bool) -> Answer {
        let action = what.round();
        let result = if action == 1.0 {
            self.arm("Armed by external command\t")
        } else if action == 0.0 {
            self.in_flight(|pilot| pilot.modes.disarm(force, &mut pilot.texts))
        } else {
            let text = format!("Unsupported ARM_DISARM param: {what:.3}\t");
            self.texts.say(CRITICAL, &text);
            return Answer::Silence;
        };
        Answer::Result(result)
    }

    /// Obeys a command; a vehicle on its lap as one that is armed and in the air, which leaves its script if it accepts.
    fn in_flight(&mut self, obey: impl FnOnce(&mut Self) -> u8) -> u8 {
        if !self.on_lap() {
            return obey(self);
        }
        self.modes.join();
        let result = obey(self);
        match result {
            ACCEPTED => self.spin_up(),
            _ => self.modes.leave(),
        }
        result
    }

    /// Changes the mode and starts its task.
    pub(super) fn change(&mut self, mode: Mode) -> u8 {
        if mode == Mode::Loiter && self.loiters() {
            return ACCEPTED; // it flies on to where it was sent
        }
        let result = self.in_flight(|pilot| pilot.modes.change(mode, &mut pilot.texts));
        if result == ACCEPTED {
            if let Some(body) = &self.body {
                self.flight.renew(body, self.now);
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

    fn change_saying(&mut self, mode: Mode, text: &str) -> Answer {
        let result = self.change(mode);
        if result == ACCEPTED {
            self.texts.say(INFO, text);
        }
        Answer::Result(result)
    }

    fn set_mode(&mut self, base: u8, main: u8, sub: u8) -> u8 {
        if base & 1 == 0 {
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
                self.texts.say(CRITICAL, "Unsupported auto mode\t");
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

    fn loiters(&self) -> bool {
        self.modes.active == Mode::Loiter && !self.on_lap()
    }

    /// Latitude, longitude and altitude of a command in m, NED from the map centre; without latitude and longitude it is
    /// `otherwise` that counts, without altitude the height of the vehicle.
    fn place(&self, [latitude, longitude, altitude]: [f64; 3], otherwise: Vec3) -> Vec3 {
        let mut place = otherwise;
        if latitude.is_finite() && longitude.is_finite() {
            place = self.geo.project([latitude, longitude, 0.0]);
        }
        place.z = if altitude.is_finite() {
            self.geo.centre[2] - altitude
        } else {
            self.motion.pose.position.z
        };
        place
    }

    /// Flies to the place, in a straight line. With one that is not on this map, as 0, 0, PX4 spins on the ground until it disarms.
    fn take_off(&mut self, mode: Mode, p: &[f64; 7]) -> u8 {
        let result = self.change(mode);
        let here = self.motion.pose.position;
        let mut goal = self.place([p[4], p[5], p[6]], here);
        if result == ACCEPTED && p[6].is_finite() {
            if goal.z > here.z {
                let text = "Already higher than takeoff altitude\t";
                self.texts.say(CRITICAL, text);
                goal.z = here.z;
            }
            if (goal - here).xy().norm() > TOO_FAR {
                goal.z = f64::NAN;
            }
            self.flight.takeoff = Some(goal);
        }
        result
    }

    fn start_mission(&mut self, first: f64) -> u8 {
        if !self.mission.is_ready() {
            let text = "Mission start denied! No valid mission\t";
            self.texts.say(CRITICAL, text);
            return DENIED;
        }
        let result = self.change(Mode::Mission);
        if result == ACCEPTED {
            let _ = self.mission.set_current(first.max(0.0) as u16);
            let current = self.mission.current_message();
            self.replies.push(current);
            return self.arm("Armed by mission start\t");
        }
        result
    }

    fn terminate(&mut self, on: f64) -> u8 {
        if on < 0.5 {
            return DENIED;
        }
        self.change(Mode::Termination)
    }

    /// Until the mode changes; 0 or less takes it back.
    fn change_speed(&mut self, speed: f64) -> u8 {
        let given = Some(speed).filter(|speed| *speed > 0.0);
        self.flight.cruise = given;
        self.mission.change_speed(speed);
        if let Some(reposition) = &mut self.flight.reposition {
            reposition.speed = given.or(reposition.speed);
        }
        ACCEPTED
    }

    fn set_home(&mut self, command: &Command) -> u8 {
        let p = &command.p;
        if p[0] > 0.5 {
            self.home_is_here();
        } else if p[4..].iter().all(|x| x.is_finite()) {
            self.home = self.geo.to_ned([p[4], p[5], p[6]]);
            self.home_yaw = p[3].to_radians();
            self.announce_home();
        } else {
            return DENIED;
        }
        ACCEPTED
    }

    /// Without exactly the flag that changes the mode PX4 answers "unsupported", and goes there nevertheless if it loiters. A
    /// vehicle that is not armed forgets the goal.
    fn reposition(&mut self, command: &Command) -> u8 {
        let p = &command.p;
        let loiters = self.loiters();
        let otherwise = if p[3].is_finite() || p[6].is_finite() {
            let here = self.motion.pose.position;
            self.flight.destination.unwrap_or(here)
        } else {
            self.stop()
        };
        let usual = self.flight.cruise.filter(|_| loiters);
        let result = match p[1] as u32 {
            1 => self.change(Mode::Loiter),
            _ => UNSUPPORTED,
        };
        if self.modes.armed && (result == ACCEPTED || loiters) {
            self.flight.reposition = Some(Reposition {
                goal: self.place([p[4], p[5], p[6]], otherwise),
                yaw: p[3],
                speed: Some(p[0]).filter(|speed| *speed > 0.0).or(usual),
            });
        }
        result
    }

    /// Loiters at another altitude above sea level, in m, where it comes to rest.
    fn change_altitude(&mut self, altitude: f64) -> u8 {
        let stop = self.stop();
        let speed = self.flight.cruise.filter(|_| self.loiters());
        let result = self.change(Mode::Loiter);
        if self.modes.armed && result == ACCEPTED {
            self.flight.reposition = Some(Reposition {
                goal: self.place([f64::NAN, f64::NAN, altitude], stop),
                yaw: f64::NAN,
                speed,
            });
        }
        result
    }

    fn orbit(&mut self, p: &[f64; 7]) -> u8 {
        let centre = self.place([p[4], p[5], p[6]], self.motion.pose.position);
        let result = self.change(Mode::Orbit);
        if result == ACCEPTED {
            self.flight.orbit = Orbit::new(p[0], p[1], p[2], centre);
            if self.flight.orbit.is_none() {
                let text = "Orbit radius limit exceeded\t";
                self.texts.say(CRITICAL, text);
            }
        }
        result
    }

    /// Where the vehicle comes to rest if it brakes.
    fn stop(&self) -> Vec3 {
        let motion = &self.motion;
        self.speeds.stop(motion.pose.position, motion.velocity)
    }

    /// Sends a message once; its acknowledgement follows it.
    fn tell(&mut self, id: u32) -> u8 {
        let message = if id == 300 {
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
        let known = message.is_some();
        self.replies.extend(message);
        if known { ACCEPTED } else { DENIED }
    }

    fn tell_interval(&mut self, id: u32) -> u8 {
        let interval = self.streams.iter().find(|s| s.id == id);
        let interval_us = match interval {
            Some(s) if s.period.is_finite() => (s.period * 1e6) as i32,
            _ => -1,
        };
        let told = MESSAGE_INTERVAL_DATA { interval_us, message_id: id as u16 };
        self.replies.push(MavMessage::MESSAGE_INTERVAL(told).into());
        ACCEPTED
    }

    fn set_interval(&mut self, id: u32, interval_us: f64) -> u8 {
        let control = self.setup.control;
        let now = self.now;
        let known = self.streams.iter_mut().find(|s| s.id == id && id != 0);
        let Some(stream) = known else {
            return FAILED;
        };
        stream.period = if interval_us < 0.0 {
            f64::INFINITY
        } else if interval_us == 0.0 {
            stream.usual(control)
        } else {
            (interval_us * 1e-6).max(STEP)
        };
        stream.due = now;
        ACCEPTED
    }

    /// MANUAL_CONTROL.
    pub(super) fn take_sticks(&mut self, frame: &Frame<'_>) {
        if self.parameters.number("COM_RC_IN_MODE", 1.0) == 4.0 {
            return;
        }
        let axis = |at| f64::from(fields::i16(frame, at)) / 1000.0;
        self.sticks = Some((
            super::flight::Sticks {
                pitch: axis(0).clamp(-1.0, 1.0),
                roll: axis(2).clamp(-1.0, 1.0),
                thrust: axis(4).clamp(0.0, 1.0),
                yaw: axis(6).clamp(-1.0, 1.0),
            },
            self.now,
        ));
    }
}
