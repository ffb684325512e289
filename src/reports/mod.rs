//! Requests the renderer's reports (port 20006) and converts them to ROS: poses in `map`, bounding boxes, markers, collisions.
mod bounding_boxes;
mod collisions;
mod descriptions;
mod map_conversion;
#[cfg(has_visualization_msgs)]
mod markers;
mod messages;
mod requester;

pub use bounding_boxes::{BoundingBox2d, BoundingBox3d, DepthImage, PinholeCamera, detection_2d};
pub use collisions::{CollisionState, Contact, Obstacle};
pub use descriptions::{
    DatagramTimes, DescribedCamera, DescribedEntity, Descriptions, ReportedEntity,
};
pub use map_conversion::MapConversion;
#[cfg(has_visualization_msgs)]
pub use markers::markers;
pub use messages::{camera_report, collision, detections, vehicle_report};
pub use requester::{ReportRequester, ReportSubject};
