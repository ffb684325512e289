//! Named entities of the scene: vehicles, spawned objects, reported objects and cameras.
use super::error::{Cause, SceneError};
use super::models::{Category, category_of};
use super::{bounds::Extent, created::CreatedObject, map_pose::MapPose};
use crate::frames::{Frd, Ned, Vector};
use crate::{config::did_you_mean, time::RosTime, wire::class_and_style};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Kind of an entity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntityKind {
    /// A vehicle.
    Vehicle,
    /// An object that a client of the bridge spawned.
    Spawned,
    /// An object that the renderer created from a file.
    Created,
    /// An object of the map.
    Object,
    /// A camera of the renderer.
    Camera,
}

impl EntityKind {
    /// Whether the bridge sets its pose in the renderer.
    pub fn is_drawn(self) -> bool {
        matches!(self, Self::Spawned | Self::Created)
    }
}

/// Description of an entity.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Info {
    /// Category.
    pub category: Category,
    /// Text for people.
    pub description: String,
    /// Words that filters compare.
    pub tags: Vec<String>,
}

/// Pose and velocity of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EntityMotion {
    /// Pose.
    pub pose: MapPose,
    /// Velocity in m/s.
    pub velocity: Vector<Ned>,
    /// Angular rate in rad/s, if known.
    pub rate: Option<Vector<Frd>>,
    /// Stamp.
    pub stamp: RosTime,
}

impl EntityMotion {
    pub(super) fn at_rest(pose: MapPose, stamp: RosTime) -> Self {
        Self { pose, stamp, ..Self::default() }
    }
}

/// An entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Kind.
    pub kind: EntityKind,
    /// Id; objects of the map and cameras have none.
    pub id: Option<i32>,
    /// Class and style of an object that is drawn ([`EntityKind::is_drawn`]).
    pub vehicle_type: i32,
    /// Description.
    pub info: Info,
    /// Pose; `None` until known.
    pub motion: Option<EntityMotion>,
    /// Factors of the size of an object that is drawn.
    pub scale: [f32; 3],
    /// The terrain decides the height of an object that is drawn.
    pub ground: bool,
    /// Bounds, if known.
    pub extent: Option<Extent>,
    /// Keep-alive of a spawned object.
    pub keep_alive: Option<KeepAlive>,
}

/// Keep-alive of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeepAlive {
    /// Time without a renewal after which the object is removed, in s.
    pub for_s: f64,
    /// Last renewal, in s since the bridge started.
    pub since_s: f64,
}

impl Entity {
    /// Creates an entity with no other properties.
    pub fn new(kind: EntityKind, id: Option<i32>, category: Category) -> Self {
        Self {
            kind,
            id,
            vehicle_type: 0,
            info: Info { category, ..Info::default() },
            motion: None,
            scale: [1.0; 3],
            ground: false,
            extent: None,
            keep_alive: None,
        }
    }
}

/// Limit of vehicles that announce themselves, so that foreign datagrams do not fill the memory.
const MAX_ANNOUNCED: usize = 1000;

/// All entities, by name.
#[derive(Clone, Debug)]
pub struct Entities {
    by_name: BTreeMap<String, Entity>,
    name_by_id: BTreeMap<i32, String>,
    ids: RangeInclusive<i32>,
    /// Start of the search for a free id. An id is reused as late as possible, because packets for its last entity may still be
    /// on their way.
    next_id: i32,
    /// Number of vehicles that announced themselves.
    announced: usize,
}

impl Entities {
    /// Creates the vehicles that the bridge serves; `ids`: the range for spawned objects.
    pub fn new(vehicles: impl IntoIterator<Item = u16>, ids: RangeInclusive<i32>) -> Self {
        let mut entities = Self {
            by_name: BTreeMap::new(),
            name_by_id: BTreeMap::new(),
            next_id: *ids.start(),
            ids,
            announced: 0,
        };
        for id in vehicles {
            let vehicle = Entity::new(EntityKind::Vehicle, Some(id.into()), Category::Robot);
            entities.insert(format!("copter{id}"), vehicle);
        }
        entities
    }

    fn insert(&mut self, name: String, entity: Entity) {
        if let Some(id) = entity.id {
            self.name_by_id.insert(id, name.clone());
        }
        self.by_name.insert(name, entity);
    }

    /// Returns all entities with their names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entity)> {
        self.by_name.iter().map(|(name, entity)| (name.as_str(), entity))
    }

    /// Whether a name is in use.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Finds an entity by its name, or by its id as a number; a spawned one also by its name without namespace, if that is
    /// unique, because other simulators keep the requested name.
    pub fn find(&self, name: &str) -> Result<(&str, &Entity), SceneError> {
        let by_id = || self.name_by_id.get(&name.parse().ok()?).map(String::as_str);
        let exact = self.by_name.contains_key(name).then_some(name);
        let found = exact.or_else(by_id).or_else(|| self.find_in_namespace(name));
        let found = found.and_then(|name| self.by_name.get_key_value(name));
        found.map(|(name, entity)| (name.as_str(), entity)).ok_or_else(|| self.not_found(name))
    }

    fn find_in_namespace(&self, name: &str) -> Option<&str> {
        let has_name = |(full, entity): &(&str, &Entity)| {
            entity.kind == EntityKind::Spawned
                && full.rsplit_once('/').is_some_and(|(_, last)| last == name)
        };
        let mut found = self.iter().filter(has_name).map(|(full, _)| full);
        found.next().filter(|_| found.next().is_none())
    }

    /// As [`Self::find`], but mutable.
    pub fn find_mut(&mut self, name: &str) -> Result<&mut Entity, SceneError> {
        let name = self.find(name).map(|(name, _)| name.to_owned())?;
        let error = self.not_found(&name);
        self.by_name.get_mut(&name).ok_or(error)
    }

    /// Returns the entity with an id.
    pub fn of_id(&mut self, id: i32) -> Option<&mut Entity> {
        self.by_name.get_mut(self.name_by_id.get(&id)?)
    }

    /// Returns the id of an entity in the renderer; a number is an id even if this bridge does not know it.
    pub fn id_of(&self, name: &str) -> Result<i32, SceneError> {
        if let Some(id) = name.parse().ok().filter(|id| *id > 0) {
            return Ok(id);
        }
        let (name, entity) = self.find(name)?;
        entity.id.ok_or_else(|| {
            Cause::Failed
                .error(format!("{name:?} has no id: only vehicles, and objects that were spawned or created, have one"))
        })
    }

    fn not_found(&self, name: &str) -> SceneError {
        let message = if name.is_empty() {
            "the name of an entity is needed; GetEntities lists them".to_owned()
        } else {
            let hint = did_you_mean(name, self.by_name.keys().map(String::as_str));
            format!("no entity is called {name:?}{hint} (GetEntities lists them)")
        };
        Cause::NotFound.error(message)
    }

    /// Adds a spawned object under a name that is free, and gives it an id.
    pub fn spawn(&mut self, name: String, mut entity: Entity) -> Result<i32, SceneError> {
        let (first, last) = (*self.ids.start(), *self.ids.end());
        let from_next = (self.next_id..=last).chain(first..self.next_id);
        let free = from_next.into_iter().find(|id| !self.name_by_id.contains_key(id));
        let id = free.ok_or_else(|| {
            Cause::Failed.error(format!(
                "all ids from {first} to {last} are taken: delete entities, or raise scene.last_id"
            ))
        })?;
        self.next_id = if id == last { first } else { id + 1 };
        entity.id = Some(id);
        self.insert(name, entity);
        Ok(id)
    }

    /// Removes an entity.
    pub fn remove(&mut self, name: &str) {
        if let Some(entity) = self.by_name.remove(name)
            && let Some(id) = entity.id
        {
            self.name_by_id.remove(&id);
        }
    }

    /// Renews the keep-alive of an entity.
    pub fn renew_keep_alive(&mut self, name: &str, now_s: f64) {
        if let Ok(entity) = self.find_mut(name)
            && let Some(keep_alive) = &mut entity.keep_alive
        {
            keep_alive.since_s = now_s;
        }
    }

    /// Removes the objects whose keep-alive ran out, and returns names and ids.
    pub fn remove_abandoned(&mut self, now_s: f64) -> Vec<(String, i32)> {
        let abandoned = |(name, entity): (&String, &Entity)| {
            let expired = entity.keep_alive.filter(|k| now_s - k.since_s > k.for_s);
            Some((name.clone(), expired.and(entity.id)?))
        };
        let found: Vec<_> = self.by_name.iter().filter_map(abandoned).collect();
        for (name, _) in &found {
            self.remove(name);
        }
        found
    }

    /// Removes all objects that clients spawned, and returns their ids.
    pub fn remove_spawned(&mut self) -> Vec<i32> {
        let spawned = self.by_name.values().filter(|entity| entity.kind == EntityKind::Spawned);
        let ids = spawned.filter_map(|entity| entity.id).collect();
        self.forget(&[EntityKind::Spawned]);
        ids
    }

    /// Adds an object that the renderer created, unless its id is known.
    pub fn add_created(&mut self, object: &CreatedObject) {
        if self.name_by_id.contains_key(&object.id) {
            return;
        }
        let (class, _) = class_and_style(object.vehicle_type);
        let mut entity = Entity::new(EntityKind::Created, Some(object.id), category_of(class));
        entity.vehicle_type = object.vehicle_type;
        entity.motion = Some(EntityMotion::at_rest(object.pose, RosTime::default()));
        self.insert(format!("created{}", object.id), entity);
    }

    /// Removes all entities of these kinds.
    pub fn forget(&mut self, kinds: &[EntityKind]) {
        self.by_name.retain(|_, entity| {
            let is_kept = !kinds.contains(&entity.kind);
            if let Some(id) = entity.id.filter(|_| !is_kept) {
                self.name_by_id.remove(&id);
            }
            is_kept
        });
    }

    /// Adds a vehicle that announced itself, unless it is known.
    pub fn add_vehicle(&mut self, id: i32) {
        if !self.name_by_id.contains_key(&id) && self.announced < MAX_ANNOUNCED {
            self.announced += 1;
            let vehicle = Entity::new(EntityKind::Vehicle, Some(id), Category::Robot);
            self.insert(format!("copter{id}"), vehicle);
        }
    }

    /// Stores the true state of a vehicle, which is added if it is unknown.
    pub fn set_motion(&mut self, id: i32, motion: EntityMotion) {
        self.add_vehicle(id);
        if let Some(entity) = self.of_id(id).filter(|entity| entity.kind == EntityKind::Vehicle) {
            entity.motion = Some(motion);
        }
    }

    /// Stores the renderer's description of an entity with an id; an unknown id is a new vehicle.
    pub fn describe(&mut self, id: i32, pose: MapPose, extent: Option<Extent>, stamp: RosTime) {
        self.add_vehicle(id);
        if let Some(entity) = self.of_id(id) {
            entity.extent = extent;
            // True states are newer, and the pose of a spawned object is the requested one.
            if entity.motion.is_none() {
                entity.motion = Some(EntityMotion::at_rest(pose, stamp));
            }
        }
    }

    /// Stores the renderer's description of an object of the map.
    pub fn object(&mut self, name: &str, pose: MapPose, extent: Option<Extent>, stamp: RosTime) {
        let mut object = Entity::new(EntityKind::Object, None, Category::StaticObject);
        object.extent = extent;
        object.motion = Some(EntityMotion::at_rest(pose, stamp));
        self.insert(format!("scene/{name}"), object);
    }

    /// Stores the renderer's description of a camera.
    pub fn camera(&mut self, seq_id: i32, pose: MapPose, stamp: RosTime) {
        let mut camera = Entity::new(EntityKind::Camera, None, Category::Object);
        camera.motion = Some(EntityMotion::at_rest(pose, stamp));
        self.insert(format!("sensor{seq_id}"), camera);
    }
}
