//! What the renderer reports on port 20006 as ROS has it: poses in `map`, boxes, markers, collisions; and what to ask it for.
mod asking;
mod collisions;
mod messages;
mod place;
mod reported;

pub use asking::{Asking, Subject};
pub use collisions::{Contact, Hit, Latch};
pub use messages::{camera_report, collision, detections, markers, vehicle_report};
pub use place::{Bounds, World};
pub use reported::{Described, DescribedCamera, Entity, Reported};
