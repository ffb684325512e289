//! Size, type and vehicle of a running sensor: it is closed and opened again while everything else goes on.
use super::rig::{IMAGE, IMU, INFO, Rig, start_in};
use crate::support::wait::wait_until;
use rfly_bridge::emulator::world::World;
use rfly_bridge::msgs::diagnostic_msgs::msg::DiagnosticArray;
use rfly_bridge::msgs::rcl_interfaces::msg::{
    Parameter, ParameterEvent, ParameterValue, SetParametersResult,
};
use rfly_bridge::msgs::rcl_interfaces::srv::{
    GetParameters, GetParametersRequest, SetParametersAtomically, SetParametersAtomicallyRequest,
};
use rfly_bridge::msgs::sensor_msgs::msg::{CameraInfo, Image, Imu, PointCloud2};
use rfly_bridge::msgs::std_msgs;
use rfly_bridge::msgs::tf2_msgs::msg::TFMessage;
use std::collections::BTreeSet;

const DEPTH: &str = "/rflysim/sensor0/img_depth";
const LIDAR: &str = "/rflysim/sensor0/vehicle_lidar";

/// A camera on the first of some vehicles in a world in which nothing moves.
fn still(vehicles: u16, more: &[&str]) -> Rig {
    let rig = start_in(World::still(vehicles), None, more, |_, recorder| {
        for topic in [DEPTH, LIDAR, "/diagnostics"] {
            recorder.set_subscribers(topic, 1);
        }
    });
    wait_until(|| rig.messages::<Image>(IMAGE).len() > 5);
    rig
}

fn int(value: i64) -> ParameterValue {
    ParameterValue { type_: 2, integer_value: value, ..ParameterValue::default() }
}

fn reals(values: &[f64]) -> ParameterValue {
    ParameterValue { type_: 8, double_array_value: values.to_vec(), ..ParameterValue::default() }
}

fn try_set(rig: &Rig, values: &[(&str, ParameterValue)]) -> SetParametersResult {
    let parameter = |(name, value): &(&str, ParameterValue)| Parameter {
        name: format!("sensor0.{name}"),
        value: value.clone(),
    };
    let request =
        SetParametersAtomicallyRequest { parameters: values.iter().map(parameter).collect() };
    let name = "/rfly_bridge/set_parameters_atomically";
    let answer = rig.recorder.call::<SetParametersAtomically>(name, &request);
    answer.unwrap().result
}

fn set(rig: &Rig, values: &[(&str, ParameterValue)]) {
    let result = try_set(rig, values);
    assert!(result.successful, "{}", result.reason);
}

/// Topics of the sensor that are open.
fn topics(rig: &Rig) -> BTreeSet<String> {
    let writers = rig.middleware.report().into_iter();
    let own = writers.filter(|w| w.topic.starts_with("/rflysim/sensor0/"));
    own.map(|writer| writer.topic).collect()
}

fn statuses(rig: &Rig) -> Vec<String> {
    let messages = rig.messages::<DiagnosticArray>("/diagnostics");
    let last = messages.last();
    last.map_or_else(Vec::new, |m| m.status.iter().map(|s| s.name.clone()).collect())
}

#[test]
fn the_size_of_a_running_camera_changes_in_images_and_camera_info_together() {
    let rig = still(1, &[]);
    let before = topics(&rig);
    set(&rig, &[("width", int(96)), ("height", int(64))]);
    let sizes = || -> Vec<(u32, u32)> {
        let images = rig.messages::<Image>(IMAGE);
        images.iter().map(|i| (i.width, i.height)).collect()
    };
    wait_until(|| sizes().iter().filter(|size| **size == (96, 64)).count() > 10);
    assert_eq!(topics(&rig), before, "the topics are the same");
    let mut sizes = sizes();
    sizes.dedup();
    assert_eq!(sizes, [(64, 48), (96, 64)], "first the one, then the other");
    let infos = rig.messages::<CameraInfo>(INFO);
    for image in rig.messages::<Image>(IMAGE) {
        assert_eq!(image.data.len() as u32, 3 * image.width * image.height);
        let own = infos.iter().find(|i| i.header.stamp == image.header.stamp);
        if let Some(info) = own {
            assert_eq!((info.width, info.height), (image.width, image.height));
            // 90 degrees: half the width is the focal length.
            assert!((info.k[0] - f64::from(image.width) / 2.0).abs() < 1e-3);
        }
    }
}

#[test]
fn a_camera_becomes_a_depth_camera_and_a_lidar_and_a_camera_again() {
    let rig = still(1, &["diagnostics.period_s:=0.1"]);
    let colour = topics(&rig);
    assert!(colour.contains(IMAGE) && colour.contains(INFO), "{colour:?}");

    set(&rig, &[("type_id", int(2))]);
    let depth = topics(&rig);
    assert!(depth.contains(DEPTH) && !depth.contains(IMAGE), "{depth:?}");
    wait_until(|| rig.messages::<Image>(DEPTH).len() > 5);
    let images = rig.messages::<Image>(DEPTH);
    assert!(images.iter().all(|image| image.encoding == "16UC1"));
    wait_until(|| statuses(&rig).iter().any(|s| s.ends_with("sensor0 img_depth")));
    assert!(!statuses(&rig).iter().any(|s| s.ends_with("sensor0 img_rgb")));

    let range = reals(&[50.0, 0.0, -180.0, 180.0, -15.0, 15.0]);
    let size = [("width", int(90)), ("height", int(16))];
    let lidar = [[("type_id", int(20)), ("other_params", range)], size].concat();
    set(&rig, &lidar);
    assert!(topics(&rig).contains(LIDAR) && !topics(&rig).contains(DEPTH));
    wait_until(|| rig.messages::<PointCloud2>(LIDAR).len() > 5);
    let cloud = rig.messages::<PointCloud2>(LIDAR).pop().unwrap();
    assert_eq!(cloud.header.frame_id, "sensor0_link");
    assert!(cloud.width * cloud.height > 100, "points of the yard");

    rig.recorder.clear();
    let size = [("width", int(64)), ("height", int(48))];
    set(
        &rig,
        &[
            [("type_id", int(1)), size[0].clone()],
            [
                size[1].clone(),
                (
                    "fov_deg",
                    ParameterValue { type_: 3, double_value: 60.0, ..ParameterValue::default() },
                ),
            ],
        ]
        .concat(),
    );
    assert_eq!(topics(&rig), colour);
    wait_until(|| rig.messages::<Image>(IMAGE).len() > 5);
    let info = rig.messages::<CameraInfo>(INFO).pop().unwrap();
    assert!((info.k[0] - 32.0 / 30f64.to_radians().tan()).abs() < 1e-3);
    // Meanwhile all else went on.
    wait_until(|| rig.messages::<Imu>(IMU).len() > 5);
}

#[test]
fn parameters_of_the_new_type_and_of_its_topics_are_announced() {
    let rig = still(1, &[]);
    rig.recorder.set_subscribers("/parameter_events", 1);
    rig.recorder.clear();
    let range = ("other_params", reals(&[50.0]));
    set(&rig, &[("type_id", int(22)), range]);
    let events = || rig.messages::<ParameterEvent>("/parameter_events");
    wait_until(|| events().iter().any(|event| !event.deleted_parameters.is_empty()));
    let names = |list: fn(&ParameterEvent) -> &Vec<Parameter>| -> BTreeSet<String> {
        let events = events();
        let all = events.iter().flat_map(list);
        all.map(|parameter| parameter.name.clone()).collect()
    };
    let deleted = names(|event| &event.deleted_parameters);
    assert!(deleted.contains("sensor0.fov_deg"), "{deleted:?}");
    let policy = |topic: &str| format!("qos_overrides./rflysim/sensor0/{topic}.publisher.depth");
    assert!(deleted.contains(&policy("img_rgb")), "{deleted:?}");
    let new = names(|event| &event.new_parameters);
    assert!(new.contains(&policy("livox_lidar")), "{new:?}");
    let changed = names(|event| &event.changed_parameters);
    assert_eq!(changed.len(), 2, "{changed:?}");
}

#[test]
fn a_camera_moves_to_another_vehicle_in_pictures_frames_and_tf() {
    let rig = still(2, &["vehicles:=[1, 2]", "control.link:=off"]);
    let first = rig.messages::<Image>(IMAGE).pop().unwrap();
    assert_eq!(first.header.frame_id, "copter1/sensor0_optical_frame");
    set(&rig, &[("vehicle", int(2))]);
    let of_second = |image: &Image| image.header.frame_id == "copter2/sensor0_optical_frame";
    let images = || rig.messages::<Image>(IMAGE);
    wait_until(|| images().iter().filter(|image| of_second(image)).count() > 10);
    let images = images();
    let turn = images.iter().position(of_second).unwrap();
    assert!(images[turn..].iter().all(of_second), "the old frame is gone");
    let different = |image: &Image| {
        let pairs = image.data.iter().zip(first.data.iter());
        pairs.filter(|(a, b)| a.abs_diff(**b) > 16).count() > image.data.len() / 20
    };
    assert!(!images[..turn].iter().any(different), "as the first vehicle sees it");
    assert!(images[turn..].iter().all(different), "as the second one sees it");
    // TF has it there with the stamp of the first picture that shows it.
    let parents = |message: &TFMessage| -> Vec<(String, String)> {
        let links = message.transforms.iter();
        let links = links.filter(|t| t.child_frame_id.ends_with("sensor0_link"));
        let pair = |t: &rfly_bridge::msgs::geometry_msgs::msg::TransformStamped| {
            (t.header.frame_id.clone(), t.child_frame_id.clone())
        };
        links.map(pair).collect()
    };
    let tf = rig.messages::<TFMessage>("/tf_static");
    let known = |vehicle: u16| {
        let frame = |name: &str| format!("copter{vehicle}/{name}");
        vec![(frame("base_link"), frame("sensor0_link"))]
    };
    assert_eq!(parents(&tf[0]), known(1));
    let moved = tf.iter().find(|message| parents(message) == known(2)).unwrap();
    let stamp = &images[turn].header.stamp;
    assert!(moved.transforms.iter().all(|t| t.header.stamp == *stamp));
    // The URDF of the one has it no longer, that of the other has it.
    let urdf = |vehicle: u16| {
        let topic = format!("/rflysim/copter{vehicle}/robot_description");
        rig.messages::<std_msgs::msg::String>(&topic).pop().unwrap().data
    };
    assert!(!urdf(1).contains("sensor0_link") && urdf(2).contains("copter2/sensor0_link"));
}

#[test]
fn wrong_values_are_refused_with_all_their_problems_and_change_nothing() {
    let rig = still(1, &[]);
    let before = topics(&rig);
    let refused = |values: &[(&str, ParameterValue)], texts: &[&str]| {
        let result = try_set(&rig, values);
        assert!(!result.successful);
        for text in texts {
            assert!(result.reason.contains(text), "{}", result.reason);
        }
    };
    refused(&[("type_id", int(6))], &["sensor0.type_id: 6 is the microphone, not supported"]);
    refused(&[("type_id", int(99))], &["sensor0.type_id: must be one of 1, 2, 3, 4,"]);
    refused(
        &[("width", int(0)), ("height", int(9000))],
        &[
            "sensor0.width: must be in 1..=8192 px, is 0",
            "sensor0.height: must be in 1..=8192 px, is 9000",
        ],
    );
    refused(
        &[("type_id", int(20))],
        &["sensor0.other_params[0]: the range scales the points and must be above 0 m, is 0"],
    );
    refused(&[("other_params", reals(&[0.0; 9]))], &["sensor0.other_params: must have 8"]);
    refused(
        &[("vehicle", int(7))],
        &["sensor0.vehicle: must be a vehicle that the bridge serves (1), is 7"],
    );
    refused(
        &[("type_id", int(9))],
        &["sensor0.type_id: cannot change from or to 9", "restart needed"],
    );
    refused(
        &[("type_id", int(2)), ("vehicle", int(0))],
        &["sensor0.vehicle: must be in 1..=10000 with this TargetMountType"],
    );
    assert_eq!(topics(&rig), before);
    let names = ["type_id", "width", "height", "vehicle"].map(|name| format!("sensor0.{name}"));
    let request = GetParametersRequest { names: names.to_vec() };
    let values =
        rig.recorder.call::<GetParameters>("/rfly_bridge/get_parameters", &request).unwrap().values;
    let values: Vec<_> = values.iter().map(|value| value.integer_value).collect();
    assert_eq!(values, [1, 64, 48, 1]);
    rig.recorder.clear();
    wait_until(|| rig.messages::<Image>(IMAGE).len() > 5);
    let images = rig.messages::<Image>(IMAGE);
    assert!(images.iter().all(|image| (image.width, image.height) == (64, 48)));
}

#[test]
fn a_sensor_that_changes_again_before_a_frame_shows_the_change_ends_as_it_was_asked_last() {
    let rig = still(1, &[]);
    for width in [80, 96, 112, 128] {
        set(&rig, &[("width", int(width))]);
    }
    set(&rig, &[("type_id", int(2))]);
    set(&rig, &[("type_id", int(1)), ("width", int(72))]);
    rig.recorder.clear();
    wait_until(|| rig.messages::<Image>(IMAGE).len() > 10);
    let last = rig.messages::<Image>(IMAGE).pop().unwrap();
    assert_eq!((last.width, last.height), (72, 48));
    let wide = |image: &Image| image.width != 72;
    assert!(!rig.messages::<Image>(IMAGE).iter().any(wide));
}
