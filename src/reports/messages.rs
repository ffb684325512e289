//! Reports as messages.
use super::collisions::{Contact, Hit, Latch};
use super::place::{World, attitude_of, point_msg, pose_msg, vector_msg};
use super::reported::{Described, DescribedCamera, Entity};
use crate::frames::{Ned, Vector};
use crate::msgs::rfly_bridge_msgs::msg::{CameraReport, Collision, VehicleReport};
use crate::msgs::std_msgs::msg::Header;
use crate::msgs::vision_msgs::msg::{Detection3D, Detection3DArray, ObjectHypothesisWithPose};
use crate::time::RosTime;
use crate::wire::{VehicleReportPacket, class_and_style};
use std::f64::consts::TAU;

/// `Collision.NOTHING`, `GROUND`, `OBJECT`, `VEHICLE`.
const KINDS: [u8; 4] = [0, 1, 2, 3];

pub(super) fn header(frame: &str, stamp: RosTime) -> Header {
    Header {
        stamp: stamp.to_msg(),
        frame_id: frame.to_owned(),
    }
}

/// Returns the report of a vehicle; `None` if a number is not finite.
pub fn vehicle_report(
    report: &VehicleReportPacket,
    world: &World,
    (map, stamp): (&str, RosTime),
) -> Option<VehicleReport> {
    let [position, velocity, euler] =
        [report.position, report.velocity, report.euler].map(|v| v.map(|x| x.get()));
    let motors = report
        .motor_rpm
        .map(|rpm| f64::from(rpm.get()) * TAU / 60.0);
    let clearance = report.rays.map(|ray| f64::from(ray.get()));
    let small = [position, velocity, euler];
    let finite =
        small.iter().flatten().all(|x| x.is_finite()) && motors.iter().all(|x| x.is_finite());
    if !finite {
        return None;
    }
    let pose = world
        .convention
        .pose(Vector::<Ned>::from(position), attitude_of(euler));
    let (class_id, style) = class_and_style(report.vehicle_type.get());
    Some(VehicleReport {
        header: header(map, stamp),
        vehicle: report.copter_id.get(),
        class_id,
        style,
        pose: pose_msg(&pose),
        velocity: vector_msg(world.vector(velocity)),
        motor_speeds: motors,
        clearance,
    })
}

/// Returns the state of a vehicle's collision.
pub fn collision(
    vehicle: u16,
    latch: &Latch,
    world: &World,
    (map, stamp): (&str, RosTime),
) -> Collision {
    let mut message = Collision {
        header: header(map, stamp),
        vehicle: vehicle.into(),
        count: latch.count(),
        ..Collision::default()
    };
    let Some(Contact { hit, name, place }) = latch.contact() else {
        return message;
    };
    (message.kind, message.other) = match hit {
        Hit::Ground => (KINDS[1], 0),
        Hit::Object => (KINDS[2], 0),
        Hit::Vehicle(id) => (KINDS[3], *id),
    };
    message.name.clone_from(name);
    if let Some([contact, target]) = place {
        message.located = true;
        message.position = point_msg(world.vector(*contact));
        message.centre = point_msg(world.vector(*target));
    }
    message
}

/// Returns the description of a camera.
pub fn camera_report(camera: &DescribedCamera, map: &str) -> CameraReport {
    let given = &camera.description;
    let [width, height] = given.size.map(|pixels| pixels.max(0).unsigned_abs());
    CameraReport {
        header: header(map, camera.stamp),
        sensor: given.seq_id,
        type_id: given.type_id,
        width,
        height,
        fov_deg: given.fov_deg.into(),
        pose: pose_msg(&camera.pose),
    }
}

/// Returns the boxes of described vehicles or objects; the hypothesis has the reference point.
pub fn detections<'a>(
    described: impl Iterator<Item = (&'a Entity, &'a Described)>,
    map: &str,
) -> Detection3DArray {
    let mut message = Detection3DArray::default();
    let mut newest = RosTime::default();
    for (entity, described) in described {
        newest = newest.max(described.stamp);
        let mut result = ObjectHypothesisWithPose::default();
        result.hypothesis.class_id = class(entity).to_owned();
        result.hypothesis.score = 1.0;
        result.pose.pose = pose_msg(&described.pose);
        let mut detection = Detection3D {
            header: header(map, described.stamp),
            results: vec![result],
            id: entity.to_string(),
            ..Detection3D::default()
        };
        detection.bbox.center = pose_msg(&described.centre);
        detection.bbox.size = vector_msg(described.size);
        message.detections.push(detection);
    }
    message.header = header(map, newest);
    message
}

fn class(entity: &Entity) -> &'static str {
    match entity {
        Entity::Vehicle(_) => "vehicle",
        Entity::Object(_) => "object",
    }
}
