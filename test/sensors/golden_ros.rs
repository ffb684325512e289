//! The messages the vendor publishes, against ours: same topics, types and data; the listed differences are meant.
use super::{
    golden_points::assert_cloud,
    rig::{Rig, config_of, payloads_of},
};
use crate::support::golden::{Vector, load, number, numbers, unhex};
use rfly_bridge::config::params::AccelerationAxes;
use rfly_bridge::{
    config::params::{
        DepthEncoding, ImuFrame, ImuNoiseParams, ImuOrientation, ImuParams, WorldConvention,
    },
    msgs::sensor_msgs::msg::{Image, PointCloud2},
    sensors::{ImuConverter, Options},
    time::RosTime,
    wire::{ImuPacket, Packet, SHM_HEADER_LEN},
};
use serde_json::{Value, json};

fn published(vector: &Vector) -> &[Value] {
    vector["published"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn open(vector: &Vector) -> Rig {
    let mut settings = config_of(vector);
    settings.seq_id = u16::try_from(vector["args"]["SeqID"].as_u64().unwrap()).unwrap();
    // `mono16` counts are what the vendor publishes; 16UC1 millimetres are our default.
    Rig::open(&settings, Options { depth: DepthEncoding::Vendor, ..Options::default() })
}

/// Runs a vector of a sensor with a topic and compares with each message of the vendor. Meant differences: the first
/// frame is published too, the frame is the sensor's instead of `map`, the stamp comes from the aligner.
fn assert_same_messages(vector: &Vector) {
    let name = vector.name();
    let payloads = payloads_of(vector);
    assert_eq!(
        payloads.len(),
        published(vector).len() + 1,
        "{name}: the vendor never publishes the first frame, this bridge does"
    );
    assert_same_payloads(vector, &payloads);
}

/// The vendor's messages are those of the last payloads.
fn assert_same_payloads(vector: &Vector, payloads: &[Vec<u8>]) {
    let name = vector.name();
    let mut rig = open(vector);
    payloads.iter().for_each(|p| rig.accept(p).unwrap());
    let theirs = published(vector);
    let before = payloads.len() - theirs.len();
    for (i, their) in theirs.iter().enumerate() {
        assert_eq!(their["topic"].as_str(), Some(rig.main.as_str()), "{name}");
        let interface = rig.spec.topics[0].interface;
        let ros_1 = interface.replace("/msg/", "/");
        let their_type = their["type"].as_str().unwrap();
        assert!([interface, &*ros_1].contains(&their_type), "{name}");
        let msg = &their["msg"];
        if rig.spec.topics[0].interface.ends_with("Image") {
            let ours = &rig.published::<Image>(rig.spec.suffix())[i + before];
            let ours = json!({"height": ours.height, "width": ours.width, "step": ours.step, "encoding": ours.encoding, "is_bigendian": ours.is_bigendian});
            for (key, value) in ours.as_object().unwrap() {
                assert_eq!(value, &msg[key], "{name}: {key}");
            }
            let data = unhex(msg["data_hex"].as_str().unwrap());
            assert_eq!(
                rig.published::<Image>(rig.spec.suffix())[i + before].data,
                data,
                "{name}: data"
            );
        } else {
            let ours = &rig.published::<PointCloud2>(rig.spec.suffix())[i + before];
            let data = unhex(msg["data_hex"].as_str().unwrap());
            let points: Vec<Vec<f32>> = data
                .chunks_exact(msg["point_step"].as_u64().unwrap() as usize)
                .map(|p| {
                    p.chunks_exact(4).map(|v| f32::from_le_bytes(v.try_into().unwrap())).collect()
                })
                .collect();
            let range = number(&vector["args"]["otherParams"][0]);
            assert_cloud(name, rig.spec.kind.type_id().into(), ours, &json!(points), range);
        }
    }
}

#[test]
fn every_recorded_ros_message_is_published_the_same_or_better() {
    let vectors = load("ros2_publish");
    assert_eq!(vectors.len(), 25);
    for vector in &vectors {
        match vector.name() {
            "type1" | "type2" | "type3" | "type4" | "type9" | "type40" | "type41" | "type8_raw"
            | "type2_raw" | "type20" | "type21" | "type22" | "type23" | "type20_three_sizes"
            | "no_heartbeat" | "tf_cfg_match" | "tf_cfg_mismatch" => assert_same_messages(vector),
            // The vendor's thread dies at the second frame of these types and publishes nothing.
            name @ ("type7" | "type5_key_error") => {
                let mut rig = open(vector);
                let payloads = payloads_of(vector);
                payloads.iter().for_each(|p| rig.accept(p).unwrap());
                assert_eq!(rig.recorder.raw(&rig.main).len(), payloads.len(), "{name}");
            }
            name @ ("imu" | "imu_tf" | "imu_no_heartbeat" | "imu_ns") => {
                assert_same_imu(name, vector)
            }
            "ros_start_local" | "ros_start_remote" => {} // the clock: `test/time`
            name => panic!("unknown vector {name}"),
        }
    }
}

/// The vendor's script for ROS 1 publishes the same, and more from shared memory.
#[test]
fn every_recorded_ros_1_message_is_published_the_same_or_better() {
    let vectors = load("ros1_publish");
    assert_eq!(vectors.len(), 32);
    for vector in &vectors {
        match vector.name() {
            "ros_start_local" | "ros_start_remote" => {} // the clock: `test/time`
            // The vendor has no topic for them.
            name @ ("type5_key_error" | "shm_type8_broken") => {
                assert!(published(vector).is_empty(), "{name}");
                assert!(!open(vector).main.is_empty(), "{name}");
            }
            name if name.starts_with("imu") => assert_same_imu(name, vector),
            name if name.starts_with("shm_") => {
                let region = unhex(vector["input_hex_region"].as_str().unwrap());
                assert_eq!(region[0], 2, "{name}: a new frame");
                assert_same_payloads(vector, &[region[SHM_HEADER_LEN..].to_vec()]);
            }
            // From the second image on, `step` counts pixels instead of bytes; their ROS 2 node does it right.
            "type8_raw" => {
                let mut right = Vector(vector.0.clone());
                let second = &mut right.0["published"][1]["msg"];
                assert_eq!(second["step"], second["width"]);
                second["step"] = json!(3 * second["width"].as_u64().unwrap());
                assert_same_messages(&right);
            }
            _ => assert_same_messages(vector),
        }
    }
}

pub fn imu_params(frame: ImuFrame) -> ImuParams {
    let diagonal = |v: f64| [v, 0.0, 0.0, 0.0, v, 0.0, 0.0, 0.0, v];
    ImuParams {
        enabled: true,
        rate_hz: 200,
        topic: "imu".into(),
        frame_id: "imu_link".into(),
        frame,
        orientation: ImuOrientation::None,
        acceleration_axes: AccelerationAxes::Auto,
        angular_velocity_covariance: diagonal(0.001),
        linear_acceleration_covariance: [0.0; 9],
        noise: ImuNoiseParams::default(),
    }
}

/// Meant differences: the frame id, and `orientation_covariance`, of which REP 145 wants only the first to be -1, with
/// an orientation that is a rotation.
fn assert_same_imu(name: &str, vector: &Vector) {
    let mut converter =
        ImuConverter::new(&imu_params(ImuFrame::Flu), "imu_link", WorldConvention::Enu);
    let datagram = &vector.input_packets()[0];
    let message = converter.convert(
        ImuPacket::parse(datagram).unwrap(),
        AccelerationAxes::Frd,
        None,
        RosTime(1_500_000_000),
    );
    let message = message.expect("numbers");
    let theirs = &published(vector)[0]["msg"];
    for (ours, key) in [
        (&message.linear_acceleration, "linear_acceleration"),
        (&message.angular_velocity, "angular_velocity"),
    ] {
        assert_eq!(json!({"x": ours.x, "y": ours.y, "z": ours.z}), theirs[key], "{name}: {key}");
    }
    assert_eq!(
        message.angular_velocity_covariance.to_vec(),
        numbers(&theirs["angular_velocity_covariance"])
    );
    assert_eq!(
        message.linear_acceleration_covariance.to_vec(),
        numbers(&theirs["linear_acceleration_covariance"])
    );
    assert_eq!(message.orientation_covariance, [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(
        (message.header.frame_id.as_str(), message.header.stamp.sec, message.header.stamp.nanosec),
        ("imu_link", 1, 500_000_000)
    );
}

#[test]
fn every_recorded_imu_datagram_converts_or_is_refused() {
    let vectors = load("recv_imu");
    assert_eq!(vectors.len(), 4);
    for vector in &vectors {
        let datagram = &vector.input_packets()[0];
        match vector.name() {
            "imu_one" | "imu_no_heartbeat" => {
                let mut frd = ImuConverter::new(
                    &imu_params(ImuFrame::Frd),
                    "imu_link_frd",
                    WorldConvention::Enu,
                );
                let message = frd
                    .convert(
                        ImuPacket::parse(datagram).unwrap(),
                        AccelerationAxes::Frd,
                        None,
                        RosTime(0),
                    )
                    .unwrap()
                    .clone();
                let (a, r) = (&message.linear_acceleration, &message.angular_velocity);
                let wanted = |key: &str| {
                    numbers(&vector["decoded"][key]).iter().map(|v| *v as f32).collect::<Vec<_>>()
                };
                assert_eq!([a.x, a.y, a.z].map(|v| v as f32).to_vec(), wanted("acc"));
                assert_eq!([r.x, r.y, r.z].map(|v| v as f32).to_vec(), wanted("rate"));
                let mut flu =
                    ImuConverter::new(&imu_params(ImuFrame::Flu), "imu_link", WorldConvention::Enu);
                let flipped = flu.convert(
                    ImuPacket::parse(datagram).unwrap(),
                    AccelerationAxes::Frd,
                    None,
                    RosTime(0),
                );
                let flipped = flipped.unwrap();
                let (fa, fr) = (&flipped.linear_acceleration, &flipped.angular_velocity);
                assert_eq!(
                    [fa.x, fa.y, fa.z, fr.x, fr.y, fr.z],
                    [a.x, -a.y, -a.z, r.x, -r.y, -r.z]
                );
            }
            "imu_bad_checksum" | "imu_bad_size" => assert!(ImuPacket::parse(datagram).is_err()),
            name => panic!("unknown vector {name}"),
        }
    }
}
