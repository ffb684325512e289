use super::attitude::{Attitude, Euler};
use super::transform::Transform;
use super::vector::{Flu, Frd, Ned, Vector};
use super::world::WorldConvention;

/// What a sensor is attached to: `TargetMountType` with the `TargetCopter` that it means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mount {
    /// 0: geometric centre of this vehicle.
    VehicleCentre(u16),
    /// 1: bottom centre of this vehicle.
    VehicleBottom(u16),
    /// 2: fixed to the ground; the position is a point of the simulator's world.
    Ground,
    /// 3: moves with this vehicle, but neither tilts nor turns with it.
    VehicleLevel(u16),
    /// 4: attached to the sensor with this `SeqID`.
    Sensor(u16),
}

/// Attitude of a sensor in its mount, FRD in FRD (FRD in NED for [`Mount::Ground`] and [`Mount::VehicleLevel`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MountOrientation {
    /// Roll, pitch, yaw in rad.
    Euler([f64; 3]),
    /// w, x, y, z; normalised here. All zero means no rotation, as unused `SensorAngQuat` fields are written.
    Quaternion([f64; 4]),
}

/// Frame in which a mount's transform is expressed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MountReference {
    /// `base_link` of this vehicle.
    BaseLink(u16),
    /// `map`.
    Map,
    /// `map`, and the translation is still to be added to the position of this vehicle.
    MapAtVehicle(u16),
    /// `<sensor>_link` of the sensor with this `SeqID`.
    SensorLink(u16),
}

impl MountOrientation {
    /// Returns the attitude; a quaternion of zero or not finite norm is the identity.
    pub fn attitude(self) -> Attitude<Frd, Frd> {
        match self {
            Self::Euler([roll, pitch, yaw]) => Attitude::from_euler(Euler { roll, pitch, yaw }),
            Self::Quaternion(wxyz) => Attitude::from_wxyz(wxyz).unwrap_or_default(),
        }
    }
}

/// Returns the parent of a sensor's `_link` and the sensor's pose in it, in the convention of ROS.
///
/// `position_frd` is in m, in the frame of the mount: FRD, or NED where the mount does not turn with a vehicle.
/// `bottom_m` is how far the bottom centre of a vehicle is below its `base_link`; the simulator knows it from the
/// vehicle's 3D model and does not tell.
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
        Transform::from_parts(
            position.to_array(),
            Attitude::<Flu, Flu>::from(attitude).wxyz(),
        )
    };
    let in_world = || {
        world.pose(
            Vector::<Ned>::new(x, y, z),
            Attitude::from_inner(attitude.value),
        )
    };
    match mount {
        Mount::VehicleCentre(id) => (MountReference::BaseLink(id), in_body(0.0)),
        Mount::VehicleBottom(id) => (MountReference::BaseLink(id), in_body(bottom_m)),
        Mount::Ground => (MountReference::Map, in_world()),
        Mount::VehicleLevel(id) => (MountReference::MapAtVehicle(id), in_world()),
        Mount::Sensor(seq_id) => (MountReference::SensorLink(seq_id), in_body(0.0)),
    }
}
