//! Recorded clouds, ranges and lists, over UDP and in shared memory, against the values the vendor's client got.
use super::rig::{Rig, config, config_of, payloads_of};
use crate::support::golden::{Vector, load, number, numbers, unhex};
use rfly_bridge::{
    config::params::{DepthEncoding, WorldConvention},
    msgs::{
        sensor_msgs::msg::{Image, PointCloud2, PointField, Range},
        vision_msgs::msg::{Detection2DArray, Detection3DArray},
    },
    sensors::Options,
    wire::SHM_HEADER_LEN,
};
use serde_json::Value;

/// Points of a message: x, y, z and the label, if it has one.
pub fn points(cloud: &PointCloud2) -> Vec<([f32; 3], Option<f32>)> {
    let word = |p: &[u8], at: usize| <[u8; 4]>::try_from(&p[at..at + 4]).unwrap();
    let chunks = cloud.data.chunks_exact(cloud.point_step as usize);
    chunks
        .map(|p| {
            let label = (cloud.point_step == 16).then(|| f32::from_le_bytes(word(p, 12)));
            ([0, 4, 8].map(|at| f32::from_le_bytes(word(p, at))), label)
        })
        .collect()
}

/// The vendor's points in the axes of the message: type 21 is in the simulator's world frame, NED, and leaves in ENU.
fn wanted_position(type_id: u64, p: &[f64]) -> [f32; 3] {
    match type_id {
        21 => [p[1] as f32, p[0] as f32, -p[2] as f32],
        _ => [p[0] as f32, p[1] as f32, p[2] as f32],
    }
}

/// Compares a cloud with recorded values; `range` undoes the vendor's scaling of the class (docs/wire/traps.md, cloud-class).
pub fn assert_cloud(name: &str, type_id: u64, cloud: &PointCloud2, values: &Value, range: f64) {
    let values: Vec<Vec<f64>> = values.as_array().unwrap().iter().map(numbers).collect();
    let found = points(cloud);
    assert_eq!(
        (cloud.height, cloud.width as usize, found.len()),
        (1, values.len(), values.len()),
        "{name}: size"
    );
    let fields: Vec<_> =
        cloud.fields.iter().map(|f| (f.name.as_str(), f.offset, f.datatype, f.count)).collect();
    let f32_at = |n, o| (n, o, PointField::FLOAT32, 1);
    let mut wanted = vec![f32_at("x", 0), f32_at("y", 4), f32_at("z", 8)];
    if type_id != 7 {
        wanted.push(f32_at("label", 12));
    }
    assert_eq!(fields, wanted, "{name}");
    assert_eq!(cloud.row_step, cloud.point_step * cloud.width, "{name}");
    assert!(!cloud.is_bigendian && cloud.is_dense, "{name}");
    for ((position, label), value) in found.iter().zip(&values) {
        let wanted = wanted_position(type_id, value);
        for axis in 0..3 {
            let step = wanted[axis].abs() * f32::EPSILON;
            assert!(
                (position[axis] - wanted[axis]).abs() <= step,
                "{name}: {position:?} instead of {wanted:?}"
            );
        }
        if let Some(label) = label {
            let class = (value[3] * 32767.0 / range).round() as i16;
            assert_eq!(*label, f32::from(class as u16), "{name}: class {class}");
        }
    }
}

fn assert_range(name: &str, rig: &Rig, wanted: &Value) {
    let range: Range = rig.only("range");
    assert_eq!(f64::from(range.range), number(&wanted["Distance"]), "{name}");
    assert_eq!(
        (range.radiation_type, range.min_range, range.max_range),
        (Range::INFRARED, 0.0, 200.0)
    );
    assert_eq!(range.header.frame_id, "sensor3_link");
    let hits: Detection3DArray = rig.only("range/hit");
    assert_eq!(hits.header.frame_id, "map");
    let hit = &hits.detections[0];
    assert_eq!(
        hit.results[0].hypothesis.class_id,
        number(&wanted["CopterID"]).to_string(),
        "{name}"
    );
    let enu = |key: &str| {
        let v = numbers(&wanted[key]);
        [v[1], v[0], -v[2]]
    };
    let point = &hit.results[0].pose.pose.position;
    assert_eq!([point.x, point.y, point.z], enu("ImpactPoint"), "{name}: hit");
    let centre = &hit.bbox.center.position;
    assert_eq!([centre.x, centre.y, centre.z], enu("BoxOri"), "{name}: box");
}

fn assert_boxes(name: &str, rig: &Rig, list: &Value) {
    let found: Detection2DArray = rig.only("detections");
    assert_eq!(found.header.frame_id, "sensor3_optical_frame");
    let wanted: Vec<Vec<f64>> = list.as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(found.detections.len(), wanted.len(), "{name}");
    for (detection, wanted) in found.detections.iter().zip(wanted) {
        let [id, score, left, top, right, bottom] = wanted[..] else {
            panic!("{name}: {wanted:?}")
        };
        assert_eq!(detection.results[0].hypothesis.class_id, id.to_string());
        assert_eq!(detection.results[0].hypothesis.score, score);
        let (b, c) = (&detection.bbox, &detection.bbox.center.position);
        let edges = [
            c.x - b.size_x / 2.0,
            c.y - b.size_y / 2.0,
            c.x + b.size_x / 2.0,
            c.y + b.size_y / 2.0,
        ];
        assert_eq!(edges, [left, top, right, bottom], "{name}");
        assert_eq!(detection.header, found.header);
    }
}

fn assert_targets(name: &str, rig: &Rig, list: &Value) {
    let found: Detection3DArray = rig.only("targets");
    assert_eq!(found.header.frame_id, "sensor3_link");
    let wanted: Vec<Vec<f64>> = list.as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(found.detections.len(), wanted.len(), "{name}");
    for (detection, wanted) in found.detections.iter().zip(wanted) {
        assert_eq!(detection.results[0].hypothesis.class_id, wanted[0].to_string());
        for p in [&detection.results[0].pose.pose.position, &detection.bbox.center.position] {
            assert_eq!([p.x, p.y, p.z], wanted[1..], "{name}");
        }
    }
}

/// Compares what a rig published with what the vendor's client decoded.
fn assert_decoded(name: &str, vector: &Vector, rig: &Rig) {
    let (decoded, args) = (&vector["decoded"], &vector["args"]);
    let range = || number(&args["otherParams"][0]);
    match args["TypeID"].as_u64().unwrap() {
        5 => assert_range(name, rig, &decoded["DistanceSensor"]),
        30 => assert_boxes(name, rig, &decoded["list"]),
        31 => assert_targets(name, rig, &decoded["list"]),
        type_id @ (7 | 20..=23) => {
            let cloud: PointCloud2 = rig.only(rig.spec.suffix());
            assert_cloud(name, type_id, &cloud, &decoded["values"], range());
            let frame = if type_id == 21 { "map" } else { "sensor3_link" };
            assert_eq!(cloud.header.frame_id, frame, "{name}");
        }
        _ => {
            let image: Image = rig.only(rig.spec.suffix());
            assert_eq!(image.data, unhex(decoded["data_hex"].as_str().unwrap()), "{name}");
            assert_eq!(image.header.frame_id, "sensor3_optical_frame");
        }
    }
}

#[test]
fn every_recorded_cloud_range_and_list_has_the_vendors_values_or_better() {
    let vectors = load("recv_points_udp");
    assert_eq!(vectors.len(), 19);
    for vector in &vectors {
        let name = vector.name();
        let mut rig = Rig::open(&config_of(vector), Options::default());
        let errors: Vec<_> = payloads_of(vector)
            .iter()
            .filter_map(|p| rig.accept(p).err())
            .map(|e| e.cause().name())
            .collect();
        match name {
            // The vendor's thread dies; the bridge counts and goes on.
            "lidar20_truncated_raises" => {
                assert_eq!(errors, ["cloud_form"], "{name}");
                assert!(rig.last::<PointCloud2>().is_none());
            }
            // The vendor ignores lidars in mode 3, and dies of a range record in mode 2: the layout is the same.
            "lidar20_mode3_ignored" => {
                assert_eq!(errors, [""; 0], "{name}");
                assert_eq!(rig.only::<PointCloud2>("vehicle_lidar").width, 20);
            }
            "range5_mode2_raises" => {
                assert_eq!(errors, [""; 0], "{name}");
                assert_eq!(rig.only::<Range>("range").range, 12.75);
            }
            "lidar20_zero_range_param" => {
                let cloud: PointCloud2 = rig.only("vehicle_lidar");
                assert!(points(&cloud).iter().all(|(p, _)| *p == [0.0; 3]), "{name}");
                assert!(
                    points(&cloud).iter().any(|(_, label)| *label != Some(0.0)),
                    "{name}: the class does not scale"
                );
            }
            // The vendor's thread dies after the third target; the list itself is right.
            "detect31_three_bug"
            | "lidar20_20pts"
            | "lidar21_20pts"
            | "lidar22_20pts"
            | "lidar23_20pts"
            | "lidar20_multi"
            | "lidar20_extra_bytes_ignored"
            | "lidar20_empty"
            | "depthcloud7"
            | "depthcloud7_mode3"
            | "range5"
            | "range5_mode3_hdr6"
            | "detect30"
            | "detect30_empty"
            | "detect31_one" => {
                assert_eq!(errors, [""; 0], "{name}");
                assert_decoded(name, vector, &rig);
            }
            _ => panic!("unknown vector {name}"),
        }
    }
}

#[test]
fn every_recorded_shared_memory_block_has_the_vendors_values_or_better() {
    let vectors = load("recv_shm");
    assert_eq!(vectors.len(), 21);
    let vendor_depth = Options { depth: DepthEncoding::Vendor, ..Options::default() };
    for vector in &vectors {
        let name = vector.name();
        let args = &vector["args"];
        let int = |key: &str| u16::try_from(args[key].as_u64().unwrap()).unwrap();
        let params: Vec<f32> =
            args["otherParams"].as_array().unwrap().iter().map(|p| number(p) as f32).collect();
        let settings = config(int("TypeID"), int("DataWidth"), int("DataHeight"), 0, &params);
        let region = vector.input_region();
        let mut rig = Rig::open(&settings, vendor_depth);
        match name {
            // The flag says that there is nothing to read; `test/transport` covers it.
            "shm_flag0_ignored" | "shm_flag1_ignored" | "shm_flag3_ignored"
            | "shm_flag4_ignored" => {
                assert_ne!(region[0], 2, "{name}");
                continue;
            }
            // The vendor never decodes this type from shared memory.
            "shm_mid360_23_never_decoded" => {
                rig.accept(&region[SHM_HEADER_LEN..]).unwrap();
                let count = i32::from_le_bytes(region[33..37].try_into().unwrap());
                let cloud: PointCloud2 = rig.only("mid360_lidar");
                assert!(count > 0 && i64::from(cloud.width) == i64::from(count), "{name}: {count}");
            }
            // The vendor's thread dies after the range record; the fields are right.
            "shm_range5_bug" | "shm_type1" | "shm_type2" | "shm_type3" | "shm_type4"
            | "shm_type8" | "shm_type9" | "shm_type40" | "shm_type41" | "shm_lidar20"
            | "shm_lidar21" | "shm_lidar22" | "shm_depthcloud7" | "shm_detect30"
            | "shm_detect31" | "shm_no_heartbeat" => {
                assert_eq!(region[0], 2, "{name}");
                rig.accept(&region[SHM_HEADER_LEN..]).unwrap();
                assert_decoded(name, vector, &rig);
            }
            _ => panic!("unknown vector {name}"),
        }
    }
}

#[test]
fn a_world_cloud_keeps_the_simulators_x_axis_with_nwu() {
    let vector = crate::support::golden::load_one("recv_points_udp", "lidar21_20pts");
    let mut rig = Rig::open(
        &config_of(&vector),
        Options { world: WorldConvention::Nwu, ..Options::default() },
    );
    rig.accept(&payloads_of(&vector)[0]).unwrap();
    let cloud: PointCloud2 = rig.only("global_lidar");
    let values: Vec<Vec<f64>> =
        vector["decoded"]["values"].as_array().unwrap().iter().map(numbers).collect();
    for ((position, _), v) in points(&cloud).iter().zip(values) {
        assert_eq!(*position, [v[0] as f32, -v[1] as f32, -v[2] as f32]);
    }
}
