//! Control port in UDP_Full: setpoints to 20100+2(id-1), states from there to 20101+2(id-1).
use super::{Packet, WireError};
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, I32, U32};

packets! {
    /// `netDataShortShort` with `inHILCMDData`, 120 bytes: a setpoint.
    ///
    /// In this mode, too, arming, take-off and speed are sent as [`SimpleCommandPacket`](super::SimpleCommandPacket).
    /// Source: vendor SDK, golden `control_udp_full`.
    FullSetpointPacket() {
        tag: I32 = "3.",
        len: I32 = "80, the length of the setpoint in bytes.",
        time_boot_ms: U32 = "Milliseconds since the sender started.",
        copter_id: U32 = "Vehicle id.",
        type_mask: U32 = "MAVLink type_mask.",
        frame: U32 = "MAVLink frame: 1 local NED, 8 body, 5 global.",
        position: [F32; 3] = "m; degrees, degrees, m in frame 5; x, y, z of the quaternion in an attitude.",
        velocity: [F32; 3] = "m/s; rad/s in an attitude.",
        acceleration: [F32; 3] = "m/s².",
        yaw: F32 = "rad; thrust in an attitude.",
        yaw_rate: F32 = "rad/s; w of the quaternion in an attitude.",
        reserved: [F32; 5] = "Reserved.",
        padding: [u8; 32] = "Padding to the 112 bytes of payload.",
    }
    /// `netDataShortShort` with `outHILStateData`, 120 bytes: the estimated state.
    ///
    /// Source: vendor SDK, golden `recv_ctrl_udp`.
    FullEstimatePacket() {
        collided_with: I32 = "Id of the object that the vehicle hit; negative: none.",
        len: I32 = "112 (docs/wire/traps.md, full-len: a document says 120).",
        time_boot_ms: U32 = "Milliseconds since the autopilot started.",
        copter_id: U32 = "Vehicle id.",
        gps: [I32; 3] = "Latitude and longitude in 1e-7 deg, altitude in mm (up).",
        gps_velocity: [I32; 3] = "Velocity in cm/s, NED.",
        home: [I32; 3] = "Home: latitude and longitude in 1e-7 deg, altitude in mm (up).",
        relative_altitude: I32 = "Height over home in mm.",
        heading: I32 = "Heading in 1e-3 deg, 0 to 360.",
        satellites: I32 = "Satellites in view.",
        fix_type: I32 = "3: 3D fix.",
        reserved: I32 = "Reserved.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        position: [F32; 3] = "Position in m from home, NED.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        horizontal_accuracy: F32 = "Horizontal accuracy in m.",
        vertical_accuracy: F32 = "Vertical accuracy in m.",
        estimator_fixed: F32 = "Above 0.5: the estimator has a 3D fix.",
    }
}

impl FullSetpointPacket {
    const TAG: i32 = 3;
    const SETPOINT_LEN: i32 = 80;

    /// Creates a setpoint with zeros in `position` and all later fields.
    pub fn new(time_boot_ms: u32, copter_id: u32, type_mask: u16, frame: u8) -> Self {
        Self {
            tag: Self::TAG.into(),
            len: Self::SETPOINT_LEN.into(),
            time_boot_ms: time_boot_ms.into(),
            copter_id: copter_id.into(),
            type_mask: u32::from(type_mask).into(),
            frame: u32::from(frame).into(),
            ..Self::new_zeroed()
        }
    }

    /// Fills the fields of an attitude: quaternion w, x, y, z, rates in rad/s, thrust 0 to 1.
    #[must_use]
    pub fn with_attitude(self, [w, x, y, z]: [f32; 4], rates: [f32; 3], thrust: f32) -> Self {
        Self {
            position: [x, y, z].map(F32::new),
            velocity: rates.map(F32::new),
            yaw: thrust.into(),
            yaw_rate: w.into(),
            ..self
        }
    }
}

impl Packet for FullSetpointPacket {
    const NAME: &'static str = "UDP_Full setpoint";

    fn check(&self) -> Result<(), WireError> {
        expect(Self::NAME, "tag", Self::TAG, self.tag)?;
        expect(Self::NAME, "len", Self::SETPOINT_LEN, self.len)
    }
}

impl FullEstimatePacket {
    /// Value of `len`.
    pub const STATE_LEN: i32 = 112;

    /// Creates a state without a collision; the fields after `copter_id` are 0.
    pub fn new(time_boot_ms: u32, copter_id: u32) -> Self {
        Self {
            collided_with: (-1).into(),
            len: Self::STATE_LEN.into(),
            time_boot_ms: time_boot_ms.into(),
            copter_id: copter_id.into(),
            ..Self::new_zeroed()
        }
    }
}

impl Packet for FullEstimatePacket {
    const NAME: &'static str = "UDP_Full state";

    fn check(&self) -> Result<(), WireError> {
        expect(Self::NAME, "len", Self::STATE_LEN, self.len)
    }
}

fn expect(what: &'static str, field: &'static str, want: i32, got: I32) -> Result<(), WireError> {
    match got.get() {
        got if got == want => Ok(()),
        got => Err(WireError::Field { what, field, found: got.into() }),
    }
}
