//! Initial setup of a vehicle, and its connection.
use super::{fence::FenceLimits, geo::Geo};
use crate::emulator::world::VEHICLE_HALF;

/// Connection of the vehicle to the controlling host through `CopterSim` (UDPSIMMODE).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ControlMode {
    /// Structs of 120 bytes.
    UdpFull,
    /// Structs of 24 and 52 bytes.
    UdpSimple,
    /// MAVLink, all messages.
    #[default]
    MavlinkFull,
    /// MAVLink, filtered and decimated.
    MavlinkSimple,
    /// MAVLink is received and never sent.
    #[strum(serialize = "mavlink_nosend")]
    MavlinkNoSend,
    /// MAVLink of a vehicle without GPS.
    #[strum(serialize = "mavlink_nogps")]
    MavlinkNoGps,
    /// MAVLink directly from the autopilot, without CopterSim; the autopilot answers any sender.
    Direct,
}

impl ControlMode {
    /// From the vendor's number; `None` if it is unknown, or if its mode needs a Redis server.
    pub fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            0 => Self::UdpFull,
            1 => Self::UdpSimple,
            2 => Self::MavlinkFull,
            3 => Self::MavlinkSimple,
            4 => Self::MavlinkNoSend,
            5 | 6 => Self::MavlinkNoGps,
            _ => return None,
        })
    }

    /// Whether the link carries structs instead of MAVLink.
    pub fn uses_udp_structs(self) -> bool {
        matches!(self, Self::UdpFull | Self::UdpSimple)
    }
}

/// Initial setup of a vehicle.
#[derive(Clone, Copy, Debug)]
pub struct VehicleSetup {
    /// System id, which is the vehicle's id.
    pub id: u8,
    /// Wall clock at simulation time 0 in µs since 1970.
    pub unix_us: u64,
    /// Geodetic reference of the map.
    pub geo: Geo,
    /// NED z (down) in m of the vehicle's centre when it rests on the ground.
    pub ground: f64,
    /// Connection.
    pub control: ControlMode,
    /// Whether the vehicle executes struct commands as a fixed wing.
    pub wing: bool,
    /// Overrides the reported battery level in percent.
    pub battery: Option<f64>,
    /// Fence limits.
    pub fence: FenceLimits,
}

impl VehicleSetup {
    /// A vehicle on flat ground at the documented map centre.
    pub fn new(id: u8, unix_us: u64, control: ControlMode) -> Self {
        Self {
            id,
            unix_us,
            geo: Geo::default(),
            ground: -VEHICLE_HALF.z,
            control,
            wing: false,
            battery: None,
            fence: FenceLimits::default(),
        }
    }
}
