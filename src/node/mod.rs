//! Assembly: the only module that knows all the others. It reads clocks, starts tasks and ends them.
mod build;
mod clock;
mod error;
mod figures;
mod health;
mod live;
mod parameters;
mod plan;
mod request;
mod rosout;
mod settings;
mod shm_source;
mod sources;
mod stats;
mod supervisor;
pub mod top;
mod topics;
mod udp_source;
mod urdf;
mod vehicle;

pub use build::Bridge;
pub use error::NodeError;
pub use request::{LinkChange, LinkState, Liveness, sensor_request};
pub use rosout::{Rosout, RosoutLayer, RosoutPublisher, rosout};
pub use settings::{NODE_NAME, Origin, Settings};
pub use topics::topics_markdown;
pub use urdf::{UrdfForm, robot_description};
