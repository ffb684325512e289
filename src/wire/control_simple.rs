//! Control port in UDP_Simple: commands to 20100+2(id-1), states from there to 20101+2(id-1).
use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `inOffboardShortData`, 24 bytes. Arming, take-off and speed use it in UDP_Full as well.
///
/// Source: vendor SDK and swarm manual, golden `control_udp_simple`, `control_udp_simple_raw`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct SimpleCommandPacket {
    /// Check word 1234567890.
    pub checksum: I32,
    /// Meaning of `controls`; see [`SimpleCommand`].
    pub mode: I32,
    /// Four numbers; NaN: do not control this channel.
    pub controls: [F32; 4],
}

impl SimpleCommandPacket {
    const TAG: i32 = 1_234_567_890;

    /// Creates a command from its numbers; [`SimpleCommand`] is the typed way.
    pub fn new(mode: i32, controls: [f32; 4]) -> Self {
        Self { checksum: Self::TAG.into(), mode: mode.into(), controls: controls.map(F32::new) }
    }
}

impl Packet for SimpleCommandPacket {
    const NAME: &'static str = "UDP_Simple command";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

/// A command as the receiver's manual describes it, one variant for each `ctrlMode`.
///
/// The vendor's sender encodes some modes differently, and wrongly (trap list): it leaves the fourth number of
/// the acceleration modes 0, cannot send 4 and 13, and lets speed and radius overwrite each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimpleCommand {
    /// Negative: no command.
    Nothing,
    /// 0: velocity in m/s, NED; yaw rate in rad/s.
    VelocityNed {
        /// North, east, down.
        velocity: [f32; 3],
        /// Clockwise from above.
        yaw_rate: f32,
    },
    /// 1: velocity in m/s, FRD; yaw rate in rad/s.
    VelocityFrd {
        /// Forward, right, down.
        velocity: [f32; 3],
        /// Clockwise from above.
        yaw_rate: f32,
    },
    /// 2: position in m from home, NED; yaw in rad.
    PositionNed {
        /// North, east, down.
        position: [f32; 3],
        /// From north, clockwise.
        yaw: f32,
    },
    /// 3: position in m, FRD; yaw in rad.
    PositionFrd {
        /// Forward, right, down.
        position: [f32; 3],
        /// From north, clockwise.
        yaw: f32,
    },
    /// 4: attitude in rad, throttle 0 to 1.
    Attitude {
        /// Roll, pitch, yaw.
        euler: [f32; 3],
        /// 0 to 1.
        throttle: f32,
    },
    /// 5: attitude in rad, change of the throttle.
    AttitudeStep {
        /// Roll, pitch, yaw.
        euler: [f32; 3],
        /// Added to the throttle.
        throttle_step: f32,
    },
    /// 6: acceleration in m/s², yaw in rad. Comments in the SDK say that the fourth number is not used
    /// (docs/wire/traps.md, acceleration-modes).
    AccelerationYaw {
        /// North, east, down.
        acceleration: [f32; 3],
        /// From north, clockwise.
        yaw: f32,
    },
    /// 7: acceleration in m/s² and yaw rate by the manual, yaw by comments in the SDK: do not send
    /// (docs/wire/traps.md, acceleration-modes).
    AccelerationDisputed {
        /// North, east, down.
        acceleration: [f32; 3],
        /// Yaw rate in rad/s, or yaw in rad.
        turn: f32,
    },
    /// 8: acceleration in m/s², yaw rate in rad/s.
    AccelerationYawRate {
        /// North, east, down.
        acceleration: [f32; 3],
        /// Clockwise from above.
        yaw_rate: f32,
    },
    /// 9: arm or disarm.
    Arm(bool),
    /// 10: cruise; 0: unchanged.
    Cruise {
        /// m/s.
        speed: f32,
        /// Radius of circles in m.
        radius: f32,
    },
    /// 11: arm, take off and go to a position in m from home, NED.
    TakeOff {
        /// North, east, down.
        position: [f32; 3],
    },
    /// 12: arm, take off and go to a geodetic position. Single precision: about 1 m.
    TakeOffGlobal {
        /// Latitude in degrees.
        latitude: f32,
        /// Longitude in degrees.
        longitude: f32,
        /// m.
        altitude: f32,
    },
    /// 13: speed in m/s, altitude as down coordinate in m, heading in rad (fixed wing).
    SpeedAltitudeHeading {
        /// m/s.
        speed: f32,
        /// Down from home in m, as in the vendor's call.
        down: f32,
        /// From north, clockwise.
        heading: f32,
    },
    /// 14: go to a geodetic position. Single precision: about 1 m.
    PositionGlobal {
        /// Latitude in degrees.
        latitude: f32,
        /// Longitude in degrees.
        longitude: f32,
        /// m.
        altitude: f32,
        /// From north, clockwise, in rad.
        yaw: f32,
    },
    /// 30: VTOL transition (MAV_CMD_DO_VTOL_TRANSITION).
    VtolTransition {
        /// MAV_VTOL_STATE.
        state: f32,
        /// 1: at once, without checks.
        immediate: f32,
    },
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

/// `outHILStateShort`, 52 bytes: the estimated state, or an event. It has no time stamp.
///
/// Source: vendor SDK, golden `recv_ctrl_udp`.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct SimpleEstimatePacket {
    /// 1234567890 state, 1234567891 the estimator has a 3D fix, 1234567892 collision.
    pub checksum: I32,
    /// Home: latitude and longitude in 1e-7 deg, altitude in mm; in a collision the second is the id collided with.
    pub home: [I32; 3],
    /// Roll, pitch, yaw in rad (docs/wire/traps.md, struct-angles: a manual says degrees).
    pub euler: [F32; 3],
    /// Position in m from home, NED.
    pub position: [F32; 3],
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
}

impl SimpleEstimatePacket {
    const STATE: i32 = 1_234_567_890;
    const FIXED: i32 = 1_234_567_891;
    const COLLISION: i32 = 1_234_567_892;

    /// Creates a state.
    pub fn state(home: [i32; 3], euler: [f32; 3], position: [f32; 3], velocity: [f32; 3]) -> Self {
        Self {
            checksum: Self::STATE.into(),
            home: home.map(I32::new),
            euler: euler.map(F32::new),
            position: position.map(F32::new),
            velocity: velocity.map(F32::new),
        }
    }

    /// Creates the event that the estimator has a 3D fix.
    pub fn estimator_fixed() -> Self {
        Self { checksum: Self::FIXED.into(), ..Self::state([0; 3], [0.0; 3], [0.0; 3], [0.0; 3]) }
    }

    /// Creates a collision event.
    pub fn collision(with: i32) -> Self {
        Self {
            checksum: Self::COLLISION.into(),
            ..Self::state([0, with, 0], [0.0; 3], [0.0; 3], [0.0; 3])
        }
    }

    /// Returns the meaning of the packet.
    pub fn report(&self) -> SimpleReport<'_> {
        let [_, with, _] = self.home;
        match self.checksum.get() {
            Self::FIXED => SimpleReport::EstimatorFixed,
            Self::COLLISION => {
                SimpleReport::Collision { with: Some(with.get()).filter(|id| *id >= 0) }
            }
            _ => SimpleReport::State(self),
        }
    }
}

impl Packet for SimpleEstimatePacket {
    const NAME: &'static str = "UDP_Simple state";

    fn check(&self) -> Result<(), WireError> {
        match self.checksum.get() {
            Self::STATE | Self::FIXED | Self::COLLISION => Ok(()),
            found => expect_tag(Self::NAME, Self::STATE.into(), found.into()),
        }
    }
}

/// Meaning of a [`SimpleEstimatePacket`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimpleReport<'a> {
    /// All fields are valid.
    State(&'a SimpleEstimatePacket),
    /// The estimator has a 3D fix; no field is valid.
    EstimatorFixed,
    /// A collision; no field is valid.
    Collision {
        /// Id collided with; `None`: nothing.
        with: Option<i32>,
    },
}
