//! Assembly: the only module that uses all the others. It reads clocks, starts tasks and ends them.
//!
//! Each folder is a subsystem (`subsystem.rs`): a row of the table in `bridge.rs` that uses the files of this folder, but no
//! other subsystem.
mod assembly;
mod binder;
mod bridge;
mod calibrations;
mod call;
mod cause;
mod clock;
mod context;
mod conventions;
mod datagrams;
mod diagnostics;
mod doctor;
mod error;
mod files;
mod frames;
mod group_topic;
mod library;
mod mesh;
#[cfg(has_rfly_bridge_msgs)]
mod model;
mod motion;
mod neighbours;
#[cfg(has_rfly_bridge_msgs)]
mod netsim;
mod pairs;
mod params;
mod poses;
mod presence;
mod record;
mod redis;
mod reported;
mod reports;
mod scene;
mod section;
mod senders;
mod sensors;
mod settings;
mod setup;
mod shared_scene;
mod stats;
mod steps;
mod subsystem;
mod tasks;
mod terrain;
mod tf;
mod threads;
mod time;
mod topics;
mod vehicles;
mod view;
mod views;
mod wishes;

pub use binder::Listens;
pub use bridge::Bridge;
pub use call::{NoResponse, call};
pub use cause::Cause;
pub use diagnostics::{
    Condition, RateWatch, Rosout, RosoutLayer, RosoutPublisher, Shortfall, rosout, top,
};
pub use doctor::examine;
pub use error::NodeError;
pub use files::NamedFile;
pub use frames::{UrdfForm, robot_description};
pub use record::{
    AnonymiseError, AnonymiseReport, ChannelReport, InspectReport, PassiveRecordError,
    PassiveRecorder, PlaybackOptions, ReadError, RecordingLosses, Replay, ReplayError,
    ReplayReport, anonymise, inspect, parse_step, read_steps,
};
pub use section::{Finding, Level};
pub use senders::Senders;
pub use sensors::{BlockReader, LinkChange, Liveness, Rhythm, Taken, hint, sensor_request};
pub use settings::{NODE_NAME, Origin, Settings};
pub use stats::LinkState;
pub use steps::{Gate, Step, Stepped};
pub use tasks::{Endless, keep_running};
pub use topics::topics_markdown;
pub use vehicles::{Announcement, End, HeartbeatDirectory, Peer, Unserved, Whereabouts};
pub use view::{Viewer, view};
