mod builder;

use super::mount::{Mount, MountOrientation, mount_transform};
use super::vector::{Frd, Ned, Vector};
use super::{attitude::Attitude, transform::Transform, world::WorldConvention};
use crate::{msgs::geometry_msgs::msg::TransformStamped, time::RosTime};
use builder::Builder;
use nalgebra::UnitQuaternion;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Noise in m of an autopilot's origin, which is computed from rounded degrees (1e-7 is 1 cm) and local coordinates.
const ORIGIN_NOISE_M: f64 = 0.05;

/// Names and settings of the whole tree.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameNames {
    /// World, shared by all vehicles.
    pub map: String,
    /// Odometry frame of a vehicle, without its prefix.
    pub odom: String,
    /// Body of a vehicle, FLU, without its prefix.
    pub base_link: String,
    /// IMU of a vehicle, FLU, without its prefix.
    pub imu_link: String,
    /// Origin of a vehicle's autopilot, without the vehicle's prefix.
    pub local_origin: String,
    /// Vehicles with a `local_origin`.
    pub autopilots: BTreeSet<u16>,
    /// Prefix of every frame of a vehicle; `{id}` becomes the vehicle's number, for example `uav{id}/`.
    pub prefix: String,
    /// Axes of `map` and `odom`.
    pub world: WorldConvention,
    /// Distance in m of the bottom centre below `base_link`, for [`Mount::VehicleBottom`].
    pub bottom_m: f64,
    /// Whether the bridge publishes `map` -> `odom` -> `base_link`, from the true state or the autopilot's estimate. Otherwise
    /// another node does, and the tree assumes that path.
    pub publishes_pose: bool,
    /// Whether to add `map_ned` and `base_link_frd`, the simulator's own axes, as in mavros.
    pub ned_frames: bool,
}

impl Default for FrameNames {
    fn default() -> Self {
        Self {
            map: "map".into(),
            odom: "odom".into(),
            base_link: "base_link".into(),
            imu_link: "imu_link".into(),
            local_origin: "local_origin".into(),
            autopilots: BTreeSet::new(),
            prefix: String::new(),
            world: WorldConvention::Enu,
            bottom_m: 0.0,
            publishes_pose: true,
            ned_frames: true,
        }
    }
}

impl FrameNames {
    /// Returns the name of a frame of a vehicle.
    pub fn of_vehicle(&self, id: u16, name: &str) -> String {
        self.prefix.replace("{id}", &id.to_string()) + name
    }
}

/// A sensor in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorMount {
    /// `SeqID`.
    pub seq_id: u16,
    /// Its carrier.
    pub mount: Mount,
    /// Position in m in the frame of the mount.
    pub position_frd: [f64; 3],
    /// Attitude in the frame of the mount.
    pub orientation: MountOrientation,
    /// Whether it has an `_optical_frame`.
    pub optical: bool,
    /// Whether it can turn in its mount (TypeID 9): its edge is published with every update.
    pub moving: bool,
    /// Name of its FLU frame; `None`: `<prefix>sensor<SeqID>_link`.
    pub link: Option<String>,
    /// Name of its optical frame; `None`: `<prefix>sensor<SeqID>_optical_frame`.
    pub optical_frame: Option<String>,
}

/// Names of the frames of one sensor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SensorFrames {
    /// FLU frame: clouds, ranges.
    pub link: String,
    /// Optical frame: images and results in pixels; the link frame if the sensor has no optical one.
    pub optical: String,
}

/// Pose of a vehicle, true or estimated, in the simulator's frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VehiclePose {
    /// Vehicle number, from 1.
    pub vehicle: u16,
    /// Position in m, origin at the map centre.
    pub position: Vector<Ned>,
    /// Attitude.
    pub attitude: Attitude<Frd, Ned>,
}

impl VehiclePose {
    /// Interpolates to another pose; `share` is 0 at this pose and 1 at the other.
    pub fn towards(&self, other: &Self, share: f64) -> Self {
        let (a, b) = (self.attitude.value.into_inner(), other.attitude.value.into_inner());
        // q and -q are one attitude; take the shorter way.
        let b = if a.dot(&b) < 0.0 { -b } else { b };
        Self {
            vehicle: self.vehicle,
            position: self.position + (other.position - self.position) * share,
            attitude: Attitude::from_inner(UnitQuaternion::new_normalize(a.lerp(&b, share))),
        }
    }
}

/// A frame without a path to `map`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("frame {frame:?} has no path to {map:?}{}", match .highest { Some(h) => format!(": {h:?} has no parent"), None => ": no transform mentions it".into() })]
pub struct MissingPath {
    /// The requested frame.
    pub frame: String,
    /// The root of the tree.
    pub map: String,
    /// The highest ancestor reached; `None` if no transform mentions the frame.
    pub highest: Option<String>,
}

/// Why sensors and names do not form a tree.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum FrameError {
    /// A frame has two parents.
    #[error("frame {frame:?} has two parents, {first:?} and {second:?}")]
    TwoParents { frame: String, first: String, second: String },
    /// Sensors carry each other in a cycle, or a frame is its own ancestor.
    #[error("frames {0:?} form a cycle")]
    Cycle(Vec<String>),
    /// The carrier of a sensor is not configured.
    #[error("sensor {seq_id} is mounted on sensor {carrier}, which does not exist")]
    NoCarrier { seq_id: u16, carrier: u16 },
    /// Two sensors have the same `SeqID`.
    #[error("two sensors have SeqID {0}")]
    DuplicateSensor(u16),
    /// Not a valid frame name of tf2.
    #[error("{0:?} is not a frame name: it must not be empty, begin with '/' or contain blanks")]
    BadName(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Static,
    /// Follows the vehicle.
    Vehicle,
    /// Follows the position of the vehicle, at a constant offset and attitude.
    AtVehicle(Transform),
    /// Turns in its mount.
    Moving,
    /// Published by another node.
    External,
}

#[derive(Clone, Debug)]
struct Edge {
    parent: String,
    child: String,
    source: Source,
    /// `None` until the first update of a vehicle, and always for a `base_link` of another node.
    transform: Option<Transform>,
}

/// The frames of TF: those that the bridge publishes, and `odom` and `base_link` also if another node does.
///
/// ```text
/// map ── <p>odom ── <p>base_link ─┬─ <p>sensor0_link ── <p>sensor0_optical_frame
///  │                              ├─ <p>imu_link
///  │                              └─ <p>base_link_frd
///  ├─ sensor3_link               (fixed to the ground)
///  ├─ <p>sensor4_link            (moves with the vehicle, stays level)
///  ├─ <p>local_origin            (origin of the autopilot's local position; always ENU)
///  └─ map_ned
/// ```
#[derive(Clone, Debug)]
pub struct FrameTree {
    names: FrameNames,
    edges: Vec<Edge>,
    by_child: HashMap<String, usize>,
    sensors: BTreeMap<u16, PlacedSensor>,
    transforms: BTreeMap<u16, VehicleTransforms>,
    /// Vehicles and mounts that the tree was built from; `remount` and `replace_mount` change the mounts.
    vehicles: Vec<u16>,
    mounts: Vec<SensorMount>,
}

#[derive(Clone, Debug)]
struct PlacedSensor {
    mount: Mount,
    frames: SensorFrames,
    /// Index of the edge to its link.
    edge: usize,
}

/// Transforms of one update of a vehicle; the messages are reused, so that an update allocates nothing.
#[derive(Clone, Debug, Default)]
struct VehicleTransforms {
    edges: Vec<usize>,
    messages: Vec<TransformStamped>,
}

impl FrameTree {
    /// Builds the tree of the sensors, their carriers and other `vehicles`, or returns all errors.
    pub fn new(
        names: FrameNames,
        vehicles: &[u16],
        sensors: &[SensorMount],
    ) -> Result<Self, Vec<FrameError>> {
        Builder::new(names).build(vehicles, sensors)
    }

    /// Returns the names of the frames of a sensor.
    pub fn sensor(&self, seq_id: u16) -> Option<&SensorFrames> {
        self.sensors.get(&seq_id).map(|s| &s.frames)
    }

    /// Returns the name of a vehicle's `base_link`.
    pub fn base_link(&self, vehicle: u16) -> String {
        self.names.of_vehicle(vehicle, &self.names.base_link)
    }

    /// Returns the name of a vehicle's IMU frame.
    pub fn imu_link(&self, vehicle: u16) -> String {
        self.names.of_vehicle(vehicle, &self.names.imu_link)
    }

    /// Returns the name of the origin frame of a vehicle's autopilot; `map` if it has none of its own.
    pub fn local_origin(&self, vehicle: u16) -> String {
        if !self.names.autopilots.contains(&vehicle) {
            return self.names.map.clone();
        }
        self.names.of_vehicle(vehicle, &self.names.local_origin)
    }

    /// Returns the names and settings of the tree.
    pub fn names(&self) -> &FrameNames {
        &self.names
    }

    /// Returns all transforms for the latched `/tf_static`.
    pub fn static_transforms(&self, stamp: RosTime) -> Vec<TransformStamped> {
        self.edges
            .iter()
            .filter(|e| e.source == Source::Static)
            .filter_map(|e| Some(e.transform?.to_stamped(&e.parent, &e.child, stamp)))
            .collect()
    }

    /// Moves a vehicle and returns its transforms for `/tf`; allocates nothing. Empty for an unknown vehicle.
    pub fn update(&mut self, pose: &VehiclePose, stamp: RosTime) -> &[TransformStamped] {
        let Some(transforms) = self.transforms.get_mut(&pose.vehicle) else { return &[] };
        let body = self.names.world.pose(pose.position, pose.attitude);
        for (edge, message) in transforms.edges.iter().zip(&mut transforms.messages) {
            let edge = &mut self.edges[*edge];
            match edge.source {
                Source::Vehicle => edge.transform = Some(body),
                Source::AtVehicle(offset) => {
                    edge.transform = Some(offset.shifted(body.translation()))
                }
                Source::Static | Source::Moving | Source::External => {}
            }
            message.header.stamp = stamp.to_msg();
            if let Some(transform) = edge.transform {
                message.transform = transform.to_msg();
            }
        }
        &transforms.messages
    }

    /// Changes a sensor's pose in its mount. Returns whether its transform is static, so that `/tf_static` must be sent; if not,
    /// the next [`Self::update`] returns the transform.
    pub fn remount(
        &mut self,
        seq_id: u16,
        position_frd: [f64; 3],
        orientation: MountOrientation,
    ) -> bool {
        let Some(sensor) = self.sensors.get(&seq_id) else { return false };
        for mount in self.mounts.iter_mut().filter(|m| m.seq_id == seq_id) {
            (mount.position_frd, mount.orientation) = (position_frd, orientation);
        }
        let (_, transform) = mount_transform(
            sensor.mount,
            position_frd,
            orientation,
            self.names.world,
            self.names.bottom_m,
        );
        let edge = &mut self.edges[sensor.edge];
        match &mut edge.source {
            Source::AtVehicle(offset) => *offset = transform,
            _ => edge.transform = Some(transform),
        }
        edge.source == Source::Static
    }

    /// Whether the tree has this sensor with this carrier and these frames; its pose in the mount may differ.
    pub fn has_mount(&self, mount: &SensorMount) -> bool {
        self.mounts.iter().any(|other| {
            let (position_frd, orientation) = (other.position_frd, other.orientation);
            SensorMount { position_frd, orientation, ..mount.clone() } == *other
        })
    }

    /// Changes the carrier or the frames of a sensor, or adds a sensor. Sensors that it carries move with it; all other frames
    /// keep their transforms.
    ///
    /// # Errors
    /// The frames would not form a tree; nothing changes.
    pub fn replace_mount(&mut self, mount: &SensorMount) -> Result<(), Vec<FrameError>> {
        let mut mounts = self.mounts.clone();
        match mounts.iter_mut().find(|m| m.seq_id == mount.seq_id) {
            Some(present) => present.clone_from(mount),
            None => mounts.push(mount.clone()),
        }
        let mut next = Self::new(self.names.clone(), &self.vehicles, &mounts)?;
        let changed_link = self.sensor(mount.seq_id).map(|frames| frames.link.as_str());
        for edge in &mut next.edges {
            if let Some(before) = self.by_child.get(&edge.child).map(|index| &self.edges[*index])
                && before.parent == edge.parent
                && Some(before.child.as_str()) != changed_link
            {
                edge.transform = before.transform;
            }
        }
        *self = next;
        Ok(())
    }

    /// Returns the pose of a sensor that turns in its mount.
    pub fn moving_transform(&self, seq_id: u16, stamp: RosTime) -> Option<TransformStamped> {
        let edge = &self.edges[self.sensors.get(&seq_id)?.edge];
        let transform = edge.transform.filter(|_| edge.source == Source::Moving)?;
        Some(transform.to_stamped(&edge.parent, &edge.child, stamp))
    }

    /// Moves the origin frame of a vehicle's autopilot in the simulator's map. Returns whether it moved by more than the
    /// noise of geodetic positions, so that `/tf_static` must be sent.
    pub fn place_origin(&mut self, vehicle: u16, position: Vector<Ned>) -> bool {
        if !self.names.autopilots.contains(&vehicle) {
            return false;
        }
        let name = self.local_origin(vehicle);
        let pose = self.names.world.enu_at(position);
        let Some(edge) = self.by_child.get(&name).map(|index| &mut self.edges[*index]) else {
            return false;
        };
        let has_moved = edge.transform.is_some_and(|old| old.distance_to(&pose) > ORIGIN_NOISE_M);
        if has_moved {
            edge.transform = Some(pose);
        }
        has_moved
    }

    /// Returns the frames without a path to `map`.
    pub fn check<S: AsRef<str>>(&self, frames: &[S]) -> Vec<MissingPath> {
        frames.iter().filter_map(|frame| self.missing_path(frame.as_ref())).collect()
    }

    /// Returns the pose of `child` in `parent`; `None` if `parent` is not an ancestor, or before the first update.
    pub fn lookup(&self, parent: &str, child: &str) -> Option<Transform> {
        let mut transform = Transform::identity();
        let mut frame = child;
        while frame != parent {
            let edge = &self.edges[*self.by_child.get(frame)?];
            transform = edge.transform? * transform;
            frame = &edge.parent;
        }
        Some(transform)
    }

    fn missing_path(&self, name: &str) -> Option<MissingPath> {
        let mut frame = name;
        // The builder refuses cycles, so the loop ends.
        while frame != self.names.map {
            let Some(edge) = self.by_child.get(frame) else {
                let highest = (frame != name).then(|| frame.to_owned());
                let (frame, map) = (name.to_owned(), self.names.map.clone());
                return Some(MissingPath { frame, map, highest });
            };
            frame = &self.edges[*edge].parent;
        }
        None
    }
}
