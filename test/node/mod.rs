//! Tests of `node`.
mod bridge;
mod calibrations;
mod diagnostics;
mod encodings;
mod frames;
mod gimbal;
#[cfg(has_rfly_bridge_msgs)]
mod model;
mod mounts;
mod pairs;
mod params;
mod record;
mod recordings;
mod reopening;
#[cfg(all(has_rfly_bridge_msgs, has_visualization_msgs))]
mod reports;
mod rig;
#[cfg(all(has_rfly_bridge_msgs, has_simulation_interfaces))]
mod scene;
mod senders;
mod sensors;
mod settings;
mod tasks;
#[cfg(feature = "dds")]
mod terrain;
mod transform_order;
mod vehicles;
mod views;
