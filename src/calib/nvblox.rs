//! nvblox: parameters that extend those of its examples, and a launch file with the topics.
use super::camera::{Camera, describe, require_millimetres};
use super::yaml::{real, rounded, text};
use super::{CalibOutput, Consumer, lidar::Lidar, rig::Rig};
use crate::config::params::{QosGroup, RgbEncoding};
use crate::{config::Problems, sensors::Options, wire::SensorKind};
use std::fmt::Write as _;

pub(super) const CONSUMER: Consumer =
    Consumer { name: "nvblox", source: "NVIDIA-ISAAC-ROS/isaac_ros_nvblox 319438a", write };

#[derive(Default)]
struct SensorInputs<'a> {
    depth: Option<Camera<'a>>,
    colour: Option<Camera<'a>>,
    lidar: Option<Lidar<'a>>,
}

fn write(rig: &Rig<'_>, output: &mut CalibOutput) -> Result<(), Problems> {
    let inputs = find_inputs(rig, output)?;
    if let Some(depth) = &inputs.depth {
        output.used.push(("depth", describe(depth)));
        require_millimetres(rig, depth, output);
        rig.warn_if_camera_best_effort(depth, output);
    }
    if let Some(colour) = &inputs.colour {
        output.used.push(("colour", describe(colour)));
        rig.warn_if_camera_best_effort(colour, output);
        let seq_id = colour.sensor.seq_id;
        let name = format!("sensor{seq_id}.encoding");
        let now = Options::new(&rig.settings.params, seq_id).rgb.name();
        output.need(&name, RgbEncoding::Rgb8.name(), now, "nvblox takes rgb8 and bgra8");
    }
    if let Some(lidar) = &inputs.lidar {
        rig.warn_if_best_effort(QosGroup::Cloud, &lidar.topic, output);
    }
    output.add_file("nvblox.yaml", parameters(rig, &inputs)?);
    output.add_file("nvblox.launch.yaml", launch(&inputs));
    output.add_start("ros2 launch {dir}/nvblox.launch.yaml");
    Ok(())
}

fn find_inputs<'a>(rig: &Rig<'a>, output: &mut CalibOutput) -> Result<SensorInputs<'a>, Problems> {
    let chosen = &rig.choice.cameras;
    let first = |kind| {
        let mut cameras = rig.rigid_cameras(&[kind]).into_iter();
        cameras.find(|c| chosen.is_empty() || chosen.contains(&c.sensor.seq_id))
    };
    let mut inputs = SensorInputs {
        depth: first(SensorKind::Depth),
        colour: first(SensorKind::Rgb),
        lidar: None,
    };
    let mut problems = Problems::default();
    if rig.choice.lidar.is_some() || inputs.depth.is_none() {
        let why = "of which nvblox makes an image";
        let lidar = rig.find_lidar(output).and_then(|lidar| lidar.require_rings(why));
        inputs.lidar = problems.keep(lidar);
    }
    if inputs.depth.is_none() && inputs.lidar.is_none() {
        let message = "a depth camera (TypeID 2) fixed on the vehicle is needed, or a lidar";
        problems.push("depth", message);
    }
    problems.or(inputs)
}

fn parameters(rig: &Rig<'_>, inputs: &SensorInputs<'_>) -> Result<String, Problems> {
    let base = text(&rig.base());
    let mut out = format!(
        r#"/**:
  ros__parameters:
    num_cameras: {cameras}
    use_tf_transforms: true
    global_frame: {map}
    use_depth: {depth}
    use_color: {colour}
    use_segmentation: false
    use_lidar: {lidar}
    input_qos: "DEFAULT"
    map_clearing_frame_id: {base}
    esdf_slice_bounds_visualization_attachment_frame_id: {base}
    workspace_height_bounds_visualization_attachment_frame_id: {base}
"#,
        cameras = i32::from(inputs.depth.is_some() || inputs.colour.is_some()),
        map = text(&rig.settings.params.frames.map),
        depth = inputs.depth.is_some(),
        colour = inputs.colour.is_some(),
        lidar = inputs.lidar.is_some(),
    );
    if let Some(lidar) = &inputs.lidar {
        let ((_, elevation), columns) = (lidar.angles()?, lidar.columns()?);
        let [low, high] = elevation.map(|a| real(rounded(a.to_radians())));
        let _ = write!(
            out,
            r#"    lidar_width: {columns}
    lidar_height: {rings}
    lidar_min_valid_range_m: 0.1
    use_non_equal_vertical_fov_lidar_params: true
    min_angle_below_zero_elevation_rad: {low}
    max_angle_above_zero_elevation_rad: {high}
    use_lidar_motion_compensation: false # a scan is of one instant
"#,
            rings = lidar.sensor.height,
        );
    }
    Ok(out)
}

fn launch(inputs: &SensorInputs<'_>) -> String {
    let mut out = String::from(
        r#"launch:
- node:
    pkg: "nvblox_ros"
    exec: "nvblox_node"
    name: "nvblox_node"
    output: "screen"
    param:
    - {from: "$(find-pkg-share nvblox_examples_bringup)/config/nvblox/nvblox_base.yaml"}
    - {from: "$(dirname)/nvblox.yaml"}
    remap:
"#,
    );
    let mut remap = |from: &str, to: &str| {
        let _ = writeln!(out, "    - {{from: {}, to: {}}}", text(from), text(to));
    };
    for (camera, kind) in [(&inputs.depth, "depth"), (&inputs.colour, "color")] {
        if let Some(camera) = camera {
            remap(&format!("camera_0/{kind}/image"), &camera.topic);
            remap(&format!("camera_0/{kind}/camera_info"), &camera.info_topic);
        }
    }
    if let Some(lidar) = &inputs.lidar {
        remap("pointcloud", &lidar.topic);
    }
    out
}
