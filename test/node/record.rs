//! Recordings of a running bridge: the bag as PyPI `rosbags` reads it, the raw file as `mcap` does.
use super::rig::{self, IMAGE, IMU, Rig};
use crate::support::{python, wait::wait_until};
use rfly_bridge::msgs::diagnostic_msgs::msg::DiagnosticArray;
use rfly_bridge::msgs::rcl_interfaces::msg::{Parameter, ParameterValue};
use rfly_bridge::msgs::rcl_interfaces::srv::{
    SetParametersAtomically, SetParametersAtomicallyRequest,
};
use rfly_bridge::msgs::sensor_msgs::msg::{Image, Imu};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is in a bag: type and QoS by topic, stamp and checksum of each image, stamps of the IMU.
const READ: &str = r#"
import json, sys, zlib
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
with Reader(sys.argv[1]) as bag:
    # Types that rosbags does not ship are read as the file defines them.
    store = get_typestore(Stores.ROS2_JAZZY)
    topics, images, imu, count = {}, [], [], 0
    for connection in bag.connections:
        assert connection.msgdef.data, connection.topic
        if connection.msgtype not in store.fielddefs:
            store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
        qos = connection.ext.offered_qos_profiles[0]
        topics[connection.topic] = [connection.msgtype, qos.reliability.name, qos.durability.name, qos.depth]
    for connection, time, raw in bag.messages():
        message = store.deserialize_cdr(raw, connection.msgtype)
        count += 1
        if connection.topic == sys.argv[2]:
            images.append([message.header.stamp.sec, message.header.stamp.nanosec, zlib.crc32(message.data.tobytes())])
        if connection.topic == sys.argv[3]:
            imu.append([message.header.stamp.sec, message.header.stamp.nanosec])
    assert count == bag.message_count, (count, bag.message_count)
json.dump({"topics": topics, "images": images, "imu": imu}, sys.stdout)
"#;

fn read(python: &Path, bag: &Path) -> Value {
    let output = Command::new(python)
        .args(["-c", READ])
        .arg(bag)
        .args([IMAGE, IMU])
        .output()
        .expect("python starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A directory of its own.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("rfly_{name}_{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn a_bag_has_what_was_published_and_rosbags_reads_it() {
    let Some(python) = python::interpreter() else {
        return;
    };
    let directory = directory("bag");
    let path = directory.join("flight");
    let rig = rig::start(
        &[&format!("record.directory:={}", directory.display()), "record.ros:=flight"],
        |_, _| {},
    );
    wait_until(|| rig.messages::<Image>(IMAGE).len() >= 5);
    let Rig { recorder, bridge, .. } = rig;
    drop(bridge);
    let published: Vec<_> = recorder
        .messages::<Image>(IMAGE)
        .expect("images")
        .iter()
        .map(|image| {
            let stamp = &image.header.stamp;
            serde_json::json!([stamp.sec, stamp.nanosec, crc32fast::hash(&image.data)])
        })
        .collect();
    let imu: Vec<_> = recorder
        .messages::<Imu>(IMU)
        .expect("an IMU")
        .iter()
        .map(|imu| serde_json::json!([imu.header.stamp.sec, imu.header.stamp.nanosec]))
        .collect();
    let seen = read(&python, &path);
    // The recording ends a moment before the threads do.
    let begins = |all: &[Value], recorded: &Value| {
        let recorded = recorded.as_array().expect("a list");
        assert!(recorded.len() >= 5 && all.starts_with(recorded), "{recorded:?} of {all:?}");
    };
    begins(&published, &seen["images"]);
    begins(&imu, &seen["imu"]);
    assert_eq!(
        seen["topics"][IMAGE],
        serde_json::json!(["sensor_msgs/msg/Image", "RELIABLE", "VOLATILE", 3])
    );
    assert_eq!(
        seen["topics"]["/tf_static"],
        serde_json::json!(["tf2_msgs/msg/TFMessage", "RELIABLE", "TRANSIENT_LOCAL", 1])
    );
    std::fs::remove_dir_all(directory).expect("it was there");
}

#[test]
fn a_raw_recording_has_every_datagram_of_a_sensor_without_a_subscriber_and_the_parameters() {
    let directory = directory("raw");
    let path = directory.join("flight.mcap");
    let rig = rig::start(
        &[&format!("record.directory:={}", directory.display()), "record.raw:=flight.mcap"],
        |_, recorder| recorder.set_subscribers(IMAGE, 0),
    );
    wait_until(|| rig.messages::<Imu>(IMU).len() >= 100);
    // Nobody subscribes to images: only the file says that one came.
    wait_until(|| {
        let bytes = std::fs::read(&path).expect("a recording");
        mcap::MessageStream::new(&bytes)
            .is_ok_and(|messages| messages.flatten().any(|message| message.data.len() > 1000))
    });
    let imu = format!("udp/{}", rig.ports.imu);
    drop(rig);
    let bytes = std::fs::read(&path).expect("a recording");
    let mut imu_count = 0;
    let mut payloads = 0;
    let mut sequence = std::collections::BTreeMap::<String, u32>::new();
    for message in mcap::MessageStream::new(&bytes).expect("a file") {
        let message = message.expect("a message");
        let next = sequence.entry(message.channel.topic.clone()).or_default();
        assert_eq!(message.sequence, *next, "nothing is missing");
        *next += 1;
        assert_eq!(message.data[..4], [127, 0, 0, 1]);
        let len = u32::from_be_bytes(message.data[6..10].try_into().expect("4 bytes"));
        assert_eq!(message.data.len(), 10 + len as usize, "all of the datagram");
        if message.channel.topic == imu {
            imu_count += 1;
        }
        payloads += usize::from(len > 1000);
    }
    assert!(imu_count >= 100, "{sequence:?}");
    assert!(payloads > 0, "images are whole: {sequence:?}");
    let summary = mcap::Summary::read(&bytes).expect("a summary").expect("one");
    let index = &summary.metadata_indexes[0];
    assert_eq!(index.name, "rfly_bridge/parameters");
    std::fs::remove_dir_all(directory).expect("it was there");
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error_in_diagnostics_and_the_bridge_runs() {
    let directory = directory("refused");
    let file = directory.join("file");
    std::fs::write(&file, "").expect("a file");
    let rig = rig::start(
        &[&format!("record.directory:={}", file.display()), "record.ros:=flight"],
        |_, recorder| recorder.set_subscribers("/diagnostics", 1),
    );
    let said = || {
        let arrays = rig.messages::<DiagnosticArray>("/diagnostics");
        let all = arrays.iter().flat_map(|array| &array.status);
        all.filter(|status| status.name.ends_with("recording"))
            .any(|status| status.level == 2 && status.message.contains("record.ros"))
    };
    wait_until(said);
    wait_until(|| rig.messages::<Image>(IMAGE).len() >= 2);
    std::fs::remove_dir_all(directory).expect("it was there");
}

#[test]
fn a_recording_that_cannot_be_created_is_refused_to_who_asks_for_it() {
    let directory = directory("asked");
    let file = directory.join("file");
    std::fs::write(&file, "").expect("a file");
    let rig = rig::start(&[&format!("record.directory:={}", file.display())], |_, recorder| {
        recorder.set_subscribers("/diagnostics", 1)
    });
    for name in ["record.ros", "record.raw"] {
        let request = SetParametersAtomicallyRequest {
            parameters: vec![Parameter {
                name: name.to_owned(),
                value: ParameterValue {
                    type_: 4,
                    string_value: "flight".to_owned(),
                    ..ParameterValue::default()
                },
            }],
        };
        let service = "/rfly_bridge/set_parameters_atomically";
        let answer = rig.recorder.call::<SetParametersAtomically>(service, &request);
        let result = answer.expect("an answer").result;
        assert!(!result.successful && result.reason.contains(name), "{result:?}");
    }
    let nothing = |array: &DiagnosticArray| {
        let recording = array.status.iter().find(|s| s.name.ends_with("recording"));
        recording.is_some_and(|s| s.level == 0 && s.message == "nothing is recorded")
    };
    wait_until(|| rig.messages::<DiagnosticArray>("/diagnostics").iter().any(nothing));
    std::fs::remove_dir_all(directory).expect("it was there");
}
