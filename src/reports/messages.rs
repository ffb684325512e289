//! Converts reports to messages.
use super::collisions::{CollisionState, Contact, Obstacle};
use super::descriptions::{DescribedCamera, DescribedEntity, ReportedEntity};
use super::map_conversion::{MapConversion, attitude_of, point_msg, pose_msg, vector_msg};
use crate::frames::{Ned, Vector};
use crate::msgs::rfly_bridge_msgs::msg::{CameraReport, Collision, VehicleReport};
use crate::msgs::vision_msgs::msg::{Detection3D, Detection3DArray, ObjectHypothesisWithPose};
use crate::wire::{VehicleReportPacket, class_and_style};
use crate::{msgs::std_msgs::msg::Header, time::RosTime};
use std::f64::consts::TAU;

pub(super) fn header(frame: &str, stamp: RosTime) -> Header {
    Header { stamp: stamp.to_msg(), frame_id: frame.to_owned() }
}

/// Converts the report of a vehicle; `None` if a number of pose, velocity or motors is not finite.
pub fn vehicle_report(
    report: &VehicleReportPacket,
    conversion: &MapConversion,
    (map, stamp): (&str, RosTime),
) -> Option<VehicleReport> {
    let [position, velocity, euler] =
        [report.position, report.velocity, report.euler].map(|v| v.map(|x| x.get()));
    let motors = report.motor_rpm.map(|rpm| f64::from(rpm.get()) * TAU / 60.0);
    let clearance = report.rays.map(|ray| f64::from(ray.get()));
    let vectors = [position, velocity, euler];
    let is_finite =
        vectors.iter().flatten().all(|x| x.is_finite()) && motors.iter().all(|x| x.is_finite());
    if !is_finite {
        return None;
    }
    let pose = conversion.convention.pose(Vector::<Ned>::from(position), attitude_of(euler));
    let (class_id, style) = class_and_style(report.vehicle_type.get());
    Some(VehicleReport {
        header: header(map, stamp),
        vehicle: report.copter_id.get(),
        class_id,
        style,
        pose: pose_msg(&pose),
        velocity: vector_msg(conversion.vector(velocity)),
        motor_speeds: motors,
        clearance,
    })
}

/// Converts the state of a vehicle's collision.
pub fn collision(
    vehicle: u16,
    state: &CollisionState,
    conversion: &MapConversion,
    (map, stamp): (&str, RosTime),
) -> Collision {
    let mut message = Collision {
        header: header(map, stamp),
        vehicle: vehicle.into(),
        count: state.count(),
        ..Collision::default()
    };
    let Some(Contact { obstacle, name, points }) = state.contact() else { return message };
    (message.kind, message.other) = match obstacle {
        Obstacle::Ground => (Collision::GROUND, 0),
        Obstacle::Object => (Collision::OBJECT, 0),
        Obstacle::Vehicle(id) => (Collision::VEHICLE, *id),
    };
    message.name.clone_from(name);
    if let Some([contact, target]) = points {
        message.located = true;
        message.position = point_msg(conversion.vector(*contact));
        message.centre = point_msg(conversion.vector(*target));
    }
    message
}

/// Converts the description of a camera.
pub fn camera_report(camera: &DescribedCamera, map: &str) -> CameraReport {
    let description = &camera.description;
    let [width, height] = description.size.map(|pixels| pixels.max(0).unsigned_abs());
    CameraReport {
        header: header(map, camera.stamp),
        sensor: description.seq_id,
        type_id: description.type_id,
        width,
        height,
        fov_deg: description.fov_deg.into(),
        pose: pose_msg(&camera.pose),
    }
}

/// Returns the bounding boxes of vehicles or objects; each hypothesis holds the pose of the reference point.
pub fn detections<'a>(
    described: impl Iterator<Item = (&'a ReportedEntity, &'a DescribedEntity)>,
    map: &str,
) -> Detection3DArray {
    let mut message = Detection3DArray::default();
    let mut newest = RosTime::default();
    for (entity, described) in described {
        newest = newest.max(described.stamp);
        let mut result = ObjectHypothesisWithPose::default();
        let class = match entity {
            ReportedEntity::Vehicle(_) => "vehicle",
            ReportedEntity::Object(_) => "object",
        };
        result.hypothesis.class_id = class.to_owned();
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
