//! Lidar points in the layouts of drivers: names, types and offsets as their sources have them, values by hand.
use super::{
    clouds::lidar,
    rig::{Rig, config},
};
use rfly_bridge::{
    config::{
        SensorConfig,
        params::{CloudLayout, Organized, ScanTime},
    },
    msgs::sensor_msgs::msg::{PointCloud2, PointField},
    sensors::Options,
    time::RosTime,
};

/// Name, offset and type.
type Field = (&'static str, u32, u8);

const STAMP: RosTime = RosTime(1_700_000_012_345_000_000);
const F32: u8 = PointField::FLOAT32;
const F64: u8 = PointField::FLOAT64;
const U8: u8 = PointField::UINT8;
const U16: u8 = PointField::UINT16;
const U32: u8 = PointField::UINT32;

/// 2 rings of 3 points; one has no return. With this range a count is 0.5 m.
const RANGE: f32 = 16383.5;
const RAW: [[i16; 4]; 6] = [
    [3000, 4000, 0, 7],
    [0, 0, 0, 0],
    [-1000, 0, 0, 300],
    [0, 2000, 0, 1],
    [1, 2, 3, 4],
    [5, 6, 7, 8],
];

fn options(layout: CloudLayout) -> Options {
    Options { layout, ..Options::default() }
}

fn published(type_id: u16, options: Options) -> PointCloud2 {
    let mut rig = Rig::open(&config(type_id, 3, 2, 1, &[RANGE]), options);
    rig.accept_at(&lidar(&RAW), STAMP).unwrap();
    rig.last().unwrap()
}

fn read(cloud: &PointCloud2, index: usize, name: &str) -> f64 {
    let field = cloud.fields.iter().find(|field| field.name == name);
    let field = field.unwrap_or_else(|| panic!("no field {name}"));
    let at = index * cloud.point_step as usize + field.offset as usize;
    let bytes = &cloud.data[at..];
    match field.datatype {
        F32 => f32::from_le_bytes(bytes[..4].try_into().unwrap()).into(),
        F64 => f64::from_le_bytes(bytes[..8].try_into().unwrap()),
        U8 => bytes[0].into(),
        U16 => u16::from_le_bytes(bytes[..2].try_into().unwrap()).into(),
        U32 => u32::from_le_bytes(bytes[..4].try_into().unwrap()).into(),
        other => panic!("type {other}"),
    }
}

fn all(cloud: &PointCloud2, name: &str) -> Vec<f64> {
    let points = (cloud.width * cloud.height) as usize;
    (0..points).map(|index| read(cloud, index, name)).collect()
}

#[test]
fn names_types_and_offsets_are_those_of_the_drivers() {
    let xyz = [("x", 0, F32), ("y", 4, F32), ("z", 8, F32)];
    let rest: [(CloudLayout, u32, &[Field]); 4] = [
        (
            CloudLayout::Ouster,
            48,
            &[
                ("intensity", 16, F32),
                ("t", 20, U32),
                ("reflectivity", 24, U16),
                ("ring", 26, U8),
                ("ambient", 28, U16),
                ("range", 32, U32),
            ],
        ),
        (
            CloudLayout::Velodyne,
            22,
            &[("intensity", 12, F32), ("ring", 16, U16), ("time", 18, F32)],
        ),
        (
            CloudLayout::Hesai,
            26,
            &[("intensity", 12, F32), ("ring", 16, U16), ("timestamp", 18, F64)],
        ),
        (
            CloudLayout::Livox,
            26,
            &[("intensity", 12, F32), ("tag", 16, U8), ("line", 17, U8), ("timestamp", 18, F64)],
        ),
    ];
    for (layout, step, fields) in rest {
        for type_id in [20, 22, 23] {
            let cloud = published(type_id, options(layout));
            let found = cloud.fields.iter();
            let found: Vec<_> = found.map(|f| (f.name.as_str(), f.offset, f.datatype)).collect();
            assert_eq!(found, [&xyz, fields].concat(), "{layout:?}");
            assert!(cloud.fields.iter().all(|f| f.count == 1));
            assert_eq!((cloud.point_step, cloud.row_step), (step, 5 * step));
            assert_eq!((cloud.height, cloud.width, cloud.is_dense), (1, 5, true));
            assert_eq!(cloud.data.len(), 5 * step as usize);
        }
    }
}

#[test]
fn clouds_that_are_no_lidars_own_keep_their_fields() {
    for type_id in [7, 21] {
        let ours = Rig::open(&config(type_id, 3, 2, 1, &[1.0]), options(CloudLayout::Ouster));
        drop(ours);
    }
    let cloud = published(21, options(CloudLayout::Ouster));
    let names: Vec<_> = cloud.fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "z", "label"]);
}

#[test]
fn rings_are_those_of_the_scan_and_all_times_are_the_headers() {
    for (layout, ring) in [
        (CloudLayout::Ouster, "ring"),
        (CloudLayout::Velodyne, "ring"),
        (CloudLayout::Hesai, "ring"),
    ] {
        let cloud = published(20, options(layout));
        assert_eq!(all(&cloud, ring), [0.0, 0.0, 1.0, 1.0, 1.0], "{layout:?}");
        assert_eq!(all(&cloud, "x"), [1500.0, -500.0, 0.0, 0.5, 2.5]);
        // The class stands for the intensity.
        assert_eq!(all(&cloud, "intensity"), [7.0, 255.0, 1.0, 4.0, 8.0]);
    }
    let ouster = published(20, options(CloudLayout::Ouster));
    assert_eq!(all(&ouster, "range")[..3], [2.5e6, 5e5, 1e6]);
    assert_eq!(all(&ouster, "reflectivity")[..2], [7.0, 255.0]);
    assert_eq!(all(&ouster, "t"), [0.0; 5]);
    assert_eq!(all(&published(20, options(CloudLayout::Velodyne)), "time"), [0.0; 5]);
    let seconds = all(&published(20, options(CloudLayout::Hesai)), "timestamp");
    assert_eq!(seconds, [STAMP.0 as f64 * 1e-9; 5]);
    let livox = published(23, options(CloudLayout::Livox));
    assert_eq!(all(&livox, "timestamp"), [STAMP.0 as f64; 5]);
    assert_eq!(all(&livox, "tag"), [16.0; 5]);
    // Four lasers take turns; the second point has no return.
    assert_eq!(all(&livox, "line"), [0.0, 2.0, 3.0, 0.0, 1.0]);
}

#[test]
fn a_sweep_is_spread_over_the_period_only_if_asked_for() {
    let sweep = |layout| Options { scan_time: ScanTime::Sweep, ..options(layout) };
    // 30 Hz; columns of a lidar with rings, order of a Livox.
    let third = 33_333_333.0 / 3.0;
    let t = all(&published(20, sweep(CloudLayout::Ouster)), "t");
    assert_eq!(t, [0.0, 2.0, 0.0, 1.0, 2.0].map(|k: f64| (k * third).floor()));
    let time = all(&published(20, sweep(CloudLayout::Velodyne)), "time");
    assert!((time[1] - 2.0 * third * 1e-9).abs() < 1e-8);
    let stamps = all(&published(23, sweep(CloudLayout::Livox)), "timestamp");
    // A double holds these to 256 ns.
    let after = stamps[4] - STAMP.0 as f64;
    assert!((after - 5.0 / 6.0 * 33_333_333.0).abs() < 300.0, "{after}");
    // DataCheckFreq 0 is 30 Hz, too.
    let unset = SensorConfig { rate_hz: 0, ..config(20, 3, 2, 1, &[RANGE]) };
    let mut rig = Rig::open(&unset, sweep(CloudLayout::Ouster));
    rig.accept_at(&lidar(&RAW), STAMP).unwrap();
    assert_eq!(all(&rig.last().unwrap(), "t"), t);
}

#[test]
fn rows_are_kept_on_demand() {
    let cloud =
        published(20, Options { organized: Organized::Always, ..options(CloudLayout::Ouster) });
    assert_eq!((cloud.height, cloud.width, cloud.is_dense), (2, 3, false));
    assert!(read(&cloud, 1, "x").is_nan());
    assert_eq!(all(&cloud, "ring"), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
}

#[test]
fn the_elevation_tells_the_ring_where_the_scan_is_not_complete() {
    // 4 rings from -20 to 20 degrees: -20, -10, 0 and 10.
    let settings = config(20, 100, 4, 1, &[32.767, 0.0, -180.0, 180.0, -20.0, 20.0]);
    let mut rig = Rig::open(&settings, options(CloudLayout::Velodyne));
    let ray = |deg: f64, turn: f64| {
        let (elevation, azimuth) = (deg.to_radians(), turn.to_radians());
        let xy = elevation.cos() * 20_000.0;
        let [x, y, z] = [xy * azimuth.cos(), xy * azimuth.sin(), elevation.sin() * 20_000.0];
        [x as i16, y as i16, z as i16, 1]
    };
    let raw = [ray(-20.0, 10.0), ray(-10.0, 100.0), ray(0.0, -50.0), ray(10.0, 170.0)];
    rig.accept_at(&lidar(&raw), STAMP).unwrap();
    assert_eq!(all(&rig.last().unwrap(), "ring"), [0.0, 1.0, 2.0, 3.0]);
}

#[cfg(has_livox_ros_driver2)]
#[test]
fn a_livox_is_also_published_as_its_driver_sends_it() {
    use rfly_bridge::msgs::livox_ros_driver2::msg::CustomMsg;
    for type_id in [22, 23] {
        let mut rig = Rig::open(&config(type_id, 3, 2, 1, &[RANGE]), Options::default());
        rig.accept_at(&lidar(&RAW), STAMP).unwrap();
        let topic = format!("{}/custom", rig.main);
        let [message]: [CustomMsg; 1] = rig.recorder.messages(&topic).unwrap().try_into().unwrap();
        assert_eq!(message.header.stamp, STAMP.to_msg());
        assert_eq!(message.timebase, STAMP.0 as u64);
        assert_eq!((message.point_num, message.points.len()), (5, 5));
        let first = &message.points[0];
        assert_eq!((first.x, first.y, first.z), (1500.0, 2000.0, 0.0));
        assert_eq!((first.offset_time, first.reflectivity), (0, 7));
        assert_eq!((first.tag, first.line), (0x10, 0));
        let lines: Vec<_> = message.points.iter().map(|point| point.line).collect();
        assert_eq!(lines, [0, 2, 3, 0, 1]);
    }
}
