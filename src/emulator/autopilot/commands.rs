//! Commands and mode changes: PX4's acknowledgements, their order, and its texts.
#![expect(deprecated, reason = "PX4 still answers with PROTOCOL_VERSION")]
use super::flight::Reposition;
use super::modes::{ACCEPTED, Mode, REJECTED};
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
/// The upper half of a NaN in an integer.
const NAN_AS_INT: i32 = 0x7ff8_0000;
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
        let (command, target) = if let Some(long) = CommandLong::parse(frame) {
            (
                Command {
                    number: long.command,
                    p: long.params.map(f64::from),
                    from,
                },
                (long.target_system, long.target_component),
            )
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
            if [int.x, int.y] == [NAN_AS_INT; 2] {
                self.acknowledge(&command, DENIED);
                return true;
            }
            (command, (int.target_system, int.target_component))
        } else if let Some(mode) = SetMode::parse(frame) {
            let [_, _, main, sub] = mode.custom_mode.to_le_bytes();
            let p = [mode.base_mode, main, sub, 0, 0, 0, 0].map(f64::from);
            if mode.target_system != 0 && mode.target_system != self.setup.id {
                return true;
            }
            let command = Command {
                number: 176,
                p,
                from,
            };
            (command, (self.setup.id, 1))
        } else {
            return false;
        };
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
            22 => Answer::Result(self.take_off(command)),
            34 => Answer::Result(self.change(Mode::Orbit)),
            21 => {
                let result = self.change(Mode::Land);
                if result == ACCEPTED {
                    self.texts.say(INFO, "Landing at current position\t");
                }
                Answer::Result(result)
            }
            23 => Answer::Result(self.change(Mode::PrecisionLand)),
            20 => {
                let result = self.change(Mode::Return);
                if result == ACCEPTED {
                    self.texts.say(INFO, "Returning to launch\t");
                }
                Answer::Result(result)
            }
            178 => Answer::Result(self.change_speed(p[1])),
            179 => Answer::Result(self.set_home(command)),
            192 => Answer::Result(self.reposition(command)),
            185 => Answer::Result(self.terminate(p[0])),
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
            187 | 195 | 197 | 201 | 241 | 245 | 528 => Answer::Result(ACCEPTED),
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

    /// Changes the mode and restarts its task.
    pub(super) fn change(&mut self, mode: Mode) -> u8 {
        let result = self.in_flight(|pilot| pilot.modes.change(mode, &mut pilot.texts));
        if result == ACCEPTED {
            if let Some(body) = &self.body {
                self.flight.renew(body, self.now);
            }
            self.flight.reposition = None;
            self.flight.landing = None;
            self.flight.takeoff = None;
            if mode == Mode::Mission {
                self.mission.start();
            }
        }
        result
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

    /// Position of a command in m, NED from the map centre; unset components keep the current value.
    fn place(&self, command: &Command) -> Vec3 {
        let [latitude, longitude, altitude] = [command.p[4], command.p[5], command.p[6]];
        let here = self.motion.pose.position;
        let [latitude0, longitude0, altitude0] = self.geo.to_degrees(&here);
        let given = |value: f64, otherwise: f64| if value.is_finite() { value } else { otherwise };
        let latitude = given(latitude, latitude0);
        let longitude = given(longitude, longitude0);
        let altitude = given(altitude, altitude0);
        self.geo.to_ned([latitude, longitude, altitude])
    }

    /// The altitude is the end of the climb, which is vertical. With a place that is not on this map, as 0, 0, PX4 spins on the
    /// ground until it disarms.
    fn take_off(&mut self, command: &Command) -> u8 {
        let result = self.change(Mode::Takeoff);
        let (goal, here) = (self.place(command), self.motion.pose.position);
        let (goal, here, away) = (goal.z, here.z, (goal - here).xy().norm());
        if result == ACCEPTED && away > TOO_FAR {
            self.flight.takeoff = Some(f64::NAN);
        } else if result == ACCEPTED && command.p[6].is_finite() {
            if goal > here {
                let text = "Already higher than takeoff altitude\t";
                self.texts.say(CRITICAL, text);
            }
            self.flight.takeoff = Some(goal.min(here));
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

    fn change_speed(&mut self, speed: f64) -> u8 {
        if speed > 0.0 {
            let _ = self.parameters.put("MPC_XY_CRUISE", speed);
        }
        ACCEPTED
    }

    fn set_home(&mut self, command: &Command) -> u8 {
        let here = self.motion.pose.position;
        self.home = if command.p[0] == 1.0 {
            here
        } else {
            self.place(command)
        };
        self.announce_home();
        ACCEPTED
    }

    /// Without exactly the flag that changes the mode PX4 answers "unsupported", and goes there nevertheless if it loiters.
    fn reposition(&mut self, command: &Command) -> u8 {
        let loiters = self.modes.active == Mode::Loiter;
        let result = match command.p[1] as u32 {
            1 if loiters => ACCEPTED,
            1 => self.change(Mode::Loiter),
            _ => UNSUPPORTED,
        };
        if result == ACCEPTED || loiters {
            let goal = self.place(command);
            let yaw = command.p[3];
            let yaw = if yaw.is_finite() {
                yaw
            } else {
                self.motion.pose.roll_pitch_yaw()[2]
            };
            let speed = Some(command.p[0]).filter(|speed| *speed > 0.0);
            self.flight.reposition = Some(Reposition { goal, yaw, speed });
        }
        result
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
        let told = MESSAGE_INTERVAL_DATA {
            interval_us,
            message_id: id as u16,
        };
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
