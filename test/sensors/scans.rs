//! Planar scans of clouds, against walls whose distances are computed here.
use super::{
    clouds::lidar,
    rig::{Rig, config},
};
use crate::support::cloud_payload::float_cloud;
use rfly_bridge::{
    config::{
        SensorConfig,
        params::{ScanParams, ScanSource},
    },
    msgs::sensor_msgs::msg::{LaserScan, PointCloud2},
    sensors::{CameraView, Options},
    wire::append_cloud,
};
use std::f64::consts::{PI, TAU};

const RANGE: f32 = 100.0;

fn scanning(source: ScanSource, change: impl FnOnce(&mut ScanParams)) -> Options {
    let mut options = Options::default();
    options.scan.source = source;
    change(&mut options.scan);
    options
}

fn ring(options: impl FnOnce(&mut ScanParams)) -> Options {
    scanning(ScanSource::Ring, options)
}

fn band(options: impl FnOnce(&mut ScanParams)) -> Options {
    scanning(ScanSource::Band, options)
}

/// A lidar with these fields in degrees: azimuth, then elevation.
fn mechanical(columns: u16, rings: u16, [from, to, low, high]: [f32; 4]) -> SensorConfig {
    config(20, columns, rings, 1, &[RANGE, 0.0, from, to, low, high])
}

/// A ray in FLU of length 1.
fn direction(azimuth: f64, elevation: f64) -> [f64; 3] {
    let flat = elevation.cos();
    [flat * azimuth.cos(), flat * azimuth.sin(), elevation.sin()]
}

/// What a lidar sends of a scene that says how far it is in a direction.
fn rays(settings: &SensorConfig, far: impl Fn([f64; 3]) -> Option<f64>) -> Vec<[i16; 4]> {
    let p = settings.other_params.map(f64::from);
    let (columns, rings) = (settings.width, settings.height);
    let at = |from: f64, to: f64, i: u16, n: u16| {
        (from + (to - from) * f64::from(i) / f64::from(n)).to_radians()
    };
    let rays = (0..rings).flat_map(|ring| (0..columns).map(move |column| (ring, column)));
    rays.map(|(ring, column)| {
        let ray = direction(at(p[2], p[3], column, columns), at(p[4], p[5], ring, rings));
        let Some(far) = far(ray) else { return [0; 4] };
        let [x, y, z] = ray.map(|v| (v * far / f64::from(RANGE) * 32767.0).round() as i16);
        [x, y, z, 1]
    })
    .collect()
}

/// Distance to the walls x = 4, x = -3, y = 5, y = -2 along a ray.
fn room([x, y, _]: [f64; 3]) -> Option<f64> {
    let along = |v: f64, wall: f64, opposite: f64| match v {
        v if v > 1e-12 => wall / v,
        v if v < -1e-12 => opposite / v,
        _ => f64::INFINITY,
    };
    Some(along(x, 4.0, -3.0).min(along(y, 5.0, -2.0)))
}

fn scan_of(settings: &SensorConfig, options: Options, points: &[[i16; 4]]) -> LaserScan {
    let mut rig = Rig::open(settings, options);
    rig.accept(&lidar(points)).unwrap();
    rig.only("scan")
}

fn angles(scan: &LaserScan) -> impl Iterator<Item = (f64, f32)> + '_ {
    let ranges = scan.ranges.iter().copied();
    ranges.enumerate().map(|(i, range)| {
        let angle = f64::from(scan.angle_min) + i as f64 * f64::from(scan.angle_increment);
        (angle, range)
    })
}

/// Every ray ends at the walls of the room.
#[track_caller]
fn assert_sees_the_room(scan: &LaserScan, tolerance: f64) {
    assert!(!scan.ranges.is_empty());
    for (angle, range) in angles(scan) {
        let wanted = room(direction(angle, 0.0)).unwrap();
        assert!((f64::from(range) - wanted).abs() < tolerance, "at {angle}: {range}, not {wanted}");
    }
    let end = f64::from(scan.angle_min)
        + (scan.ranges.len() - 1) as f64 * f64::from(scan.angle_increment);
    assert!((f64::from(scan.angle_max) - end).abs() < 1e-5);
}

#[test]
fn a_ring_is_a_scan_all_around_with_the_angles_of_its_columns() {
    let settings = mechanical(360, 3, [-180.0, 180.0, -10.0, 20.0]);
    let scan = scan_of(&settings, ring(|_| ()), &rays(&settings, room));
    assert_sees_the_room(&scan, 0.005);
    assert_eq!(scan.ranges.len(), 360);
    assert!((f64::from(scan.angle_min) + PI).abs() < 1e-6);
    assert!((f64::from(scan.angle_increment) - TAU / 360.0).abs() < 1e-7);
    assert_eq!((scan.time_increment, scan.scan_time, scan.intensities.len()), (0.0, 1.0 / 30.0, 0));
    assert_eq!((scan.range_min, scan.range_max), (0.0, RANGE));
    assert_eq!(scan.header.frame_id, "sensor3_link");
}

#[test]
fn the_level_ring_is_taken_unless_another_is_named() {
    let settings = mechanical(4, 3, [-180.0, 180.0, -10.0, 20.0]);
    // Each ring sees a round wall of its own: the distance in the plane is 10, 20 and 30 m.
    let points = rays(&settings, |[x, y, z]| {
        let ring = (z.asin().to_degrees() + 10.0) / 10.0;
        Some((ring.round() + 1.0) * 10.0 / x.hypot(y))
    });
    for (named, metres) in [(None, 20.0), (Some(0), 10.0), (Some(2), 30.0)] {
        let scan = scan_of(&settings, ring(|scan| scan.ring = named), &points);
        assert!(scan.ranges.iter().all(|range| (range - metres).abs() < 0.01), "{scan:?}");
    }
    // Without the points that had no return, rings are told by their elevations.
    let some: Vec<_> = points.iter().skip(1).copied().collect();
    let scan = scan_of(&settings, ring(|_| ()), &some);
    assert!(scan.ranges.iter().all(|range| (range - 20.0).abs() < 0.01), "{scan:?}");
}

#[test]
fn near_points_stay_in_the_rays_of_their_columns_although_the_wire_is_coarse() {
    // A count is 3 mm: a degree at 0.1 m, and columns are a third of that apart.
    let settings = mechanical(1024, 1, [-180.0, 180.0, 0.0, 0.0]);
    let scan = scan_of(&settings, ring(|_| ()), &rays(&settings, |_| Some(0.1)));
    assert_eq!(scan.ranges.len(), 1024);
    assert!(scan.ranges.iter().all(|range| (range - 0.1).abs() < 0.005));
    // Columns that run the other way round are seen by their points.
    let settings = mechanical(360, 1, [-180.0, 180.0, 0.0, 0.0]);
    let mut points = rays(&settings, room);
    points.reverse();
    assert_sees_the_room(&scan_of(&settings, ring(|_| ()), &points), 0.2);
    // So do those of a band, and of a field that begins ahead.
    let settings = mechanical(1024, 2, [0.0, 360.0, 0.0, 0.1]);
    let scan = scan_of(&settings, band(|_| ()), &rays(&settings, |_| Some(0.1)));
    assert!(scan.ranges.iter().all(|range| (range - 0.1).abs() < 0.005));
    let scan = scan_of(&settings, ring(|_| ()), &rays(&settings, room));
    assert_sees_the_room(&scan, 0.005);
}

#[test]
fn no_return_is_infinite_or_a_number_beyond_the_range() {
    let settings = mechanical(8, 1, [-180.0, 180.0, 0.0, 0.0]);
    let ahead = rays(&settings, |[x, ..]| (x > 0.9).then_some(5.0));
    for (use_inf, wanted) in [(true, f32::INFINITY), (false, 101.0)] {
        let scan = scan_of(&settings, ring(|scan| scan.use_inf = use_inf), &ahead);
        let mut expected = [wanted; 8];
        expected[4] = scan.ranges[4];
        assert_eq!(scan.ranges, expected);
        assert!((scan.ranges[4] - 5.0).abs() < 0.005);
    }
    let limits = |scan: &mut ScanParams| (scan.range_min, scan.range_max) = (6.0, 50.0);
    let scan = scan_of(&settings, ring(limits), &ahead);
    assert_eq!((scan.range_min, scan.range_max), (6.0, 50.0));
    assert_eq!(scan.ranges, [f32::INFINITY; 8]);
}

#[test]
fn a_band_has_the_nearest_point_between_its_heights() {
    let settings = mechanical(360, 31, [-180.0, 180.0, -30.0, 32.0]);
    let points = rays(&settings, |ray| {
        // A low block of 0.5 m under the plane of the sensor stands in front of the walls.
        let block = 1.0 / ray[0].hypot(ray[1]);
        match ray[2] * block < -0.5 {
            true => Some(block),
            false => room(ray),
        }
    });
    assert_sees_the_room(&scan_of(&settings, band(|_| ()), &points), 0.01);
    let low = |scan: &mut ScanParams| (scan.min_height, scan.max_height) = (-0.6, -0.5);
    let scan = scan_of(&settings, band(low), &points);
    assert!(scan.ranges.iter().all(|range| (range - 1.0).abs() < 0.01));
    // Of two points in a ray the nearer one is seen.
    let both = |scan: &mut ScanParams| (scan.min_height, scan.max_height) = (-0.6, 0.2);
    let scan = scan_of(&settings, band(both), &points);
    assert!(scan.ranges.iter().all(|range| (range - 1.0).abs() < 0.01));
}

#[test]
fn rays_of_a_band_may_be_wider_and_cover_what_is_asked_for() {
    let settings = mechanical(720, 1, [0.0, 360.0, 0.0, 0.0]);
    let points = rays(&settings, room);
    let scan = scan_of(&settings, band(|_| ()), &points);
    assert_eq!(scan.ranges.len(), 720);
    assert!((f64::from(scan.angle_min) + PI).abs() < 1e-6, "begins behind");
    assert_sees_the_room(&scan, 0.01);
    let coarse = |scan: &mut ScanParams| {
        scan.angle_increment = PI / 180.0;
        (scan.angle_min, scan.angle_max) = (-PI / 2.0, PI / 3.0);
    };
    let scan = scan_of(&settings, band(coarse), &points);
    assert_eq!(scan.ranges.len(), 151);
    assert!((f64::from(scan.angle_min) + PI / 2.0).abs() < 1e-6);
    assert!((f64::from(scan.angle_max) - PI / 3.0).abs() < 1e-6);
    assert_sees_the_room(&scan, 0.2);
    // A sensor that looks to the left only: its last angle is not reached.
    let settings = mechanical(90, 1, [45.0, 135.0, 0.0, 0.0]);
    let scan = scan_of(&settings, ring(|_| ()), &rays(&settings, room));
    assert_eq!(scan.ranges.len(), 90);
    assert!((f64::from(scan.angle_min) - PI / 4.0).abs() < 1e-6);
    assert_sees_the_room(&scan, 0.01);
    let narrow = |scan: &mut ScanParams| (scan.angle_min, scan.angle_max) = (1.0, 1.5);
    let scan = scan_of(&settings, ring(narrow), &rays(&settings, room));
    assert!(f64::from(scan.angle_min) >= 1.0 && f64::from(scan.angle_max) <= 1.5);
    assert!((28..=29).contains(&scan.ranges.len()));
    assert_sees_the_room(&scan, 0.01);
}

#[test]
fn no_ray_of_a_depth_camera_is_without_a_point_whatever_its_lens() {
    for (fov, width, step) in
        [(60.0f32, 160u16, 1u16), (90.0, 640, 4), (120.0, 321, 2), (150.0, 64, 1)]
    {
        let mut settings = config(7, width, 5, 1, &[RANGE, f32::from(step)]);
        settings.fov_deg = fov;
        let focal = f64::from(width) / (2.0 * (f64::from(fov) / 2.0).to_radians().tan());
        let middle = (f64::from(width) - 1.0) / 2.0;
        let mut payload = Vec::new();
        let wall = (0..width).step_by(step.into()).map(|u| {
            // The wall x = 10.
            let y = -(f64::from(u) - middle) / focal * 10.0;
            [10.0, y, 0.0].map(|v| (v / f64::from(RANGE) * 32767.0).round() as i16)
        });
        let row: Vec<_> = wall.collect();
        let rows = 5u16.div_ceil(step).into();
        append_cloud([0.0; 6], row.repeat(rows), &mut payload);
        let mut rig = Rig::open(&settings, band(|_| ()));
        rig.accept(&payload).unwrap();
        let scan: LaserScan = rig.only("scan");
        let half = f64::from(fov).to_radians() / 2.0;
        assert!((f64::from(scan.angle_min) + half).abs() < 1e-6);
        assert!(f64::from(scan.angle_max) <= half + 1e-6);
        let sharpness = 1.0 - f64::from(scan.angle_increment) * half.tan();
        for (angle, range) in angles(&scan) {
            // The nearest point of a ray is at most half its width off the middle.
            let wanted = 10.0 / angle.cos();
            let (least, most) =
                (wanted * sharpness.max(0.2) - 0.05, wanted / sharpness.max(0.2) + 0.05);
            assert!(
                (least..most).contains(&f64::from(range)),
                "fov {fov}, {angle}: {range}, {wanted}"
            );
        }
        // Another lens, another scan.
        rig.recorder.clear();
        rig.sensor.set_view(&CameraView {
            fov_deg: fov / 2.0,
            fisheye_factor: 1.0,
            calibration: None,
            baseline_m: 0.0,
            frame_id: "sensor3_link".to_owned(),
        });
        rig.accept(&payload).unwrap();
        let scan: LaserScan = rig.only("scan");
        assert!((f64::from(scan.angle_min) + half / 2.0).abs() < 1e-6);
    }
}

#[test]
fn livox_lidars_and_clouds_in_metres_have_scans_too() {
    let points: Vec<[f32; 4]> = (0..272)
        .map(|i| {
            let ray = direction(TAU * f64::from(i) / 272.0 - PI, 0.0);
            let [x, y, z] = ray.map(|v| (v * room(ray).unwrap()) as f32);
            [x, y, z, 1.0]
        })
        .collect();
    let mut rig = Rig::open(&config(23, 64, 272, 1, &[70.0]), band(|_| ()));
    rig.accept(&float_cloud([1, 0], [0.0; 6], &points)).unwrap();
    let scan: LaserScan = rig.only("scan");
    assert_eq!((scan.ranges.len(), scan.range_max), (272, 70.0));
    assert_sees_the_room(&scan, 1e-4);

    let mut settings = config(22, 100, 50, 1, &[RANGE]);
    settings.fov_deg = 70.0;
    let ahead = [[8191, 0, 0, 1], [0, 8191, 0, 1]];
    let scan = scan_of(&settings, band(|_| ()), &ahead);
    assert_eq!(scan.ranges.len(), 71);
    assert!((scan.ranges[35] - 25.0).abs() < 0.01);
    assert_eq!(scan.ranges.iter().filter(|range| range.is_finite()).count(), 1);
}

#[test]
fn only_what_is_subscribed_to_is_computed() {
    let settings = mechanical(4, 2, [-180.0, 180.0, -10.0, 10.0]);
    let points = rays(&settings, room);
    let mut rig = Rig::open_unwatched(&settings, ring(|_| ()));
    assert!(!rig.sensor.is_wanted());
    rig.recorder.set_subscribers(&rig.topic("scan"), 1);
    assert!(rig.sensor.is_wanted());
    rig.accept(&lidar(&points)).unwrap();
    assert_eq!(rig.published::<LaserScan>("scan").len(), 1);
    assert!(rig.published::<PointCloud2>("vehicle_lidar").is_empty());
}

#[test]
fn a_ring_is_asked_only_of_sensors_that_have_rings() {
    let has = |type_id: u16, options: Options| {
        let rig = Rig::open(&config(type_id, 4, 2, 1, &[RANGE]), options);
        rig.topics.iter().any(|topic| topic.ends_with("/scan"))
    };
    for (type_id, of_ring, of_band) in [
        (7, false, true),
        (20, true, true),
        (21, false, false),
        (22, false, true),
        (23, false, true),
    ] {
        assert!(!has(type_id, Options::default()));
        assert_eq!(has(type_id, ring(|_| ())), of_ring, "type {type_id}");
        assert_eq!(has(type_id, band(|_| ())), of_band, "type {type_id}");
    }
}
