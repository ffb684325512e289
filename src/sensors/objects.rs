//! Lists of objects: boxes in the image (type 30) and target positions (type 31).
use super::{Frame, FrameKind, Sensor, SensorError, SensorSpec, TopicSpec, spec::Topics};
use crate::{
    config::params::QosGroup,
    msgs::{
        geometry_msgs::msg::Point,
        std_msgs::msg::Header,
        vision_msgs::msg::{
            Detection2D, Detection2DArray, Detection3D, Detection3DArray, ObjectHypothesisWithPose,
        },
    },
    ros::{Publisher, RosError},
    wire::{BoxEntry, ListView, Packet, SensorKind, TargetEntry},
};
use std::fmt::Write as _;

pub(super) const DETECTIONS: SensorSpec = SensorSpec {
    kind: SensorKind::Detections,
    name: "detections",
    topics: &[TopicSpec {
        group: QosGroup::Detections,
        suffix: "detections",
        interface: "vision_msgs/msg/Detection2DArray",
        frame: FrameKind::Optical,
        compressed_only: false,
        doc: "boxes in px; class_id is the vehicle's id",
    }],
    doc: "object detector",
    open: |topics| open::<BoxEntry>(topics),
};

pub(super) const TARGETS: SensorSpec = SensorSpec {
    kind: SensorKind::Targets,
    name: "targets",
    topics: &[TopicSpec {
        group: QosGroup::Detections,
        suffix: "targets",
        interface: "vision_msgs/msg/Detection3DArray",
        frame: FrameKind::Link,
        compressed_only: false,
        doc: "positions in m; class_id is the vehicle's id",
    }],
    doc: "positions of targets",
    open: |topics| open::<TargetEntry>(topics),
};

/// An entry of a list and its message.
trait Entry: Packet + Send + 'static {
    /// Message of one entry.
    type One: Clone + Default + Send + 'static;
    /// Message of the list.
    type Many: crate::msgs::Message + Default;

    fn list(many: &mut Self::Many) -> (&mut Header, &mut Vec<Self::One>);
    /// Whether no number is NaN or infinite.
    fn is_finite(&self) -> bool;
    fn fill(&self, one: &mut Self::One, header: &Header);
}

impl Entry for BoxEntry {
    type One = Detection2D;
    type Many = Detection2DArray;

    fn list(many: &mut Self::Many) -> (&mut Header, &mut Vec<Self::One>) {
        (&mut many.header, &mut many.detections)
    }

    fn is_finite(&self) -> bool {
        let edges = [self.min_x, self.min_y, self.max_x, self.max_y];
        edges.iter().all(|v| v.get().is_finite()) && self.credibility.get().is_finite()
    }

    fn fill(&self, one: &mut Detection2D, header: &Header) {
        set_header(&mut one.header, header);
        set_text(&mut one.id, self.copter_id.get());
        hypothesis(&mut one.results, self.copter_id.get(), self.credibility.get());
        let [left, top, right, bottom] =
            [self.min_x, self.min_y, self.max_x, self.max_y].map(|v| f64::from(v.get()));
        one.bbox.center.position.x = (left + right) / 2.0;
        one.bbox.center.position.y = (top + bottom) / 2.0;
        one.bbox.size_x = right - left;
        one.bbox.size_y = bottom - top;
    }
}

impl Entry for TargetEntry {
    type One = Detection3D;
    type Many = Detection3DArray;

    fn list(many: &mut Self::Many) -> (&mut Header, &mut Vec<Self::One>) {
        (&mut many.header, &mut many.detections)
    }

    fn is_finite(&self) -> bool {
        self.position.iter().all(|v| v.get().is_finite())
    }

    fn fill(&self, one: &mut Detection3D, header: &Header) {
        set_header(&mut one.header, header);
        set_text(&mut one.id, self.copter_id.get());
        let position = self.position.map(|v| f64::from(v.get()));
        let pose = &mut hypothesis(&mut one.results, self.copter_id.get(), 1.0).pose.pose;
        set_point(&mut pose.position, position);
        pose.orientation.w = 1.0;
        set_point(&mut one.bbox.center.position, position);
        one.bbox.center.orientation.w = 1.0;
    }
}

struct Objects<E: Entry> {
    publisher: Publisher<E::Many>,
    message: E::Many,
    /// Entries beyond the current list, kept for their strings.
    spare: Vec<E::One>,
}

fn open<E: Entry>(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
    let mut message = E::Many::default();
    *E::list(&mut message).0 = topics.header(topics.main());
    Ok(Box::new(Objects::<E> {
        publisher: topics.publisher(topics.main())?,
        message,
        spare: Vec::new(),
    }))
}

impl<E: Entry> Sensor for Objects<E> {
    fn wanted(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        let list = ListView::<E>::parse(frame.payload)?;
        if !self.wanted() {
            return Ok(());
        }
        let entries = || list.entries().iter().filter(|entry| entry.is_finite());
        let measured = entries().count();
        let (header, detections) = E::list(&mut self.message);
        header.stamp = frame.stamp.to_msg();
        while detections.len() > measured {
            self.spare.extend(detections.pop());
        }
        while detections.len() < measured {
            detections.push(self.spare.pop().unwrap_or_default());
        }
        for (entry, detection) in entries().zip(detections) {
            entry.fill(detection, header);
        }
        self.publisher.publish(&self.message)?;
        match list.entries().len().saturating_sub(measured) {
            0 => Ok(()),
            count => Err(SensorError::NotFinite { count }),
        }
    }
}

/// Returns the only hypothesis of a detection, with id and score.
fn hypothesis(
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

fn set_header(to: &mut Header, from: &Header) {
    to.stamp.clone_from(&from.stamp);
    to.frame_id.clone_from(&from.frame_id);
}

/// Writes a number into a string without a new allocation.
pub(super) fn set_text(text: &mut String, number: i32) {
    text.clear();
    let _ = write!(text, "{number}"); // writing to a String cannot fail
}

/// Sets a point.
pub(super) fn set_point(point: &mut Point, [x, y, z]: [f64; 3]) {
    (point.x, point.y, point.z) = (x, y, z);
}
