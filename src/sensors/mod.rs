//! Converts payloads of the simulator to ROS messages: one row of [`spec_of`] per type of sensor, one file per family.
//!
//! A [`Sensor`] is opened from its row, gets whole payloads ([`FramePayload`]) through a [`SensorPipeline`] and publishes. It
//! converts only for topics with subscribers, into reused buffers; raw images that need no conversion are published from the
//! slice in which they arrived. The reasons for each message's format are in `docs/sensors.md`;
//! `node::topics_markdown` writes the table of topics in `docs/topics.md`.
mod calibration;
mod camera;
mod camera_info;
mod cloud;
mod cloud_axes;
mod cloud_odometry;
mod codec;
mod convention_finder;
mod depth;
mod described;
mod error;
mod frame;
mod frame_degrader;
mod imu;
mod imu_axes;
mod imu_noise;
mod layout;
mod livox_custom;
mod objects;
mod options;
mod pipeline;
pub mod pixels;
mod points;
mod range;
mod range_noise;
mod scan;
mod shape;
mod spec;
mod stream;
mod true_attitude;
mod view_change;

pub use calibration::Calibration;
pub use camera_info::{CameraView, Lens, camera_info};
pub use cloud_odometry::OdometryTopic;
pub use codec::{Codec, Decoder, Layout, Size, size_of_file};
pub use convention_finder::{ConventionFinder, Verdict};
pub use described::{DescribedFov, DescribedMount, MountDescription, PoseChange};
pub use error::{SensorCause, SensorError};
pub use frame::{FrameHead, FramePayload};
pub use frame_degrader::{FrameDegrader, HOLD_BYTES};
pub use imu::{AttitudeSample, ImuConverter};
pub use imu_axes::{AccelerationAxesFinder, ForceMeter, TrueForce};
pub use layout::{PointLayout, Rings};
pub use options::Options;
pub use pipeline::{FrameStep, SensorPipeline};
pub use points::{
    CloudPoint, Converted, FourthField, MissingPoints, PointAxes, convert, per_count,
};
pub use range_noise::{CloudNoise, DepthNoise};
pub use scan::ScanPlane;
pub use spec::{FrameIds, FrameKind, SensorContext, SensorSpec, TopicSpec};
pub use stream::{Progress, SensorStream};
pub use true_attitude::TrueAttitude;
pub use view_change::{ShownView, ViewChange};

use crate::{msgs::sensor_msgs::msg::Image, ros::Loan, wire::SensorKind};

/// One open sensor: its publishers and buffers.
pub trait Sensor: Send {
    /// Whether any topic has a subscriber; cheap enough for each frame.
    fn is_wanted(&self) -> bool;

    /// Converts and publishes on the topics with subscribers. The caller counts an error, which is never fatal.
    fn accept(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError>;

    /// Lends memory of a publisher for the next payload, [`LOAN_SPARE`](crate::session::LOAN_SPARE) larger than the
    /// expected payload, if payloads are published unchanged and the topic has subscribers.
    fn lend(&self) -> Option<Loan<Image>> {
        None
    }

    /// Whether a payload of this length is published with one copy out of [`FramePayload::Shared`].
    fn reads_shared(&self, _len: usize) -> bool {
        false
    }

    /// Sets the view that the following frames show.
    fn set_view(&mut self, _view: &CameraView) {}
}

/// The table of sensors for the bridge, the documentation and the tests.
pub fn specs() -> impl Iterator<Item = &'static SensorSpec> {
    SensorKind::ALL.into_iter().map(spec_of)
}

/// Returns the row of a kind of sensor.
pub fn spec_of(kind: SensorKind) -> &'static SensorSpec {
    match kind {
        SensorKind::Rgb => &camera::RGB,
        SensorKind::Depth => &depth::DEPTH,
        SensorKind::Grey => &camera::GREY,
        SensorKind::Segmentation => &camera::SEGMENTATION,
        SensorKind::Range => &range::RANGE,
        SensorKind::DepthCloud => &cloud::DEPTH_CLOUD,
        SensorKind::Fisheye => &camera::FISHEYE,
        SensorKind::Pod => &camera::POD,
        SensorKind::Lidar => &cloud::LIDAR,
        SensorKind::GlobalLidar => &cloud::GLOBAL_LIDAR,
        SensorKind::Mid40 => &cloud::MID40,
        SensorKind::Mid360 => &cloud::MID360,
        SensorKind::Detections => &objects::DETECTIONS,
        SensorKind::Targets => &objects::TARGETS,
        SensorKind::Infrared => &camera::INFRARED_GREY,
        SensorKind::Thermal => &camera::INFRARED,
    }
}
