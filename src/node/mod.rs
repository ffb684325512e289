//! Assembly: the only module that knows all the others. It reads clocks, starts tasks and ends them.
//!
//! Each folder is a subsystem (`subsystem.rs`): it is a row of the table in `bridge.rs`, knows what is in the files here, and no
//! other folder.
mod assembly;
mod binder;
mod bridge;
mod clock;
mod context;
mod error;
mod frames;
mod neighbours;
mod params;
mod report;
mod section;
mod senders;
mod sensors;
mod settings;
mod stats;
mod subsystem;
mod tasks;
mod tf;
mod threads;
mod time;
mod topics;
mod vehicles;

pub use bridge::Bridge;
pub use error::NodeError;
pub use frames::{UrdfForm, robot_description};
pub use report::{
    Condition, RateWatch, Rosout, RosoutLayer, RosoutPublisher, Shortfall, rosout, top,
};
pub use section::{Finding, Level};
pub use senders::Senders;
pub use sensors::{BlockReader, LinkChange, Liveness, Rhythm, Taken, sensor_request};
pub use settings::{NODE_NAME, Origin, Settings};
pub use stats::LinkState;
pub use tasks::{Endless, keep_running};
pub use topics::topics_markdown;
pub use vehicles::{Announcement, End, HeartbeatDirectory, Peer, Unserved, Whereabouts};
