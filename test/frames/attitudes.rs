use crate::support::geometry as g;
use proptest::prelude::*;
use rfly_bridge::frames::{
    Attitude, CoordinateFrame, Enu, Euler, Flu, Frd, Ned, Nwu, Optical, Transform, Vector,
    WorldConvention,
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

/// mavros, `ftf_frame_conversions.cpp`: quaternions w, x, y, z of rpy(pi, 0, pi/2) and rpy(pi, 0, 0).
const NED_ENU_Q: [f64; 4] = [0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0];
const AIRCRAFT_BASELINK_Q: [f64; 4] = [0.0, 1.0, 0.0, 0.0];

fn degrees<B: CoordinateFrame, W: CoordinateFrame>(attitude: Attitude<B, W>) -> [f64; 3] {
    attitude.euler().to_degrees()
}

fn angles() -> impl Strategy<Value = [f64; 3]> {
    [-PI..PI, -1.5..1.5, -PI..PI]
}

fn euler([roll, pitch, yaw]: [f64; 3]) -> Euler {
    Euler::new(roll, pitch, yaw)
}

#[test]
fn the_check_values_of_mavros_hold() {
    let facing_north = Attitude::<Frd, Ned>::from_euler(Euler::default());
    let enu = degrees(Attitude::<Flu, Enu>::from(facing_north));
    assert!(g::difference(&enu, &[0.0, 0.0, 90.0]) < 1e-12, "{enu:?}");
    let tilted = Attitude::<Flu, Enu>::from_euler(Euler::from_degrees(10.0, 20.0, 30.0));
    let ned = degrees(Attitude::<Frd, Ned>::from(tilted));
    assert!(g::difference(&ned, &[10.0, -20.0, 60.0]) < 1e-12, "{ned:?}");
}

#[test]
fn nwu_keeps_the_yaw_of_the_simulator_but_for_its_sign() {
    let attitude = Attitude::<Frd, Ned>::from_euler(Euler::from_degrees(10.0, 20.0, 30.0));
    let nwu = degrees(Attitude::<Flu, Nwu>::from(attitude));
    assert!(g::difference(&nwu, &[10.0, -20.0, -30.0]) < 1e-12, "{nwu:?}");
}

#[test]
fn a_zero_or_infinite_quaternion_is_no_attitude() {
    for bad in
        [[0.0; 4], [f64::NAN, 0.0, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0, 0.0], [1e-9, 0.0, 0.0, 0.0]]
    {
        assert_eq!(Attitude::<Frd, Ned>::from_wxyz(bad), None, "{bad:?}");
    }
    let scaled = Attitude::<Frd, Ned>::from_wxyz([0.0, 0.0, 0.0, -5.0]).unwrap();
    assert_eq!(scaled.wxyz(), [0.0, 0.0, 0.0, -1.0]);
}

#[test]
fn the_optical_frame_looks_along_the_link() {
    let optical = Attitude::<Optical, Flu>::optical();
    for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        let wanted = Vector::<Flu>::from(Vector::<Optical>::from(axis));
        assert_eq!(optical.rotate(Vector::from(axis)), wanted);
    }
    // tf2 users know it as rpy(-90, 0, -90) degrees.
    let known = g::euler_zyx([-FRAC_PI_2, 0.0, -FRAC_PI_2]);
    assert!(g::matrix_difference(&optical.matrix(), &known) < 1e-15);
}

#[test]
fn a_message_has_x_first_and_w_last() {
    let message = Transform::from_parts([1.0, 2.0, 3.0], [0.5, -0.5, 0.5, -0.5]).to_msg();
    let (t, q) = (message.translation, message.rotation);
    assert_eq!((t.x, t.y, t.z), (1.0, 2.0, 3.0));
    assert_eq!((q.x, q.y, q.z, q.w), (-0.5, 0.5, -0.5, 0.5));
}

proptest! {
    #[test]
    fn angles_are_yaw_then_pitch_then_roll(angles in angles()) {
        let attitude = Attitude::<Frd, Ned>::from_euler(euler(angles));
        prop_assert!(g::matrix_difference(&attitude.matrix(), &g::euler_zyx(angles)) < 1e-14);
        prop_assert!(g::matrix_difference(&g::quaternion_matrix(attitude.wxyz()), &g::euler_zyx(angles)) < 1e-14);
        let back = attitude.euler();
        prop_assert!(g::difference(&[back.roll, back.pitch, back.yaw], &angles) < 1e-10);
    }

    #[test]
    fn the_attitude_in_enu_is_that_of_mavros(angles in angles()) {
        let ned = Attitude::<Frd, Ned>::from_euler(euler(angles));
        let seen = Attitude::<Flu, Enu>::from(ned);
        let half = g::quaternion_product(NED_ENU_Q, ned.wxyz());
        let wanted = g::quaternion_product(half, AIRCRAFT_BASELINK_Q);
        prop_assert!(g::matrix_difference(&seen.matrix(), &g::quaternion_matrix(wanted)) < 1e-14);
    }

    #[test]
    fn attitudes_agree_with_vectors(angles in angles(), v in prop::array::uniform3(-10.0..10.0)) {
        let ned = Attitude::<Frd, Ned>::from_euler(euler(angles));
        let body = Vector::<Frd>::from(v);
        let world = ned.rotate(body);
        let enu = Attitude::<Flu, Enu>::from(ned).rotate(body.into());
        prop_assert!((enu - Vector::<Enu>::from(world)).norm() < 1e-13);
        let nwu = Attitude::<Flu, Nwu>::from(ned).rotate(body.into());
        prop_assert!((nwu - Vector::<Nwu>::from(world)).norm() < 1e-13);
    }

    #[test]
    fn attitudes_come_back(angles in angles()) {
        let ned = Attitude::<Frd, Ned>::from_euler(euler(angles));
        prop_assert_eq!(Attitude::<Frd, Ned>::from(Attitude::<Flu, Nwu>::from(ned)), ned);
        let back = Attitude::<Frd, Ned>::from(Attitude::<Flu, Enu>::from(ned));
        prop_assert!(g::difference(&back.wxyz(), &ned.wxyz()) < 1e-15);
        let enu = Attitude::<Flu, Enu>::from(ned);
        prop_assert!((enu.wxyz().iter().map(|c| c * c).sum::<f64>() - 1.0).abs() < 1e-14);
        prop_assert!(enu.angle_to(Attitude::<Flu, Nwu>::from(ned).into()) < 1e-7);
    }

    #[test]
    fn chains_and_inverses_are_those_of_matrices(a in angles(), b in angles()) {
        let outer = Attitude::<Frd, Ned>::from_euler(euler(a));
        let inner = Attitude::<Optical, Frd>::from_euler(euler(b));
        let wanted = g::product(&g::euler_zyx(a), &g::euler_zyx(b));
        prop_assert!(g::matrix_difference(&outer.then(inner).matrix(), &wanted) < 1e-14);
        let inverse = g::transpose(&g::euler_zyx(a));
        prop_assert!(g::matrix_difference(&outer.inverse().matrix(), &inverse) < 1e-14);
    }

    #[test]
    fn transforms_compose_as_matrices_do(
        a in angles(), b in angles(), p in prop::array::uniform3(-9.0..9.0), q in prop::array::uniform3(-9.0..9.0),
        v in prop::array::uniform3(-9.0..9.0),
    ) {
        let quaternion = |e| Attitude::<Flu, Enu>::from_euler(euler(e)).wxyz();
        let (outer, inner) = (Transform::from_parts(p, quaternion(a)), Transform::from_parts(q, quaternion(b)));
        let wanted = g::add(p, g::apply(&g::euler_zyx(a), g::add(q, g::apply(&g::euler_zyx(b), v))));
        prop_assert!(g::difference(&(outer * inner).apply(v), &wanted) < 1e-12);
        prop_assert!(g::difference(&outer.inverse().apply(outer.apply(v)), &v) < 1e-12);
        let turned = g::apply(&g::euler_zyx(a), v);
        prop_assert!(g::difference(&outer.rotate(v), &turned) < 1e-12);
    }

    #[test]
    fn poses_follow_the_world_convention(angles in angles(), p in prop::array::uniform3(-9.0..9.0)) {
        let (position, attitude) = (Vector::<Ned>::from(p), Attitude::from_euler(euler(angles)));
        let enu = WorldConvention::Enu.pose(position, attitude);
        let nwu = WorldConvention::Nwu.pose(position, attitude);
        // The two worlds differ by a quarter turn: north is y in ENU and x in NWU.
        let quarter = Transform::from_parts([0.0; 3], [FRAC_1_SQRT_2, 0.0, 0.0, FRAC_1_SQRT_2]);
        let same = quarter * nwu;
        prop_assert!(g::difference(&same.translation(), &enu.translation()) < 1e-14);
        let (a, b) = (g::quaternion_matrix(same.rotation()), g::quaternion_matrix(enu.rotation()));
        prop_assert!(g::matrix_difference(&a, &b) < 1e-14);
    }
}
