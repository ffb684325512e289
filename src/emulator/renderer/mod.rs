//! The state of the renderer: map, objects, labels, settings. No I/O and no clock: callers pass simulation
//! time with each packet and command.
//!
//! A state packet moves an object, or creates it. A vehicle of `CopterSim` that another sender moves is drawn at that
//! sender's pose until its states stop.
mod console;
mod contact;
mod display;
mod json;
mod packets;

pub(super) use console::Outcome;
pub(super) use contact::{Contact, contacts};
pub(super) use json::{body_with_id, spawned};

use super::world::{
    GRAVITY, Kinematics, ModelShape, Object, Pose, Quat, Scene, Shape, Snapshot, Solid,
    VEHICLE_HALF, Vec3,
};
use crate::wire::Height;
use display::Display;
use regex_lite::Regex;
use std::{collections::BTreeMap, sync::Arc};

/// Class and style of `CopterSim`'s vehicles: a quadrotor.
pub(super) const QUADROTOR: i32 = 3;
/// Maximum length of a chain of carriers.
const MAX_CARRIERS: usize = 25;

/// After this time in s without another sender's state, `CopterSim` moves its vehicle again.
const FOREIGN_S: f64 = 1.0;

/// State of an object from its last packet.
#[derive(Clone, Copy, Debug)]
struct ObjectState {
    vehicle_type: i32,
    pose: Pose,
    velocity: Vec3,
    scale: Vec3,
    motor_rpm: [f64; 8],
    height: Height,
    /// Simulation time in s from which `CopterSim` moves its own vehicle again.
    until: f64,
}

/// Changes of an object's appearance by commands.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
struct Look {
    #[serde(rename = "type")]
    model: Option<i32>,
    size: Option<f64>,
    stencil: Option<u8>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize)]
struct Link {
    carrier: u16,
    /// 1 position, 2 position and yaw, 3 pose.
    kind: i32,
}

/// Stencil value of objects whose names match.
#[derive(Clone, Debug)]
struct Stencil {
    text: String,
    names: Regex,
    value: u8,
}

#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    /// Simulation time in s.
    pub(super) time: f64,
    /// Motion of the vehicles of `CopterSim`, by id.
    pub(super) motion: &'a dyn Fn(u16) -> Option<Kinematics>,
}

/// The state of the renderer. All windows of an emulator show the same state.
#[derive(Debug)]
pub(super) struct RendererState {
    start: Arc<Scene>,
    scene: Arc<Scene>,
    /// Ids of `CopterSim`'s vehicles.
    coptersim_ids: Vec<u16>,
    objects: BTreeMap<u16, ObjectState>,
    /// Objects that ignore state packets; vehicles of `CopterSim` with the pose that they keep.
    frozen: BTreeMap<u16, Option<Pose>>,
    looks: BTreeMap<u16, Look>,
    links: BTreeMap<u16, Link>,
    stencils: Vec<Stencil>,
    position_scale: f64,
    display: Display,
}

impl RendererState {
    pub(super) fn new(scene: &Arc<Scene>, coptersim_ids: Vec<u16>) -> Self {
        Self {
            start: Arc::clone(scene),
            scene: Arc::clone(scene),
            coptersim_ids,
            objects: BTreeMap::new(),
            frozen: BTreeMap::new(),
            looks: BTreeMap::new(),
            links: BTreeMap::new(),
            stencils: Vec::new(),
            position_scale: 1.0,
            display: Display::default(),
        }
    }

    pub(super) fn restart(&mut self) {
        *self = Self::new(&self.start, std::mem::take(&mut self.coptersim_ids));
    }

    /// Loads a map, and removes all spawned objects.
    pub(super) fn load(&mut self, scene: Arc<Scene>) {
        self.scene = scene;
        self.objects.clear();
        self.frozen.clear();
        self.looks.clear();
        self.links.clear();
        self.stencils.clear();
        self.display.clear_labels(None);
    }

    /// Loads a map by its name, or by its number; `false` if there is none.
    pub(super) fn load_map(&mut self, name: &str, number: i32) -> bool {
        let by_number = |number: i32| Scene::by_number(usize::try_from(number).ok()?);
        let scene = by_number(number).or_else(|| Scene::by_name(name));
        scene.map(|scene| self.load(scene)).is_some()
    }

    pub(super) fn reports_collisions(&self) -> bool {
        self.display.collides
    }

    /// Class and style of an object.
    pub(super) fn vehicle_type(&self, id: u16) -> i32 {
        let sent = self.objects.get(&id).map(|object| object.vehicle_type);
        let changed = self.looks.get(&id).and_then(|look| look.model);
        changed.or(sent).unwrap_or(QUADROTOR)
    }

    /// Motor speeds in rpm of an object at simulation time `time` in s; `None`: `CopterSim` moves it.
    pub(super) fn motor_rpm(&self, id: u16, time: f64) -> Option<[f64; 8]> {
        let is_of_coptersim = self.coptersim_ids.contains(&id);
        let object = self.objects.get(&id);
        let object = object.filter(|object| !is_of_coptersim || time < object.until);
        object.map(|object| object.motor_rpm)
    }

    /// Whether one of two objects is attached to the other.
    pub(super) fn is_attached(&self, a: u16, b: u16) -> bool {
        let carries =
            |id: u16, carrier: u16| self.links.get(&id).is_some_and(|link| link.carrier == carrier);
        carries(a, b) || carries(b, a)
    }

    /// Sets the state of an object; `false` if it cannot be drawn.
    fn set_state(&mut self, id: i32, mut state: ObjectState) -> bool {
        let Some(id) = u16::try_from(id).ok().filter(|id| *id > 0) else { return false };
        let vectors = [state.pose.position, state.velocity, state.scale];
        let numbers = vectors.iter().flatten().chain(state.pose.attitude.coords.iter());
        if !numbers.copied().all(f64::is_finite) {
            return false;
        }
        if !self.frozen.contains_key(&id) {
            state.pose.position *= self.position_scale;
            self.objects.insert(id, state);
        }
        true
    }

    fn delete(&mut self, id: u16) {
        self.objects.remove(&id);
        self.looks.remove(&id);
        self.frozen.remove(&id);
        self.links.retain(|a, link| *a != id && link.carrier != id);
        self.display.clear_labels(Some(id));
    }

    /// Attaches an object at its present pose, or, without a link, detaches it there. State packets of an attached object are
    /// relative to its carrier.
    fn attach(&mut self, id: u16, link: Option<Link>, at: Moment<'_>) {
        let here = self.drawn_motion(id, at, 0);
        let carrier = link.and_then(|link| self.drawn_motion(link.carrier, at, 0));
        if let (Some(object), Some(here)) = (self.objects.get_mut(&id), here) {
            object.pose = match (link, carrier) {
                (Some(link), Some(carrier)) => link.relative(&carrier.pose, &here.pose),
                _ => here.pose,
            };
            if link.is_none() {
                object.height = Height::Given;
            }
        }
        match link {
            Some(link) => drop(self.links.insert(id, link)),
            None => drop(self.links.remove(&id)),
        }
    }

    /// Motion of an object; if it is attached, relative to its carrier.
    fn own_motion(&self, id: u16, at: Moment<'_>) -> Option<Kinematics> {
        let object = self.objects.get(&id);
        let Some(motion) = (at.motion)(id).filter(|_| self.coptersim_ids.contains(&id)) else {
            let object = object?;
            let mut pose = object.pose;
            if object.height == Height::Ground && !self.links.contains_key(&id) {
                let height = ModelShape::of(self.vehicle_type(id)).half_height(&self.scale(id));
                pose.position.z = self.scene.terrain(pose.position.x, pose.position.y) - height;
            }
            return Some(motion_of(pose, object.velocity));
        };
        if let Some(Some(pose)) = self.frozen.get(&id) {
            return Some(motion_of(*pose, Vec3::zeros()));
        }
        Some(match object.filter(|object| at.time < object.until) {
            Some(object) => motion_of(object.pose, object.velocity),
            None => Kinematics {
                pose: Pose { position: motion.pose.position * self.position_scale, ..motion.pose },
                ..motion
            },
        })
    }

    /// Motion of an object as it is drawn.
    fn drawn_motion(&self, id: u16, at: Moment<'_>, depth: usize) -> Option<Kinematics> {
        let own = self.own_motion(id, at)?;
        let link = self.links.get(&id).filter(|_| depth < MAX_CARRIERS);
        let carried = link.and_then(|link| {
            let carrier = self.drawn_motion(link.carrier, at, depth + 1)?;
            let pose = link.absolute(&carrier.pose, &own.pose);
            Some(motion_of(pose, carrier.velocity))
        });
        Some(carried.unwrap_or(own))
    }

    fn scale(&self, id: u16) -> Vec3 {
        let scale = self.objects.get(&id).map(|object| object.scale);
        let size = self.looks.get(&id).and_then(|look| look.size);
        scale.unwrap_or_else(|| Vec3::repeat(1.0)) * size.unwrap_or(1.0)
    }

    fn solid(&self, id: u16, pose: Pose) -> Solid {
        let look = self.looks.get(&id).copied().unwrap_or_default();
        let is_of_coptersim = self.coptersim_ids.contains(&id);
        let solid = if is_of_coptersim && look.model.is_none() {
            let half = VEHICLE_HALF * look.size.unwrap_or(1.0);
            Solid::new(Object::Vehicle(id), Shape::Box, pose, half)
        } else {
            ModelShape::of(self.vehicle_type(id)).solid(id, pose, &self.scale(id))
        };
        Solid { stencil: look.stencil.or_else(|| self.stencil(&solid)), ..solid }
    }

    /// The stencil value that the last matching command set for an object by its name.
    fn stencil(&self, solid: &Solid) -> Option<u8> {
        let name = (!self.stencils.is_empty()).then(|| solid.object.name())?;
        self.stencil_of(&name)
    }

    fn stencil_of(&self, name: &str) -> Option<u8> {
        let mut newest_first = self.stencils.iter().rev();
        newest_first.find(|stencil| stencil.names.is_match(name)).map(|stencil| stencil.value)
    }

    /// Whether the renderer draws the vehicles of `CopterSim` unchanged, and no other objects.
    fn is_plain(&self) -> bool {
        self.objects.is_empty()
            && self.frozen.is_empty()
            && self.looks.is_empty()
            && self.links.is_empty()
            && self.stencils.is_empty()
            && self.position_scale == 1.0
    }

    /// Draws the world of `CopterSim` with the map, the objects and the changes of this state.
    pub(super) fn draw(&self, snapshot: Snapshot) -> Snapshot {
        let scene = Arc::clone(&self.scene);
        if self.is_plain() {
            return Snapshot { scene, ..snapshot };
        }
        let time = snapshot.time;
        let at = Moment { time, motion: &|id| snapshot.vehicle(id).copied() };
        let others = self.objects.keys().filter(|id| !self.coptersim_ids.contains(id));
        let ids = snapshot.vehicles.iter().map(|(id, _)| id).chain(others);
        let vehicles: Vec<(u16, Kinematics)> =
            ids.filter_map(|id| Some((*id, self.drawn_motion(*id, at, 0)?))).collect();
        let bodies = vehicles.iter().map(|(id, k)| self.solid(*id, k.pose));
        // A body without extent is invisible.
        let bodies = bodies.filter(|solid| solid.half.iter().all(|x| *x > 0.0));
        let walkers = snapshot.moving.iter();
        let walkers = walkers.filter(|s| !matches!(s.object, Object::Vehicle(_)));
        let walkers = walkers.map(|solid| Solid { stencil: self.stencil(solid), ..*solid });
        Snapshot { time, moving: bodies.chain(walkers).collect(), vehicles, scene }
    }
}

impl Link {
    /// Frame of the carrier to which the poses of the link are relative.
    fn frame(self, carrier: &Pose) -> Pose {
        let attitude = match self.kind {
            1 => Quat::identity(),
            2 => Quat::from_euler_angles(0.0, 0.0, carrier.attitude.euler_angles().2),
            _ => carrier.attitude,
        };
        Pose { attitude, ..*carrier }
    }

    fn absolute(self, carrier: &Pose, relative: &Pose) -> Pose {
        self.frame(carrier).then(relative)
    }

    fn relative(self, carrier: &Pose, drawn: &Pose) -> Pose {
        let frame = self.frame(carrier);
        let to_frame = frame.attitude.inverse();
        Pose {
            position: to_frame * (drawn.position - frame.position),
            attitude: to_frame * drawn.attitude,
        }
    }
}

/// Motion of a body of which only pose and velocity are known.
fn motion_of(pose: Pose, velocity: Vec3) -> Kinematics {
    Kinematics {
        pose,
        velocity,
        acceleration: Vec3::zeros(),
        rate: Vec3::zeros(),
        specific_force: pose.attitude.inverse() * Vec3::new(0.0, 0.0, -GRAVITY),
    }
}
