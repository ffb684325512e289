//! Boxes in images: projected again with matrices, and hidden by depth that is made here.
use crate::support::geometry as g;
use crate::support::random::Random;
use rfly_bridge::frames::Transform;
use rfly_bridge::msgs::sensor_msgs::msg::CameraInfo;
use rfly_bridge::reports::{BoundingBox2d, BoundingBox3d, DepthImage, PinholeCamera};

/// 160 x 120 px, 90 degrees.
const CAMERA: PinholeCamera =
    PinholeCamera { focal: [80.0, 80.0], centre: [79.5, 59.5], size: [160, 120] };
const UPRIGHT: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

fn space(at: [f64; 3], turned: [f64; 4], size: [f64; 3]) -> BoundingBox3d {
    BoundingBox3d { pose: Transform::from_parts(at, turned), size }
}

/// The edges of the box by matrices, without borders.
fn edges(at: [f64; 3], turned: [f64; 4], size: [f64; 3]) -> ([f64; 4], f64) {
    let rotation = g::quaternion_matrix(turned);
    let (mut edges, mut nearest) = ([f64::MAX, f64::MAX, f64::MIN, f64::MIN], f64::MAX);
    for x in [-0.5, 0.5] {
        for y in [-0.5, 0.5] {
            for z in [-0.5, 0.5] {
                let own = [x * size[0], y * size[1], z * size[2]];
                let [px, py, pz] = g::add(g::apply(&rotation, own), at);
                let (u, v) = (80.0 * px / pz + 79.5, 80.0 * py / pz + 59.5);
                edges = [edges[0].min(u), edges[1].min(v), edges[2].max(u), edges[3].max(v)];
                nearest = nearest.min(pz);
            }
        }
    }
    (edges, nearest)
}

#[test]
fn the_edges_of_a_box_are_those_of_its_projected_corners_within_the_image() {
    let mut random = Random(7);
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..2000 {
        let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
        let at = [between(-8.0, 8.0), between(-6.0, 6.0), between(1.0, 12.0)];
        let size = [between(0.1, 3.0), between(0.1, 3.0), between(0.1, 3.0)];
        let q = [between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0)];
        let norm = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        let turned = q.map(|x| x / norm);
        let ([left, top, right, bottom], nearest) = edges(at, turned, size);
        if nearest < 0.1 {
            continue;
        }
        let seen = right > 0.0 && bottom > 0.0 && left < 159.0 && top < 119.0;
        let found = space(at, turned, size).project(&CAMERA);
        assert_eq!(found.is_some(), seen, "{at:?} {turned:?} {size:?}");
        let Some(found) = found else {
            outside += 1;
            continue;
        };
        inside += 1;
        let known = [left.max(0.0), top.max(0.0), right.min(159.0), bottom.min(119.0)];
        let found = [found.left, found.top, found.right, found.bottom];
        for (a, b) in found.iter().zip(known) {
            assert!((a - b).abs() < 1e-6, "{found:?} {known:?}");
        }
    }
    assert!(inside > 300 && outside > 300, "{inside} {outside}");
}

#[test]
fn a_box_that_reaches_behind_the_camera_fills_its_side_of_the_image() {
    // From 10 m ahead to 2 m behind, on the right.
    let found = space([2.0, 0.0, 4.0], UPRIGHT, [2.0, 1.0, 12.0]).project(&CAMERA);
    let found = found.expect("it is seen");
    // Its left side at 10 m, its right side beyond the border.
    assert!((found.left - (80.0 * 0.1 + 79.5)).abs() < 1e-9, "{found:?}");
    assert_eq!((found.right, found.top, found.bottom), (159.0, 0.0, 119.0));
    assert_eq!(space([0.0, 0.0, -4.0], UPRIGHT, [1.0; 3]).project(&CAMERA), None);
}

/// Depth in counts of 1 cm, by column.
fn depth(metres: impl Fn(usize) -> Option<f64>) -> Vec<u8> {
    let count = |column| metres(column).map_or(u16::MAX, |m| (m * 100.0).round() as u16);
    let counts = (0..160 * 120).map(|i| count(i % 160));
    counts.flat_map(u16::to_le_bytes).collect()
}

fn visible(space: &BoundingBox3d, counts: &[u8]) -> Option<f64> {
    space.visible_share(&DepthImage { camera: &CAMERA, counts, scale: 0.01 })
}

#[test]
fn the_score_is_the_share_of_the_box_before_which_nothing_stands() {
    // 2 m wide, its front 9 m ahead: columns 70.6 to 88.4.
    let thing = space([0.0, 0.0, 10.0], UPRIGHT, [2.0; 3]);
    let own = depth(|_| Some(9.0));
    assert_eq!(visible(&thing, &own), Some(1.0));
    assert_eq!(visible(&thing, &depth(|_| Some(30.0))), Some(1.0), "it does not fill its box");
    assert_eq!(visible(&thing, &depth(|_| None)), Some(1.0), "nothing is there");
    assert_eq!(visible(&thing, &depth(|_| Some(5.0))), Some(0.0));
    // Of the columns 71 to 88, those before 80 are behind a wall: half.
    let half = visible(&thing, &depth(|column| Some(if column < 80 { 4.0 } else { 9.0 })));
    assert!((half.expect("rays") - 0.5).abs() < 1e-9, "{half:?}");
    // A surface just before the box is its own.
    assert_eq!(visible(&thing, &depth(|_| Some(8.9))), Some(1.0));
    assert_eq!(visible(&space([50.0, 0.0, 10.0], UPRIGHT, [2.0; 3]), &own), None);
    // An image that is cut short.
    assert_eq!(visible(&thing, &[]), None);
}

#[test]
fn a_camera_without_calibration_has_no_boxes() {
    assert_eq!(PinholeCamera::new(&CameraInfo::default()), None);
    let mut info = CameraInfo { width: 160, height: 120, ..CameraInfo::default() };
    info.k = [80.0, 0.0, 79.5, 0.0, 80.0, 59.5, 0.0, 0.0, 1.0];
    assert_eq!(PinholeCamera::new(&info), Some(CAMERA));
    let whole = space([0.0, 0.0, 1.0], UPRIGHT, [90.0, 90.0, 0.1]).project(&CAMERA);
    let border = BoundingBox2d { left: 0.0, top: 0.0, right: 159.0, bottom: 119.0 };
    assert_eq!(whole, Some(border));
}
