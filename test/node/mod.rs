//! Tests of `node`.
mod bridge;
mod diagnostics;
mod frames;
mod gimbal;
mod model;
mod mounts;
mod pairs;
mod params;
mod record;
mod recordings;
mod reports;
mod rig;
mod scene;
mod senders;
mod sensors;
mod settings;
mod tasks;
#[cfg(feature = "dds")]
mod terrain;
mod vehicles;
mod views;
