//! Clouds: scaling, rows, missing points.
use super::{
    golden_points::points,
    rig::{Rig, config},
};
use proptest::prelude::*;
use rfly_bridge::{
    config::params::{DepthAxes, LabelType, Organized, WorldConvention},
    msgs::sensor_msgs::msg::PointCloud2,
    sensors::{Converted, FourthField, MissingPoints, Options, PointAxes, convert, per_count},
    wire::append_cloud,
};
use zerocopy::little_endian::I16;

pub(super) fn lidar(raw: &[[i16; 4]]) -> Vec<u8> {
    let mut payload = Vec::new();
    append_cloud([0.0; 6], raw.iter().copied(), &mut payload);
    payload
}

#[test]
fn a_complete_lidar_scan_has_rings_as_rows_and_nan_where_nothing_came_back() {
    let raw = [[1, 2, 3, 4], [0, 0, 0, 9], [5, 0, 0, 0], [0, 0, 6, 1], [0, 7, 0, 2], [8, 8, 8, -1]];
    let mut rig = Rig::open(&config(20, 3, 2, 1, &[32.767]), Options::default());
    rig.accept(&lidar(&raw)).unwrap();
    let cloud: PointCloud2 = rig.only("vehicle_lidar");
    assert_eq!(
        (cloud.height, cloud.width, cloud.point_step, cloud.row_step, cloud.is_dense),
        (2, 3, 16, 48, false)
    );
    for ((position, label), raw) in points(&cloud).iter().zip(raw) {
        assert_eq!(*label, Some(f32::from(raw[3] as u16)));
        if raw[..3] == [0; 3] {
            assert!(position.iter().all(|v| v.is_nan()));
        } else {
            let wanted = [raw[0], raw[1], raw[2]].map(|v| f32::from(v) * 0.001);
            assert!(
                position.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-8),
                "{position:?} {wanted:?}"
            );
        }
    }
}

#[test]
fn a_complete_scan_without_gaps_is_dense() {
    let mut rig = Rig::open(&config(21, 2, 2, 1, &[10.0]), Options::default());
    rig.accept(&lidar(&[[1, 1, 1, 0]; 4])).unwrap();
    let cloud: PointCloud2 = rig.only("global_lidar");
    assert_eq!((cloud.height, cloud.width, cloud.is_dense), (2, 2, true));
}

#[test]
fn missing_points_are_left_out_where_there_are_no_rows() {
    let raw = [[0, 0, 0, 1], [1, 2, 3, 4], [0, 0, 0, 2], [5, 6, 7, 8]];
    let cases = [
        (config(20, 3, 2, 1, &[1.0]), Options::default()), // not all points of the scan
        (config(22, 2, 2, 1, &[1.0]), Options::default()), // petals are no rows
        (config(23, 2, 2, 1, &[1.0]), Options::default()),
        (
            config(20, 2, 2, 1, &[1.0]),
            Options { organized: Organized::Never, ..Options::default() },
        ),
    ];
    for (settings, options) in cases {
        let mut rig = Rig::open(&settings, options);
        rig.accept(&lidar(&raw)).unwrap();
        let cloud: PointCloud2 = rig.last().unwrap();
        assert_eq!(
            (cloud.height, cloud.width, cloud.row_step, cloud.data.len(), cloud.is_dense),
            (1, 2, 32, 32, true)
        );
        assert_eq!(points(&cloud).iter().map(|p| p.1.unwrap()).collect::<Vec<_>>(), [4.0, 8.0]);
    }
}

#[test]
fn a_depth_cloud_has_every_nth_pixel_as_rows() {
    for (width, height, step, columns, rows) in
        [(8, 6, 2.0, 4, 3), (9, 7, 2.0, 5, 4), (4, 3, 1.0, 4, 3), (4, 3, 0.0, 4, 3)]
    {
        let mut rig = Rig::open(&config(7, width, height, 1, &[100.0, step]), Options::default());
        let mut payload = Vec::new();
        append_cloud([0.0; 6], vec![[1i16, 2, 3]; columns * rows], &mut payload);
        rig.accept(&payload).unwrap();
        let cloud: PointCloud2 = rig.only("Depth_Cloud");
        assert_eq!(
            (cloud.width as usize, cloud.height as usize, cloud.point_step),
            (columns, rows, 12)
        );
        assert_eq!(cloud.header.frame_id, "sensor3_link");
    }
}

#[test]
fn every_wire_value_gives_the_vendors_f32_for_usual_ranges() {
    let raw: Vec<[I16; 3]> =
        (i16::MIN..=i16::MAX).map(|v| [I16::new(v), I16::new(1), I16::new(v)]).collect();
    let mut out = vec![0; raw.len() * 12];
    for range in [0.5f32, 1.0, 30.0, 50.0, 100.0, 123.4, 200.0, 260.0] {
        let converted = convert(
            &raw,
            PointAxes::sensor(DepthAxes::Flu, per_count(range)),
            MissingPoints::Nan,
            FourthField::None,
            &mut out,
        );
        assert_eq!(converted, Converted { points: raw.len(), is_dense: true });
        for (v, p) in (i16::MIN..=i16::MAX).zip(out.chunks_exact(12)) {
            let vendor = (f64::from(v) / 32767.0 * f64::from(range)) as f32;
            let found = f32::from_le_bytes(p[..4].try_into().unwrap());
            assert!(
                (found - vendor).abs() <= vendor.abs() * f32::EPSILON,
                "{v} of {range} m: {found}, vendor {vendor}"
            );
        }
    }
}

proptest! {
    #[test]
    fn any_cloud_converts_as_plain_arithmetic_says(
        raw in prop::collection::vec(prop::array::uniform4(prop_oneof![Just(0i16), any::<i16>()]), 0..70usize),
        range in 0.1f32..500.0,
        which in 0..3usize,
        remove: bool,
        integer: bool,
    ) {
        let label = if integer { LabelType::Uint32 } else { LabelType::Float32 };
        let unit = per_count(range);
        let axes = [
            PointAxes::sensor(DepthAxes::Flu, unit),
            PointAxes::world(WorldConvention::Enu, unit),
            PointAxes::world(WorldConvention::Nwu, unit),
        ][which];
        let place = |v: [f64; 3]| match which {
            0 => v,
            1 => [v[1], v[0], -v[2]],
            _ => [v[0], -v[1], -v[2]],
        };
        let wire: Vec<[I16; 4]> = raw.iter().map(|p| p.map(I16::new)).collect();
        let missing = if remove { MissingPoints::Removed } else { MissingPoints::Nan };
        let mut out = vec![1; raw.len() * 16];
        let converted = convert(&wire, axes, missing, FourthField::Label(label), &mut out);
        let gone = |p: &[i16; 4]| p[..3] == [0; 3];
        let kept: Vec<_> = raw.iter().filter(|p| !(remove && gone(p))).collect();
        prop_assert_eq!(converted, Converted { points: kept.len(), is_dense: remove || !raw.iter().any(gone) });
        for (p, bytes) in kept.iter().zip(out.chunks_exact(16)) {
            let word = |i: usize| <[u8; 4]>::try_from(&bytes[i..i + 4]).unwrap();
            let class = match label {
                LabelType::Float32 => f32::from_le_bytes(word(12)) as u32,
                LabelType::Uint32 => u32::from_le_bytes(word(12)),
            };
            prop_assert_eq!(class, u32::from(p[3] as u16));
            let wanted = place([0, 1, 2].map(|i| f64::from(p[i]) * f64::from(range) / 32767.0));
            for (axis, wanted) in wanted.into_iter().enumerate() {
                let found = f32::from_le_bytes(word(4 * axis));
                if gone(p) {
                    prop_assert!(found.is_nan());
                } else {
                    prop_assert!((f64::from(found) - wanted).abs() <= wanted.abs() * 1.2e-7);
                }
            }
        }
    }
}
