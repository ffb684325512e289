//! Setpoints as PX4 handles them: accepted masks and frames, and the resulting targets.
use super::Autopilot;
use super::dynamics::{ControlTarget, FREE, TrajectorySetpoint};
use super::queues::{CRITICAL, Texts};
use crate::emulator::world::{Quat, Vec3};
use crate::wire::mavlink::Frame;
use crate::wire::mavlink::dialect::{AttitudeTargetTypemask as A, PositionTargetTypemask as P};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{
    SetAttitudeTarget, SetPositionTargetGlobalInt, SetPositionTargetLocalNed,
};

const FORCE: u16 = P::POSITION_TARGET_TYPEMASK_FORCE_SET.bits();
const NO_YAW: u16 = P::POSITION_TARGET_TYPEMASK_YAW_IGNORE.bits();
const NO_YAW_RATE: u16 = P::POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE.bits();
/// Bits of `type_mask` that mask a whole vector.
const NO_POSITION: u16 = 0o7;
const NO_VELOCITY: u16 = 0o70;
const NO_ACCELERATION: u16 = 0o700;

/// A setpoint of positions, velocities, accelerations; the flight task limits its climb rate.
pub(super) fn follow(goal: TrajectorySetpoint) -> ControlTarget {
    ControlTarget::Track(goal, f64::INFINITY)
}

/// A vector whose masked components are free; `shift` is the bit of its first component.
pub(super) fn masked(v: Vec3, mask: u16, shift: u32) -> Vec3 {
    Vec3::from_fn(|i, _| if mask >> (shift + i as u32) & 1 == 1 { f64::NAN } else { v[i] })
}

pub(super) fn to_vec3(v: [f32; 3]) -> Vec3 {
    v.map(f64::from).into()
}

fn is_free(v: &Vec3) -> bool {
    v.iter().all(|x| x.is_nan())
}

impl Autopilot {
    /// Reads SET_POSITION_TARGET_LOCAL_NED; returns positions in NED from the map centre.
    pub(super) fn local_setpoint(
        &mut self,
        m: &SetPositionTargetLocalNed,
    ) -> Option<ControlTarget> {
        const NAME: &str = "SET_POSITION_TARGET_LOCAL_NED";
        let mask = m.type_mask;
        let motion = motion(mask, m.velocity, m.acceleration, [m.yaw, m.yaw_rate]);
        let goal = match m.coordinate_frame {
            MAV_FRAME_LOCAL_NED => {
                let position = masked(to_vec3(m.position), mask, 0) + self.origin;
                TrajectorySetpoint { position, ..motion }
            }
            MAV_FRAME_BODY_NED => {
                // PX4 rotates velocities by the heading, accelerations by the attitude, and has no relative positions. One
                // masked component masks the whole vector.
                let or_free = |bits: u16, v: Vec3| if mask & bits == 0 { v } else { FREE.position };
                let (s, c) = self.motion.pose.attitude.euler_angles().2.sin_cos();
                let v = motion.velocity;
                let turned = Vec3::new(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
                let acceleration = self.motion.pose.attitude * motion.acceleration;
                TrajectorySetpoint {
                    velocity: or_free(NO_VELOCITY, turned),
                    acceleration: or_free(NO_ACCELERATION, acceleration),
                    ..motion
                }
            }
            other => {
                self.texts.push(CRITICAL, format!("{NAME} coordinate frame {other} unsupported\t"));
                return None;
            }
        };
        if is_empty(&goal) {
            self.texts.push(CRITICAL, format!("{NAME} invalid\t"));
            return None;
        }
        let is_refused = refuse_force(&goal, mask, NAME, &mut self.texts);
        (!is_refused).then(|| follow(goal.or_stop()))
    }

    /// Reads SET_POSITION_TARGET_GLOBAL_INT; returns positions in NED from the map centre. One masked component masks the whole
    /// position; a setpoint without any component is ignored silently.
    pub(super) fn global_setpoint(
        &mut self,
        m: &SetPositionTargetGlobalInt,
    ) -> Option<ControlTarget> {
        const NAME: &str = "SET_POSITION_TARGET_GLOBAL_INT";
        let mask = m.type_mask;
        let position = if mask & NO_POSITION == 0 {
            let [latitude, longitude] = [m.latitude, m.longitude].map(|v| f64::from(v) * 1e-7);
            let height = f64::from(m.altitude);
            let target = self.geo.project([latitude, longitude, height]);
            let at = |z| Vec3::new(target.x, target.y, z);
            match m.coordinate_frame {
                MAV_FRAME_GLOBAL_INT => target,
                // PX4 subtracts the height of home above the origin instead of adding it.
                MAV_FRAME_GLOBAL_RELATIVE_ALT_INT => at(2.0 * self.origin.z - self.home.z - height),
                MAV_FRAME_GLOBAL_TERRAIN_ALT_INT => at(self.setup.ground - height),
                other => {
                    self.texts.push(CRITICAL, format!("{NAME} invalid coordinate frame {other}\t"));
                    return None;
                }
            }
        } else {
            FREE.position
        };
        let motion = motion(mask, m.velocity, m.acceleration, [m.yaw, m.yaw_rate]);
        let goal = TrajectorySetpoint { position, ..motion };
        let is_ignored = refuse_force(&goal, mask, NAME, &mut self.texts) || is_empty(&goal);
        (!is_ignored).then(|| follow(goal.or_stop()))
    }

    /// Reads SET_ATTITUDE_TARGET. A body rate that is NaN keeps its present value.
    pub(super) fn attitude_setpoint(
        &self,
        m: &SetAttitudeTarget,
        frame: &Frame<'_>,
    ) -> Option<ControlTarget> {
        const NO_RATES: A = A::ATTITUDE_TARGET_TYPEMASK_BODY_ROLL_RATE_IGNORE
            .union(A::ATTITUDE_TARGET_TYPEMASK_BODY_PITCH_RATE_IGNORE);
        /// Offset of `thrust_body.z`, which points down.
        const THRUST_DOWN: usize = 47;
        let mask = A::from_bits_retain(m.type_mask);
        let rates = masked(to_vec3(m.body_rates), m.type_mask.into(), 0);
        let is_thrust_given = !mask.contains(A::ATTITUDE_TARGET_TYPEMASK_THROTTLE_IGNORE);
        let thrust = if is_thrust_given && m.thrust.is_finite() { m.thrust.into() } else { 0.0 };
        if !mask.contains(A::ATTITUDE_TARGET_TYPEMASK_ATTITUDE_IGNORE) {
            let down = || f64::from(f32::from_le_bytes(frame.bytes_at(THRUST_DOWN)));
            let is_vector = mask.contains(A::ATTITUDE_TARGET_TYPEMASK_THRUST_BODY_SET);
            let thrust = if is_vector { -down() } else { thrust };
            let [w, x, y, z] = m.q.map(f64::from);
            let q = nalgebra::Quaternion::new(w, x, y, z);
            if !(q.norm() > 1e-6 && q.norm().is_finite()) {
                return Some(ControlTarget::Rates(self.motion.rate, thrust));
            }
            let yaw_rate = if rates.z.is_finite() { rates.z } else { 0.0 };
            Some(ControlTarget::Attitude(Quat::new_normalize(q), thrust, yaw_rate))
        } else if !mask.intersects(NO_RATES) {
            let or_now = |rate: f64, now| if rate.is_finite() { rate } else { now };
            Some(ControlTarget::Rates(rates.zip_map(&self.motion.rate, or_now), thrust))
        } else {
            None
        }
    }
}

/// The fields that the local and the global message share: all but the position.
fn motion(
    mask: u16,
    velocity: [f32; 3],
    acceleration: [f32; 3],
    [yaw, yaw_rate]: [f32; 2],
) -> TrajectorySetpoint {
    let angle = |value: f32, bit| if mask & bit != 0 { f64::NAN } else { value.into() };
    TrajectorySetpoint {
        velocity: masked(to_vec3(velocity), mask, 3),
        acceleration: masked(to_vec3(acceleration), mask, 6),
        yaw: angle(yaw, NO_YAW),
        yaw_rate: angle(yaw_rate, NO_YAW_RATE),
        ..FREE
    }
}

/// Sends a text if the acceleration is a force, which PX4 refuses; returns whether it is one.
fn refuse_force(goal: &TrajectorySetpoint, mask: u16, name: &str, texts: &mut Texts) -> bool {
    let is_force = mask & FORCE != 0 && !is_free(&goal.acceleration);
    if is_force {
        texts.push(CRITICAL, format!("{name} force not supported\t"));
    }
    is_force
}

fn is_empty(goal: &TrajectorySetpoint) -> bool {
    [goal.position, goal.velocity, goal.acceleration].iter().all(is_free)
}
