//! DO_ORBIT as PX4 flies it: straight to the circle, then along it.
use super::dynamics::{FREE, TrajectorySetpoint};
use crate::emulator::world::Vec3;

/// PX4's least radius, and MC_ORBIT_RAD_MAX, in m.
const RADII: std::ops::RangeInclusive<f64> = 1.0..=1000.0;
/// Greatest speed in m/s, and centripetal acceleration in m/s².
const MAX_SPEED: f64 = 10.0;
const MAX_ACCELERATION: f64 = 2.0;
/// Distance in m from the circle below which the vehicle follows it.
const ON_CIRCLE: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Orbit {
    centre: Vec3,
    radius: f64,
    /// In m/s; negative: counter-clockwise.
    speed: f64,
    /// ORBIT_YAW_BEHAVIOUR.
    yaw_behaviour: u8,
}

impl Orbit {
    /// Reads the parameters of the command, whose centre is in m, NED from the map centre; `None` if the radius is out of range.
    pub(super) fn new(radius: f64, speed: f64, yaw_behaviour: f64, centre: Vec3) -> Option<Self> {
        let finite_or = |value: f64, default| if value.is_finite() { value } else { default };
        let radius = finite_or(radius, *RADII.start());
        let max_speed = (MAX_ACCELERATION * radius.abs()).sqrt().min(MAX_SPEED);
        RADII.contains(&radius.abs()).then(|| Self {
            centre,
            radius: radius.abs(),
            speed: finite_or(speed, 1.0).clamp(-max_speed, max_speed) * radius.signum(),
            yaw_behaviour: finite_or(yaw_behaviour, 0.0) as u8,
        })
    }

    /// The nearest point of the circle, unless the vehicle is on the circle.
    pub(super) fn entry(&self, position: &Vec3) -> Option<Vec3> {
        let point = self.centre + self.outwards(position) * self.radius;
        (self.radial_error(position).abs() > ON_CIRCLE).then_some(point)
    }

    /// Motion along the circle, without yaw.
    pub(super) fn around(&self, position: &Vec3) -> TrajectorySetpoint {
        let outwards = self.outwards(position);
        let along = Vec3::new(-outwards.y, outwards.x, f64::NAN) * self.speed;
        TrajectorySetpoint {
            position: Vec3::new(f64::NAN, f64::NAN, self.centre.z),
            velocity: along - outwards * self.radial_error(position),
            acceleration: -outwards * (self.speed * self.speed / self.radius),
            ..FREE
        }
    }

    /// Yaw in rad; NaN if the behaviour has none.
    pub(super) fn yaw(&self, position: &Vec3) -> f64 {
        let outwards = self.outwards(position);
        match self.yaw_behaviour {
            0 => (-outwards.y).atan2(-outwards.x),
            3 => (outwards.x * self.speed).atan2(-outwards.y * self.speed),
            _ => f64::NAN,
        }
    }

    /// Distance outwards from the circle in m.
    fn radial_error(&self, position: &Vec3) -> f64 {
        (position - self.centre).xy().norm() - self.radius
    }

    /// Horizontal direction away from the centre; north at the centre.
    fn outwards(&self, position: &Vec3) -> Vec3 {
        let mut outwards = position - self.centre;
        outwards.z = 0.0;
        outwards.try_normalize(1e-6).unwrap_or_else(Vec3::x)
    }
}
