//! An autopilot alone, without sockets and without a clock.
use rfly_bridge::emulator::autopilot::{Autopilot, ControlMode, DatagramQueue, STEP, VehicleSetup};
use rfly_bridge::emulator::world::{Kinematics, Pose, ScriptedMotion, VEHICLE_HALF};
use rfly_bridge::wire::mavlink::raw::{CommandAck, CommandLong, Heartbeat};
use rfly_bridge::wire::mavlink::{Encoder, MavMessage, Outbound, dialect, frames};

/// A frame that the autopilot sent, and when.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) time: f64,
    pub(super) id: u32,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone)]
pub(super) struct PilotRig {
    pub(super) pilot: Autopilot,
    pub(super) now: f64,
    pub(super) sent: Vec<Sent>,
    /// Sent 20 times per second.
    pub(super) stream: Option<Vec<u8>>,
    /// Sends HEARTBEAT as a ground station.
    pub(super) station: bool,
    standing: Kinematics,
    encoder: Encoder,
    out: DatagramQueue,
    steps: u64,
}

pub(super) fn standing() -> Kinematics {
    ScriptedMotion::Hover(Pose::new([0.0, 0.0, -VEHICLE_HALF.z], [0.0; 3])).at(0.0)
}

impl PilotRig {
    pub(super) fn new(control: ControlMode) -> Self {
        Self::of(VehicleSetup::new(1, 0, control))
    }

    pub(super) fn of(setup: VehicleSetup) -> Self {
        Self {
            pilot: Autopilot::new(setup, 0.0, &standing()),
            now: 0.0,
            sent: Vec::new(),
            stream: None,
            station: true,
            standing: standing(),
            encoder: Encoder::new(255, 190),
            out: DatagramQueue::default(),
            steps: 0,
        }
    }

    /// A vehicle that flies its script, 3 m up.
    pub(super) fn on_lap() -> Self {
        let mut rig = Self::new(ControlMode::MavlinkFull);
        rig.standing = ScriptedMotion::Hover(Pose::new([0.0, 0.0, -3.0], [0.0; 3])).at(0.0);
        rig.pilot =
            Autopilot::new(VehicleSetup::new(1, 0, ControlMode::MavlinkFull), 0.0, &rig.standing);
        rig.run(3.0);
        rig
    }

    /// A vehicle that can be armed.
    pub(super) fn ready(control: ControlMode) -> Self {
        let mut rig = Self::new(control);
        rig.run(3.0);
        rig
    }

    pub(super) fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / STEP).round() as u64 {
            self.step();
        }
    }

    /// Runs until `done`, at most so many seconds; returns whether it came true.
    pub(super) fn run_until(&mut self, seconds: f64, done: impl Fn(&Self) -> bool) -> bool {
        for _ in 0..(seconds / STEP).round() as u64 {
            if done(self) {
                return true;
            }
            self.step();
        }
        done(self)
    }

    /// Goes one step on, and sends what is due.
    pub(super) fn step(&mut self) {
        if self.station && self.steps.is_multiple_of(200) {
            let beat =
                Heartbeat { kind: 6, autopilot: 8, mavlink_version: 3, ..Heartbeat::default() };
            self.send(&beat.into());
        }
        if self.steps.is_multiple_of(10)
            && let Some(bytes) = self.stream.clone()
        {
            self.receive(&bytes);
        }
        self.now = self.steps as f64 * STEP;
        self.steps += 1;
        self.pilot.step(self.now, &self.standing, &mut self.out);
        self.collect();
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.pilot.receive(bytes, &mut self.out);
        self.collect();
    }

    pub(super) fn encode(&mut self, message: &Outbound) -> Vec<u8> {
        self.encoder.encode(message).as_bytes().to_vec()
    }

    pub(super) fn send(&mut self, message: &Outbound) {
        let bytes = self.encode(message);
        self.receive(&bytes);
    }

    fn collect(&mut self) {
        for datagram in self.out.datagrams() {
            let id = frames(datagram).next().and_then(Result::ok).map(|f| f.id);
            self.sent.push(Sent {
                time: self.now,
                id: id.unwrap_or(u32::MAX),
                bytes: datagram.to_vec(),
            });
        }
        self.out.clear();
    }

    /// Sends COMMAND_LONG and returns the result of its acknowledgement.
    pub(super) fn command(&mut self, command: u16, params: [f32; 7]) -> Option<u8> {
        let before = self.sent.len();
        let long =
            CommandLong { params, command, target_system: 1, target_component: 1, confirmation: 0 };
        self.send(&long.into());
        self.sent[before..].iter().find_map(|sent| {
            let frame = frames(&sent.bytes).next()?.ok()?;
            let ack = CommandAck::parse(&frame)?;
            (ack.command == command).then_some(ack.result)
        })
    }

    pub(super) fn arm(&mut self) -> Option<u8> {
        self.command(400, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    pub(super) fn mode(&mut self, main: u8, sub: u8) -> Option<u8> {
        self.command(176, [1.0, main.into(), sub.into(), 0.0, 0.0, 0.0, 0.0])
    }

    /// Streams SET_POSITION_TARGET_LOCAL_NED from now on.
    pub(super) fn stream_position(&mut self, [x, y, z]: [f32; 3]) {
        self.stream_target(1, 0b1001_1111_1000, [x, y, z], [0.0; 3]);
    }

    /// Streams a velocity in m/s, NED, and a yaw rate in rad/s.
    pub(super) fn stream_velocity(&mut self, [vx, vy, vz]: [f32; 3], yaw_rate: f32) {
        let target = dialect::SET_POSITION_TARGET_LOCAL_NED_DATA {
            vx,
            vy,
            vz,
            yaw_rate,
            type_mask: dialect::PositionTargetTypemask::from_bits_retain(0b0101_1100_0111),
            coordinate_frame: dialect::MavFrame::MAV_FRAME_LOCAL_NED,
            ..Default::default()
        };
        self.stream_local(target);
    }

    pub(super) fn stream_target(&mut self, frame: u8, mask: u16, p: [f32; 3], v: [f32; 3]) {
        let target = dialect::SET_POSITION_TARGET_LOCAL_NED_DATA {
            x: p[0],
            y: p[1],
            z: p[2],
            vx: v[0],
            vy: v[1],
            vz: v[2],
            type_mask: dialect::PositionTargetTypemask::from_bits_retain(mask),
            coordinate_frame: mav_frame(frame),
            ..Default::default()
        };
        self.stream_local(target);
    }

    /// Streams the place over the start, so many m high, looking east.
    pub(super) fn stream_east(&mut self, height: f32) {
        let target = dialect::SET_POSITION_TARGET_LOCAL_NED_DATA {
            z: -height,
            yaw: std::f32::consts::FRAC_PI_2,
            type_mask: dialect::PositionTargetTypemask::from_bits_retain(0b1001_1111_1000),
            coordinate_frame: dialect::MavFrame::MAV_FRAME_LOCAL_NED,
            ..Default::default()
        };
        self.stream_local(target);
    }

    fn stream_local(&mut self, target: dialect::SET_POSITION_TARGET_LOCAL_NED_DATA) {
        let target = dialect::SET_POSITION_TARGET_LOCAL_NED_DATA {
            target_system: 1,
            target_component: 1,
            ..target
        };
        let message = MavMessage::SET_POSITION_TARGET_LOCAL_NED(target).into();
        self.stream = Some(self.encode(&message));
    }

    /// Climbs to `height` in OFFBOARD.
    pub(super) fn fly(height: f32) -> Self {
        let mut rig = Self::ready(ControlMode::MavlinkFull);
        rig.stream_position([0.0, 0.0, -height]);
        rig.run(1.0);
        assert_eq!(rig.mode(6, 0), Some(0));
        assert_eq!(rig.arm(), Some(0));
        let there = |rig: &Self| (rig.pilot.local().z + f64::from(height)).abs() < 0.2;
        assert!(rig.run_until(20.0, there), "{}", rig.pilot.local());
        rig.run(4.0);
        rig
    }

    /// What was said so far, pieces joined.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for sent in self.sent.iter().filter(|s| s.id == 253) {
            let frame = frames(&sent.bytes).next().unwrap().unwrap();
            let Ok(MavMessage::STATUSTEXT(text)) = frame.message() else { panic!("no STATUSTEXT") };
            let piece = text.text.to_str().unwrap().to_owned();
            match texts.last_mut().filter(|_| text.chunk_seq > 0) {
                Some(last) => last.push_str(&piece),
                None => texts.push(piece),
            }
        }
        texts.iter().map(|text| text.trim_end_matches('\t').to_owned()).collect()
    }

    pub(super) fn said(&self, text: &str) -> bool {
        self.texts().iter().any(|t| t == text)
    }

    /// The last HOME_POSITION: latitude and longitude in degrees, altitude in m.
    pub(super) fn told_home(&self) -> Option<[f64; 3]> {
        let sent = self.sent.iter().rfind(|sent| sent.id == 242)?;
        let frame = frames(&sent.bytes).next()?.ok()?;
        let Ok(MavMessage::HOME_POSITION(home)) = frame.message() else {
            panic!("no HOME_POSITION")
        };
        let degrees = |value: i32| f64::from(value) * 1e-7;
        let altitude = f64::from(home.altitude) * 1e-3;
        Some([degrees(home.latitude), degrees(home.longitude), altitude])
    }

    pub(super) fn count(&self, id: u32) -> usize {
        self.sent.iter().filter(|s| s.id == id).count()
    }

    /// HEARTBEAT's `base_mode`, main mode, sub mode, status, as it would be sent now.
    pub(super) fn heartbeat(&self) -> (u8, u8, u8, u8) {
        let Outbound::Raw(raw) = self.pilot.heartbeat() else { panic!("HEARTBEAT is raw") };
        let p = raw.payload();
        let byte = |i: usize| p.get(i).copied().unwrap_or(0);
        (byte(6), byte(2), byte(3), byte(7))
    }
}

#[expect(deprecated, reason = "PX4 takes the frame with the number of this name")]
fn mav_frame(number: u8) -> dialect::MavFrame {
    match number {
        8 => dialect::MavFrame::MAV_FRAME_BODY_NED,
        9 => dialect::MavFrame::MAV_FRAME_BODY_OFFSET_NED,
        _ => dialect::MavFrame::MAV_FRAME_LOCAL_NED,
    }
}
