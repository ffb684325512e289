//! Range finder: type 5.
use super::{FrameHead, FrameKind, FramePayload, Sensor, SensorError, SensorSpec, TopicSpec};
use super::{objects::fill_detection, spec::Topics};
use crate::msgs::vision_msgs::msg::{Detection3D, Detection3DArray, ObjectHypothesisWithPose};
use crate::ros::{Publisher, RosError};
use crate::wire::{Packet, RangeRecord, SensorKind};
use crate::{
    config::params::{QosGroup, WorldConvention},
    msgs::sensor_msgs::msg::Range,
};

/// Largest range in m if `otherParams[0]` is 0; the vendor's default.
const DEFAULT_MAX_RANGE: f32 = 200.0;
/// Full angle of the beam in rad. The simulator casts one ray; RViz draws a cone, so it is thin but not zero.
const FIELD_OF_VIEW: f32 = 0.01;

pub(super) const RANGE: SensorSpec = SensorSpec {
    kind: SensorKind::Range,
    name: "range",
    topics: &[
        TopicSpec::new(
            QosGroup::Range,
            "range",
            "sensor_msgs/msg/Range",
            FrameKind::Link,
            "m along x; +Inf beyond the range, -Inf at 0 (REP 117)",
        ),
        TopicSpec::new(
            QosGroup::Detections,
            "range/hit",
            "vision_msgs/msg/Detection3DArray",
            FrameKind::World,
            "object hit: id, point hit (pose), centre of its box (bbox); empty without hit",
        ),
    ],
    open: RangeFinder::open,
};

struct RangeFinder {
    range_publisher: Publisher<Range>,
    hit_publisher: Publisher<Detection3DArray>,
    reading: Range,
    hits: Detection3DArray,
    /// Detection for the next hit, kept to reuse its strings.
    spare: Detection3D,
    world: WorldConvention,
}

impl RangeFinder {
    fn open(topics: &Topics<'_>) -> Result<Box<dyn Sensor>, RosError> {
        let max_range = topics.context.config.other_params[0];
        let hit = topics.below("/hit");
        let header = topics.header(&hit);
        Ok(Box::new(Self {
            range_publisher: topics.publisher(topics.main_suffix())?,
            hit_publisher: topics.publisher(&hit)?,
            reading: Range {
                header: topics.header(topics.main_suffix()),
                radiation_type: Range::INFRARED,
                field_of_view: FIELD_OF_VIEW,
                min_range: 0.0,
                max_range: if max_range > 0.0 { max_range } else { DEFAULT_MAX_RANGE },
                ..Range::default()
            },
            spare: Detection3D {
                header: header.clone(),
                results: vec![ObjectHypothesisWithPose::default()],
                ..Detection3D::default()
            },
            hits: Detection3DArray { header, detections: Vec::with_capacity(1) },
            world: topics.context.options.world,
        }))
    }
}

/// Returns the REP 117 value of a distance.
fn rep_117(distance: f32, min: f32, max: f32) -> f32 {
    if distance.is_nan() || distance < 0.0 {
        f32::NAN // no sensor measures this
    } else if distance <= min {
        f32::NEG_INFINITY
    } else if distance >= max {
        f32::INFINITY
    } else {
        distance
    }
}

impl Sensor for RangeFinder {
    fn is_wanted(&self) -> bool {
        self.range_publisher.subscribers() > 0 || self.hit_publisher.subscribers() > 0
    }

    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        let (record, _) = RangeRecord::parse_prefix(payload.bytes())?;
        let record = *record;
        let stamp = head.stamp.to_msg();
        self.reading.range =
            rep_117(record.distance.get(), self.reading.min_range, self.reading.max_range);
        if self.range_publisher.subscribers() > 0 {
            self.reading.header.stamp = stamp.clone();
            self.range_publisher.publish(&self.reading)?;
        }
        if self.hit_publisher.subscribers() > 0 {
            self.hits.header.stamp = stamp.clone();
            let positions = [record.impact_point, record.box_origin];
            let is_located = positions.iter().flatten().all(|c| c.get().is_finite());
            let is_hit = self.reading.range.is_finite();
            if is_hit && is_located {
                let mut hit =
                    self.hits.detections.pop().unwrap_or_else(|| std::mem::take(&mut self.spare));
                hit.header.stamp = stamp;
                let [point, centre] =
                    positions.map(|ned| self.world.vector(ned.map(|c| c.get()).into()));
                fill_detection(&mut hit, record.copter_id.get(), point, centre);
                self.hits.detections.push(hit);
            } else if let Some(hit) = self.hits.detections.pop() {
                self.spare = hit;
            }
            self.hit_publisher.publish(&self.hits)?;
            if is_hit && !is_located {
                return Err(SensorError::NotFinite { count: 1 });
            }
        }
        Ok(())
    }
}
