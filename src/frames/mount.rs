use super::attitude::{Attitude, Euler};
use super::vector::{Flu, Frd, Ned, Vector};
use super::{transform::Transform, world::WorldConvention};
use std::fmt;

/// Carrier of a sensor: `TargetMountType`, with the number in `TargetCopter`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mount {
    /// 0: geometric centre of this vehicle.
    VehicleCentre(u16),
    /// 1: bottom centre of this vehicle.
    VehicleBottom(u16),
    /// 2: fixed to the ground; the position is a point of the simulator's world. The number has no effect on the mount;
    /// it selects the sensor's clock.
    Ground(u16),
    /// 3: follows the position of this vehicle, not its attitude.
    VehicleLevel(u16),
    /// 4: attached to the sensor with this `SeqID`.
    Sensor(u16),
}

impl Mount {
    /// Returns `TargetMountType`.
    pub const fn number(self) -> u16 {
        match self {
            Self::VehicleCentre(_) => 0,
            Self::VehicleBottom(_) => 1,
            Self::Ground(_) => 2,
            Self::VehicleLevel(_) => 3,
            Self::Sensor(_) => 4,
        }
    }

    /// Returns `TargetCopter`.
    pub const fn target(self) -> u16 {
        match self {
            Self::VehicleCentre(id)
            | Self::VehicleBottom(id)
            | Self::Ground(id)
            | Self::VehicleLevel(id)
            | Self::Sensor(id) => id,
        }
    }

    /// Returns the vehicle that carries the sensor directly; `None` on the ground and on another sensor.
    pub const fn vehicle(self) -> Option<u16> {
        match self {
            Self::VehicleCentre(id) | Self::VehicleBottom(id) | Self::VehicleLevel(id) => Some(id),
            Self::Ground(_) | Self::Sensor(_) => None,
        }
    }

    /// Creates a mount from `TargetMountType` and `TargetCopter`; `None` for an unknown type.
    pub const fn from_numbers(mount_type: u16, target: u16) -> Option<Self> {
        Some(match mount_type {
            0 => Self::VehicleCentre(target),
            1 => Self::VehicleBottom(target),
            2 => Self::Ground(target),
            3 => Self::VehicleLevel(target),
            4 => Self::Sensor(target),
            _ => return None,
        })
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VehicleCentre(id) => write!(f, "vehicle {id}, centre"),
            Self::VehicleBottom(id) => write!(f, "vehicle {id}, bottom"),
            Self::Ground(_) => write!(f, "ground"),
            Self::VehicleLevel(id) => write!(f, "vehicle {id}, level"),
            Self::Sensor(id) => write!(f, "sensor {id}"),
        }
    }
}

/// Attitude of a sensor in its mount, FRD in FRD (FRD in NED for [`Mount::Ground`] and [`Mount::VehicleLevel`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MountOrientation {
    /// Roll, pitch, yaw in rad.
    Euler([f64; 3]),
    /// w, x, y, z of any norm. All zero means no rotation: unused `SensorAngQuat` fields are zero.
    Quaternion([f64; 4]),
}

/// Frame in which a mount's transform is expressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MountReference {
    /// `base_link` of this vehicle.
    BaseLink(u16),
    /// `map`.
    Map,
    /// `map`; add the position of this vehicle to the translation.
    MapAtVehicle(u16),
    /// `<sensor>_link` of the sensor with this `SeqID`.
    SensorLink(u16),
}

impl MountOrientation {
    /// Returns the attitude; a quaternion whose norm is nearly 0 or not finite gives the identity.
    pub fn attitude(self) -> Attitude<Frd, Frd> {
        match self {
            Self::Euler([roll, pitch, yaw]) => Attitude::from_euler(Euler { roll, pitch, yaw }),
            Self::Quaternion(wxyz) => Attitude::from_wxyz(wxyz).unwrap_or_default(),
        }
    }
}

/// Returns the parent of a sensor's `_link`, and the pose of the `_link` in it.
///
/// `position_frd` is in m, in the frame of the mount: FRD, or NED where the mount does not turn with a vehicle.
/// `bottom_m` is the distance of a vehicle's bottom centre below its `base_link`; the simulator takes it from the
/// vehicle's 3D model and does not send it.
pub fn mount_transform(
    mount: Mount,
    position_frd: [f64; 3],
    orientation: MountOrientation,
    world: WorldConvention,
    bottom_m: f64,
) -> (MountReference, Transform) {
    let attitude = orientation.attitude();
    let [x, y, z] = position_frd;
    let in_body = |down| {
        let position = Vector::<Flu>::from(Vector::<Frd>::new(x, y, z + down));
        Transform::from_parts(position.to_array(), Attitude::<Flu, Flu>::from(attitude).wxyz())
    };
    let in_world = || world.pose(Vector::<Ned>::new(x, y, z), Attitude::from_inner(attitude.value));
    match mount {
        Mount::VehicleCentre(id) => (MountReference::BaseLink(id), in_body(0.0)),
        Mount::VehicleBottom(id) => (MountReference::BaseLink(id), in_body(bottom_m)),
        Mount::Ground(_) => (MountReference::Map, in_world()),
        Mount::VehicleLevel(id) => (MountReference::MapAtVehicle(id), in_world()),
        Mount::Sensor(seq_id) => (MountReference::SensorLink(seq_id), in_body(0.0)),
    }
}

/// Returns position and attitude of a sensor in its mount from its pose in the parent of its `_link`: the inverse of
/// [`mount_transform`]. `None` if the pose is not finite.
pub fn pose_in_mount(
    mount: Mount,
    pose: &Transform,
    world: WorldConvention,
    bottom_m: f64,
) -> Option<([f64; 3], MountOrientation)> {
    let in_body = |down| {
        let attitude = Attitude::<Flu, Flu>::from_wxyz(pose.rotation())?;
        let [x, y, z] = pose.translation();
        let position = Vector::<Frd>::from(Vector::<Flu>::new(x, y, z)).to_array();
        let frd = Attitude::<Frd, Frd>::from(attitude).wxyz();
        Some(([position[0], position[1], position[2] - down], frd))
    };
    let (position, wxyz) = match mount {
        Mount::VehicleCentre(_) | Mount::Sensor(_) => in_body(0.0)?,
        Mount::VehicleBottom(_) => in_body(bottom_m)?,
        Mount::Ground(_) | Mount::VehicleLevel(_) => {
            let attitude = world.ned_attitude(pose.rotation())?;
            (world.ned(pose.translation()).to_array(), attitude.wxyz())
        }
    };
    let is_finite = position.iter().all(|x| x.is_finite());
    is_finite.then_some((position, MountOrientation::Quaternion(wxyz)))
}
