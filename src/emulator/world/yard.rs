//! The scenes. Lengths are in m, NED; heights are positive upwards.
use super::solid::{Object, Shape, Solid};
use super::{Pose, Vec3};

/// An axis-aligned box of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneBox {
    /// Centre in m, NED.
    pub centre: Vec3,
    /// Half the extent north, east, down in m.
    pub half: Vec3,
}

/// Returns the nine boxes in and around the lap that the vehicles fly.
pub(super) fn boxes() -> Vec<SceneBox> {
    // north, east, half north, half east, height
    #[rustfmt::skip] // a table
    const BLOCKS: [[f64; 5]; 9] = [
        [0.0, 0.0, 1.0, 1.0, 2.5], [14.0, 0.0, 1.0, 2.0, 4.0], [12.0, 8.0, 0.5, 0.5, 6.0], [4.0, 12.0, 2.0, 0.7, 3.0],
        [-6.0, 11.0, 1.2, 1.2, 1.5], [-14.0, 3.0, 0.8, 3.0, 5.0], [-11.0, -8.0, 1.0, 1.0, 2.0],
        [1.0, -13.0, 3.0, 0.6, 3.5], [10.0, -9.0, 1.5, 1.5, 1.0],
    ];
    let block = |[n, e, half_n, half_e, height]: [f64; 5]| SceneBox {
        centre: Vec3::new(n, e, -height / 2.0),
        half: Vec3::new(half_n, half_e, height / 2.0),
    };
    BLOCKS.map(block).to_vec()
}

/// Returns the solids of the yard besides the boxes.
pub(super) fn yard() -> Vec<Solid> {
    let mut solids = vec![slope()];
    solids.extend(walls());
    solids.extend(building());
    solids.extend(trees());
    solids
}

/// A hill that rises to the north: a slab whose underside is below the ground.
fn slope() -> Solid {
    const FOOT: [f64; 2] = [14.0, 16.0];
    const LENGTH: f64 = 10.0;
    const HALF_WIDTH: f64 = 4.0;
    const HALF_DEPTH: f64 = 1.5;
    const RISE_DEG: f64 = 12.0;
    let pose = Pose::new([FOOT[0], FOOT[1], 0.0], [0.0, RISE_DEG.to_radians(), 0.0]);
    let half = Vec3::new(LENGTH / 2.0 / RISE_DEG.to_radians().cos(), HALF_WIDTH, HALF_DEPTH);
    let centre = pose.position + pose.attitude * Vec3::new(half.x, 0.0, half.z);
    let pose = Pose { position: centre, ..pose };
    Solid::new(Object::Slope, Shape::Box, pose, half)
}

/// Four walls around the yard. Pillars divide them at irregular distances, so that no two views are the same.
fn walls() -> Vec<Solid> {
    const THICKNESS: f64 = 0.4;
    const PILLAR_HALF_DEPTH: f64 = 0.6;
    const PILLAR_HALF_WIDTH: f64 = 0.35;
    /// A wall: whether it runs north, the coordinate of its inner face, the sign of that coordinate, its height, and the
    /// positions of its pillars; the first and the last are at its ends.
    type Wall = (bool, f64, f64, f64, [f64; 7]);
    const WALLS: [Wall; 4] = [
        (false, 26.0, 1.0, 4.5, [-26.0, -19.0, -9.5, -2.0, 7.5, 14.0, 24.0]),
        (true, 24.0, 1.0, 3.5, [-26.0, -16.5, -10.0, -1.0, 9.0, 17.5, 26.0]),
        (false, -26.0, -1.0, 5.0, [-26.0, -17.5, -8.0, 2.5, 9.0, 18.0, 24.0]),
        (true, -26.0, -1.0, 4.0, [-26.0, -18.0, -7.5, 0.5, 6.0, 16.0, 26.0]),
    ];
    let mut solids = Vec::new();
    for ((runs_north, face, side, height, pillars), i) in WALLS.into_iter().zip(0..) {
        let object = Object::Wall(i);
        let mut put = |along: [f64; 2], across: [f64; 2], height: f64| {
            let (n, e) = if runs_north { (along, across) } else { (across, along) };
            solids.push(Solid::between(object, n, e, [-height, 0.0]));
        };
        for ends in pillars.windows(2) {
            put([ends[0], ends[1]], [face, face + side * THICKNESS], height);
        }
        for (at, k) in pillars.into_iter().zip(0..) {
            let top = height + 0.4 + 0.3 * f64::from(k * 3 % 4);
            let along = [at - PILLAR_HALF_WIDTH, at + PILLAR_HALF_WIDTH];
            put(along, [face - side * PILLAR_HALF_DEPTH, face + side * PILLAR_HALF_DEPTH], top);
        }
    }
    solids
}

/// A house of two rooms. Walls are pieces around the open doors and windows.
fn building() -> Vec<Solid> {
    // north, east and height, each from and to
    const PIECES: [[f64; 6]; 17] = [
        // south: a window and the door
        [14.0, 14.25, -22.0, -20.5, 0.0, 3.0],
        [14.0, 14.25, -20.5, -18.5, 0.0, 1.0],
        [14.0, 14.25, -20.5, -18.5, 2.2, 3.0],
        [14.0, 14.25, -18.5, -15.6, 0.0, 3.0],
        [14.0, 14.25, -15.6, -14.4, 2.2, 3.0],
        [14.0, 14.25, -14.4, -12.0, 0.0, 3.0],
        // east: a window
        [14.25, 16.5, -12.25, -12.0, 0.0, 3.0],
        [16.5, 19.5, -12.25, -12.0, 0.0, 0.9],
        [16.5, 19.5, -12.25, -12.0, 2.2, 3.0],
        [19.5, 21.75, -12.25, -12.0, 0.0, 3.0],
        // north and west
        [21.75, 22.0, -22.0, -12.0, 0.0, 3.0],
        [14.25, 21.75, -22.0, -21.75, 0.0, 3.0],
        // between the rooms: a door
        [14.25, 18.0, -17.6, -17.4, 0.0, 3.0],
        [18.0, 19.1, -17.6, -17.4, 2.1, 3.0],
        [19.1, 21.75, -17.6, -17.4, 0.0, 3.0],
        // the roof, and a chimney
        [14.0, 22.0, -22.0, -12.0, 3.0, 3.25],
        [20.0, 20.8, -20.0, -19.2, 3.25, 4.6],
    ];
    let piece = |[n0, n1, e0, e1, low, high]: [f64; 6]| {
        Solid::between(Object::Building, [n0, n1], [e0, e1], [-high, -low])
    };
    PIECES.map(piece).to_vec()
}

/// Trees: an upright trunk and an ellipsoid as crown.
fn trees() -> Vec<Solid> {
    // north, east, radius and height of the trunk, radius and half the height of the crown
    #[rustfmt::skip] // a table
    const TREES: [[f64; 6]; 10] = [
        [18.0, 6.0, 0.20, 2.6, 1.5, 1.3], [21.5, -5.0, 0.30, 3.2, 2.2, 1.8], [6.0, 19.0, 0.25, 2.8, 1.8, 1.6],
        [-3.0, 20.5, 0.18, 2.2, 1.3, 1.1], [-12.5, 17.0, 0.28, 3.0, 2.0, 2.2], [-20.0, 21.0, 0.22, 2.4, 1.6, 1.3],
        [-20.0, -9.0, 0.25, 2.7, 1.7, 1.5], [-9.0, -19.5, 0.32, 3.4, 2.3, 1.9], [2.0, -20.0, 0.20, 2.5, 1.4, 1.4],
        [8.5, -17.5, 0.16, 2.0, 1.1, 1.0],
    ];
    let tree = |([n, e, radius, height, crown, half], i): ([f64; 6], u16)| {
        let trunk = Solid::upright(
            Object::Trunk(i),
            Shape::Cylinder,
            [n, e, -height / 2.0],
            [radius, radius, height / 2.0],
        );
        // The trunk ends inside the crown.
        let top = Solid::upright(
            Object::Crown(i),
            Shape::Ellipsoid,
            [n, e, -(height + half * 0.7)],
            [crown, crown, half],
        );
        [trunk, top]
    };
    TREES.into_iter().zip(0..).flat_map(tree).collect()
}
