use super::{GRAVITY, Pose, Quat, Vec3};
use nalgebra::{Matrix3, Rotation3};
use std::f64::consts::TAU;

/// Share of the horizontal acceleration that tilts the vehicle; the rest is drag, so that the specific force has
/// components along all three body axes.
const TILT_SHARE: f64 = 0.7;
/// Half the width in s of the difference quotient that yields the body rates; its error is below 1e-6 rad/s.
const RATE_STEP: f64 = 1e-3;

/// Motion of a vehicle: an analytic function of simulation time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Stands still in the air.
    Hover(Pose),
    /// Flies around an ellipse, nose along the velocity, banking into the turn, and climbs and sinks twice per lap.
    Lap {
        /// Centre of the ellipse in m, NED.
        centre: Vec3,
        /// Half axes north, east, and half the height change, in m.
        radii: Vec3,
        /// Time of one lap in s.
        period: f64,
        /// Share of a lap that this vehicle is ahead, 0 to 1.
        phase: f64,
    },
    /// Walks in a circle, upright, facing along the velocity.
    Walk {
        /// Centre of the circle in m, NED.
        centre: Vec3,
        /// Radius in m.
        radius: f64,
        /// Time of one round in s.
        period: f64,
    },
}

/// Motion of a vehicle at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kinematics {
    /// Position and attitude.
    pub pose: Pose,
    /// Velocity in m/s, NED.
    pub velocity: Vec3,
    /// Acceleration in m/s², NED.
    pub acceleration: Vec3,
    /// Angular rate in rad/s, body FRD.
    pub rate: Vec3,
    /// Accelerometer reading in m/s², body FRD; at rest 0, 0, -9.81.
    pub specific_force: Vec3,
}

impl Motion {
    /// Returns the motion at simulation time `t` in s.
    pub fn at(&self, t: f64) -> Kinematics {
        let (position, velocity, acceleration) = self.translation(t);
        let attitude = self.attitude(t);
        let rate = match self {
            Self::Hover(_) => Vec3::zeros(),
            Self::Lap { .. } | Self::Walk { .. } => {
                let turned = self.attitude(t - RATE_STEP).inverse() * self.attitude(t + RATE_STEP);
                turned.scaled_axis() / (2.0 * RATE_STEP)
            }
        };
        let specific_force = attitude.inverse() * (acceleration - Vec3::new(0.0, 0.0, GRAVITY));
        Kinematics {
            pose: Pose { position, attitude },
            velocity,
            acceleration,
            rate,
            specific_force,
        }
    }

    fn translation(&self, t: f64) -> (Vec3, Vec3, Vec3) {
        match *self {
            Self::Hover(pose) => (pose.position, Vec3::zeros(), Vec3::zeros()),
            Self::Lap {
                centre,
                radii,
                period,
                phase,
            } => {
                let w = TAU / period;
                let (s, c) = (w * t + TAU * phase).sin_cos();
                let (s2, c2) = (2.0 * (w * t + TAU * phase)).sin_cos();
                let position = centre + Vec3::new(radii.x * c, radii.y * s, radii.z * s2);
                let velocity = Vec3::new(-radii.x * s, radii.y * c, 2.0 * radii.z * c2) * w;
                let acceleration =
                    Vec3::new(-radii.x * c, -radii.y * s, -4.0 * radii.z * s2) * (w * w);
                (position, velocity, acceleration)
            }
            Self::Walk {
                centre,
                radius,
                period,
            } => {
                let w = TAU / period;
                let (s, c) = (w * t).sin_cos();
                let out = Vec3::new(c, s, 0.0) * radius;
                (
                    centre + out,
                    Vec3::new(-s, c, 0.0) * (radius * w),
                    -out * (w * w),
                )
            }
        }
    }

    fn attitude(&self, t: f64) -> Quat {
        match *self {
            Self::Hover(pose) => pose.attitude,
            Self::Walk { period, .. } => {
                Quat::from_euler_angles(0.0, 0.0, TAU * (t / period + 0.25))
            }
            Self::Lap { .. } => {
                let (_, velocity, acceleration) = self.translation(t);
                // A rotorcraft's thrust is along its z axis, so acceleration minus gravity gives that axis.
                let tilt = Vec3::new(
                    TILT_SHARE * acceleration.x,
                    TILT_SHARE * acceleration.y,
                    -GRAVITY,
                );
                let down = -tilt.normalize();
                let right = down.cross(&velocity).normalize();
                let forward = right.cross(&down);
                Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(
                    Matrix3::from_columns(&[forward, right, down]),
                ))
            }
        }
    }
}
