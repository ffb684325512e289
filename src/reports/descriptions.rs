//! The newest description of each vehicle, object and camera.
use super::map_conversion::MapConversion;
use crate::wire::{CameraDescription, EntityDescription, EntityName};
use crate::{frames::Transform, time::RosTime};
use std::collections::BTreeMap;
use std::fmt;

/// A reported vehicle or object. The scene's own objects have a name; objects created at run time have an id, like vehicles.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ReportedEntity {
    /// `CopterID`.
    Vehicle(i32),
    /// Name in the scene.
    Object(String),
}

impl fmt::Display for ReportedEntity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vehicle(id) => write!(f, "{id}"),
            Self::Object(name) => f.write_str(name),
        }
    }
}

/// The newest description of a vehicle or object.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedEntity {
    /// Stamp of the description.
    pub stamp: RosTime,
    /// Time of its arrival.
    pub arrival: RosTime,
    /// Pose of its reference point (FLU) in `map`.
    pub pose: Transform,
    /// Pose of the centre of its bounds in `map`.
    pub centre: Transform,
    /// Sides of the bounds in m, along the axes of `centre`.
    pub size: [f64; 3],
}

/// The newest description of a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedCamera {
    /// Stamp of the description.
    pub stamp: RosTime,
    /// Time of arrival.
    pub arrival: RosTime,
    /// Pose of its optical centre (FLU) in `map`.
    pub pose: Transform,
    /// The received packet.
    pub description: CameraDescription,
}

/// All current descriptions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Descriptions {
    /// Vehicles and objects.
    pub entities: BTreeMap<ReportedEntity, DescribedEntity>,
    /// Cameras by `SeqID`.
    pub cameras: BTreeMap<i32, DescribedCamera>,
}

/// Stamp and arrival of a datagram.
pub type DatagramTimes = (RosTime, RosTime);

impl Descriptions {
    /// Stores the description of a vehicle or object; `None` if a number is not finite, a side is negative or the name is empty.
    pub fn describe(
        &mut self,
        description: &EntityDescription,
        conversion: &MapConversion,
        (stamp, arrival): DatagramTimes,
    ) -> Option<ReportedEntity> {
        let entity = match &description.name {
            EntityName::Id(id) => ReportedEntity::Vehicle(*id),
            EntityName::Object(name) if name.is_empty() => return None,
            EntityName::Object(name) => ReportedEntity::Object(name.clone()),
        };
        let pose = conversion.pose(&description.pose)?;
        let (centre, size) = conversion.bounds(&pose, description.centre, description.half_size)?;
        let described = DescribedEntity { stamp, arrival, pose, centre, size };
        self.entities.insert(entity.clone(), described);
        Some(entity)
    }

    /// Stores the description of a camera; `None` if a number is not finite.
    pub fn describe_camera(
        &mut self,
        description: &CameraDescription,
        conversion: &MapConversion,
        (stamp, arrival): DatagramTimes,
    ) -> Option<&DescribedCamera> {
        let pose = conversion.pose(&description.pose)?;
        description.fov_deg.is_finite().then_some(())?;
        let described = DescribedCamera { stamp, arrival, pose, description: *description };
        self.cameras.insert(description.seq_id, described);
        self.cameras.get(&description.seq_id)
    }

    /// Removes descriptions that arrived before `since`; returns the removed vehicles and objects.
    pub fn forget(&mut self, since: RosTime) -> Vec<ReportedEntity> {
        self.cameras.retain(|_, camera| camera.arrival >= since);
        let if_old = |(entity, described): (&ReportedEntity, &DescribedEntity)| {
            (described.arrival < since).then(|| entity.clone())
        };
        let removed: Vec<_> = self.entities.iter().filter_map(if_old).collect();
        for entity in &removed {
            self.entities.remove(entity);
        }
        removed
    }
}
