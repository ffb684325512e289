//! What the renderer reports on port 20006 as ROS has it: poses in `map`, boxes, markers, collisions; and what to ask it for.
mod boxes;
mod collisions;
#[cfg(has_visualization_msgs)]
mod markers;
mod messages;
mod place;
mod reported;
mod requester;

pub use boxes::{DepthImage, ImageBox, Pinhole, SpaceBox, detection_2d};
pub use collisions::{Contact, Hit, Latch};
#[cfg(has_visualization_msgs)]
pub use markers::markers;
pub use messages::{camera_report, collision, detections, vehicle_report};
pub use place::World;
pub use reported::{Described, DescribedCamera, Entity, Reported, Times};
pub use requester::{ReportRequester, Subject};
