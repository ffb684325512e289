//! The frames that autopilots count in: there from the beginning, and put to their places when these are known.
use crate::support::geometry as g;
use rfly_bridge::frames::{FrameNames, FrameTree, Vector, WorldConvention};
use rfly_bridge::time::RosTime;

/// Vehicles 1 and 2 have an autopilot, 3 has none.
fn tree(world: WorldConvention) -> FrameTree {
    let names = FrameNames {
        prefix: "uav{id}/".into(),
        autopilots: [1, 2].into(),
        world,
        ..FrameNames::default()
    };
    FrameTree::new(names, &[1, 2, 3], &[]).unwrap()
}

fn statics(tree: &FrameTree) -> Vec<(String, String)> {
    let edges = tree.static_transforms(RosTime(1)).into_iter();
    let edges = edges.filter(|t| t.child_frame_id.ends_with("local_origin"));
    edges.map(|t| (t.header.frame_id, t.child_frame_id)).collect()
}

#[test]
fn every_autopilot_has_a_frame_in_the_map_and_nobody_else() {
    let tree = tree(WorldConvention::Enu);
    let edge = |child: &str| ("map".to_owned(), child.to_owned());
    assert_eq!(statics(&tree), [edge("uav1/local_origin"), edge("uav2/local_origin")]);
    assert_eq!(tree.local_origin(2), "uav2/local_origin");
    assert_eq!(tree.local_origin(3), "map");
    assert_eq!(tree.check(&["uav1/local_origin", "uav2/local_origin", "map"]), []);
    assert_eq!(tree.check(&["uav3/local_origin"]).len(), 1);
    let identity = tree.lookup("map", "uav1/local_origin").unwrap();
    assert_eq!(identity.translation(), [0.0; 3]);
}

#[test]
fn an_origin_moves_its_own_frame_unless_it_is_noise() {
    let mut tree = tree(WorldConvention::Enu);
    // North, east, down.
    assert!(tree.place_origin(2, Vector::new(10.0, -20.0, 3.0)));
    let place = |tree: &FrameTree, name| tree.lookup("map", name).unwrap().translation();
    assert_eq!(place(&tree, "uav2/local_origin"), [-20.0, 10.0, -3.0]);
    assert_eq!(place(&tree, "uav1/local_origin"), [0.0; 3]);
    assert!(!tree.place_origin(2, Vector::new(10.03, -20.0, 3.0)));
    assert_eq!(place(&tree, "uav2/local_origin"), [-20.0, 10.0, -3.0]);
    assert!(tree.place_origin(2, Vector::new(10.1, -20.0, 3.0)));
    assert!(!tree.place_origin(3, Vector::new(10.0, 0.0, 0.0)));
    assert!(!tree.place_origin(1, Vector::new(0.01, 0.0, 0.0)));
}

#[test]
fn its_axes_are_enu_in_a_map_that_is_nwu_too() {
    let mut tree = tree(WorldConvention::Nwu);
    assert!(tree.place_origin(1, Vector::new(10.0, -20.0, 3.0)));
    let seen = tree.lookup("map", "uav1/local_origin").unwrap();
    // 1 m east, 2 m north, 3 m up of it: the map has north, west, up.
    let there = seen.apply([1.0, 2.0, 3.0]);
    assert!(g::difference(&there, &[12.0, 20.0 - 1.0, -3.0 + 3.0]) < 1e-12, "{there:?}");
}

#[test]
fn two_frames_of_a_vehicle_cannot_have_one_name() {
    let names =
        FrameNames { local_origin: "odom".into(), autopilots: [1].into(), ..FrameNames::default() };
    let problems = FrameTree::new(names, &[1], &[]).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
}
