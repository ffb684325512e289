//! Setpoints as PX4 handles them: accepted masks and frames, and the resulting targets.
use super::dynamics::{Trajectory, Wing};
use super::outbox::CRITICAL;
use super::{Texts, fields};
use crate::emulator::world::{Quat, Vec3};
use crate::wire::mavlink::Frame;

/// Bits of the position target's mask.
const FORCE: u16 = 1 << 9;
const NO_YAW: u16 = 1 << 10;
const NO_YAW_RATE: u16 = 1 << 11;

/// Target of the last valid setpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// Positions, velocities, accelerations.
    Follow(Trajectory),
    /// Attitude, thrust and yaw rate.
    Attitude(Quat, f64, f64),
    /// Body rates and thrust.
    Rates(Vec3, f64),
    /// Target of a fixed wing.
    Wing(Wing),
}

/// State of the vehicle needed to interpret setpoints.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// Origin of the local frame in m, NED from the map centre.
    pub origin: Vec3,
    /// From body FRD to NED.
    pub attitude: Quat,
}

fn vector(frame: &Frame<'_>, at: usize, mask: u16, shift: u32) -> Vec3 {
    Vec3::from_fn(|i, _| {
        if mask >> (shift + i as u32) & 1 == 1 {
            f64::NAN
        } else {
            f64::from(fields::f32(frame, at + 4 * i))
        }
    })
}

fn all_free(v: &Vec3) -> bool {
    v.iter().all(|x| x.is_nan())
}

/// Reads SET_POSITION_TARGET_LOCAL_NED (84); returns positions in NED from the map centre.
pub fn local(frame: &Frame<'_>, here: &Here, texts: &mut Texts) -> Option<Wish> {
    const NAME: &str = "SET_POSITION_TARGET_LOCAL_NED";
    let mask = fields::u16(frame, 48);
    let kind = fields::u8(frame, 52);
    let position = vector(frame, 4, mask, 0) + here.origin;
    let motion = motion(frame, mask);
    let goal = match kind {
        1 => Trajectory { position, ..motion },
        8 => {
            // PX4 rotates velocities by the heading, accelerations by the attitude, and has no relative positions. One
            // omitted component omits the whole vector, as NaN spreads through the products.
            let heading = Quat::from_euler_angles(0.0, 0.0, here.attitude.euler_angles().2);
            let whole = |v: Vec3| v.map(|x| x + 0.0 * v.sum());
            Trajectory {
                velocity: whole(heading * motion.velocity),
                acceleration: whole(here.attitude * motion.acceleration),
                ..motion
            }
        }
        other => {
            texts.say(
                CRITICAL,
                &format!("{NAME} coordinate frame {other} unsupported\t"),
            );
            return None;
        }
    };
    accept(goal, mask, NAME, texts)
}

/// Reads SET_POSITION_TARGET_GLOBAL_INT (86); `place` converts degrees and m into NED from the map centre.
pub fn global(
    frame: &Frame<'_>,
    place: impl FnOnce(f64, f64, f64, u8) -> Option<Vec3>,
    texts: &mut Texts,
) -> Option<Wish> {
    const NAME: &str = "SET_POSITION_TARGET_GLOBAL_INT";
    let mask = fields::u16(frame, 48);
    let kind = fields::u8(frame, 52);
    let degrees = |at| f64::from(fields::i32(frame, at)) * 1e-7;
    let altitude = f64::from(fields::f32(frame, 12));
    let Some(mut position) = place(degrees(4), degrees(8), altitude, kind) else {
        texts.say(
            CRITICAL,
            &format!("{NAME} invalid coordinate frame {kind}\t"),
        );
        return None;
    };
    for i in 0..3 {
        if mask >> i & 1 == 1 {
            position[i] = f64::NAN;
        }
    }
    let motion = motion(frame, mask);
    accept(Trajectory { position, ..motion }, mask, NAME, texts)
}

/// Velocity and later fields: the same offsets in both messages.
fn motion(frame: &Frame<'_>, mask: u16) -> Trajectory {
    let angle = |at, off: u16| {
        if mask & off != 0 {
            f64::NAN
        } else {
            f64::from(fields::f32(frame, at))
        }
    };
    Trajectory {
        velocity: vector(frame, 16, mask, 3),
        acceleration: vector(frame, 28, mask, 6),
        yaw: angle(40, NO_YAW),
        yaw_rate: angle(44, NO_YAW_RATE),
        ..Trajectory::default()
    }
}

fn accept(goal: Trajectory, mask: u16, name: &str, texts: &mut Texts) -> Option<Wish> {
    if !all_free(&goal.acceleration) && mask & FORCE != 0 {
        texts.say(CRITICAL, &format!("{name} force not supported\t"));
        return None;
    }
    if all_free(&goal.position) && all_free(&goal.velocity) && all_free(&goal.acceleration) {
        texts.say(CRITICAL, &format!("{name} invalid\t"));
        return None;
    }
    // PX4 ignores an incomplete position: the vehicle holds its place.
    let partly = goal.position.xy().iter().any(|x| x.is_nan());
    if partly && all_free(&goal.velocity) && all_free(&goal.acceleration) {
        let goal = Trajectory {
            position: Vec3::repeat(f64::NAN),
            velocity: Vec3::zeros(),
            ..goal
        };
        return Some(Wish::Follow(goal));
    }
    Some(Wish::Follow(goal))
}

/// Reads SET_ATTITUDE_TARGET (82).
pub fn attitude(frame: &Frame<'_>) -> Option<Wish> {
    let mask = fields::u8(frame, 38);
    let float = |at| f64::from(fields::f32(frame, at));
    let rates = Vec3::new(float(20), float(24), float(28));
    let thrust = if mask & 64 == 0 { float(32) } else { 0.0 };
    let thrust = if thrust.is_finite() { thrust } else { 0.0 };
    if mask & 128 == 0 {
        let q = nalgebra::Quaternion::new(float(4), float(8), float(12), float(16));
        if !(q.norm() > 1e-6 && q.norm().is_finite()) {
            return None;
        }
        let yaw_rate = if mask & 4 == 0 && rates.z.is_finite() {
            rates.z
        } else {
            0.0
        };
        Some(Wish::Attitude(Quat::new_normalize(q), thrust, yaw_rate))
    } else if mask & 7 != 7 {
        let rate = Vec3::from_fn(|i, _| {
            if mask >> i & 1 == 0 && rates[i].is_finite() {
                rates[i]
            } else {
                0.0
            }
        });
        Some(Wish::Rates(rate, thrust))
    } else {
        None
    }
}
