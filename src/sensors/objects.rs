//! Lists of objects: boxes in the image (type 30) and target positions (type 31).
use super::spec::Topics;
use super::{FrameHead, FrameKind, FramePayload, Sensor, SensorError, SensorSpec, TopicSpec};
use crate::config::params::QosGroup;
use crate::msgs::vision_msgs::msg::{
    Detection2D, Detection2DArray, Detection3D, Detection3DArray, ObjectHypothesisWithPose,
};
use crate::ros::{Publisher, RosError};
use crate::wire::{BoxEntry, ListView, Packet, SensorKind, TargetEntry};
use crate::{msgs::geometry_msgs::msg::Point, msgs::std_msgs::msg::Header};
use std::fmt::Write as _;

pub(super) const DETECTIONS: SensorSpec = SensorSpec {
    kind: SensorKind::Detections,
    name: "detections",
    topics: &[TopicSpec::new(
        QosGroup::Detections,
        "detections",
        "vision_msgs/msg/Detection2DArray",
        FrameKind::Optical,
        "boxes in px; class_id is the vehicle's id",
    )],
    open: |topics| open::<BoxEntry>(topics),
};

pub(super) const TARGETS: SensorSpec = SensorSpec {
    kind: SensorKind::Targets,
    name: "targets",
    topics: &[TopicSpec::new(
        QosGroup::Detections,
        "targets",
        "vision_msgs/msg/Detection3DArray",
        FrameKind::Link,
        "positions in m; class_id is the vehicle's id",
    )],
    open: |topics| open::<TargetEntry>(topics),
};

/// An entry of a list and its message.
trait ListEntry: Packet + Send + 'static {
    type EntryMessage: Clone + Default + Send + 'static;
    type ListMessage: crate::msgs::Message;

    fn split(list: &mut Self::ListMessage) -> (&mut Header, &mut Vec<Self::EntryMessage>);
    /// Whether all numbers are finite.
    fn is_finite(&self) -> bool;
    fn fill(&self, message: &mut Self::EntryMessage, header: &Header);
}

impl ListEntry for BoxEntry {
    type EntryMessage = Detection2D;
    type ListMessage = Detection2DArray;

    fn split(list: &mut Self::ListMessage) -> (&mut Header, &mut Vec<Self::EntryMessage>) {
        (&mut list.header, &mut list.detections)
    }

    fn is_finite(&self) -> bool {
        let edges = [self.min_x, self.min_y, self.max_x, self.max_y];
        edges.iter().all(|v| v.get().is_finite()) && self.credibility.get().is_finite()
    }

    fn fill(&self, message: &mut Detection2D, header: &Header) {
        set_header(&mut message.header, header);
        set_text(&mut message.id, self.copter_id.get());
        set_hypothesis(&mut message.results, self.copter_id.get(), self.credibility.get());
        let [left, top, right, bottom] =
            [self.min_x, self.min_y, self.max_x, self.max_y].map(|v| f64::from(v.get()));
        message.bbox.center.position.x = (left + right) / 2.0;
        message.bbox.center.position.y = (top + bottom) / 2.0;
        message.bbox.size_x = right - left;
        message.bbox.size_y = bottom - top;
    }
}

impl ListEntry for TargetEntry {
    type EntryMessage = Detection3D;
    type ListMessage = Detection3DArray;

    fn split(list: &mut Self::ListMessage) -> (&mut Header, &mut Vec<Self::EntryMessage>) {
        (&mut list.header, &mut list.detections)
    }

    fn is_finite(&self) -> bool {
        self.position.iter().all(|v| v.get().is_finite())
    }

    fn fill(&self, message: &mut Detection3D, header: &Header) {
        set_header(&mut message.header, header);
        let position = self.position.map(|v| f64::from(v.get()));
        fill_detection(message, self.copter_id.get(), position, position);
    }
}

struct ObjectSensor<E: ListEntry> {
    publisher: Publisher<E::ListMessage>,
    message: E::ListMessage,
    /// Entries beyond the current list, kept to reuse their strings.
    spare: Vec<E::EntryMessage>,
}

fn open<E: ListEntry>(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
    let mut message = E::ListMessage::default();
    *E::split(&mut message).0 = topics.header(topics.main_suffix());
    Ok(Box::new(ObjectSensor::<E> {
        publisher: topics.publisher(topics.main_suffix())?,
        message,
        spare: Vec::new(),
    }))
}

impl<E: ListEntry> Sensor for ObjectSensor<E> {
    fn is_wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        let list = ListView::<E>::parse(payload.bytes())?;
        if !self.is_wanted() {
            return Ok(());
        }
        let entries = || list.entries().iter().filter(|entry| entry.is_finite());
        let finite = entries().count();
        let (header, detections) = E::split(&mut self.message);
        header.stamp = head.stamp.to_msg();
        while detections.len() > finite {
            self.spare.extend(detections.pop());
        }
        while detections.len() < finite {
            detections.push(self.spare.pop().unwrap_or_default());
        }
        for (entry, detection) in entries().zip(detections) {
            entry.fill(detection, header);
        }
        self.publisher.publish(&self.message)?;
        match list.entries().len().saturating_sub(finite) {
            0 => Ok(()),
            count => Err(SensorError::NotFinite { count }),
        }
    }
}

/// Sets the only hypothesis of a detection and returns it.
fn set_hypothesis(
    results: &mut Vec<ObjectHypothesisWithPose>,
    id: i32,
    score: f32,
) -> &mut ObjectHypothesisWithPose {
    results.resize_with(1, ObjectHypothesisWithPose::default);
    let result = &mut results[0];
    set_text(&mut result.hypothesis.class_id, id);
    result.hypothesis.score = score.into();
    result
}

/// Fills a detection with a point of an object and the centre of its box.
pub(super) fn fill_detection(to: &mut Detection3D, id: i32, point: [f64; 3], centre: [f64; 3]) {
    set_text(&mut to.id, id);
    let pose = &mut set_hypothesis(&mut to.results, id, 1.0).pose.pose;
    set_point(&mut pose.position, point);
    pose.orientation.w = 1.0;
    set_point(&mut to.bbox.center.position, centre);
    to.bbox.center.orientation.w = 1.0;
}

fn set_header(to: &mut Header, from: &Header) {
    to.stamp.clone_from(&from.stamp);
    to.frame_id.clone_from(&from.frame_id);
}

/// Writes a number into a string without a new allocation.
fn set_text(text: &mut String, number: i32) {
    text.clear();
    let _ = write!(text, "{number}"); // writing to a String cannot fail
}

fn set_point(point: &mut Point, [x, y, z]: [f64; 3]) {
    (point.x, point.y, point.z) = (x, y, z);
}
