use super::{Kinematics, Motion, Pose, Quat, Vec3};

/// Half the length, width and height of a vehicle's body in m.
pub const VEHICLE_HALF: Vec3 = Vec3::new(0.4, 0.4, 0.15);

/// An object that a ray can hit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Object {
    /// The plane at height 0.
    Ground,
    /// A box of the scene, by index.
    Block(u16),
    /// A vehicle, by id from 1.
    Vehicle(u16),
    /// An object walking on the ground, by index.
    Walker(u16),
}

impl Object {
    /// Returns the object's id on the wire: vehicles have theirs, the ground is 1000, boxes follow, walkers from 1100.
    pub fn id(self) -> i32 {
        match self {
            Self::Ground => 1000,
            Self::Block(i) => 1001 + i32::from(i),
            Self::Walker(i) => 1100 + i32::from(i),
            Self::Vehicle(id) => i32::from(id),
        }
    }

    /// Returns the class (stencil value) in segmentation colours and fourth lidar channels, never 0.
    pub fn class(self) -> u8 {
        match self {
            Self::Ground => 1,
            Self::Block(i) => 10 + (i % 80) as u8,
            Self::Walker(i) => 90 + (i % 10) as u8,
            Self::Vehicle(id) => 100 + (id % 100) as u8,
        }
    }
}

/// Half the depth, width and height of a walker in m.
const WALKER_HALF: Vec3 = Vec3::new(0.2, 0.3, 0.9);

/// An axis-aligned box of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Centre in m, NED.
    pub centre: Vec3,
    /// Half the extent north, east, down in m.
    pub half: Vec3,
}

/// A vehicle of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vehicle {
    /// Id, from 1.
    pub id: u16,
    /// Its motion.
    pub motion: Motion,
}

/// The ground, some boxes, and vehicles.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Static boxes.
    pub blocks: Vec<Block>,
    /// Vehicles in ascending order of their ids.
    pub vehicles: Vec<Vehicle>,
    /// Objects walking on the ground.
    pub walkers: Vec<Motion>,
}

/// A box for ray casting, in any attitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// The object.
    pub object: Object,
    /// Centre in NED and rotation from its own axes.
    pub pose: Pose,
    /// Half extents along its own axes in m.
    pub half: Vec3,
}

/// The world at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Simulation time in s.
    pub time: f64,
    /// Id and motion of each vehicle.
    pub vehicles: Vec<(u16, Kinematics)>,
    /// Every box and vehicle.
    pub solids: Vec<Solid>,
}

impl World {
    /// Returns the default scene with one walker: nine boxes in and around the lap that the vehicles fly.
    pub fn new(vehicles: Vec<Vehicle>, walker: Motion) -> Self {
        // north, east, half north, half east, height
        const BLOCKS: [[f64; 5]; 9] = [
            [0.0, 0.0, 1.0, 1.0, 2.5],
            [14.0, 0.0, 1.0, 2.0, 4.0],
            [12.0, 8.0, 0.5, 0.5, 6.0],
            [4.0, 12.0, 2.0, 0.7, 3.0],
            [-6.0, 11.0, 1.2, 1.2, 1.5],
            [-14.0, 3.0, 0.8, 3.0, 5.0],
            [-11.0, -8.0, 1.0, 1.0, 2.0],
            [1.0, -13.0, 3.0, 0.6, 3.5],
            [10.0, -9.0, 1.5, 1.5, 1.0],
        ];
        let block = |[n, e, half_n, half_e, height]: [f64; 5]| Block {
            centre: Vec3::new(n, e, -height / 2.0),
            half: Vec3::new(half_n, half_e, height / 2.0),
        };
        Self {
            blocks: BLOCKS.map(block).to_vec(),
            vehicles,
            walkers: vec![walker],
        }
    }

    /// Returns the default scene with `count` vehicles that share one lap, evenly spread along it.
    pub fn flying(count: u16) -> Self {
        let lap = |id: u16| Motion::Lap {
            centre: Vec3::new(0.0, 0.0, -3.0),
            radii: Vec3::new(8.0, 6.0, 0.5),
            period: 16.0,
            phase: f64::from(id - 1) / f64::from(count.max(1)),
        };
        let walker = Motion::Walk {
            centre: Vec3::new(0.0, 0.0, -WALKER_HALF.z),
            radius: 9.5,
            period: 60.0,
        };
        Self::new(
            (1..=count)
                .map(|id| Vehicle {
                    id,
                    motion: lap(id),
                })
                .collect(),
            walker,
        )
    }

    /// Returns the default scene with `count` vehicles that hover in a row, 3 m apart, 2 m high, facing north, and a
    /// standing walker: nothing moves.
    pub fn still(count: u16) -> Self {
        let pose = |id: u16| Pose::new([-6.0, 3.0 * f64::from(id - 1), -2.0], [0.0; 3]);
        Self::posed((1..=count).map(pose))
    }

    /// Returns the default scene with vehicles hovering at these poses.
    pub fn posed(poses: impl IntoIterator<Item = Pose>) -> Self {
        let vehicle = |(id, pose)| Vehicle {
            id,
            motion: Motion::Hover(pose),
        };
        let walker = Motion::Hover(Pose::new([2.0, -3.0, -WALKER_HALF.z], [0.0; 3]));
        Self::new((1..).zip(poses).map(vehicle).collect(), walker)
    }

    /// Returns the default scene with vehicles on the ground, each at north and east in m and yaw in rad.
    pub fn parked(places: impl IntoIterator<Item = [f64; 3]>) -> Self {
        let pose = |[north, east, yaw]: [f64; 3]| {
            Pose::new([north, east, -VEHICLE_HALF.z], [0.0, 0.0, yaw])
        };
        Self::posed(places.into_iter().map(pose))
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
        let blocks = self.blocks.iter().zip(0..).map(|(b, i)| Solid {
            object: Object::Block(i),
            pose: Pose {
                position: b.centre,
                attitude: Quat::identity(),
            },
            half: b.half,
        });
        let bodies = vehicles.iter().map(|(id, k)| Solid {
            object: Object::Vehicle(*id),
            pose: k.pose,
            half: VEHICLE_HALF,
        });
        let walkers = self.walkers.iter().zip(0..).map(|(motion, i)| Solid {
            object: Object::Walker(i),
            pose: motion.at(time).pose,
            half: WALKER_HALF,
        });
        let solids = blocks.chain(bodies).chain(walkers).collect();
        Snapshot {
            time,
            vehicles,
            solids,
        }
    }
}

impl Snapshot {
    /// Returns the motion of a vehicle.
    pub fn vehicle(&self, id: u16) -> Option<&Kinematics> {
        self.vehicles
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, k)| k)
    }
}
