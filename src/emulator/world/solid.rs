use super::{Pose, Quat, Vec3};

/// An object that a ray can hit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Object {
    /// The plane at height 0.
    Ground,
    /// A hill with a plane top.
    Slope,
    /// A wall with its pillars, by index.
    Wall(u16),
    /// A house with rooms.
    Building,
    /// The trunk of a tree, by index.
    Trunk(u16),
    /// The crown of a tree, by index.
    Crown(u16),
    /// A box of the scene, by index.
    Block(u16),
    /// A vehicle, or an object that was spawned, by id from 1.
    Vehicle(u16),
    /// An object walking on the ground, by index.
    Walker(u16),
}

impl Object {
    /// First id on the wire, name, number, class.
    fn row(self) -> (i32, &'static str, Option<u16>, u8) {
        match self {
            Self::Vehicle(id) => (0, "Copter", Some(id), 100 + (id % 100) as u8),
            Self::Ground => (1000, "Floor", None, 1),
            Self::Block(i) => (1001, "Box", Some(i), 10 + (i % 80) as u8),
            Self::Walker(i) => (1100, "Walker", Some(i), 90 + (i % 10) as u8),
            Self::Slope => (1200, "Slope", Some(0), 2),
            Self::Building => (1201, "Building", Some(0), 4),
            Self::Wall(i) => (1210, "Wall", Some(i), 3),
            Self::Trunk(i) => (1220, "Tree", Some(i), 5),
            Self::Crown(i) => (1220, "Tree", Some(i), 6),
        }
    }

    /// Returns the object's id on the wire: vehicles keep their id, the ground has 1000, boxes follow, walkers have 1100 and
    /// more, other static objects 1200 and more. Trunk and crown are one tree.
    pub fn id(self) -> i32 {
        let (first, _, number, _) = self.row();
        first + i32::from(number.unwrap_or(0))
    }

    /// Whether both are parts of one object.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Trunk(a) | Self::Crown(a), Self::Trunk(b) | Self::Crown(b)) => a == b,
            (a, b) => a == b,
        }
    }

    /// Returns its name in the renderer; parts of one object share the name.
    pub fn name(self) -> String {
        let (_, name, number, _) = self.row();
        number.map_or_else(|| name.to_owned(), |number| format!("{name}_{number}"))
    }

    /// Returns the class (stencil value) for segmentation images and the fourth channel of clouds, never 0.
    pub fn class(self) -> u8 {
        self.row().3
    }
}

/// Form of a solid about its centre.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Rectangular.
    Box,
    /// A cylinder along its own z axis.
    Cylinder,
    /// An ellipsoid.
    Ellipsoid,
}

/// A body for ray casting, in any attitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// The object it is part of.
    pub object: Object,
    /// Its form.
    pub shape: Shape,
    /// Centre in NED and rotation from its own axes.
    pub pose: Pose,
    /// Half extents along its own axes in m.
    pub half: Vec3,
    /// The class that determines its colour.
    pub paint: u8,
    /// Stencil value given by a command, instead of the class of the object.
    pub stencil: Option<u8>,
}

impl Solid {
    /// Creates a solid in the class of its object.
    pub fn new(object: Object, shape: Shape, pose: Pose, half: Vec3) -> Self {
        Self { object, shape, pose, half, paint: object.class(), stencil: None }
    }

    /// Creates a solid whose own axes are north, east and down.
    pub fn upright(object: Object, shape: Shape, centre: [f64; 3], half: [f64; 3]) -> Self {
        let pose = Pose { position: centre.into(), attitude: Quat::identity() };
        Self::new(object, shape, pose, half.into())
    }

    /// Creates an upright box from its limits north, east and down in m.
    pub fn between(object: Object, [n0, n1]: [f64; 2], [e0, e1]: [f64; 2], z: [f64; 2]) -> Self {
        let ends = [[n0, n1], [e0, e1], z];
        let centre = ends.map(|[a, b]| (a + b) / 2.0);
        let half = ends.map(|[a, b]| (b - a).abs() / 2.0);
        Self::upright(object, Shape::Box, centre, half)
    }

    /// Returns the least and greatest coordinates of the box around it, in m, NED.
    pub fn limits(&self) -> (Vec3, Vec3) {
        let turned = self.pose.attitude.to_rotation_matrix().matrix().abs();
        let reach = turned * self.half;
        (self.pose.position - reach, self.pose.position + reach)
    }

    /// Returns the radius in m of the sphere around its centre that encloses it.
    pub fn radius(&self) -> f64 {
        match self.shape {
            Shape::Box => self.half.norm(),
            Shape::Cylinder => self.half.x.max(self.half.y).hypot(self.half.z),
            Shape::Ellipsoid => self.half.amax(),
        }
    }
}
