//! Control port in UDP_Simple: commands are sent to port 20100+2(id-1), states from that port to port
//! 20101+2(id-1).
use super::{Packet, WireError};
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, I32};

packets! {
    /// `inOffboardShortData`, 24 bytes. Arming, take-off and speed use it in UDP_Full as well.
    ///
    /// Source: vendor SDK and swarm manual, golden `control_udp_simple`, `control_udp_simple_raw`.
    SimpleCommandPacket("UDP_Simple command", 1_234_567_890, new) {
        mode: I32 = "Meaning of `controls`; see [`SimpleCommand`].",
        controls: [F32; 4] = "Four numbers; NaN: do not control this channel.",
    }
    /// `outHILStateShort`, 52 bytes: the estimated state, or an event. It has no time stamp.
    ///
    /// Source: vendor SDK, golden `recv_ctrl_udp`.
    SimpleEstimatePacket("UDP_Simple state", 1_234_567_890 | 1_234_567_891 | 1_234_567_892, state) {
        /// Home: latitude and longitude in 1e-7 deg, altitude in mm. In a collision event, the second is the other object's id.
        home: [I32; 3],
        euler: [F32; 3] = "Roll, pitch, yaw in rad (docs/wire/traps.md, struct-angles: a manual says degrees).",
        position: [F32; 3] = "Position in m from home, NED.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
    }
}

/// A command as the receiver's manual describes it, one variant for each `ctrlMode`.
///
/// The vendor's sender encodes some modes differently, and wrongly (docs/wire/traps.md): it always sends 0 as the
/// fourth number in the acceleration modes, cannot send modes 4 and 13, and lets speed and radius overwrite each other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant explains its fields")]
pub enum SimpleCommand {
    /// Negative: no command.
    Nothing,
    /// 0: velocity north, east, down in m/s; yaw rate in rad/s, clockwise from above.
    VelocityNed { velocity: [f32; 3], yaw_rate: f32 },
    /// 1: velocity forward, right, down in m/s; yaw rate in rad/s, clockwise from above.
    VelocityFrd { velocity: [f32; 3], yaw_rate: f32 },
    /// 2: position north, east, down in m from home; yaw in rad, clockwise from north.
    PositionNed { position: [f32; 3], yaw: f32 },
    /// 3: position forward, right, down in m; yaw in rad, clockwise from north.
    PositionFrd { position: [f32; 3], yaw: f32 },
    /// 4: roll, pitch, yaw in rad; throttle 0 to 1.
    Attitude { euler: [f32; 3], throttle: f32 },
    /// 5: roll, pitch, yaw in rad; change of the throttle.
    AttitudeStep { euler: [f32; 3], throttle_step: f32 },
    /// 6: acceleration north, east, down in m/s²; yaw in rad, clockwise from north. Comments in the SDK say that the
    /// fourth number is not used (docs/wire/traps.md, acceleration-modes).
    AccelerationYaw { acceleration: [f32; 3], yaw: f32 },
    /// 7: acceleration north, east, down in m/s². The fourth number is a yaw rate in rad/s by the manual, a yaw in rad by
    /// comments in the SDK: do not send (docs/wire/traps.md, acceleration-modes).
    AccelerationDisputed { acceleration: [f32; 3], turn: f32 },
    /// 8: acceleration north, east, down in m/s²; yaw rate in rad/s, clockwise from above.
    AccelerationYawRate { acceleration: [f32; 3], yaw_rate: f32 },
    /// 9: arm or disarm.
    Arm(bool),
    /// 10: speed in m/s and radius of circles in m; 0: unchanged.
    Cruise { speed: f32, radius: f32 },
    /// 11: arm, take off and go to a position north, east, down in m from home.
    TakeOff { position: [f32; 3] },
    /// 12: arm, take off and go to latitude and longitude in degrees, altitude in m. Single precision: about 1 m.
    TakeOffGlobal { latitude: f32, longitude: f32, altitude: f32 },
    /// 13 (fixed wing): speed in m/s; down coordinate in m from home, as in the vendor's call; heading in rad, clockwise
    /// from north.
    SpeedAltitudeHeading { speed: f32, down: f32, heading: f32 },
    /// 14: go to latitude and longitude in degrees, altitude in m; yaw in rad, clockwise from north. Single precision:
    /// about 1 m.
    PositionGlobal { latitude: f32, longitude: f32, altitude: f32, yaw: f32 },
    /// 30: MAV_CMD_DO_VTOL_TRANSITION to a MAV_VTOL_STATE; `immediate` is 1: at once, without checks.
    VtolTransition { state: f32, immediate: f32 },
}

impl From<SimpleCommand> for SimpleCommandPacket {
    fn from(command: SimpleCommand) -> Self {
        use SimpleCommand as C;
        let with = |mode, [x, y, z]: [f32; 3], w| Self::new(mode, [x, y, z, w]);
        match command {
            C::Nothing => Self::new(-1, [0.0; 4]),
            C::VelocityNed { velocity, yaw_rate } => with(0, velocity, yaw_rate),
            C::VelocityFrd { velocity, yaw_rate } => with(1, velocity, yaw_rate),
            C::PositionNed { position, yaw } => with(2, position, yaw),
            C::PositionFrd { position, yaw } => with(3, position, yaw),
            C::Attitude { euler, throttle } => with(4, euler, throttle),
            C::AttitudeStep { euler, throttle_step } => with(5, euler, throttle_step),
            C::AccelerationYaw { acceleration, yaw } => with(6, acceleration, yaw),
            C::AccelerationDisputed { acceleration, turn } => with(7, acceleration, turn),
            C::AccelerationYawRate { acceleration, yaw_rate } => with(8, acceleration, yaw_rate),
            C::Arm(arm) => Self::new(9, [f32::from(u8::from(arm)), 0.0, 0.0, 0.0]),
            C::Cruise { speed, radius } => Self::new(10, [speed, radius, 0.0, 0.0]),
            C::TakeOff { position } => with(11, position, 0.0),
            C::TakeOffGlobal { latitude, longitude, altitude } => {
                Self::new(12, [latitude, longitude, altitude, 0.0])
            }
            C::SpeedAltitudeHeading { speed, down, heading } => {
                Self::new(13, [speed, down, heading, 0.0])
            }
            C::PositionGlobal { latitude, longitude, altitude, yaw } => {
                Self::new(14, [latitude, longitude, altitude, yaw])
            }
            C::VtolTransition { state, immediate } => Self::new(30, [state, immediate, 0.0, 0.0]),
        }
    }
}

impl TryFrom<&SimpleCommandPacket> for SimpleCommand {
    type Error = WireError;

    /// Fails for an undocumented mode.
    fn try_from(packet: &SimpleCommandPacket) -> Result<Self, WireError> {
        let [x, y, z, w] = packet.controls.map(F32::get);
        let v = [x, y, z];
        Ok(match packet.mode.get() {
            ..0 => Self::Nothing,
            0 => Self::VelocityNed { velocity: v, yaw_rate: w },
            1 => Self::VelocityFrd { velocity: v, yaw_rate: w },
            2 => Self::PositionNed { position: v, yaw: w },
            3 => Self::PositionFrd { position: v, yaw: w },
            4 => Self::Attitude { euler: v, throttle: w },
            5 => Self::AttitudeStep { euler: v, throttle_step: w },
            6 => Self::AccelerationYaw { acceleration: v, yaw: w },
            7 => Self::AccelerationDisputed { acceleration: v, turn: w },
            8 => Self::AccelerationYawRate { acceleration: v, yaw_rate: w },
            9 => Self::Arm(x > 0.5),
            10 => Self::Cruise { speed: x, radius: y },
            11 => Self::TakeOff { position: v },
            12 => Self::TakeOffGlobal { latitude: x, longitude: y, altitude: z },
            13 => Self::SpeedAltitudeHeading { speed: x, down: y, heading: z },
            14 => Self::PositionGlobal { latitude: x, longitude: y, altitude: z, yaw: w },
            30 => Self::VtolTransition { state: x, immediate: y },
            mode => {
                return Err(WireError::Field {
                    what: SimpleCommandPacket::NAME,
                    field: "mode",
                    found: mode.into(),
                });
            }
        })
    }
}

impl SimpleEstimatePacket {
    /// Check words of the events; the check word of a state is `TAG`.
    const FIXED: i32 = 1_234_567_891;
    const COLLISION: i32 = 1_234_567_892;

    /// Creates the event that the estimator has a 3D fix.
    pub fn estimator_fixed() -> Self {
        Self { checksum: Self::FIXED.into(), ..Self::new_zeroed() }
    }

    /// Creates a collision event.
    pub fn collision(with: i32) -> Self {
        let home = [0, with, 0].map(I32::new);
        Self { checksum: Self::COLLISION.into(), home, ..Self::new_zeroed() }
    }

    /// Returns the meaning of the packet.
    pub fn report(&self) -> SimpleReport<'_> {
        let [_, with, _] = self.home;
        match self.checksum.get() {
            Self::FIXED => SimpleReport::PositionFix,
            Self::COLLISION => {
                SimpleReport::Collision { with: Some(with.get()).filter(|id| *id >= 0) }
            }
            _ => SimpleReport::State(self),
        }
    }
}

/// Meaning of a [`SimpleEstimatePacket`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimpleReport<'a> {
    /// All fields are valid.
    State(&'a SimpleEstimatePacket),
    /// The estimator has a 3D fix; no field is valid.
    PositionFix,
    /// A collision; apart from the id, no field is valid.
    Collision {
        /// Id of the object collided with; `None`: no collision.
        with: Option<i32>,
    },
}
