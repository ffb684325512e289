//! Assembles the bridge from the other modules; reads clocks, starts tasks and ends them.
//!
//! Each subfolder is a subsystem (`subsystem.rs`) and has a row in the table of `bridge.rs`. It may use the files directly in
//! `src/node`, but no other subsystem.
mod assembly;
mod awaited;
mod axes;
mod binder;
mod bridge;
mod calibrations;
mod camera_pairs;
mod cause;
mod clock;
mod context;
mod datagrams;
mod diagnostics;
mod doctor;
mod error;
mod files;
mod fleet_file;
mod frames;
mod group_topic;
mod host_checks;
mod host_names;
mod mesh;
#[cfg(has_rfly_bridge_msgs)]
mod model;
mod motion;
#[cfg(has_rfly_bridge_msgs)]
mod netsim;
mod parameter_commands;
mod parameter_requests;
mod parameter_values;
mod params;
mod pose_history;
mod presence;
mod record;
mod redis;
mod replay_steps;
mod reports;
mod scene;
mod scene_files;
mod section;
mod senders;
mod sensor_views;
mod sensors;
mod service_call;
mod settings;
mod shared_ports;
mod shared_reports;
mod shared_scene;
mod stats;
mod subsystem;
mod tasks;
mod terrain;
mod tf;
mod threads;
mod time;
mod topic_commands;
mod topics_page;
mod vehicles;
mod view;
mod view_log;

pub use binder::ReceiveEndpoints;
pub use bridge::Bridge;
pub use cause::Cause;
pub use diagnostics::{
    ProgramHealth, RateWatch, Rosout, RosoutLayer, RosoutPublisher, rosout, top,
};
pub use doctor::examine;
pub use error::{BindFailure, NodeError};
pub use files::NamedFile;
pub use frames::{UrdfForm, robot_description};
pub use parameter_commands::{ParameterNode, labelled, parameter_nodes};
pub use record::{
    AnonymiseError, AnonymiseReport, ChannelReport, InspectReport, PassiveRecordError,
    PassiveRecorder, PlaybackOptions, ReadError, RecordingLosses, Replay, ReplayError,
    ReplayReport, anonymise, inspect, parse_step, read_steps,
};
pub use replay_steps::{ReplayStep, StepQueue, StepResult};
pub use section::{Finding, Level};
pub use senders::Senders;
pub use sensors::{
    BlockRead, BlockReader, LinkChange, Liveness, PollInterval, delivery_hint, sensor_request,
};
pub use service_call::{CommandError, call};
pub use settings::{NODE_NAME, Settings, SettingsInputs};
pub use stats::LinkState;
pub use tasks::{Endless, keep_running, runtime};
pub use topic_commands::{
    EchoOptions, PublishOptions, QosOptions, TopicsOptions, echo, publish, topics,
};
pub use topics_page::topics_markdown;
pub use vehicles::{Announcement, Endpoint, HeartbeatDirectory, Peer, Unserved, VehicleAddress};
pub use view::{Viewer, view};
