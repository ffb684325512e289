//! What a vehicle is from its start on, and how it is connected.
use super::fence::Limits;
use super::geo::Geo;
use crate::emulator::world::VEHICLE_HALF;

/// How `CopterSim` connects the vehicle with the controlling host (UDPSIMMODE).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ControlMode {
    /// Structs of 120 bytes.
    UdpFull,
    /// Structs of 24 and 52 bytes.
    UdpSimple,
    /// MAVLink with everything.
    #[default]
    MavlinkFull,
    /// MAVLink, filtered and decimated.
    MavlinkSimple,
    /// MAVLink is taken and never sent.
    MavlinkNoSend,
    /// MAVLink of a vehicle without GPS.
    MavlinkNoGps,
    /// MAVLink of an autopilot without CopterSim, which answers whoever speaks to it.
    Direct,
}

impl ControlMode {
    /// By the vendor's number; `None` for what needs a server or is not known.
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

    /// Whether structs and not MAVLink travel.
    pub fn is_udp(self) -> bool {
        matches!(self, Self::UdpFull | Self::UdpSimple)
    }
}

/// What a vehicle is from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// System id, which is the vehicle's id.
    pub id: u8,
    /// Wall clock at simulation time 0 in µs since 1970.
    pub unix_us: u64,
    /// Where the map is.
    pub geo: Geo,
    /// Height in m, NED, at which the vehicle's centre comes to rest.
    pub ground: f64,
    /// How it is connected.
    pub control: ControlMode,
    /// Flies as a fixed wing what structs command.
    pub wing: bool,
    /// What the battery shows in percent, whatever happens.
    pub battery: Option<f64>,
    /// How far it may fly.
    pub fence: Limits,
}

impl Setup {
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
            fence: Limits::default(),
        }
    }
}
