//! Descriptions of a camera: what is believed, when, and what is only said.
use rfly_bridge::frames::Transform;
use rfly_bridge::sensors::{DescribedFov, DescribedMount, MountDescription, PoseChange};

fn at(x: f64, z: f64, pitch_rad: f64) -> Transform {
    let (s, c) = (pitch_rad / 2.0).sin_cos();
    Transform::from_parts([x, 0.0, z], [c, 0.0, s, 0.0])
}

fn seen(mount: &mut DescribedMount, pose: Transform, slack_m: f64) -> PoseChange {
    mount.described(&MountDescription { pose, slack_m, slack_rad: 0.0 })
}

#[test]
fn another_field_of_view_counts_when_it_is_described_twice() {
    let mut fov = DescribedFov::default();
    let own = (90.0, 90.0);
    for described in [90.0, 45.0, 90.000_01, 45.0, f32::NAN, -1.0, -1.0, 45.0] {
        assert_eq!(fov.described(described, own), None);
    }
    assert_eq!(fov.described(45.0, own), Some(45.0));
    let followed = (90.0, 45.0);
    assert_eq!(fov.described(45.0, followed), None);
    assert_eq!(fov.described(90.000_01, followed), None);
    // Exactly what was asked for.
    assert_eq!(fov.described(90.000_01, followed), Some(90.0));
}

#[test]
fn a_camera_is_followed_that_was_where_it_was_asked_for() {
    let mut mount = DescribedMount::new(at(0.3, 0.0, 0.0), false);
    assert_eq!(seen(&mut mount, at(0.31, 0.0, 0.0), 0.0), PoseChange::Same);
    let moved = at(0.3, 0.0, 0.4);
    assert_eq!(seen(&mut mount, moved, 0.0), PoseChange::Same);
    assert_eq!(seen(&mut mount, moved, 0.0), PoseChange::Moved(moved));
    mount.follow(moved);
    assert_eq!(mount.shown(), moved);
    for _ in 0..2 {
        assert_eq!(mount.requested(), at(0.3, 0.0, 0.0));
        assert_eq!(seen(&mut mount, moved, 0.0), PoseChange::Same);
    }
    let near = at(0.29, 0.0, 0.0);
    assert_eq!(seen(&mut mount, near, 0.0), PoseChange::Same);
    assert_eq!(seen(&mut mount, near, 0.0), PoseChange::Moved(mount.requested()));
}

#[test]
fn what_a_carrier_may_have_moved_is_no_difference() {
    let mut mount = DescribedMount::new(at(0.3, 0.0, 0.0), false);
    for x in [0.3, 1.0, 1.0, -0.5, -0.5, 1.1] {
        assert_eq!(seen(&mut mount, at(x, 0.0, 0.0), 1.0), PoseChange::Same);
    }
}

#[test]
fn a_camera_that_never_was_where_it_was_asked_for_is_not_followed() {
    let mut mount = DescribedMount::new(at(0.3, 0.0, 0.0), false);
    let elsewhere = at(0.3, 0.0, 1.2);
    assert_eq!(seen(&mut mount, elsewhere, 0.0), PoseChange::Same);
    assert_eq!(seen(&mut mount, elsewhere, 0.0), PoseChange::Misread(elsewhere));
    for _ in 0..6 {
        assert_eq!(seen(&mut mount, elsewhere, 0.0), PoseChange::Same);
    }
    assert_eq!(mount.shown(), mount.requested());
}

#[test]
fn the_height_of_a_vehicle_s_bottom_is_learned() {
    let mut mount = DescribedMount::new(at(0.3, 0.0, 0.0), true);
    for _ in 0..3 {
        assert_eq!(seen(&mut mount, at(0.3, -0.2, 0.0), 0.0), PoseChange::Same);
    }
    let moved = at(0.3, 0.3, 0.0);
    assert_eq!(seen(&mut mount, moved, 0.0), PoseChange::Same);
    let PoseChange::Moved(now) = seen(&mut mount, moved, 0.0) else {
        panic!("not followed");
    };
    assert!(now.distance_to(&at(0.3, 0.5, 0.0)) < 1e-9, "{now:?}");
}
