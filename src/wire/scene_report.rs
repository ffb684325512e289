//! What the renderer reports: vehicles and their collisions, cameras, vehicles and objects with their bounds. Multicast
//! 224.0.0.10:20006.
//!
//! Source: vendor SDK, golden `recv_ue4msg`.
use super::{CrashPacket, Packet, SensorRequest, SilInputsPacket, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `reqVeCrashData`, 160 bytes: a vehicle, what it hit, and the distances to what is around it.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct VehicleReportPacket {
    /// Check word 1234567897.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Class and style: class + 1000 x style.
    pub vehicle_type: I32,
    /// -2: the ground, -1: an object of the scene, 0: nothing, else the id of the vehicle that it hit.
    pub crash_type: I32,
    /// Simulation time in s.
    pub sim_time: F64,
    /// Velocity in m/s, NED.
    pub velocity: [F32; 3],
    /// Position in m, NED.
    pub position: [F32; 3],
    /// Point of contact in m, NED.
    pub contact: [F32; 3],
    /// Centre of what it hit in m, NED.
    pub target: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Motor speeds in rpm.
    pub motor_rpm: [F32; 8],
    /// Distances in m to the front, back, left, right, up, down.
    pub rays: [F32; 6],
    /// Name of what it hit: UTF-8, padded with zeros.
    pub name: [u8; 20],
}

impl VehicleReportPacket {
    /// Check word.
    pub const TAG: i32 = 1_234_567_897;

    /// Returns the name of what it hit; what is no UTF-8 is replaced.
    pub fn target_name(&self) -> String {
        text(&self.name)
    }
}

impl Packet for VehicleReportPacket {
    const NAME: &'static str = "report of a vehicle";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

const DESCRIPTION_TAG: i32 = 1_234_567_891;

macro_rules! description {
    ($name:ident, $text:literal) => {
        impl<const Q: usize> Packet for $name<Q> {
            const NAME: &'static str = $text;

            fn check(&self) -> Result<(), WireError> {
                expect_tag(Self::NAME, DESCRIPTION_TAG.into(), self.checksum.get().into())
            }
        }

        impl<const Q: usize> $name<Q> {
            /// Check word.
            pub const TAG: i32 = DESCRIPTION_TAG;

            /// Returns the attitude w, x, y, z, which older simulators do not send.
            pub fn quaternion(&self) -> Option<[f32; 4]> {
                let words = <[F32; 4]>::try_from(self.quaternion.as_slice()).ok()?;
                Some(words.map(F32::get))
            }
        }
    };
}

/// `CameraData`, 72 bytes: a camera; 56 bytes from older simulators (`Q` is 0).
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct CameraReportPacket<const Q: usize = 4> {
    /// Check word 1234567891.
    pub checksum: I32,
    /// Sensor.
    pub seq_id: I32,
    /// Its type.
    pub type_id: I32,
    /// Height in px.
    pub height: I32,
    /// Width in px.
    pub width: I32,
    /// Horizontal field of view in degrees.
    pub fov_deg: F32,
    /// Optical centre in m.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Attitude w, x, y, z.
    pub quaternion: [F32; Q],
    /// Simulation time in s.
    pub sim_time: F64,
}
description!(CameraReportPacket, "description of a camera");

/// `CoptReqData`, 80 bytes: a vehicle and its bounds; 64 bytes from older simulators (`Q` is 0).
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct VehicleBoundsPacket<const Q: usize = 4> {
    /// Check word 1234567891.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Reference point of the model in m, which need not be its centre.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Attitude w, x, y, z.
    pub quaternion: [F32; Q],
    /// Centre of the bounds in m.
    pub centre: [F32; 3],
    /// Half the sides of the bounds in m.
    pub half_size: [F32; 3],
    /// Simulation time in s.
    pub sim_time: F64,
}
description!(VehicleBoundsPacket, "description of a vehicle");

/// `ObjReqData`, 112 bytes: an object of the scene and its bounds; 96 bytes from older simulators (`Q` is 0).
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ObjectBoundsPacket<const Q: usize = 4> {
    /// Check word 1234567891.
    pub checksum: I32,
    /// Always 0: objects are known by their names.
    pub seq_id: I32,
    /// Reference point in m.
    pub position: [F32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [F32; 3],
    /// Attitude w, x, y, z.
    pub quaternion: [F32; Q],
    /// Centre of the bounds in m.
    pub centre: [F32; 3],
    /// Half the sides of the bounds in m.
    pub half_size: [F32; 3],
    /// Simulation time in s.
    pub sim_time: F64,
    /// UTF-8, padded with zeros.
    pub name: [u8; 32],
}
description!(ObjectBoundsPacket, "description of an object");

impl<const Q: usize> ObjectBoundsPacket<Q> {
    /// Returns the name; what is no UTF-8 is replaced.
    pub fn object_name(&self) -> String {
        text(&self.name)
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_matches('\0').to_owned()
}

/// A camera that the renderer describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraDescription {
    /// Sensor.
    pub seq_id: i32,
    /// Its type.
    pub type_id: i32,
    /// Width and height in px.
    pub size: [i32; 2],
    /// Horizontal field of view in degrees.
    pub fov_deg: f32,
    /// Where its optical centre is.
    pub pose: DescribedPose,
    /// Simulation time in s.
    pub sim_time: f64,
}

/// Place and attitude in the renderer's world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescribedPose {
    /// In m.
    pub position: [f32; 3],
    /// Roll, pitch, yaw in rad.
    pub euler: [f32; 3],
    /// w, x, y, z; older simulators do not send it.
    pub quaternion: Option<[f32; 4]>,
}

/// A vehicle or an object of the scene that the renderer describes.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityDescription {
    /// What it is.
    pub name: EntityName,
    /// Of its reference point.
    pub pose: DescribedPose,
    /// Centre of its bounds in m.
    pub centre: [f32; 3],
    /// Half the sides of its bounds in m.
    pub half_size: [f32; 3],
    /// Simulation time in s.
    pub sim_time: f64,
}

/// What the renderer calls an entity.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum EntityName {
    /// Id of a vehicle, or of an object that was created like one.
    Id(i32),
    /// Name of an object of the scene.
    Object(String),
}

/// A datagram of the renderer.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneReport<'a> {
    /// 12 bytes, while collisions are computed.
    Collision(&'a CrashPacket),
    /// 120 bytes: inputs of a model, as `CopterSim` repeats them.
    ModelInputs(&'a SilInputsPacket),
    /// 160 bytes.
    Vehicle(&'a VehicleReportPacket),
    /// 72 or 56 bytes.
    Camera(CameraDescription),
    /// 80 or 64 bytes, 112 or 96 bytes.
    Entity(EntityDescription),
    /// 148 bytes: what a pod camera does.
    Pod(SensorRequest),
}

impl<'a> SceneReport<'a> {
    /// Reads a datagram; its length says what it is.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        match bytes.len() {
            12 => CrashPacket::parse(bytes).map(Self::Collision),
            120 => {
                let inputs = SilInputsPacket::parse(bytes)?;
                // Extended inputs are not repeated.
                inputs.expect_plain()?;
                Ok(Self::ModelInputs(inputs))
            }
            160 => VehicleReportPacket::parse(bytes).map(Self::Vehicle),
            72 => CameraReportPacket::<4>::parse(bytes).map(|p| Self::Camera(p.into())),
            56 => CameraReportPacket::<0>::parse(bytes).map(|p| Self::Camera(p.into())),
            80 => VehicleBoundsPacket::<4>::parse(bytes).map(|p| Self::Entity(p.into())),
            64 => VehicleBoundsPacket::<0>::parse(bytes).map(|p| Self::Entity(p.into())),
            112 => ObjectBoundsPacket::<4>::parse(bytes).map(|p| Self::Entity(p.into())),
            96 => ObjectBoundsPacket::<0>::parse(bytes).map(|p| Self::Entity(p.into())),
            148 => SensorRequest::parse_feedback(bytes).map(Self::Pod),
            found => Err(WireError::Length {
                what: "report of the renderer",
                expected: VehicleReportPacket::LEN,
                found,
            }),
        }
    }
}

impl<const Q: usize> From<&CameraReportPacket<Q>> for CameraDescription {
    fn from(packet: &CameraReportPacket<Q>) -> Self {
        Self {
            seq_id: packet.seq_id.get(),
            type_id: packet.type_id.get(),
            size: [packet.width, packet.height].map(I32::get),
            fov_deg: packet.fov_deg.get(),
            pose: DescribedPose {
                position: packet.position.map(F32::get),
                euler: packet.euler.map(F32::get),
                quaternion: packet.quaternion(),
            },
            sim_time: packet.sim_time.get(),
        }
    }
}

macro_rules! entity {
    ($packet:ident, $name:expr) => {
        impl<const Q: usize> From<&$packet<Q>> for EntityDescription {
            fn from(packet: &$packet<Q>) -> Self {
                Self {
                    name: $name(packet),
                    pose: DescribedPose {
                        position: packet.position.map(F32::get),
                        euler: packet.euler.map(F32::get),
                        quaternion: packet.quaternion(),
                    },
                    centre: packet.centre.map(F32::get),
                    half_size: packet.half_size.map(F32::get),
                    sim_time: packet.sim_time.get(),
                }
            }
        }
    };
}

entity!(VehicleBoundsPacket, |p: &VehicleBoundsPacket<Q>| { EntityName::Id(p.copter_id.get()) });
entity!(ObjectBoundsPacket, |p: &ObjectBoundsPacket<Q>| { EntityName::Object(p.object_name()) });
