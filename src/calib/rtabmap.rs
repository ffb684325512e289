//! RTAB-Map: a launch file that passes the topics to RTAB-Map's own launch file.
use super::camera::{Camera, STEREO_PAIR, describe, require_millimetres, stereo_pair};
use super::{CalibOutput, Consumer, rig::Rig, yaml::text};
use crate::config::params::{ImuOrientation, TfSource};
use crate::config::{Problem, Problems};
use crate::wire::SensorKind;
use std::fmt::Write as _;

pub(super) const CONSUMER: Consumer =
    Consumer { name: "rtabmap", source: "introlab/rtabmap_ros aec4f91", write };

enum VisualInput<'a> {
    Depth { colour: Camera<'a>, depth: Camera<'a> },
    Stereo([Camera<'a>; 2]),
}

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let input = find_visual_input(rig)?;
    let params = &rig.settings.params;
    let mut arguments: Vec<(&str, String)> = vec![
        ("frame_id", rig.base()),
        ("map_frame_id", params.frames.map.clone()),
        ("vo_frame_id", rig.tree.names().of_vehicle(rig.vehicle, &params.frames.odom)),
        ("args", "--delete_db_on_start".to_owned()),
        ("approx_sync", "false".to_owned()),
    ];
    match &input {
        VisualInput::Depth { colour, depth } => {
            require_millimetres(rig, depth, output);
            for (role, camera) in [("colour", colour), ("depth", depth)] {
                output.used.push((role, describe(camera)));
                rig.warn_if_camera_best_effort(camera, output);
            }
            arguments.extend([
                ("stereo", "false".to_owned()),
                ("rgb_topic", colour.topic.clone()),
                ("depth_topic", depth.topic.clone()),
                ("camera_info_topic", colour.info_topic.clone()),
            ]);
        }
        VisualInput::Stereo([left, right]) => {
            for (role, camera) in [("left", left), ("right", right)] {
                output.used.push((role, describe(camera)));
                rig.warn_if_camera_best_effort(camera, output);
            }
            let (l, r) = (left.sensor.seq_id, right.sensor.seq_id);
            if rig.settings.pairs.frame_owner(r) != l {
                output.warn(format!(
                    "P of {} has no baseline without -p sensor{r}.stereo_left:={l}: rtabmap_ros aec4f91 takes the baseline from TF and logs that; older versions exit",
                    right.info_topic
                ));
            }
            arguments.extend([
                ("stereo", "true".to_owned()),
                ("left_image_topic", left.topic.clone()),
                ("right_image_topic", right.topic.clone()),
                ("left_camera_info_topic", left.info_topic.clone()),
                ("right_camera_info_topic", right.info_topic.clone()),
            ]);
        }
    }
    if params.imu.enabled && params.imu.orientation == ImuOrientation::Truth {
        let imu = rig.find_imu(output)?;
        arguments.push(("imu_topic", imu.topic));
        arguments.push(("wait_imu_to_init", "true".to_owned()));
    } else {
        output.warn(match params.imu.enabled {
            true => "RTAB-Map ignores an IMU without orientation, so the file leaves it out: imu.orientation:=truth adds it",
            false => "imu.enabled is false, so the file has no IMU",
        });
    }
    let why = "RTAB-Map publishes map -> odom -> base_link";
    output.need("tf.source", TfSource::External.name(), params.frames.tf_source.name(), why);
    output.add_file("rtabmap.launch.yaml", file(&arguments));
    output.add_start("ros2 launch {dir}/rtabmap.launch.yaml");
    Ok(())
}

fn find_visual_input<'a>(rig: &Rig<'a>) -> Result<VisualInput<'a>, Problems> {
    let chosen = &rig.choice.cameras;
    let chosen = |camera: &Camera<'_>| chosen.is_empty() || chosen.contains(&camera.sensor.seq_id);
    let cameras_of = |kinds: &[SensorKind]| -> Vec<_> {
        let cameras = rig.rigid_cameras(kinds).into_iter();
        cameras.filter(chosen).collect()
    };
    let images = cameras_of(&[SensorKind::Rgb, SensorKind::Grey]);
    for depth in cameras_of(&[SensorKind::Depth]) {
        let is_aligned = |image: &&Camera<'_>| rig.settings.coincide(image.sensor, depth.sensor);
        if let Some(colour) = images.iter().find(is_aligned) {
            return Ok(VisualInput::Depth { colour: colour.clone(), depth });
        }
    }
    match stereo_pair(rig, &images) {
        Some(pair) => Ok(VisualInput::Stereo(pair)),
        None => {
            let depth = "a depth camera (TypeID 2) and a camera (TypeID 1 or 3) with the same mount, size and field of view";
            let message = format!("RTAB-Map needs either {depth}, or {STEREO_PAIR}");
            Err(Problem::new("cameras", message).into())
        }
    }
}

fn file(arguments: &[(&str, String)]) -> String {
    let mut out = String::from(
        "launch:\n- include:\n    file: \"$(find-pkg-share rtabmap_launch)/launch/rtabmap.launch.py\"\n    arg:\n",
    );
    for (name, value) in arguments {
        let _ = writeln!(out, "    - {{name: {}, value: {}}}", text(name), text(value));
    }
    out
}
