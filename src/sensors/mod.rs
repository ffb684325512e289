//! Converts payloads of the simulator to ROS messages: one row of [`spec_of`] and one file per kind of sensor.
//!
//! A [`Sensor`] is opened from its row, gets whole payloads ([`Frame`]) and publishes. It converts only for topics with
//! subscribers, into reused buffers; raw images are published from the slice in which they arrived. The reasons for each
//! message's format are in `docs/sensors.md`; the table of topics in `docs/topics.md` is `node::topics_markdown`.
mod ballot;
mod calibration;
mod camera;
mod camera_info;
mod cloud;
mod cloud_axes;
mod cloud_odometry;
mod codec;
mod degrade;
mod depth;
mod described;
mod error;
mod imu;
mod imu_axes;
mod imu_noise;
mod layout;
mod livox_custom;
mod objects;
mod options;
pub mod pixels;
mod points;
mod range;
mod scan;
mod shape;
mod spec;
mod stream;
mod surroundings;
mod view_change;

pub use ballot::{Ballot, Verdict};
pub use calibration::Calibration;
pub use camera_info::{Lens, View, camera_info};
pub use cloud_odometry::OdometryTopic;
pub use codec::{Codec, Decoder, Layout, Size, size_of_file};
pub use degrade::{CloudNoise, DepthNoise, HOLD_BYTES, Unreliable};
pub use described::{DescribedFov, DescribedMount, Seen, Sighting};
pub use error::{SensorCause, SensorError};
pub use imu::{AttitudeSample, ImuConverter};
pub use imu_axes::{AccelerationAxesFinder, ForceMeter, TrueForce};
pub use layout::{PLAIN_FIELDS, PointLayout, Rings, coloured_fields, labelled_fields};
pub use options::Options;
pub use points::{Axes, CloudPoint, Converted, Fourth, Missing, convert, per_count};
pub use scan::ScanPlane;
pub use spec::{
    ForeignFrame, Frame, FrameIds, FrameKind, LentFrame, SensorContext, SensorSpec, TopicSpec,
};
pub use stream::{Progress, SensorStream};
pub use surroundings::Surroundings;
pub use view_change::{Shown, ViewChange};

use crate::{msgs::sensor_msgs::msg::Image, ros::Loan, time::RosTime, wire::SensorKind};

/// One open sensor: its publishers and buffers.
pub trait Sensor: Send {
    /// Whether any topic has a subscriber; one atomic load per topic.
    fn wanted(&self) -> bool;

    /// Converts and publishes on the topics with subscribers. The caller counts an error, which is never fatal.
    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError>;

    /// Lends memory of a publisher for the next payload, [`LOAN_SPARE`](crate::session::LOAN_SPARE) larger than the
    /// expected payload, if payloads are published unchanged and somebody subscribes.
    fn lend(&self) -> Option<Loan<Image>> {
        None
    }

    /// Publishes a payload in memory from [`Self::lend`], without a copy if it has the expected size.
    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        self.accept(&frame.with(loan.as_ref().get(..frame.len).unwrap_or_default()))
    }

    /// Publishes raw pixels unchanged, with one copy out of memory that the simulator may overwrite; `None` if the frame
    /// has to be copied for [`Self::accept`] instead.
    fn accept_foreign(&mut self, _frame: &ForeignFrame<'_>) -> Option<Result<(), SensorError>> {
        None
    }

    /// When the next frame that is held back on purpose is to be published, in host time.
    fn due(&self) -> Option<RosTime> {
        None
    }

    /// Publishes a frame that was held back until `now`; `None` if there is none.
    fn release(&mut self, _now: RosTime) -> Option<Result<(), SensorError>> {
        None
    }

    /// Changes the following frames.
    fn set_view(&mut self, _view: &View) {}
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
