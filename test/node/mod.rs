//! Tests of `node`.
mod bridge;
mod frames;
mod model;
mod mounts;
mod pairs;
mod params;
mod report;
mod senders;
mod sensors;
mod settings;
mod tasks;
mod vehicles;
