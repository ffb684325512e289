use super::{GRAVITY, Pose, Quat, Vec3, jet::Jet};
use nalgebra::{Matrix3, Rotation3};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Share of the horizontal acceleration that tilts the vehicle; the rest is drag, so that the specific force has
/// components along all three body axes.
const TILT_SHARE: f64 = 0.7;
/// Times in s that a vehicle rests before its route, and accelerates to its speed.
const REST: f64 = 3.0;
const EASE: f64 = 3.0;

/// Motion of a vehicle: an analytic function of simulation time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScriptedMotion {
    /// Stands still in the air.
    Hover(Pose),
    /// Flies around an ellipse, nose along the velocity, banking into the turn, and climbs and sinks twice per lap.
    Lap(EllipticRoute),
    /// Rests for 3 s, level, then flies around an ellipse and sways along and about all three axes.
    Excite(EllipticRoute),
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

/// Route around an ellipse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipticRoute {
    /// Centre of the ellipse in m, NED.
    pub centre: Vec3,
    /// Half axes north and east, and half the height change, in m.
    pub radii: Vec3,
    /// Time of one round in s.
    pub period: f64,
    /// Share of a round that this vehicle is ahead, 0 to 1.
    pub phase: f64,
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

impl ScriptedMotion {
    /// Returns the motion at simulation time `t` in s.
    pub fn at(&self, t: f64) -> Kinematics {
        match *self {
            Self::Hover(Pose { position, attitude }) => {
                let zero = Vec3::zeros();
                motion([position, zero, zero], (attitude, zero))
            }
            Self::Lap(route) => lap(route, t),
            Self::Excite(route) => excite(route, t),
            Self::Walk { centre, radius, period } => {
                let w = TAU / period;
                let (s, c) = (w * t).sin_cos();
                let radial = Vec3::new(c, s, 0.0) * radius;
                let velocity = Vec3::new(-s, c, 0.0) * (radius * w);
                let attitude = Quat::from_euler_angles(0.0, 0.0, w * t + FRAC_PI_2);
                let turning = (attitude, Vec3::new(0.0, 0.0, w));
                motion([centre + radial, velocity, -radial * (w * w)], turning)
            }
        }
    }
}

/// Returns the motion with a position, velocity and acceleration (NED), an attitude and body rates.
fn motion(
    [position, velocity, acceleration]: [Vec3; 3],
    (attitude, rate): (Quat, Vec3),
) -> Kinematics {
    Kinematics {
        pose: Pose { position, attitude },
        velocity,
        acceleration,
        rate,
        specific_force: attitude.inverse() * (acceleration - Vec3::new(0.0, 0.0, GRAVITY)),
    }
}

fn lap(EllipticRoute { centre, radii, period, phase }: EllipticRoute, t: f64) -> Kinematics {
    let (w, angle) = (TAU / period, TAU * (t / period + phase));
    let (s, c) = angle.sin_cos();
    let (s2, c2) = (2.0 * angle).sin_cos();
    let position = centre + Vec3::new(radii.x * c, radii.y * s, radii.z * s2);
    let velocity = Vec3::new(-radii.x * s, radii.y * c, 2.0 * radii.z * c2) * w;
    let acceleration = Vec3::new(-radii.x * c, -radii.y * s, -4.0 * radii.z * s2) * (w * w);
    let jerk = Vec3::new(radii.x * s, -radii.y * c, 0.0) * (w * w * w);
    // A rotorcraft's thrust is along its z axis, so acceleration minus gravity is along that axis.
    let tilt = Vec3::new(acceleration.x, acceleration.y, 0.0) * -TILT_SHARE;
    let (down, sinking) = unit(tilt + Vec3::new(0.0, 0.0, GRAVITY), jerk * -TILT_SHARE);
    let across = down.cross(&velocity);
    let (right, turning) = unit(across, sinking.cross(&velocity) + down.cross(&acceleration));
    let forward = right.cross(&down);
    let axes = Matrix3::from_columns(&[forward, right, down]);
    let attitude = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    let rate = Vec3::new(down.dot(&turning), forward.dot(&sinking), -forward.dot(&turning));
    motion([position, velocity, acceleration], (attitude, rate))
}

/// Returns the direction of a vector, and the derivative of the direction; `change` is the derivative of the vector.
fn unit(v: Vec3, change: Vec3) -> (Vec3, Vec3) {
    let (length, n) = (v.norm(), v.normalize());
    (n, (change - n * n.dot(&change)) / length)
}

fn excite(EllipticRoute { centre, radii, period, phase }: EllipticRoute, t: f64) -> Kinematics {
    let time = eased(t);
    let sway = |amplitude: f64, period: f64| (time * (TAU / period)).sin() * amplitude;
    let angle = time * (TAU / period) + TAU * phase + sway(0.06, 2.3);
    let radial = sway(0.8, 3.1);
    let position = [
        (radial + radii.x) * angle.cos() + centre.x,
        (radial + radii.y) * angle.sin() + centre.y,
        sway(radii.z, 4.3) + centre.z,
    ];
    let [roll, pitch] = [sway(0.24, 2.9), sway(0.19, 3.7)];
    let yaw = time * (TAU / period) + (TAU * phase + FRAC_PI_2) + sway(0.35, 5.3);
    let (sin_roll, cos_roll) = roll.0[0].sin_cos();
    let (sin_pitch, cos_pitch) = pitch.0[0].sin_cos();
    let [rolling, pitching, yawing] = [roll, pitch, yaw].map(|angle| angle.0[1]);
    let rate = Vec3::new(
        rolling - yawing * sin_pitch,
        pitching * cos_roll + yawing * cos_pitch * sin_roll,
        yawing * cos_pitch * cos_roll - pitching * sin_roll,
    );
    let attitude = Quat::from_euler_angles(roll.0[0], pitch.0[0], yaw.0[0]);
    let derivative = |order: usize| Vec3::from(position.map(|axis| axis.0[order]));
    motion([0, 1, 2].map(derivative), (attitude, rate))
}

/// Returns the time along a route at simulation time `t`: 0 during the rest, as fast as `t` after the transition. The speed
/// has two continuous derivatives.
fn eased(t: f64) -> Jet {
    let x = (t - REST) / EASE;
    if x >= 1.0 {
        return Jet([EASE * (x - 0.5), 1.0, 0.0]);
    }
    let x = x.max(0.0);
    Jet([
        EASE * (x.powi(6) - 3.0 * x.powi(5) + 2.5 * x.powi(4)),
        6.0 * x.powi(5) - 15.0 * x.powi(4) + 10.0 * x.powi(3),
        (30.0 * x.powi(4) - 60.0 * x.powi(3) + 30.0 * x.powi(2)) / EASE,
    ])
}
