//! The newest description of each vehicle, object and camera, as plain values.
use super::place::World;
use crate::frames::Transform;
use crate::time::RosTime;
use crate::wire::{CameraDescription, EntityDescription, EntityName};
use std::collections::BTreeMap;
use std::fmt;

/// A vehicle, or an object that was created like one, by its id; an object of the scene by its name.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Entity {
    /// `CopterID`.
    Vehicle(i32),
    /// Name in the scene.
    Object(String),
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vehicle(id) => write!(f, "{id}"),
            Self::Object(name) => f.write_str(name),
        }
    }
}

/// The newest description of a vehicle or object.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Stamp of the description.
    pub stamp: RosTime,
    /// When it arrived.
    pub arrival: RosTime,
    /// Its reference point, FLU, in `map`.
    pub pose: Transform,
    /// The middle of its bounds in `map`.
    pub centre: Transform,
    /// Sides of the bounds in m, along the axes of `centre`.
    pub size: [f64; 3],
}

/// The newest description of a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedCamera {
    /// Stamp of the description.
    pub stamp: RosTime,
    /// When it arrived.
    pub arrival: RosTime,
    /// Its optical centre, FLU, in `map`.
    pub pose: Transform,
    /// The packet itself.
    pub description: CameraDescription,
}

/// All current descriptions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reported {
    /// Vehicles and objects.
    pub entities: BTreeMap<Entity, Described>,
    /// Cameras by `SeqID`.
    pub cameras: BTreeMap<i32, DescribedCamera>,
}

/// Stamp and arrival of a datagram.
pub type Times = (RosTime, RosTime);

impl Reported {
    /// Takes the description of a vehicle or an object; `None` if a number is not finite, or it has no name.
    pub fn describe(
        &mut self,
        given: &EntityDescription,
        world: &World,
        (stamp, arrival): Times,
    ) -> Option<Entity> {
        let entity = match &given.name {
            EntityName::Id(id) => Entity::Vehicle(*id),
            EntityName::Object(name) if name.is_empty() => return None,
            EntityName::Object(name) => Entity::Object(name.clone()),
        };
        let pose = world.pose(&given.pose)?;
        let (centre, size) = world.bounds(&pose, given.centre, given.half_size)?;
        let described = Described {
            stamp,
            arrival,
            pose,
            centre,
            size,
        };
        self.entities.insert(entity.clone(), described);
        Some(entity)
    }

    /// Takes the description of a camera; `None` if a number is not finite.
    pub fn describe_camera(
        &mut self,
        given: &CameraDescription,
        world: &World,
        (stamp, arrival): Times,
    ) -> Option<&DescribedCamera> {
        let pose = world.pose(&given.pose)?;
        given.fov_deg.is_finite().then_some(())?;
        let described = DescribedCamera {
            stamp,
            arrival,
            pose,
            description: *given,
        };
        self.cameras.insert(given.seq_id, described);
        self.cameras.get(&given.seq_id)
    }

    /// Removes descriptions older than `since`; returns the removed vehicles and objects.
    pub fn forget(&mut self, since: RosTime) -> Vec<Entity> {
        self.cameras.retain(|_, camera| camera.arrival >= since);
        let old = |(entity, described): (&Entity, &Described)| {
            (described.arrival < since).then(|| entity.clone())
        };
        let gone: Vec<_> = self.entities.iter().filter_map(old).collect();
        for entity in &gone {
            self.entities.remove(entity);
        }
        gone
    }
}
