//! Named entities of the scene: vehicles, spawned objects, reported objects and cameras.
use super::bounds::Extent;
use super::created::Created;
use super::models::{Category, category_of};
use super::names::{camera_name, created_name, object_name, vehicle_name};
use super::place::Place;
use super::refusal::{Cause, Refusal};
use crate::config::did_you_mean;
use crate::frames::{Frd, Ned, Vector};
use crate::time::RosTime;
use crate::wire::class_and_style;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Kind of an entity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A vehicle that `CopterSim` or an autopilot flies.
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

impl Kind {
    /// Whether the renderer draws it where the bridge says.
    pub fn is_drawn(self) -> bool {
        matches!(self, Self::Spawned | Self::Created)
    }
}

/// Description of an entity.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Info {
    /// Major kind.
    pub category: Category,
    /// For people.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// Pose and velocity of an entity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Position and attitude.
    pub place: Place,
    /// Velocity in m/s.
    pub velocity: Vector<Ned>,
    /// Angular rate in rad/s, where it is known.
    pub rate: Option<Vector<Frd>>,
    /// Stamp.
    pub stamp: RosTime,
}

/// An entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Kind.
    pub kind: Kind,
    /// Its id; objects of the map and cameras have none.
    pub id: Option<i32>,
    /// Class and style of a spawned object.
    pub vehicle_type: i32,
    /// Description.
    pub info: Info,
    /// Pose; `None` until known.
    pub motion: Option<Motion>,
    /// Factors of the size of a spawned object.
    pub scale: [f32; 3],
    /// The terrain decides the height of a spawned object.
    pub ground: bool,
    /// Bounds, if known.
    pub extent: Option<Extent>,
    /// How long a spawned object stays without its client.
    pub keep_alive: Option<KeepAlive>,
}

/// An object that its client keeps alive; times are in s since the bridge started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeepAlive {
    /// How long it stays.
    pub for_s: f64,
    /// Since when.
    pub since_s: f64,
}

impl Entity {
    /// An entity of which nothing else is known.
    pub fn new(kind: Kind, id: Option<i32>, category: Category) -> Self {
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

/// Vehicles that announce themselves; more are left out, so that foreign datagrams do not fill the memory.
const MOST_HEARD: usize = 1000;

/// All entities, by name.
#[derive(Clone, Debug)]
pub struct Entities {
    by_name: BTreeMap<String, Entity>,
    names: BTreeMap<i32, String>,
    ids: RangeInclusive<i32>,
    /// Where the search for a free id begins: an id is used again as late as possible, because packets for the entity that had it
    /// may be on their way.
    next: i32,
    /// How many vehicles were heard.
    heard: usize,
}

impl Entities {
    /// The vehicles that the bridge serves; spawned objects get ids of `ids`.
    pub fn new(vehicles: impl IntoIterator<Item = u16>, ids: RangeInclusive<i32>) -> Self {
        let mut entities = Self {
            by_name: BTreeMap::new(),
            names: BTreeMap::new(),
            next: *ids.start(),
            ids,
            heard: 0,
        };
        for id in vehicles {
            let vehicle = Entity::new(Kind::Vehicle, Some(id.into()), Category::Robot);
            entities.insert(vehicle_name(id.into()), vehicle);
        }
        entities
    }

    fn insert(&mut self, name: String, entity: Entity) {
        if let Some(id) = entity.id {
            self.names.insert(id, name.clone());
        }
        self.by_name.insert(name, entity);
    }

    /// All entities with their names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entity)> {
        self.by_name.iter().map(|(name, entity)| (name.as_str(), entity))
    }

    /// Whether a name is in use.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Finds an entity by its name, or by its id as a number; one that was spawned in a namespace also without that, if no
    /// other has this name: other simulators keep the name that was asked for.
    pub fn find(&self, name: &str) -> Result<(&str, &Entity), Refusal> {
        let by_id = || self.names.get(&name.parse().ok()?).map(String::as_str);
        let own = self.by_name.contains_key(name).then_some(name);
        let found = own.or_else(by_id).or_else(|| self.in_a_namespace(name));
        let found = found.and_then(|name| self.by_name.get_key_value(name));
        match found {
            Some((name, entity)) => Ok((name, entity)),
            None => Err(self.unknown(name)),
        }
    }

    fn in_a_namespace(&self, name: &str) -> Option<&str> {
        let is_meant = |(full, entity): &(&str, &Entity)| {
            entity.kind == Kind::Spawned
                && full.rsplit_once('/').is_some_and(|(_, own)| own == name)
        };
        let mut found = self.iter().filter(is_meant).map(|(full, _)| full);
        found.next().filter(|_| found.next().is_none())
    }

    /// As [`Self::find`], to change it.
    pub fn find_mut(&mut self, name: &str) -> Result<&mut Entity, Refusal> {
        let name = self.find(name).map(|(name, _)| name.to_owned())?;
        let unknown = self.unknown(&name);
        self.by_name.get_mut(&name).ok_or(unknown)
    }

    /// The entity with an id.
    pub fn of_id(&mut self, id: i32) -> Option<&mut Entity> {
        self.by_name.get_mut(self.names.get(&id)?)
    }

    /// Returns the id that the renderer knows an entity by; a number is an id, also of what this bridge does not know.
    pub fn id_of(&self, name: &str) -> Result<i32, Refusal> {
        if let Some(id) = name.parse().ok().filter(|id| *id > 0) {
            return Ok(id);
        }
        let (name, entity) = self.find(name)?;
        entity.id.ok_or_else(|| {
            let message = format!("{name:?} has no id: only vehicles and spawned objects have one");
            Refusal::new(Cause::Failed, message)
        })
    }

    fn unknown(&self, name: &str) -> Refusal {
        let message = if name.is_empty() {
            "the name of an entity is needed; GetEntities lists them".to_owned()
        } else {
            let hint = did_you_mean(name, self.by_name.keys().map(String::as_str));
            format!("no entity is called {name:?}{hint} (GetEntities lists them)")
        };
        Refusal::new(Cause::NotFound, message)
    }

    /// Adds a spawned object under a name that is free, and gives it an id.
    pub fn spawn(&mut self, name: String, mut entity: Entity) -> Result<i32, Refusal> {
        let (first, last) = (*self.ids.start(), *self.ids.end());
        let from_next = (self.next..=last).chain(first..self.next);
        let free = from_next.into_iter().find(|id| !self.names.contains_key(id));
        let id = free.ok_or_else(|| {
            let message = format!(
                "all ids from {first} to {last} are taken: delete entities, or raise scene.last_id"
            );
            Refusal::new(Cause::Failed, message)
        })?;
        self.next = if id == last { first } else { id + 1 };
        entity.id = Some(id);
        self.insert(name, entity);
        Ok(id)
    }

    /// Removes an entity.
    pub fn remove(&mut self, name: &str) {
        if let Some(entity) = self.by_name.remove(name)
            && let Some(id) = entity.id
        {
            self.names.remove(&id);
        }
    }

    /// A client asked for an entity: it is still there.
    pub fn keep(&mut self, name: &str, now_s: f64) {
        if let Ok(entity) = self.find_mut(name)
            && let Some(kept) = &mut entity.keep_alive
        {
            kept.since_s = now_s;
        }
    }

    /// Removes what its clients no longer ask for, and returns names and ids.
    pub fn remove_abandoned(&mut self, now_s: f64) -> Vec<(String, i32)> {
        let abandoned = |entity: &Entity| {
            { entity.keep_alive }.is_some_and(|kept| now_s - kept.since_s > kept.for_s)
        };
        let found = { self.by_name.iter() }
            .filter(|(_, entity)| abandoned(entity))
            .filter_map(|(name, entity)| Some((name.clone(), entity.id?)));
        let found: Vec<_> = found.collect();
        for (name, _) in &found {
            self.remove(name);
        }
        found
    }

    /// Removes all that clients spawned, and returns their ids.
    pub fn remove_spawned(&mut self) -> Vec<i32> {
        let spawned = |entity: &Entity| entity.kind == Kind::Spawned;
        let ids = { self.by_name.values() }.filter(|e| spawned(e)).filter_map(|e| e.id);
        let ids: Vec<i32> = ids.collect();
        self.by_name.retain(|_, entity| !spawned(entity));
        for id in &ids {
            self.names.remove(id);
        }
        ids
    }

    /// Adds an object that the renderer created, unless its id is known.
    pub fn created(&mut self, object: &Created) {
        if self.names.contains_key(&object.id) {
            return;
        }
        let (class, _) = class_and_style(object.vehicle_type);
        let mut entity = Entity::new(Kind::Created, Some(object.id), category_of(class));
        entity.vehicle_type = object.vehicle_type;
        entity.motion = Some(at_rest(object.place, RosTime::default()));
        self.insert(created_name(object.id), entity);
    }

    /// Removes all that the renderer created: its map changes.
    pub fn forget_created(&mut self) {
        self.by_name.retain(|_, entity| entity.kind != Kind::Created);
        let by_name = &self.by_name;
        self.names.retain(|_, name| by_name.contains_key(name));
    }

    /// Removes reported objects and cameras.
    pub fn forget_map(&mut self) {
        let of_map = |entity: &Entity| matches!(entity.kind, Kind::Object | Kind::Camera);
        self.by_name.retain(|_, entity| !of_map(entity));
    }

    /// A vehicle announced itself.
    pub fn heard(&mut self, id: i32) {
        if !self.names.contains_key(&id) && self.heard < MOST_HEARD {
            self.heard += 1;
            let vehicle = Entity::new(Kind::Vehicle, Some(id), Category::Robot);
            self.insert(vehicle_name(id), vehicle);
        }
    }

    /// The true state of a vehicle.
    pub fn moved(&mut self, id: i32, motion: Motion) {
        self.heard(id);
        if let Some(entity) = self.of_id(id).filter(|entity| entity.kind == Kind::Vehicle) {
            entity.motion = Some(motion);
        }
    }

    /// The renderer described a vehicle or a spawned object.
    pub fn described(&mut self, id: i32, place: Place, extent: Option<Extent>, stamp: RosTime) {
        self.heard(id);
        if let Some(entity) = self.of_id(id) {
            entity.extent = extent;
            // True states are newer, and the pose of a spawned object is the requested one.
            if entity.motion.is_none() {
                entity.motion = Some(at_rest(place, stamp));
            }
        }
    }

    /// The renderer described an object of the map.
    pub fn object(&mut self, name: &str, place: Place, extent: Option<Extent>, stamp: RosTime) {
        let mut object = Entity::new(Kind::Object, None, Category::StaticObject);
        object.extent = extent;
        object.motion = Some(at_rest(place, stamp));
        self.insert(object_name(name), object);
    }

    /// The renderer described a camera.
    pub fn camera(&mut self, seq_id: i32, place: Place, stamp: RosTime) {
        let mut camera = Entity::new(Kind::Camera, None, Category::Object);
        camera.motion = Some(at_rest(place, stamp));
        self.insert(camera_name(seq_id), camera);
    }
}

fn at_rest(place: Place, stamp: RosTime) -> Motion {
    Motion { place, stamp, ..Motion::default() }
}
