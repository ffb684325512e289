//! Speeds of the autonomous modes, and the moving point that the vehicle follows.
use crate::emulator::world::Vec3;

/// Speeds of the autonomous modes, by PX4's parameter names.
#[derive(Clone, Copy, Debug)]
pub struct Speeds {
    /// MPC_XY_CRUISE in m/s.
    pub cruise: f64,
    /// MPC_ACC_HOR in m/s².
    pub acceleration: f64,
    /// MPC_Z_V_AUTO_UP in m/s.
    pub up: f64,
    /// MPC_Z_V_AUTO_DN in m/s.
    pub down: f64,
    /// MPC_TKO_SPEED in m/s.
    pub takeoff: f64,
    /// MPC_LAND_SPEED in m/s.
    pub land: f64,
    /// MPC_Z_VEL_MAX_UP in m/s.
    pub up_max: f64,
    /// RTL_RETURN_ALT in m.
    pub return_altitude: f64,
    /// RTL_DESCEND_ALT in m.
    pub descend_altitude: f64,
    /// NAV_ACC_RAD in m.
    pub acceptance: f64,
}

impl Default for Speeds {
    fn default() -> Self {
        Self {
            cruise: 5.0,
            acceleration: 3.0,
            up: 3.0,
            down: 1.5,
            takeoff: 1.5,
            land: 0.7,
            up_max: 3.0,
            return_altitude: 30.0,
            descend_altitude: 10.0,
            acceptance: 2.0,
        }
    }
}

/// A point with limited speed and acceleration; the vehicle follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carrot {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
}

impl Carrot {
    /// Moves towards `goal`, climbing and sinking no faster than the two rates in m/s.
    pub(super) fn approach(
        &mut self,
        goal: &Vec3,
        speeds: &Speeds,
        (up, down): (f64, f64),
        dt: f64,
    ) {
        let way = goal - self.position;
        let distance = way.x.hypot(way.y);
        let speed = speed_for(distance, speeds.cruise, speeds.acceleration);
        let wanted = if distance > 1e-9 {
            Vec3::new(way.x / distance * speed, way.y / distance * speed, 0.0)
        } else {
            Vec3::zeros()
        };
        let mut change = wanted - Vec3::new(self.velocity.x, self.velocity.y, 0.0);
        let most = speeds.acceleration * dt;
        if change.norm() > most {
            change *= most / change.norm();
        }
        let climb = speed_for(way.z.abs(), if way.z < 0.0 { up } else { down }, 3.0);
        let sink = way.z.signum() * climb;
        change.z = (sink - self.velocity.z).clamp(-4.0 * dt, 4.0 * dt);
        self.velocity += change;
        self.position += self.velocity * dt;
    }
}

/// Highest speed from which the vehicle stops within `distance`.
fn speed_for(distance: f64, cruise: f64, acceleration: f64) -> f64 {
    (2.0 * 0.7 * acceleration * distance)
        .sqrt()
        .min(2.0 * distance)
        .min(cruise)
}
