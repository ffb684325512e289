//! What a user chooses about the mavros-style interface of one vehicle.
use crate::config::params::SetpointFrame;
use crate::frames::Geoid;
use std::time::Duration;

/// Settings of one vehicle.
#[derive(Clone, Debug, PartialEq)]
pub struct VehicleSettings {
    /// CopterID; also its MAVLink system until a heartbeat says otherwise.
    pub id: u16,
    /// Takes the system id of the first autopilot that is heard, as on a line with one autopilot behind it.
    pub adopt_system: bool,
    /// Frame of the world.
    pub map: String,
    /// Frame of what the autopilot counts from its own origin.
    pub local: String,
    /// Frame that mavros gives to the autopilot's odometry.
    pub odom: String,
    /// Frame of the body.
    pub base_link: String,
    /// Own system id; `None`: that of the vehicle, as mavros does.
    pub system: Option<u8>,
    /// Own component id; mavros has 191, an onboard computer.
    pub component: u8,
    /// Shows itself as a ground station, not as an onboard computer.
    pub ground_station: bool,
    /// Telemetry only: nothing is sent that could move or change the vehicle.
    pub read_only: bool,
    /// Silence after which the autopilot counts as lost.
    pub timeout: Duration,
    /// How long the last setpoint is repeated after its sender fell silent; zero: never.
    pub keep_alive: Duration,
    /// Time from the connection until all parameters are read; zero: not before somebody asks.
    pub read_parameters: Duration,
    /// Behaves as mavros does also where that is wrong (docs/mavros.md lists the cases).
    pub quirks: bool,
    /// Refuses what PX4 would ignore or misunderstand.
    pub px4_checks: bool,
    /// Largest distance in m that a position setpoint may have from the origin.
    pub max_position: f64,
    /// Largest speed in m/s that a setpoint may ask for.
    pub max_speed: f64,
    /// Height of the geoid above the ellipsoid.
    pub geoid: Geoid,
    /// Frame of `setpoint_position/local`.
    pub position_frame: SetpointFrame,
    /// Frame of `setpoint_velocity/*`.
    pub velocity_frame: SetpointFrame,
    /// `setpoint_accel/accel` is a force; PX4 refuses it.
    pub send_force: bool,
    /// `setpoint_attitude` takes attitudes, not rates.
    pub use_quaternion: bool,
    /// `setpoint_attitude/thrust` may be negative.
    pub reverse_thrust: bool,
    /// Factor on thrust of `setpoint_raw/attitude`.
    pub thrust_scaling: f64,
}

impl VehicleSettings {
    /// Frame of positions and velocities in the axes of the autopilot's world.
    pub fn local_frame(&self) -> &str {
        if self.quirks { &self.map } else { &self.local }
    }

    /// Whether frames are named as mavros names them.
    pub fn frames_of_mavros(&self) -> bool {
        self.local_frame() == self.map
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
            timeout: Duration::from_secs(3),
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
