use super::solid::{Object, Shape, Solid};
use super::yard::{self, SceneBox};
use super::{EllipticRoute, Kinematics, Pose, ScriptedMotion, Vec3};
use std::sync::Arc;

/// Half the length, width and height of a vehicle's body in m.
pub const VEHICLE_HALF: Vec3 = Vec3::new(0.4, 0.4, 0.15);

/// Half the depth, width and height of a walker in m.
pub(super) const WALKER_HALF: Vec3 = Vec3::new(0.2, 0.3, 0.9);

/// Static solids on the ground, and whether surfaces have textures.
#[derive(Debug, PartialEq)]
pub struct Scene {
    name: &'static str,
    solids: Vec<Solid>,
    bodies: Vec<Solid>,
    has_textures: bool,
    /// Stencil value of the ground, given by a command.
    pub(super) ground: Option<u8>,
}

/// The maps that can be loaded, by number.
pub const MAPS: [&str; 3] = ["yard", "simple", "Grasslands"];

impl Scene {
    /// A yard with walls around it, trees, a building, a slope and nine boxes. Every surface has a texture.
    pub fn yard() -> Arc<Self> {
        let mut solids = solids_of(&yard::boxes());
        solids.extend(yard::yard());
        Arc::new(Self::new(MAPS[0], solids, true))
    }

    /// Nine boxes on a checkerboard.
    pub fn simple() -> Arc<Self> {
        Arc::new(Self::new(MAPS[1], solids_of(&yard::boxes()), false))
    }

    /// Boxes on a checkerboard of 1 m.
    pub fn of(blocks: &[SceneBox]) -> Arc<Self> {
        Arc::new(Self::new("", solids_of(blocks), false))
    }

    /// Loads a map of [`MAPS`] by its name, whatever its case.
    pub fn by_name(name: &str) -> Option<Arc<Self>> {
        let found = MAPS.iter().position(|map| map.eq_ignore_ascii_case(name));
        found.and_then(Self::by_number)
    }

    /// Loads a map by its number in [`MAPS`].
    pub fn by_number(number: usize) -> Option<Arc<Self>> {
        match number {
            0 => Some(Self::yard()),
            1 => Some(Self::simple()),
            2 => Some(Arc::new(Self::new(MAPS[2], Vec::new(), false))),
            _ => None,
        }
    }

    /// Returns this scene with the stencil values that `stencil` returns for the names of its objects.
    #[must_use]
    pub fn with_stencils(&self, stencil: impl Fn(&str) -> Option<u8>) -> Arc<Self> {
        let marked = |solid: &Solid| Solid { stencil: stencil(&solid.object.name()), ..*solid };
        Arc::new(Self {
            solids: self.solids.iter().map(marked).collect(),
            bodies: self.bodies.iter().map(marked).collect(),
            ground: stencil(&Object::Ground.name()),
            ..*self
        })
    }

    fn new(name: &'static str, solids: Vec<Solid>, has_textures: bool) -> Self {
        let mut bodies: Vec<Solid> = Vec::new();
        for solid in &solids {
            let body = bodies.iter_mut().find(|b| b.object.id() == solid.object.id());
            match body {
                Some(body) => *body = box_around(body, solid),
                None => bodies.push(*solid),
            }
        }
        Self { name, solids, bodies, has_textures, ground: None }
    }

    /// Name of the map; empty for a scene that is none of [`MAPS`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Static solids.
    pub fn solids(&self) -> &[Solid] {
        &self.solids
    }

    /// One solid per object: its only one, or the box around all of its parts.
    pub fn bodies(&self) -> &[Solid] {
        &self.bodies
    }

    /// Whether surfaces have textures; otherwise the ground is a checkerboard, and every face has one colour.
    pub fn has_textures(&self) -> bool {
        self.has_textures
    }
}

fn solids_of(blocks: &[SceneBox]) -> Vec<Solid> {
    let solid = |(block, i): (&SceneBox, u16)| {
        let (centre, half) = (block.centre.into(), block.half.into());
        Solid::upright(Object::Block(i), Shape::Box, centre, half)
    };
    blocks.iter().zip(0..).map(solid).collect()
}

/// Returns the upright box around two solids.
fn box_around(a: &Solid, b: &Solid) -> Solid {
    let ((low_a, high_a), (low_b, high_b)) = (a.limits(), b.limits());
    let (low, high) = (low_a.inf(&low_b), high_a.sup(&high_b));
    let (centre, half) = ((low + high) / 2.0, (high - low) / 2.0);
    Solid::upright(a.object, Shape::Box, centre.into(), half.into())
}

/// A vehicle of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vehicle {
    /// Id, from 1.
    pub id: u16,
    /// Its motion.
    pub motion: ScriptedMotion,
}

/// Static scene, vehicles and walkers.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Static scene.
    pub scene: Arc<Scene>,
    /// Vehicles in ascending order of their ids.
    pub vehicles: Vec<Vehicle>,
    /// Objects walking on the ground.
    pub walkers: Vec<ScriptedMotion>,
}

/// The world at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Simulation time in s.
    pub time: f64,
    /// Id and motion of each vehicle, and of each object that was spawned as one.
    pub vehicles: Vec<(u16, Kinematics)>,
    /// Static scene.
    pub scene: Arc<Scene>,
    /// Vehicles, spawned objects and walkers.
    pub moving: Vec<Solid>,
}

impl World {
    /// The yard with vehicles on their paths, and one walker.
    fn new(motions: impl IntoIterator<Item = ScriptedMotion>, walker: ScriptedMotion) -> Self {
        let vehicle = |(id, motion)| Vehicle { id, motion };
        Self {
            scene: Scene::yard(),
            vehicles: (1..).zip(motions).map(vehicle).collect(),
            walkers: vec![walker],
        }
    }

    /// Returns this world with another scene.
    #[must_use]
    pub fn with_scene(self, scene: Arc<Scene>) -> Self {
        Self { scene, ..self }
    }

    /// Returns the yard with `count` vehicles that share one lap, evenly spread along it.
    pub fn flying(count: u16) -> Self {
        Self::on_route(count, ScriptedMotion::Lap, 0.5, 16.0)
    }

    /// Returns the yard with `count` vehicles that share one route with motion along and about every axis, after 3 s at
    /// rest, evenly spread along it.
    pub fn excited(count: u16) -> Self {
        Self::on_route(count, ScriptedMotion::Excite, 0.9, 20.0)
    }

    /// Returns the world with CopterIDs from `first` (START_INDEX of the platform's scripts).
    pub fn with_start_index(mut self, first: u16) -> Self {
        for (vehicle, id) in self.vehicles.iter_mut().zip(first..) {
            vehicle.id = id;
        }
        self
    }

    /// Returns the yard with `count` vehicles, each on its share of a round that takes `period` s; `climb` is half the height
    /// change in m.
    fn on_route(
        count: u16,
        motion: fn(EllipticRoute) -> ScriptedMotion,
        climb: f64,
        period: f64,
    ) -> Self {
        let walker = ScriptedMotion::Walk {
            centre: Vec3::new(0.0, 0.0, -WALKER_HALF.z),
            radius: 9.5,
            period: 60.0,
        };
        let centre = Vec3::new(0.0, 0.0, -3.0);
        let radii = Vec3::new(8.0, 6.0, climb);
        let share = |i: u16| f64::from(i) / f64::from(count.max(1));
        let route = |i| EllipticRoute { centre, radii, period, phase: share(i) };
        Self::new((0..count).map(|i| motion(route(i))), walker)
    }

    /// Returns the yard with `count` vehicles that hover in a row, 3 m apart, 2 m high, facing north, and a
    /// standing walker: nothing moves.
    pub fn still(count: u16) -> Self {
        let pose = |i: u16| Pose::new([-6.0, 3.0 * f64::from(i), -2.0], [0.0; 3]);
        Self::posed((0..count).map(pose))
    }

    /// Returns the yard with vehicles hovering at these poses.
    pub fn posed(poses: impl IntoIterator<Item = Pose>) -> Self {
        let walker = ScriptedMotion::Hover(Pose::new([2.0, -3.0, -WALKER_HALF.z], [0.0; 3]));
        Self::new(poses.into_iter().map(ScriptedMotion::Hover), walker)
    }

    /// Returns the yard with vehicles on the ground, each at north and east in m and yaw in rad.
    pub fn parked(positions: impl IntoIterator<Item = [f64; 3]>) -> Self {
        let pose = |[north, east, yaw]: [f64; 3]| {
            Pose::new([north, east, -VEHICLE_HALF.z], [0.0, 0.0, yaw])
        };
        Self::posed(positions.into_iter().map(pose))
    }

    /// Returns the vehicle with an id.
    pub fn vehicle(&self, id: u16) -> Option<&Vehicle> {
        self.vehicles.iter().find(|v| v.id == id)
    }

    /// Returns the world at simulation time `time` in s.
    pub fn at(&self, time: f64) -> Snapshot {
        self.at_with(time, |_| None)
    }

    /// Returns the world at simulation time `time` in s; `flown` returns the motion of vehicles that do not follow their
    /// path, by id.
    pub fn at_with(&self, time: f64, flown: impl Fn(u16) -> Option<Kinematics>) -> Snapshot {
        let vehicles: Vec<_> = self
            .vehicles
            .iter()
            .map(|v| (v.id, flown(v.id).unwrap_or_else(|| v.motion.at(time))))
            .collect();
        let bodies = vehicles
            .iter()
            .map(|(id, k)| Solid::new(Object::Vehicle(*id), Shape::Box, k.pose, VEHICLE_HALF));
        let walkers = self.walkers.iter().zip(0..).map(|(motion, i)| {
            let pose = motion.at(time).pose;
            Solid::new(Object::Walker(i), Shape::Box, pose, WALKER_HALF)
        });
        let moving = bodies.chain(walkers).collect();
        Snapshot { time, vehicles, scene: Arc::clone(&self.scene), moving }
    }
}

impl Snapshot {
    /// Returns the motion of a vehicle.
    pub fn vehicle(&self, id: u16) -> Option<&Kinematics> {
        self.vehicles.iter().find(|(other, _)| *other == id).map(|(_, k)| k)
    }

    /// Returns one solid per object, except for the ground.
    pub fn bodies(&self) -> impl Iterator<Item = &Solid> {
        self.scene.bodies.iter().chain(&self.moving)
    }
}
