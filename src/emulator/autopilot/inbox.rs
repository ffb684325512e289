//! Received messages, dispatched to the vehicle's parts.
#![expect(deprecated, reason = "PX4 still answers PING")]
use super::outbox::Outbox;
use super::setpoints::{self, Here, Wish};
use super::{Autopilot, fields};
use crate::wire::mavlink::dialect::{PING_DATA, TIMESYNC_DATA};
use crate::wire::mavlink::{Frame, MavMessage, frames};

impl Autopilot {
    /// Handles a datagram from the controlling host.
    pub fn receive(&mut self, datagram: &[u8], out: &mut Outbox) {
        if self.setup.control.is_udp() {
            self.obey_struct(datagram);
            self.answer(out);
            return;
        }
        for frame in frames(datagram).flatten() {
            self.received = self.received.wrapping_add(1);
            // A message with this autopilot's own id is an echo.
            if (frame.system, frame.component) != (self.setup.id, 1) {
                self.take(&frame);
            }
        }
        self.answer(out);
    }

    fn take(&mut self, frame: &Frame<'_>) {
        let own = self.setup.id;
        let meant = |at: usize| {
            let (system, component) = (fields::u8(frame, at), fields::u8(frame, at + 1));
            system == own && matches!(component, 0 | 1)
        };
        // For some messages target system 0 means all systems, for others none.
        let all = |at: usize| {
            let (system, component) = (fields::u8(frame, at), fields::u8(frame, at + 1));
            matches!(system, 0) && matches!(component, 0 | 1) || meant(at)
        };
        match frame.id {
            0 if fields::u8(frame, 4) == 6 => self.station_at = Some(self.now),
            11 | 75 | 76 => {
                let _ = self.command(frame);
            }
            20 if meant(2) => self.parameter(frame),
            21 if meant(0) => self.parameter(frame),
            23 if all(4) => self.parameter(frame),
            44 if meant(2) => self.plan(frame),
            73 | 39 if meant(32) => self.plan(frame),
            43 | 45 | 47 if meant(0) => self.plan(frame),
            40 | 41 | 51 if meant(2) => self.plan(frame),
            69 => self.take_sticks(frame),
            82 if all(36) => self.wish(setpoints::attitude(frame, &self.here())),
            84 if all(50) => {
                let wish = setpoints::local(frame, &self.here(), &mut self.texts);
                self.wish(wish);
            }
            86 if all(50) => {
                let wish = setpoints::global(frame, &self.here(), &mut self.texts);
                self.wish(wish);
            }
            48 if fields::u8(frame, 12) == own => self.move_origin(frame),
            4 => self.echo(frame),
            93 => self.tell_model(frame),
            102 | 138 | 331 | 113 => self.vision_at = Some(self.now),
            111 if fields::i64(frame, 0) == 0 => {
                let answer = TIMESYNC_DATA {
                    tc1: self.boot_ns(),
                    ts1: fields::i64(frame, 8),
                    ..Default::default()
                };
                self.replies.push(MavMessage::TIMESYNC(answer).into());
            }
            _ => {}
        }
    }

    fn parameter(&mut self, frame: &Frame<'_>) {
        self.parameters.receive(frame, self.now, &mut self.replies);
    }

    fn plan(&mut self, frame: &Frame<'_>) {
        let (replies, texts) = (&mut self.replies, &mut self.texts);
        self.mission.receive(frame, self.now, replies, texts);
        self.modes.note_mission(self.mission.is_ready());
    }

    /// The vendor's path to a model in the autopilot: HIL_ACTUATOR_CONTROLS with one of three modes. The default
    /// model returns its inputs.
    fn tell_model(&mut self, frame: &Frame<'_>) {
        if matches!(fields::u8(frame, 80), 1 | 101 | 201) {
            self.outputs = Some(std::array::from_fn(|i| fields::f32(frame, 16 + 4 * i)));
        }
    }

    /// PING: returns a request to its sender.
    fn echo(&mut self, frame: &Frame<'_>) {
        if (fields::u8(frame, 12), fields::u8(frame, 13)) == (0, 0) {
            let answer = PING_DATA {
                time_usec: fields::i64(frame, 0).cast_unsigned(),
                seq: fields::u32(frame, 8),
                target_system: frame.system,
                target_component: frame.component,
            };
            self.replies.push(MavMessage::PING(answer).into());
        }
    }

    fn here(&self) -> Here {
        Here {
            origin: self.origin,
            attitude: self.motion.pose.attitude,
            rate: self.motion.rate,
            geo: self.geo,
            home: self.home.z,
            ground: self.ground(),
        }
    }

    fn wish(&mut self, wish: Option<Wish>) {
        if let Some(wish) = wish {
            self.wish = Some(wish);
            self.setpoint_at = Some(self.now);
        }
    }

    /// SET_GPS_GLOBAL_ORIGIN: sends the old origin, moves it, sends the new one.
    fn move_origin(&mut self, frame: &Frame<'_>) {
        let [latitude, longitude] = [0, 4].map(|at| f64::from(fields::i32(frame, at)) * 1e-7);
        let altitude = f64::from(fields::i32(frame, 8)) * 1e-3;
        let old = self.message(49);
        self.origin = self.geo.to_ned([latitude, longitude, altitude]);
        let new = self.message(49);
        self.replies.extend(old.into_iter().chain(new));
    }
}
