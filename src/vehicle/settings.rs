//! Settings of the mavros-style interface of one vehicle.
use crate::{config::params::SetpointFrame, frames::Geoid};
use std::time::Duration;

/// Settings of one vehicle.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleSettings {
    /// CopterID; also its MAVLink system, unless `adopt_system` finds another.
    pub id: u16,
    /// Adopts the ids of an autopilot that sends while none is connected: a serial line has one autopilot.
    pub adopt_system: bool,
    /// World frame.
    pub map: String,
    /// Frame of the autopilot's local positions.
    pub local: String,
    /// Frame of the autopilot's odometry, with mavros' name.
    pub odom: String,
    /// Body frame.
    pub base_link: String,
    /// Own system id; `None`: the vehicle's, as in mavros.
    pub system: Option<u8>,
    /// Own component id; mavros uses 191, an onboard computer.
    pub component: u8,
    /// Heartbeats announce a ground station instead of an onboard computer.
    pub ground_station: bool,
    /// Telemetry only: sends nothing that could move or change the vehicle.
    pub read_only: bool,
    /// Time without a message of the autopilot after which it counts as lost; longer for a slow simulation.
    pub timeout: Duration,
    /// How long the last setpoint is repeated; zero: never.
    pub keep_alive: Duration,
    /// Delay from the connection to reading all parameters; zero: only on request.
    pub read_parameters: Duration,
    /// Also reproduces mavros' errors (docs/mavros.md lists them).
    pub quirks: bool,
    /// Refuses what PX4 would ignore or misunderstand.
    pub px4_checks: bool,
    /// Largest distance in m of a position setpoint from the origin.
    pub max_position: f64,
    /// Largest speed in m/s of a setpoint.
    pub max_speed: f64,
    /// Model of the height of the geoid above the ellipsoid.
    pub geoid: Geoid,
    /// Frame of `setpoint_position/local`.
    pub position_frame: SetpointFrame,
    /// Frame of `setpoint_velocity/*`.
    pub velocity_frame: SetpointFrame,
    /// `setpoint_accel/accel` is a force; PX4 refuses it.
    pub send_force: bool,
    /// `setpoint_attitude/*` takes attitudes, not rates.
    pub use_quaternion: bool,
    /// `setpoint_attitude/thrust` may be negative.
    pub reverse_thrust: bool,
    /// Factor on thrust of `setpoint_raw/attitude`.
    pub thrust_scaling: f64,
}

impl VehicleSettings {
    /// Frame of positions and velocities in the autopilot's world axes.
    pub fn local_frame(&self) -> &str {
        if self.quirks { &self.map } else { &self.local }
    }

    /// Whether frames have mavros' names.
    pub fn has_mavros_frames(&self) -> bool {
        self.local_frame() == self.map
    }

    /// Frame of the autopilot's odometry.
    pub fn odometry_frame(&self) -> &str {
        if self.has_mavros_frames() { &self.odom } else { self.local_frame() }
    }
}

impl Default for VehicleSettings {
    fn default() -> Self {
        Self {
            id: 1,
            adopt_system: false,
            map: "map".into(),
            local: "local_origin".into(),
            odom: "odom".into(),
            base_link: "base_link".into(),
            system: None,
            component: 191,
            ground_station: true,
            read_only: false,
            timeout: Duration::from_secs(10),
            keep_alive: Duration::ZERO,
            read_parameters: Duration::ZERO,
            quirks: false,
            px4_checks: true,
            max_position: 1e5,
            max_speed: 200.0,
            geoid: Geoid::Egm96,
            position_frame: SetpointFrame::LocalNed,
            velocity_frame: SetpointFrame::LocalNed,
            send_force: false,
            use_quaternion: false,
            reverse_thrust: false,
            thrust_scaling: 1.0,
        }
    }
}
