//! UDP_Full and UDP_Simple, with structs instead of MAVLink: `CopterSim` arms and enters OFFBOARD.
//!
//! The last setpoint holds until the next one: `CopterSim` repeats it to the autopilot.
use super::dynamics::{ControlTarget, FREE, TrajectorySetpoint, Wing, WingCourse};
use super::setpoints::{follow, masked, to_vec3};
use super::telemetry::{f, f3};
use super::{Autopilot, ControlMode, DatagramQueue, Mode, modes::ACCEPTED};
use crate::emulator::world::{Quat, Vec3};
use crate::wire::{
    FullEstimatePacket, FullSetpointPacket, IntoBytes as _, Packet as _, SimpleCommand,
    SimpleCommandPacket, SimpleEstimatePacket,
};
use zerocopy::little_endian::{F32, I32};

/// States per second in UDP_Full and UDP_Simple. The vendor documents no rates; its clients send at these.
const FULL_RATE: f64 = 100.0;
const SIMPLE_RATE: f64 = 30.0;
/// Default speed in m/s and radius in m of a fixed wing.
const SPEED: f64 = 12.0;
const RADIUS: f64 = 30.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct StructLink {
    due: f64,
    fixed_due: f64,
    throttle: f64,
    speed: f64,
    radius: f64,
    /// The last body-relative position and its target.
    step: Option<([f32; 4], Option<ControlTarget>)>,
}

impl Default for StructLink {
    fn default() -> Self {
        Self { due: 0.0, fixed_due: 0.0, throttle: 0.5, speed: 0.0, radius: 0.0, step: None }
    }
}

fn velocity_at(velocity: Vec3, yaw_rate: f32) -> Option<ControlTarget> {
    Some(follow(TrajectorySetpoint { velocity, yaw_rate: yaw_rate.into(), ..FREE }))
}

fn position_at(position: Vec3, yaw: f32) -> Option<ControlTarget> {
    Some(follow(TrajectorySetpoint { position, yaw: yaw.into(), ..FREE }))
}

impl Autopilot {
    /// Executes a struct; ignores other datagrams.
    pub(super) fn receive_struct(&mut self, datagram: &[u8]) {
        self.received = self.received.wrapping_add(1);
        if let Ok(packet) = SimpleCommandPacket::parse(datagram) {
            if let Ok(command) = SimpleCommand::try_from(packet) {
                self.execute_simple(command, packet.controls.map(F32::get));
            }
        } else if self.setup.control == ControlMode::UdpFull
            && let Ok(packet) = FullSetpointPacket::parse(datagram)
        {
            let setpoint = self.full_setpoint(packet);
            self.follow_setpoint(setpoint);
        }
    }

    /// Follows a setpoint, armed and in OFFBOARD.
    pub(super) fn follow_setpoint(&mut self, setpoint: Option<ControlTarget>) {
        if setpoint.is_none() {
            return;
        }
        self.setpoint = setpoint;
        self.setpoint_at = Some(self.now);
        let was_armed = self.modes.is_armed;
        if was_armed && self.modes.active == Mode::Offboard {
            return;
        }
        if self.modes.take_over(&mut self.texts) == ACCEPTED && !was_armed {
            self.spin_up();
        }
    }

    fn execute_simple(&mut self, command: SimpleCommand, controls: [f32; 4]) {
        use SimpleCommand as C;
        let yaw_now = self.motion.pose.attitude.euler_angles().2;
        let heading = Quat::from_euler_angles(0.0, 0.0, yaw_now);
        let (origin, here) = (self.origin, self.motion.pose.position);
        let setpoint = match command {
            C::Nothing => None,
            C::VelocityNed { velocity, yaw_rate } => velocity_at(to_vec3(velocity), yaw_rate),
            C::VelocityFrd { velocity, yaw_rate } => {
                velocity_at(heading * to_vec3(velocity), yaw_rate)
            }
            C::PositionNed { position, yaw } => position_at(to_vec3(position) + origin, yaw),
            C::PositionFrd { position, yaw } => {
                // Relative to the position at the first receipt of the struct: a repetition commands no further step.
                let is_same = |(last, _): &([f32; 4], Option<ControlTarget>)| {
                    last.map(f32::to_bits) == controls.map(f32::to_bits)
                };
                let next = position_at(here + heading * to_vec3(position), yaw + yaw_now as f32);
                let repeated = self.struct_link.step.filter(is_same);
                let setpoint = repeated.map_or(next, |(_, setpoint)| setpoint);
                self.struct_link.step = Some((controls, setpoint));
                self.follow_setpoint(setpoint);
                return;
            }
            C::Attitude { euler, throttle } => {
                self.struct_link.throttle = f64::from(throttle).clamp(0.0, 1.0);
                Some(self.attitude_command(euler))
            }
            C::AttitudeStep { euler, throttle_step } => {
                let throttle = self.struct_link.throttle + f64::from(throttle_step);
                self.struct_link.throttle = throttle.clamp(0.0, 1.0);
                Some(self.attitude_command(euler))
            }
            C::AccelerationYaw { acceleration, yaw } => {
                let (acceleration, yaw) = (to_vec3(acceleration), yaw.into());
                Some(follow(TrajectorySetpoint { acceleration, yaw, ..FREE }))
            }
            C::AccelerationDisputed { acceleration, turn: yaw_rate }
            | C::AccelerationYawRate { acceleration, yaw_rate } => {
                let (acceleration, yaw_rate) = (to_vec3(acceleration), yaw_rate.into());
                Some(follow(TrajectorySetpoint { acceleration, yaw_rate, ..FREE }))
            }
            C::Arm(arm) => {
                self.set_armed(arm);
                None
            }
            C::Cruise { speed, radius } => {
                self.set_cruise(speed.into(), radius.into());
                None
            }
            C::TakeOff { position } => Some(self.climb_to(to_vec3(position) + origin)),
            C::TakeOffGlobal { latitude, longitude, altitude } => {
                Some(self.climb_to(self.geo.to_ned([latitude, longitude, altitude].map(f64::from))))
            }
            C::SpeedAltitudeHeading { speed, down, heading } => {
                let height = f64::from(down) + origin.z;
                let (speed, heading) = (f64::from(speed), f64::from(heading));
                Some(if self.setup.wing {
                    let course = WingCourse::Heading(heading);
                    ControlTarget::Wing(Wing { speed, height, course })
                } else {
                    let (s, c) = heading.sin_cos();
                    follow(TrajectorySetpoint {
                        position: Vec3::new(f64::NAN, f64::NAN, height),
                        velocity: Vec3::new(speed * c, speed * s, f64::NAN),
                        yaw: heading,
                        ..FREE
                    })
                })
            }
            C::PositionGlobal { latitude, longitude, altitude, yaw } => {
                position_at(self.geo.to_ned([latitude, longitude, altitude].map(f64::from)), yaw)
            }
            C::VtolTransition { .. } => None, // no effect on a multirotor
        };
        self.struct_link.step = None;
        self.follow_setpoint(setpoint);
    }

    fn attitude_command(&self, [roll, pitch, yaw]: [f32; 3]) -> ControlTarget {
        let current_yaw = self.motion.pose.roll_pitch_yaw()[2];
        let [roll, pitch] = [roll, pitch].map(|v| if v.is_nan() { 0.0 } else { v.into() });
        let yaw = if yaw.is_nan() { current_yaw } else { yaw.into() };
        let attitude = Quat::from_euler_angles(roll, pitch, yaw);
        ControlTarget::Attitude(attitude, self.struct_link.throttle, 0.0)
    }

    pub(super) fn set_armed(&mut self, arm: bool) {
        if arm {
            let _ = self.arm("Armed by external command\t"); // a refusal sends a text
        } else {
            self.setpoint = None;
            let _ = self.modes.disarm(true, &mut self.texts); // always accepted if forced
        }
    }

    /// Sets speed in m/s and radius in m; 0 keeps the value: each of the vendor's two calls sends 0 for the value of the other.
    fn set_cruise(&mut self, speed: f64, radius: f64) {
        if speed > 0.0 {
            self.struct_link.speed = speed;
            self.parameters.set("MPC_XY_VEL_MAX", speed);
            self.parameters.set("MPC_XY_CRUISE", speed);
        }
        if radius > 0.0 {
            self.struct_link.radius = radius;
        }
        // A fixed wing changes its current speed and circle, too.
        if let Some(ControlTarget::Wing(wing)) = &mut self.setpoint {
            wing.speed = positive_or(self.struct_link.speed, SPEED);
            if let WingCourse::Around(_, radius) = &mut wing.course {
                *radius = positive_or(self.struct_link.radius, RADIUS);
            }
        }
    }

    /// Target of a take-off: a multirotor flies to the position, a fixed wing circles it.
    fn climb_to(&self, position: Vec3) -> ControlTarget {
        if self.setup.wing {
            return ControlTarget::Wing(Wing {
                speed: positive_or(self.struct_link.speed, SPEED),
                height: position.z,
                course: WingCourse::Around(position, positive_or(self.struct_link.radius, RADIUS)),
            });
        }
        follow(TrajectorySetpoint { position, ..FREE })
    }

    /// Reads a setpoint of UDP_Full: position and velocity as in MAVLink, or an attitude in the same fields.
    fn full_setpoint(&self, packet: &FullSetpointPacket) -> Option<ControlTarget> {
        let mask = packet.type_mask.get() as u16;
        let [p, v, a] = [packet.position, packet.velocity, packet.acceleration]
            .map(|v| Vec3::from(v.map(|x| f64::from(x.get()))));
        let (yaw, yaw_rate) = (f64::from(packet.yaw.get()), f64::from(packet.yaw_rate.get()));
        // Masks of attitudes and rates; masks of positions have higher bits.
        if matches!(mask, 7 | 128 | 135) {
            if mask == 128 {
                return Some(ControlTarget::Rates(v, yaw));
            }
            let q = nalgebra::Quaternion::new(yaw_rate, p.x, p.y, p.z);
            let is_valid = q.norm() > 1e-6 && q.norm().is_finite();
            return is_valid.then(|| ControlTarget::Attitude(Quat::new_normalize(q), yaw, 0.0));
        }
        let heading = Quat::from_euler_angles(0.0, 0.0, self.motion.pose.roll_pitch_yaw()[2]);
        let [velocity, acceleration] = [masked(v, mask, 3), masked(a, mask, 6)];
        let (position, velocity, acceleration) = match packet.frame.get() {
            // The numbers are those of MAV_FRAME.
            1 => (masked(p, mask, 0) + self.origin, velocity, acceleration),
            8 => {
                let position = self.motion.pose.position + heading * masked(p, mask, 0);
                (position, heading * velocity, heading * acceleration)
            }
            5 => {
                let position = self.geo.to_ned([p.x, p.y, p.z]);
                (masked(position, mask, 0), velocity, acceleration)
            }
            _ => return None,
        };
        let goal = TrajectorySetpoint {
            position,
            velocity,
            acceleration,
            yaw: if mask & 1 << 10 == 0 { yaw } else { f64::NAN },
            yaw_rate: if mask & 1 << 11 == 0 { yaw_rate } else { f64::NAN },
        };
        let is_given = |v: &Vec3| v.iter().any(|x| x.is_finite());
        let is_any_given = [position, velocity, acceleration].iter().any(is_given);
        is_any_given.then(|| follow(goal.or_stop()))
    }

    /// Sends the state as a struct when due, and repeats the setpoint.
    pub(super) fn send_structs(&mut self, out: &mut DatagramQueue) {
        let rate = match self.setup.control {
            ControlMode::UdpFull => FULL_RATE,
            ControlMode::UdpSimple => SIMPLE_RATE,
            _ => return,
        };
        if self.setpoint.is_some() {
            self.setpoint_at = Some(self.now);
        }
        if self.now < self.struct_link.due {
            return;
        }
        self.struct_link.due = (self.struct_link.due + 1.0 / rate).max(self.now);
        self.sent = self.sent.wrapping_add(1);
        if self.setup.control == ControlMode::UdpFull {
            out.push(self.full_state().as_bytes());
            return;
        }
        out.push(self.simple_state().as_bytes());
        if self.has_position() && self.now >= self.struct_link.fixed_due {
            self.struct_link.fixed_due = self.now + 1.0;
            out.push(SimpleEstimatePacket::estimator_fixed().as_bytes());
        }
    }

    /// Home in the structs is the origin of the local position, so that readers can add the two to get the geodetic position.
    fn simple_state(&self) -> SimpleEstimatePacket {
        let euler = self.motion.pose.roll_pitch_yaw().map(f);
        let velocity = f3(&self.motion.velocity);
        SimpleEstimatePacket::state(self.geodetic(&self.origin), euler, f3(&self.local()), velocity)
    }

    fn full_state(&self) -> FullEstimatePacket {
        let motion = &self.motion;
        let float = |v: [f64; 3]| v.map(|x| F32::new(x as f32));
        let whole = |v: [i32; 3]| v.map(I32::new);
        let euler = motion.pose.roll_pitch_yaw();
        let fixed = self.has_position();
        let mut state = FullEstimatePacket::new((self.uptime() * 1e3) as u32, self.setup.id.into());
        state.gps = whole(self.geodetic(&motion.pose.position));
        state.gps_velocity =
            <[f64; 3]>::from(motion.velocity).map(|x| I32::new((x * 100.0).round() as i32));
        state.home = whole(self.geodetic(&self.origin));
        state.relative_altitude = ((-self.local().z * 1e3).round() as i32).into();
        state.heading = ((euler[2].to_degrees().rem_euclid(360.0) * 1e3) as i32).into();
        let [fix_type, satellites] = self.damage.gps.map(i32::from);
        state.satellites = satellites.into();
        state.fix_type = fix_type.into();
        state.euler = float(euler);
        state.position = float(self.local().into());
        state.velocity = float(motion.velocity.into());
        state.horizontal_accuracy = 0.3.into();
        state.vertical_accuracy = 0.3.into();
        state.estimator_fixed = if fixed { 1.0 } else { 0.0 }.into();
        state
    }
}

fn positive_or(value: f64, default: f64) -> f64 {
    if value > 0.0 { value } else { default }
}
