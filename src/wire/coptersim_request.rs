//! Requests to `CopterSim`: destination, mode, pose of the vehicle, model, map, reboot, start.
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// `reCopterSimMsg`, 48 bytes, to 224.0.0.10:20002, or to the vehicle's host at 20002 and 30100+2(id-1).
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    CopterSimRequestPacket("request to CopterSim", 1_234_567) {
        copter_id: I32 = "The addressed vehicle.",
        /// Positive: send data to the network and to the sender of this request; the vendor writes 0 or -1 for no.
        reply_to_sender: i8,
        /// Meaning of `xy` and `yaw`: 1 position and heading, 2 geodetic origin, 3 geodetic position, 4 show geodetic, 5 show
        /// metres; 0: none.
        place: i8,
        stand: i8 = "Positive: `z_roll_pitch` applies; otherwise the vehicle is put on the ground.",
        udp_mode: i8 = "New UDPSIMMODE; negative: unchanged.",
        params: [u8; 4] = "Reserved.",
        z_roll_pitch: [F32; 3] = "Down in m, roll and pitch in degrees.",
        yaw: F32 = "Heading in degrees; altitude in m of a geodetic origin.",
        xy: [F64; 2] = "North and east in m; latitude and longitude in degrees.",
    }
    /// `CptSimCMD`, 64 bytes, to the addresses of [`CopterSimRequestPacket`]: loads another vehicle model or map.
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    CopterSimLoadPacket("model or map for CopterSim", 1_234_567_895) {
        copter_id: I32 = "0 none, -1 all, otherwise the addressed vehicle.",
        what: I32 = "1 vehicle model, 2 map; 0 and negative: none.",
        index: I32 = "Index in the list of models or maps; negative: `name` applies.",
        name: [u8; 48] = "UTF-8, padded with zeros.",
    }
    /// Requests heartbeats from a vehicle of unknown address, 8 bytes, to 30100+2(id-1) of every candidate host.
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    ProbePacket("probe for heartbeats", 123_450, new) {
        kind: I32 = "[`ProbePacket::NEARBY`] or [`ProbePacket::ELSEWHERE`].",
    }
    /// Restarts the autopilot, 8 bytes, to 20100+2(id-1).
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    RebootPacket("reboot", 987_654_321, new) { delay: I32 = "[`RebootPacket::AT_ONCE`].", }
    /// `startSignal`, 12 bytes, to 224.0.0.10:20007: waiting programs continue.
    ///
    /// Source: vendor SDK, golden `coptersim_send`.
    StartSignalPacket("start signal", 1_234_567_890) {
        start: I32 = "Not 0.",
        copter_id: I32 = "-1: every program; otherwise the program of one vehicle.",
    }
}

impl CopterSimRequestPacket {
    /// Creates an empty request.
    pub fn new(copter_id: i32) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            reply_to_sender: -1,
            udp_mode: -1,
            ..Self::new_zeroed()
        }
    }

    /// Requests data for the host that sends this request.
    #[must_use]
    pub fn to_sender(self) -> Self {
        Self { reply_to_sender: 1, ..self }
    }

    /// Requests another UDPSIMMODE.
    #[must_use]
    pub fn with_udp_mode(self, mode: u8) -> Self {
        Self { udp_mode: i8::try_from(mode).unwrap_or(i8::MAX), ..self }
    }

    /// Puts the vehicle on the ground at north and east in m, with a heading in degrees.
    #[must_use]
    pub fn at(self, xy: [f64; 2], yaw: f32) -> Self {
        Self { place: 1, yaw: yaw.into(), xy: xy.map(F64::new), ..self }
    }

    /// After [`Self::at`]: sets down in m, roll and pitch in degrees, instead of putting the vehicle on the ground.
    #[must_use]
    pub fn standing(self, z_roll_pitch: [f32; 3]) -> Self {
        Self { stand: 1, z_roll_pitch: z_roll_pitch.map(F32::new), ..self }
    }

    /// Sets the geodetic origin: latitude and longitude in degrees, altitude in m.
    #[must_use]
    pub fn with_origin(self, latitude: f64, longitude: f64, altitude: f32) -> Self {
        Self { place: 2, ..self.at([latitude, longitude], altitude) }
    }

    /// Puts the vehicle on the ground at latitude and longitude in degrees, with a heading in degrees.
    #[must_use]
    pub fn at_geodetic(self, latitude: f64, longitude: f64, yaw: f32) -> Self {
        Self { place: 3, ..self.at([latitude, longitude], yaw) }
    }
}

/// What a [`CopterSimLoadPacket`] loads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum CopterSimLoad {
    /// The library of a vehicle model.
    Model = 1,
    /// A map.
    Map = 2,
}

impl CopterSimLoadPacket {
    /// Requests by index.
    pub fn by_index(copter_id: i32, what: CopterSimLoad, index: i32) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: copter_id.into(),
            what: (what as i32).into(),
            index: index.into(),
            name: [0; 48],
        }
    }

    /// Requests by name; `None` if it has more than 48 bytes.
    pub fn by_name(copter_id: i32, what: CopterSimLoad, name: &str) -> Option<Self> {
        let mut packet = Self::by_index(copter_id, what, -1);
        let field = packet.name.get_mut(..name.len())?;
        field.copy_from_slice(name.as_bytes());
        Some(packet)
    }
}

impl ProbePacket {
    /// To hosts of this network.
    pub const NEARBY: i32 = 90;
    /// To a host of another network.
    pub const ELSEWHERE: i32 = 91;
}

impl RebootPacket {
    /// Value of `delay` for a restart at once.
    pub const AT_ONCE: i32 = -1;
}

impl StartSignalPacket {
    /// The id that means every program.
    pub const ALL: i32 = -1;

    /// Creates the signal for one vehicle's program, or for all.
    pub fn new(copter_id: Option<i32>) -> Self {
        Self {
            checksum: Self::TAG.into(),
            start: 1.into(),
            copter_id: copter_id.unwrap_or(Self::ALL).into(),
        }
    }
}
