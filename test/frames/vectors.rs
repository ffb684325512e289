use crate::support::geometry as g;
use proptest::prelude::*;
use rfly_bridge::frames::{
    CoordinateFrame, Covariance3, Covariance6, Enu, Flu, Frd, Ned, Nwu, Optical, Vector,
};

fn vector<F: CoordinateFrame>([x, y, z]: [f64; 3]) -> Vector<F> {
    Vector::new(x, y, z)
}

fn bits<F: CoordinateFrame>(v: Vector<F>) -> [u64; 3] {
    v.to_array().map(f64::to_bits)
}

fn round_trip<A: CoordinateFrame, B: CoordinateFrame>(v: [f64; 3])
where
    Vector<B>: From<Vector<A>>,
    Vector<A>: From<Vector<B>>,
{
    let there = Vector::<B>::from(vector::<A>(v));
    assert_eq!(bits(Vector::<A>::from(there)), v.map(f64::to_bits), "{} {}", A::NAME, B::NAME);
}

proptest! {
    #[test]
    fn a_round_trip_is_exact_to_the_last_bit(v in any::<[u64; 3]>().prop_map(|v| v.map(f64::from_bits))) {
        round_trip::<Ned, Enu>(v);
        round_trip::<Ned, Nwu>(v);
        round_trip::<Enu, Nwu>(v);
        round_trip::<Frd, Flu>(v);
        round_trip::<Flu, Optical>(v);
        round_trip::<Frd, Optical>(v);
    }

    #[test]
    fn every_conversion_is_a_rotation(a in prop::array::uniform3(-1e3..1e3), b in prop::array::uniform3(-1e3..1e3)) {
        keeps_lengths_and_handedness::<Ned, Enu>(a, b);
        keeps_lengths_and_handedness::<Ned, Nwu>(a, b);
        keeps_lengths_and_handedness::<Enu, Nwu>(a, b);
        keeps_lengths_and_handedness::<Frd, Flu>(a, b);
        keeps_lengths_and_handedness::<Flu, Optical>(a, b);
        keeps_lengths_and_handedness::<Frd, Optical>(a, b);
    }

    #[test]
    fn conversions_by_way_of_a_third_frame_agree(v in prop::array::uniform3(-1e3..1e3)) {
        let ned = Vector::<Ned>::from(v);
        prop_assert_eq!(Vector::<Enu>::from(Vector::<Nwu>::from(ned)), Vector::<Enu>::from(ned));
        let frd = Vector::<Frd>::from(v);
        prop_assert_eq!(Vector::<Optical>::from(Vector::<Flu>::from(frd)), Vector::<Optical>::from(frd));
    }

    #[test]
    fn covariances_change_as_the_matrix_of_the_vectors_does(c in prop::array::uniform9(-10.0..10.0)) {
        covariance_is_m_c_mt::<Ned, Enu>(c);
        covariance_is_m_c_mt::<Enu, Ned>(c);
        covariance_is_m_c_mt::<Frd, Flu>(c);
        covariance_is_m_c_mt::<Flu, Optical>(c);
        covariance_is_m_c_mt::<Enu, Nwu>(c);
    }
}

fn matrix<A: CoordinateFrame, B: CoordinateFrame>() -> g::Matrix
where
    Vector<B>: From<Vector<A>>,
{
    g::transpose(&g::IDENTITY.map(|axis| Vector::<B>::from(vector::<A>(axis)).to_array()))
}

fn keeps_lengths_and_handedness<A: CoordinateFrame, B: CoordinateFrame>(a: [f64; 3], b: [f64; 3])
where
    Vector<B>: From<Vector<A>>,
{
    let (u, v) = (vector::<A>(a), vector::<A>(b));
    let (cu, cv) = (Vector::<B>::from(u), Vector::<B>::from(v));
    assert!((cu.norm() - u.norm()).abs() <= 1e-12 * u.norm());
    assert!((cu.dot(cv) - u.dot(v)).abs() <= 1e-9);
    // A mirror would negate this.
    let crossed = Vector::<B>::from(u.cross(v));
    assert!((cu.cross(cv) - crossed).norm() <= 1e-9, "{} to {} mirrors", A::NAME, B::NAME);
    assert_eq!(g::determinant(&matrix::<A, B>()), 1.0);
}

fn covariance_is_m_c_mt<A: CoordinateFrame, B: CoordinateFrame>(c: [f64; 9])
where
    Vector<B>: From<Vector<A>>,
{
    let m = matrix::<A, B>();
    let square: g::Matrix = std::array::from_fn(|i| std::array::from_fn(|j| c[3 * i + j]));
    let wanted = g::product(&g::product(&m, &square), &g::transpose(&m));
    let got = Covariance3::<A>::from_rows(c).into_frame::<B>().to_rows();
    assert_eq!(got, <[f64; 9]>::try_from(wanted.as_flattened()).unwrap());

    // In 6x6 every 3x3 block changes that way.
    let mut rows = [0.0; 36];
    for (i, row) in rows.chunks_exact_mut(6).enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell = c[3 * (i % 3) + j % 3] + (10 * (i / 3) + 20 * (j / 3)) as f64;
        }
    }
    let got = Covariance6::<A>::from_rows(rows).into_frame::<B>().to_rows();
    for (block_row, block_column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let at = |rows: &[f64; 36], i: usize, j: usize| {
            rows[6 * (3 * block_row + i) + 3 * block_column + j]
        };
        let block: g::Matrix = std::array::from_fn(|i| std::array::from_fn(|j| at(&rows, i, j)));
        let wanted = g::product(&g::product(&m, &block), &g::transpose(&m));
        let seen: g::Matrix = std::array::from_fn(|i| std::array::from_fn(|j| at(&got, i, j)));
        assert_eq!(seen, wanted);
    }
}

#[test]
fn the_axes_are_where_rep_103_wants_them() {
    let north = Vector::<Ned>::new(1.0, 0.0, 0.0);
    let east = Vector::<Ned>::new(0.0, 1.0, 0.0);
    let down = Vector::<Ned>::new(0.0, 0.0, 1.0);
    assert_eq!(Vector::<Enu>::from(north), Vector::new(0.0, 1.0, 0.0));
    assert_eq!(Vector::<Enu>::from(east), Vector::new(1.0, 0.0, 0.0));
    assert_eq!(Vector::<Enu>::from(down), Vector::new(0.0, 0.0, -1.0));
    assert_eq!(Vector::<Nwu>::from(north), Vector::new(1.0, 0.0, 0.0));
    assert_eq!(Vector::<Nwu>::from(east), Vector::new(0.0, -1.0, 0.0));
    let (forward, right) = (Vector::<Frd>::new(1.0, 0.0, 0.0), Vector::<Frd>::new(0.0, 1.0, 0.0));
    assert_eq!(Vector::<Flu>::from(right), Vector::new(0.0, -1.0, 0.0));
    assert_eq!(Vector::<Optical>::from(forward), Vector::new(0.0, 0.0, 1.0));
    assert_eq!(Vector::<Optical>::from(right), Vector::new(1.0, 0.0, 0.0));
    assert_eq!(
        Vector::<Optical>::from(Vector::<Flu>::new(0.0, 0.0, 1.0)),
        Vector::new(0.0, -1.0, 0.0)
    );
}

#[test]
fn an_unknown_covariance_stays_where_it_is() {
    let rows = [f64::INFINITY, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, f64::NAN];
    let seen = Covariance3::<Ned>::from_rows(rows).into_frame::<Enu>().to_rows();
    assert_eq!((seen[0], seen[4]), (2.0, f64::INFINITY));
    assert!(seen[8].is_nan());
    assert_eq!(seen.iter().filter(|v| v.is_nan()).count(), 1);
}
