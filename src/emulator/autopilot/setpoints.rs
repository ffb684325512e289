//! Setpoints as PX4 handles them: accepted masks and frames, and the resulting targets.
use super::dynamics::{Trajectory, Wing};
use super::geo::Geo;
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
    /// Body rates in rad/s.
    pub rate: Vec3,
    /// Reference of latitudes and longitudes.
    pub geo: Geo,
    /// Height of home in m, NED from the map centre.
    pub home: f64,
    /// Height of the ground in m, NED from the map centre.
    pub ground: f64,
}

const FREE: Vec3 = Vec3::new(f64::NAN, f64::NAN, f64::NAN);

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
            // masked component masks the whole vector.
            let unless = |bits: u16, v: Vec3| if mask & bits == 0 { v } else { FREE };
            let (s, c) = here.attitude.euler_angles().2.sin_cos();
            let v = motion.velocity;
            let turned = Vec3::new(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
            Trajectory {
                velocity: unless(0o70, turned),
                acceleration: unless(0o700, here.attitude * motion.acceleration),
                ..motion
            }
        }
        other => {
            texts.say(CRITICAL, &format!("{NAME} coordinate frame {other} unsupported\t"));
            return None;
        }
    };
    if is_empty(&goal) {
        texts.say(CRITICAL, &format!("{NAME} invalid\t"));
        return None;
    }
    let forced = is_forced(&goal, mask, NAME, texts);
    (!forced).then(|| Wish::Follow(goal.or_stop()))
}

/// Reads SET_POSITION_TARGET_GLOBAL_INT (86); returns positions in NED from the map centre. One masked component masks the whole
/// position; a setpoint without any component is ignored silently.
pub fn global(frame: &Frame<'_>, here: &Here, texts: &mut Texts) -> Option<Wish> {
    const NAME: &str = "SET_POSITION_TARGET_GLOBAL_INT";
    let mask = fields::u16(frame, 48);
    let position = if mask & 0o7 == 0 {
        let kind = fields::u8(frame, 52);
        let degrees = |at| f64::from(fields::i32(frame, at)) * 1e-7;
        let height = f64::from(fields::f32(frame, 12));
        let place = here.geo.project([degrees(4), degrees(8), height]);
        let at = |z| Vec3::new(place.x, place.y, z);
        match kind {
            5 => place,
            // PX4 subtracts the height of home above the origin instead of adding it.
            6 => at(2.0 * here.origin.z - here.home - height),
            11 => at(here.ground - height),
            _ => {
                let text = format!("{NAME} invalid coordinate frame {kind}\t");
                texts.say(CRITICAL, &text);
                return None;
            }
        }
    } else {
        FREE
    };
    let goal = Trajectory { position, ..motion(frame, mask) };
    let ignored = is_forced(&goal, mask, NAME, texts) || is_empty(&goal);
    (!ignored).then(|| Wish::Follow(goal.or_stop()))
}

/// Velocity and later fields: the same offsets in both messages.
fn motion(frame: &Frame<'_>, mask: u16) -> Trajectory {
    let angle = |at, off: u16| {
        if mask & off != 0 { f64::NAN } else { f64::from(fields::f32(frame, at)) }
    };
    Trajectory {
        velocity: vector(frame, 16, mask, 3),
        acceleration: vector(frame, 28, mask, 6),
        yaw: angle(40, NO_YAW),
        yaw_rate: angle(44, NO_YAW_RATE),
        ..Trajectory::default()
    }
}

/// PX4 refuses forces.
fn is_forced(goal: &Trajectory, mask: u16, name: &str, texts: &mut Texts) -> bool {
    let forced = mask & FORCE != 0 && !all_free(&goal.acceleration);
    if forced {
        texts.say(CRITICAL, &format!("{name} force not supported\t"));
    }
    forced
}

fn is_empty(goal: &Trajectory) -> bool {
    [goal.position, goal.velocity, goal.acceleration].iter().all(all_free)
}

/// Reads SET_ATTITUDE_TARGET (82). What is NaN keeps the present rates.
pub fn attitude(frame: &Frame<'_>, here: &Here) -> Option<Wish> {
    let mask = fields::u8(frame, 38);
    let float = |at| f64::from(fields::f32(frame, at));
    let rates = vector(frame, 20, u16::from(mask), 0);
    let thrust = if mask & 64 == 0 { float(32) } else { 0.0 };
    let thrust = if thrust.is_finite() { thrust } else { 0.0 };
    if mask & 128 == 0 {
        // `thrust_body` points down.
        let thrust = if mask & 32 == 0 { thrust } else { -float(47) };
        let q = nalgebra::Quaternion::new(float(4), float(8), float(12), float(16));
        if !(q.norm() > 1e-6 && q.norm().is_finite()) {
            return Some(Wish::Rates(here.rate, thrust));
        }
        let yaw_rate = if rates.z.is_finite() { rates.z } else { 0.0 };
        Some(Wish::Attitude(Quat::new_normalize(q), thrust, yaw_rate))
    } else if mask & 3 == 0 {
        let rate = rates.zip_map(&here.rate, |rate, now| if rate.is_finite() { rate } else { now });
        Some(Wish::Rates(rate, thrust))
    } else {
        None
    }
}
