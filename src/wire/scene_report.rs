//! Reports of the renderer: vehicles with their collisions, cameras, vehicles and objects with their bounds. Multicast
//! 224.0.0.10:20006.
//!
//! Source: vendor SDK, golden `recv_ue4msg`.
use super::{CrashPacket, Packet, SensorRequest, SilInputsPacket, WireError, packet::expect_tag};
use zerocopy::little_endian::{F32, F64, I32};

packets! {
    /// `reqVeCrashData`, 160 bytes: a vehicle, the object that it hit, and the distances to its surroundings.
    VehicleReportPacket("report of a vehicle", 1_234_567_897) {
        copter_id: I32 = "Vehicle id.",
        vehicle_type: I32 = "Class and style: class + 1000 x style.",
        /// Hit object. -2: the ground, -1: an object of the scene, 0: none, otherwise the id of a vehicle.
        crash_type: I32,
        sim_time: F64 = "Simulation time in s.",
        velocity: [F32; 3] = "Velocity in m/s, NED.",
        position: [F32; 3] = "Position in m, NED.",
        contact: [F32; 3] = "Point of contact in m, NED.",
        target: [F32; 3] = "Centre of the hit object in m, NED.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        motor_rpm: [F32; 8] = "Motor speeds in rpm.",
        rays: [F32; 6] = "Distances in m to the front, back, left, right, up, down.",
        name: [u8; 20] = "Name of the hit object: UTF-8, padded with zeros.",
    }
    /// `CameraData`, 72 bytes: a camera; 56 bytes from older simulators (`Q` is 0).
    CameraReportPacket[const Q: usize = 4]() {
        checksum: I32 = "Check word 1234567891.",
        seq_id: I32 = "Sensor number.",
        type_id: I32 = "Its type.",
        height: I32 = "Height in px.",
        width: I32 = "Width in px.",
        fov_deg: F32 = "Horizontal field of view in degrees.",
        position: [F32; 3] = "Optical centre in m.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        quaternion: [F32; Q] = "Attitude w, x, y, z.",
        sim_time: F64 = "Simulation time in s.",
    }
    /// `CoptReqData`, 80 bytes: a vehicle and its bounds; 64 bytes from older simulators (`Q` is 0).
    VehicleBoundsPacket[const Q: usize = 4]() {
        checksum: I32 = "Check word 1234567891.",
        copter_id: I32 = "Vehicle id.",
        position: [F32; 3] = "Reference point of the model in m, which need not be its centre.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        quaternion: [F32; Q] = "Attitude w, x, y, z.",
        centre: [F32; 3] = "Centre of the bounds in m.",
        half_size: [F32; 3] = "Half the sides of the bounds in m.",
        sim_time: F64 = "Simulation time in s.",
    }
    /// `ObjReqData`, 112 bytes: an object of the scene and its bounds; 96 bytes from older simulators (`Q` is 0).
    ObjectBoundsPacket[const Q: usize = 4]() {
        checksum: I32 = "Check word 1234567891.",
        seq_id: I32 = "Always 0: objects are identified by their names.",
        position: [F32; 3] = "Reference point in m.",
        euler: [F32; 3] = "Roll, pitch, yaw in rad.",
        quaternion: [F32; Q] = "Attitude w, x, y, z.",
        centre: [F32; 3] = "Centre of the bounds in m.",
        half_size: [F32; 3] = "Half the sides of the bounds in m.",
        sim_time: F64 = "Simulation time in s.",
        name: [u8; 32] = "UTF-8, padded with zeros.",
    }
}

impl VehicleReportPacket {
    /// Returns the name of the hit object, with invalid UTF-8 replaced.
    pub fn target_name(&self) -> String {
        text(&self.name)
    }
}

macro_rules! description {
    ($name:ident, $text:literal) => {
        impl<const Q: usize> Packet for $name<Q> {
            const NAME: &'static str = $text;

            fn check(&self) -> Result<(), WireError> {
                expect_tag(Self::NAME, Self::TAG, self.checksum.get())
            }
        }

        impl<const Q: usize> $name<Q> {
            /// Check word.
            pub const TAG: i32 = 1_234_567_891;

            fn pose(&self) -> DescribedPose {
                let quaternion = <[F32; 4]>::try_from(self.quaternion.as_slice()).ok();
                DescribedPose {
                    position: self.position.map(F32::get),
                    euler: self.euler.map(F32::get),
                    quaternion: quaternion.map(|q| q.map(F32::get)),
                }
            }
        }
    };
}

description!(CameraReportPacket, "description of a camera");
description!(VehicleBoundsPacket, "description of a vehicle");
description!(ObjectBoundsPacket, "description of an object");

impl<const Q: usize> ObjectBoundsPacket<Q> {
    /// Returns the name, with invalid UTF-8 replaced.
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
    /// Sensor number.
    pub seq_id: i32,
    /// Its type.
    pub type_id: i32,
    /// Width and height in px.
    pub size: [i32; 2],
    /// Horizontal field of view in degrees.
    pub fov_deg: f32,
    /// Pose of its optical centre.
    pub pose: DescribedPose,
    /// Simulation time in s.
    pub sim_time: f64,
}

/// Pose in the renderer's world frame.
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
    /// Its id or name.
    pub name: EntityName,
    /// Pose of its reference point.
    pub pose: DescribedPose,
    /// Centre of its bounds in m.
    pub centre: [f32; 3],
    /// Half the sides of its bounds in m.
    pub half_size: [f32; 3],
    /// Simulation time in s.
    pub sim_time: f64,
}

/// Id or name of an entity in the renderer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum EntityName {
    /// Id of a vehicle, or of an object that was created like one.
    Id(i32),
    /// Name of an object of the scene.
    Object(String),
}

/// A datagram to the group of the reports; all but [`Self::ModelInputs`] are from the renderer.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneReport<'a> {
    /// 12 bytes, while collisions are computed.
    Collision(&'a CrashPacket),
    /// 120 bytes: inputs of a model, repeated by `CopterSim`.
    ModelInputs(&'a SilInputsPacket),
    /// 160 bytes.
    Vehicle(&'a VehicleReportPacket),
    /// 72 or 56 bytes.
    Camera(CameraDescription),
    /// 80 or 64 bytes, 112 or 96 bytes.
    Entity(EntityDescription),
    /// 148 bytes: the state of a pod camera.
    Pod(SensorRequest),
}

impl<'a> SceneReport<'a> {
    /// Reads a datagram; its length determines its kind.
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
            pose: packet.pose(),
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
                    pose: packet.pose(),
                    centre: packet.centre.map(F32::get),
                    half_size: packet.half_size.map(F32::get),
                    sim_time: packet.sim_time.get(),
                }
            }
        }
    };
}

entity!(VehicleBoundsPacket, |p: &VehicleBoundsPacket<Q>| EntityName::Id(p.copter_id.get()));
entity!(ObjectBoundsPacket, |p: &ObjectBoundsPacket<Q>| EntityName::Object(p.object_name()));
