//! A vehicle that gets arbitrary messages, at any time, from autopilot and users; used by the property tests and by `fuzz/`.
use super::vehicle::Opened;
use rfly_bridge::frames::Geoid;
use rfly_bridge::msgs::Message;
use rfly_bridge::msgs::geometry_msgs::msg::{
    PoseStamped, PoseWithCovarianceStamped, TwistStamped, Vector3Stamped,
};
use rfly_bridge::msgs::mavros_msgs::msg::{
    AttitudeTarget, GlobalPositionTarget, Mavlink, PositionTarget, StatusText,
};
use rfly_bridge::msgs::nav_msgs::msg::Odometry;
use rfly_bridge::vehicle::{MavlinkLink, UdpFullLink, UdpSimpleLink, VehicleSettings};
use rfly_bridge::wire::mavlink::raw::RawMessage;
use rfly_bridge::wire::mavlink::{Encoder, Outbound, frames};
use std::time::Duration;

/// MAVLink messages that the bridge handles; HEARTBEAT twice as often.
const UNDERSTOOD: [u32; 56] = [
    0, 0, 1, 2, 4, 11, 22, 24, 26, 27, 29, 30, 31, 32, 33, 35, 36, 39, 40, 42, 44, 45, 46, 47, 49,
    51, 62, 64, 65, 69, 73, 74, 76, 77, 83, 84, 85, 87, 89, 93, 105, 111, 124, 140, 141, 147, 148,
    230, 231, 241, 242, 245, 250, 251, 253, 331,
];
/// Maximum number of played steps of a script; more steps find no more faults.
const MAX_STEPS: usize = 200;

/// Plays a script: what arrives from the vehicle and from users, and how much time passes. Panics if the bridge panics, or if
/// its work never ends.
pub fn play(script: &[u8]) {
    let mut script = Script(script);
    let rig = Rig::new(script.byte());
    let mut encoder = Encoder::new(1, 1);
    for _ in 0..MAX_STEPS {
        if script.0.is_empty() {
            break;
        }
        match script.byte() % 8 {
            0 | 1 => {
                let id = UNDERSTOOD[usize::from(script.byte()) % UNDERSTOOD.len()];
                rig.say(&mut encoder, id, script.some());
            }
            2 => {
                let id = u32::from(u16::from_le_bytes(script.take()));
                rig.say(&mut encoder, id, script.some());
            }
            3 => rig.receive(script.some()),
            4 => rig.publish(&mut script),
            // The bridge's own payload comes back, because answers contain the numbers of their requests.
            5 => rig.echo(&mut encoder, script.byte()),
            6 => rig.pass(u64::from(script.byte())),
            _ => rig.pass(50 * u64::from(script.byte())),
        }
    }
}

/// Plays a script of what foreign users send as bytes: to any topic that is subscribed to, and to any service.
pub fn deliver(script: &[u8]) {
    let mut script = Script(script);
    let rig = Rig::new(script.byte());
    let (topics, services) = (rig.vehicle.recorder.subscribed(), rig.vehicle.recorder.services());
    assert!(topics.len() > 20 && services.len() > 30);
    let mut encoder = Encoder::new(1, 1);
    for _ in 0..MAX_STEPS {
        if script.0.is_empty() {
            break;
        }
        match script.byte() % 4 {
            0 => {
                let topic = &topics[usize::from(script.byte()) % topics.len()];
                rig.vehicle.recorder.deliver(topic, &cdr(&mut script));
                rig.poll();
            }
            1 => {
                let (service, _) = &services[usize::from(script.byte()) % services.len()];
                rig.vehicle.recorder.ask_cdr(service, &cdr(&mut script));
                rig.poll();
            }
            2 => {
                let id = UNDERSTOOD[usize::from(script.byte()) % UNDERSTOOD.len()];
                rig.say(&mut encoder, id, script.some());
            }
            _ => rig.pass(50 * u64::from(script.byte())),
        }
    }
}

/// Takes as many bytes as the next two say; returns them as plain little-endian CDR.
fn cdr(script: &mut Script<'_>) -> Vec<u8> {
    let len = usize::from(u16::from_le_bytes(script.take())).min(script.0.len());
    let (now, rest) = script.0.split_at(len);
    script.0 = rest;
    [&[0, 1, 0, 0], now].concat()
}

/// Remaining bytes of a script; zeros follow its end.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let len = N.min(self.0.len());
        let (now, rest) = self.0.split_at(len);
        taken[..len].copy_from_slice(now);
        self.0 = rest;
        taken
    }

    /// Takes as many bytes as the next one says.
    fn some(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()).min(self.0.len());
        let (now, rest) = self.0.split_at(len);
        self.0 = rest;
        now
    }

    /// Returns a plain number, infinity, NaN, or an arbitrary f64.
    fn number(&mut self) -> f64 {
        match self.byte() {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::from_bits(u64::from_le_bytes(self.take())),
            plain => f64::from(plain) - 128.0,
        }
    }
}

struct Rig {
    vehicle: Opened,
}

impl Rig {
    fn new(choice: u8) -> Self {
        let settings = VehicleSettings {
            id: 1,
            adopt_system: choice & 4 != 0,
            quirks: choice & 8 != 0,
            px4_checks: choice & 16 != 0,
            use_quaternion: choice & 32 != 0,
            keep_alive: Duration::from_secs(u64::from(choice >> 6)),
            // Evaluating EGM96 would take half of the time.
            geoid: Geoid::Constant(40.0),
            ..VehicleSettings::default()
        };
        let vehicle = Opened::new(settings, |sink| match choice % 4 {
            0 | 1 => Box::new(MavlinkLink::new(sink)),
            2 => Box::new(UdpFullLink::new(1, sink)),
            _ => Box::new(UdpSimpleLink::new(1, sink)),
        });
        vehicle.recorder.count_only();
        Self { vehicle }
    }

    fn say(&self, encoder: &mut Encoder, id: u32, payload: &[u8]) {
        if let Some(message) = RawMessage::new(id, payload) {
            let packet = encoder.encode(&Outbound::Raw(message));
            self.receive(packet.as_bytes());
        }
    }

    fn receive(&self, bytes: &[u8]) {
        self.vehicle.receive(bytes);
        self.poll();
    }

    /// Receives the payload that was sent last, with the same or a slightly higher message id, as answers have.
    fn echo(&self, encoder: &mut Encoder, further: u8) {
        let Some(sent) = self.vehicle.sent().last().cloned() else {
            return;
        };
        for frame in frames(&sent).flatten() {
            self.say(encoder, frame.id + u32::from(further % 8), frame.payload);
        }
    }

    fn pass(&self, milliseconds: u64) {
        self.vehicle.advance(Duration::from_millis(milliseconds));
        self.poll();
    }

    fn poll(&self) {
        let now = self.vehicle.now();
        // Due work may make more work due, but must come to an end.
        let rests = (0..20).any(|_| self.vehicle.poll().is_none_or(|at| at > now));
        assert!(rests, "something is due for ever");
    }

    fn publish(&self, script: &mut Script<'_>) {
        match script.byte() % 11 {
            0 => self.send("setpoint_raw/local", &position_target(script)),
            1 => {
                let mut target = GlobalPositionTarget {
                    coordinate_frame: script.byte(),
                    type_mask: u16::from_le_bytes(script.take()),
                    latitude: script.number(),
                    longitude: script.number(),
                    altitude: script.number() as f32,
                    ..GlobalPositionTarget::default()
                };
                target.velocity.x = script.number();
                self.send("setpoint_raw/global", &target);
            }
            2 => {
                let mut target = AttitudeTarget {
                    type_mask: script.byte(),
                    thrust: script.number() as f32,
                    ..AttitudeTarget::default()
                };
                target.orientation.w = script.number();
                target.orientation.z = script.number();
                target.body_rate.x = script.number();
                self.send("setpoint_raw/attitude", &target);
            }
            3 => self.send("setpoint_position/local", &pose(script)),
            4 => self.send("setpoint_velocity/cmd_vel", &twist(script)),
            5 => {
                let mut accel = Vector3Stamped::default();
                accel.vector.x = script.number();
                self.send("setpoint_accel/accel", &accel);
            }
            6 => self.send("vision_pose/pose", &pose(script)),
            7 => {
                let mut message = PoseWithCovarianceStamped::default();
                message.pose.pose = pose(script).pose;
                message.pose.covariance[0] = script.number();
                self.send("vision_pose/pose_cov", &message);
            }
            8 => {
                let mut odometry = Odometry::default();
                odometry.header.frame_id = "odom".to_owned();
                odometry.child_frame_id = "base_link".to_owned();
                odometry.pose.pose = pose(script).pose;
                odometry.twist.twist = twist(script).twist;
                self.send("odometry/out", &odometry);
            }
            9 => {
                let text = String::from_utf8_lossy(script.some()).into_owned();
                let severity = script.byte();
                let message = StatusText { severity, text, ..StatusText::default() };
                self.send("statustext/send", &message);
            }
            _ => {
                let word = u64::from_le_bytes(script.take());
                let words = usize::from(script.byte());
                let message = Mavlink {
                    magic: script.byte(),
                    len: script.byte(),
                    incompat_flags: script.byte(),
                    msgid: u16::from_le_bytes(script.take()).into(),
                    // A workspace has a bounded sequence here.
                    payload64: std::iter::repeat_n(word, words).collect(),
                    ..Mavlink::default()
                };
                self.send_to("/uas1/mavlink_sink", &message);
            }
        }
    }

    fn send<M: Message>(&self, topic: &str, message: &M) {
        self.send_to(&format!("/mavros/{topic}"), message);
    }

    fn send_to<M: Message>(&self, topic: &str, message: &M) {
        self.vehicle.publish(topic, message);
        self.poll();
    }
}

fn position_target(script: &mut Script<'_>) -> PositionTarget {
    let mut target = PositionTarget {
        coordinate_frame: script.byte(),
        type_mask: u16::from_le_bytes(script.take()),
        yaw: script.number() as f32,
        ..PositionTarget::default()
    };
    target.position.x = script.number();
    target.velocity.y = script.number();
    target.acceleration_or_force.z = script.number();
    target.header.stamp.sec = i32::from_le_bytes(script.take());
    target.header.stamp.nanosec = u32::from_le_bytes(script.take());
    target
}

fn pose(script: &mut Script<'_>) -> PoseStamped {
    let mut message = PoseStamped::default();
    message.header.stamp.sec = i32::from(script.byte());
    message.pose.position.x = script.number();
    message.pose.position.z = script.number();
    message.pose.orientation.w = script.number();
    message.pose.orientation.x = script.number();
    message
}

fn twist(script: &mut Script<'_>) -> TwistStamped {
    let mut message = TwistStamped::default();
    message.twist.linear.x = script.number();
    message.twist.angular.z = script.number();
    message
}
