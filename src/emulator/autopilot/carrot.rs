//! Speeds of the autonomous modes, and the moving point that the vehicle follows.
use super::parameters::px4_parameters;
use crate::emulator::world::Vec3;

/// Distance in m ahead of the vehicle at which the point stops (MPC_XY_ERR_MAX).
const MAX_LEAD: f64 = 2.0;

px4_parameters! {
    pub(super) Speeds {
        cruise: f64 = number("MPC_XY_CRUISE"), " in m/s";
        cruise_max: f64 = number("MPC_XY_VEL_MAX"), " in m/s";
        acceleration: f64 = number("MPC_ACC_HOR"), " in m/s²";
        up: f64 = number("MPC_Z_V_AUTO_UP"), " in m/s";
        down: f64 = number("MPC_Z_V_AUTO_DN"), " in m/s";
        takeoff: f64 = number("MPC_TKO_SPEED"), " in m/s";
        land: f64 = number("MPC_LAND_SPEED"), " in m/s";
        up_max: f64 = number("MPC_Z_VEL_MAX_UP"), " in m/s";
        return_altitude: f64 = number("RTL_RETURN_ALT"), " in m";
        acceptance: f64 = number("NAV_ACC_RAD"), " in m";
    }
}

impl Speeds {
    /// Replaces the horizontal speed in m/s, within its limit.
    pub(super) fn set_cruise(&mut self, speed: Option<f64>) {
        self.cruise = speed.unwrap_or(self.cruise).min(self.cruise_max);
    }

    /// Position at which a braking vehicle comes to rest.
    pub(super) fn stopping_point(&self, position: Vec3, velocity: Vec3) -> Vec3 {
        // PX4 adds this time in s, because braking begins smoothly.
        const DELAY: f64 = 0.6;
        let braking = |speed: f64| speed / (2.0 * self.acceleration);
        let (flat, climb) = (braking(velocity.xy().norm()), braking(velocity.z.abs()));
        let times = Vec3::new(flat + DELAY, flat + DELAY, climb);
        position + velocity.component_mul(&times)
    }
}

/// A point with limited speed and acceleration; the vehicle follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carrot {
    pub(super) position: Vec3,
    pub(super) velocity: Vec3,
}

impl Carrot {
    /// Moves towards `goal` in a straight line, climbing no faster than `up` in m/s. Slows down if the vehicle, which
    /// is at `here`, falls behind, as PX4's trajectories do.
    pub(super) fn approach(&mut self, goal: &Vec3, here: &Vec3, speeds: &Speeds, up: f64, dt: f64) {
        let lead = (self.position - here).xy();
        let is_ahead = lead.dot(&self.velocity.xy()) > 0.0;
        let behind = if is_ahead { lead.norm() } else { 0.0 };
        let dt = dt * (1.0 - behind / MAX_LEAD).max(0.0);
        let way = goal - self.position;
        let climb = if way.z < 0.0 { up } else { speeds.down };
        let time_for = |way: f64, speed: f64, acceleration: f64| {
            if way < 1e-9 { 0.0 } else { way / speed_for(way, speed, acceleration) }
        };
        let flat_time = time_for(way.xy().norm(), speeds.cruise, speeds.acceleration);
        let time = flat_time.max(time_for(way.z.abs(), climb, 3.0));
        let wanted_velocity = if time > 0.0 { way / time } else { Vec3::zeros() };
        let mut change = wanted_velocity - self.velocity;
        let (flat, max_change) = (change.xy().norm(), speeds.acceleration * dt);
        if flat > max_change {
            change.x *= max_change / flat;
            change.y *= max_change / flat;
        }
        change.z = change.z.clamp(-4.0 * dt, 4.0 * dt);
        self.velocity += change;
        self.position += self.velocity * dt;
    }
}

/// Highest speed, at most `cruise`, from which the vehicle stops within `distance`.
fn speed_for(distance: f64, cruise: f64, acceleration: f64) -> f64 {
    (2.0 * 0.7 * acceleration * distance).sqrt().min(2.0 * distance).min(cruise)
}
