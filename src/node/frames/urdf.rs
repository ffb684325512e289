//! URDF of a vehicle with its sensors: the frames of [`FrameTree`], with visual shapes.
use crate::config::{Problem, Problems, SensorConfig};
use crate::frames::{
    Attitude, Flu, FrameTree, Mount, SensorMount, Transform, WorldConvention, mount_transform,
};
use crate::node::{error::NodeError, mesh, settings::Settings};
use crate::wire::{Optics, Payload, SensorKind};
use std::fmt::Write as _;

/// Name of the robot, and of its xacro macro.
const ROBOT: &str = "rflysim_vehicle";

/// Output format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UrdfForm {
    /// The robot, with the frame names of the parameters.
    Urdf,
    /// A macro with the argument `prefix`, to include in the user's own description.
    Xacro,
}

/// Returns the description of a vehicle, whose links and joints have the names and poses of TF.
///
/// Frames that move or stay level get a floating joint, which robot_state_publisher leaves to the bridge. Sensors on the
/// ground belong to no vehicle and are omitted.
pub fn robot_description(
    settings: &Settings,
    vehicle: u16,
    form: UrdfForm,
) -> Result<String, NodeError> {
    let vehicles = settings.vehicles();
    if !vehicles.contains(&vehicle) {
        let configured: Vec<_> = vehicles.iter().map(u16::to_string).collect();
        let message = format!("not configured; configured: {}", configured.join(", "));
        let problem = Problem::new(format!("vehicle {vehicle}"), message);
        return Err(Problems(vec![problem]).into());
    }
    let mut names = settings.frame_names();
    if form == UrdfForm::Xacro {
        names.prefix = "${prefix}".to_owned();
    }
    // Only this vehicle: the macro has one prefix, so frames of other vehicles would have the same names.
    let mounts: Vec<_> = carried(settings, vehicle).into_iter().map(|(_, mount)| mount).collect();
    let tree = FrameTree::new(names, &[vehicle], &mounts).map_err(NodeError::Frames)?;
    Ok(write(&model(settings, &tree, vehicle), form))
}

/// Returns the frames that have a fixed joint in the description of a vehicle.
pub(super) fn fixed_frames(settings: &Settings, tree: &FrameTree, vehicle: u16) -> Vec<String> {
    let model = model(settings, tree, vehicle);
    let fixed = model.joints.into_iter().filter(|joint| joint.is_fixed);
    fixed.map(|joint| joint.child).collect()
}

/// Returns the sensors that a vehicle carries, directly or through other sensors, and their mounts.
fn carried(settings: &Settings, vehicle: u16) -> Vec<(&SensorConfig, SensorMount)> {
    let sensors = settings.sensors.iter().zip(settings.mounts());
    sensors.filter(|(sensor, _)| settings.vehicle_of(sensor) == Some(vehicle)).collect()
}

struct UrdfModel {
    root: String,
    joints: Vec<Joint>,
    /// Whether clients that draw the vehicle can read the mesh.
    has_mesh: bool,
}

struct Joint {
    parent: String,
    child: String,
    pose: Transform,
    is_fixed: bool,
    /// `None`: the link has no visual shape.
    shape: Option<LinkShape>,
}

/// Visual shape of a link: roll, pitch, yaw; geometry; colour.
type LinkShape = ([f64; 3], String, Colour);

fn shape_of(kind: SensorKind) -> Option<LinkShape> {
    let along_x = [0.0, std::f64::consts::FRAC_PI_2, 0.0];
    let row = kind.row();
    match (row.payload, row.optics) {
        // Lists computed by the renderer: no device to show.
        (Payload::Boxes | Payload::Targets, _) => None,
        (Payload::Range, _) => Some((along_x, cylinder(0.01, 0.02), RED)),
        (_, Optics::Rings | Optics::Rosette | Optics::Mid360) => {
            Some(([0.0; 3], cylinder(0.035, 0.05), BLACK))
        }
        _ => Some(([0.0; 3], boxed([0.02, 0.05, 0.03]), BLUE)),
    }
}

fn model(settings: &Settings, tree: &FrameTree, vehicle: u16) -> UrdfModel {
    let root = tree.base_link(vehicle);
    let mut joints = Vec::new();
    let mut add = |parent: &str, child: &str, pose: Transform, is_fixed, shape| {
        let (parent, child) = (parent.to_owned(), child.to_owned());
        joints.push(Joint { parent, child, pose, is_fixed, shape });
    };
    for frame in [tree.imu_link(vehicle), format!("{root}_frd")] {
        if let Some(pose) = tree.lookup(&root, &frame) {
            add(&root, &frame, pose, true, None);
        }
    }
    for (sensor, mount) in carried(settings, vehicle) {
        let Some(frames) = tree.sensor(sensor.seq_id) else { continue };
        let parent = match mount.mount {
            Mount::Sensor(carrier) => tree.sensor(carrier).map_or(&root, |c| &c.link),
            _ => &root,
        };
        let shape = shape_of(sensor.kind);
        let level = matches!(mount.mount, Mount::VehicleLevel(_));
        // In TF a level sensor is a child of the map; here it has its pose on a vehicle at rest.
        let pose =
            if level { pose_at_rest(vehicle, &mount) } else { tree.lookup(parent, &frames.link) };
        let is_fixed = !level && !mount.moving;
        add(parent, &frames.link, pose.unwrap_or_default(), is_fixed, shape);
        if let Some(optical) = tree.lookup(&frames.link, &frames.optical)
            && frames.optical != frames.link
        {
            add(&frames.link, &frames.optical, optical, true, None);
        }
    }
    UrdfModel { root, joints, has_mesh: mesh::is_served(settings) }
}

fn pose_at_rest(vehicle: u16, mount: &SensorMount) -> Option<Transform> {
    let fixed = Mount::VehicleCentre(vehicle);
    let world = WorldConvention::Enu; // has no effect on mounts of a vehicle
    let (_, pose) = mount_transform(fixed, mount.position_frd, mount.orientation, world, 0.0);
    Some(pose)
}

fn write(model: &UrdfModel, form: UrdfForm) -> String {
    let mut out = String::from("<?xml version=\"1.0\"?>\n");
    let is_xacro = form == UrdfForm::Xacro;
    if is_xacro {
        out += "<!-- <xacro:include filename=\"this file\"/> <xacro:rflysim_vehicle prefix=\"copter1/\"/> -->\n";
        let _ = writeln!(
            out,
            "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n<xacro:macro name=\"{ROBOT}\" params=\"prefix:=''\">"
        );
    } else {
        let _ = writeln!(out, "<robot name=\"{ROBOT}\">");
    }
    let _ = writeln!(out, "  <link name=\"{}\">", escaped(&model.root));
    write_body(&mut out, model.has_mesh);
    out += "  </link>\n";
    for joint in &model.joints {
        write_link(&mut out, joint);
        write_joint(&mut out, joint);
    }
    if is_xacro {
        out += "</xacro:macro>\n";
    }
    out + "</robot>\n"
}

/// A generic quadrotor. The boxes of body and arms lie inside the mesh, and are visible where it cannot be read; the nose and
/// the rotors, which have other colours, lie outside.
fn write_body(out: &mut String, has_mesh: bool) {
    const ARM_M: f64 = 0.25;
    if has_mesh {
        let shape = format!("<mesh filename=\"{}\"/>", mesh::URI);
        write_visual(out, [0.0; 3], [0.0; 3], &shape, GREY);
    }
    write_visual(out, [0.0; 3], [0.0; 3], &boxed([0.24, 0.14, 0.06]), GREY);
    write_visual(out, [0.13, 0.0, 0.0], [0.0; 3], &boxed([0.03, 0.1, 0.04]), ORANGE);
    for quarter in [1.0, 3.0, 5.0, 7.0] {
        let angle = quarter * std::f64::consts::FRAC_PI_4;
        let (s, c) = angle.sin_cos();
        let [x, y] = [c * ARM_M, s * ARM_M];
        let arm = boxed([ARM_M, 0.025, 0.02]);
        write_visual(out, [x / 2.0, y / 2.0, 0.0], [0.0, 0.0, angle], &arm, GREY);
        let colour = if c > 0.0 { ORANGE } else { BLACK };
        write_visual(out, [x, y, 0.035], [0.0; 3], &cylinder(0.12, 0.01), colour);
    }
}

fn write_link(out: &mut String, joint: &Joint) {
    let name = escaped(&joint.child);
    let Some((angles, shape, colour)) = &joint.shape else {
        let _ = writeln!(out, "  <link name=\"{name}\"/>");
        return;
    };
    let _ = writeln!(out, "  <link name=\"{name}\">");
    write_visual(out, [0.0; 3], *angles, shape, *colour);
    out.push_str("  </link>\n");
}

fn write_joint(out: &mut String, joint: &Joint) {
    let kind = if joint.is_fixed { "fixed" } else { "floating" };
    let [parent, child] = [&joint.parent, &joint.child].map(|name| escaped(name));
    let _ = writeln!(out, "  <joint name=\"{child}_joint\" type=\"{kind}\">");
    let _ = writeln!(out, "    <parent link=\"{parent}\"/>\n    <child link=\"{child}\"/>");
    let attitude = Attitude::from_wxyz(joint.pose.rotation()).unwrap_or_default();
    write_origin(out, joint.pose.translation(), rpy(attitude));
    out.push_str("  </joint>\n");
}

/// Roll, pitch, yaw. At pitch ±90° roll and yaw are degenerate and the usual arctangents are noise; here roll is the
/// remainder after yaw.
fn rpy(attitude: Attitude<Flu, Flu>) -> [f64; 3] {
    let m = attitude.matrix();
    let yaw = m[1][0].atan2(m[0][0]);
    let (s, c) = yaw.sin_cos();
    let pitch = (-m[2][0]).atan2(c * m[0][0] + s * m[1][0]);
    let roll = (s * m[0][2] - c * m[1][2]).atan2(c * m[1][1] - s * m[0][1]);
    [roll, pitch, yaw]
}

type Colour = (&'static str, &'static str);
const GREY: Colour = ("rfly_grey", "0.45 0.45 0.5 1");
const BLACK: Colour = ("rfly_black", "0.1 0.1 0.1 1");
const ORANGE: Colour = ("rfly_orange", "1 0.45 0 1");
const BLUE: Colour = ("rfly_blue", "0.1 0.3 0.8 1");
const RED: Colour = ("rfly_red", "0.8 0.1 0.1 1");

fn write_visual(out: &mut String, xyz: [f64; 3], rpy: [f64; 3], shape: &str, (name, rgba): Colour) {
    out.push_str("    <visual>\n  ");
    write_origin(out, xyz, rpy);
    let _ = writeln!(
        out,
        "      <geometry>{shape}</geometry>\n      <material name=\"{name}\"><color rgba=\"{rgba}\"/></material>\n    </visual>"
    );
}

fn write_origin(out: &mut String, xyz: [f64; 3], rpy: [f64; 3]) {
    let _ = writeln!(out, "    <origin xyz=\"{}\" rpy=\"{}\"/>", row(xyz), row(rpy));
}

fn boxed(size: [f64; 3]) -> String {
    format!("<box size=\"{}\"/>", row(size))
}

fn cylinder(radius: f64, length: f64) -> String {
    format!("<cylinder radius=\"{}\" length=\"{}\"/>", number(radius), number(length))
}

fn row(values: [f64; 3]) -> String {
    values.map(number).join(" ")
}

/// Nine decimals: enough in metres and radians, and readable.
fn number(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn escaped(name: &str) -> String {
    name.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
