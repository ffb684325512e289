//! Tests of `node`.
mod bridge;
mod frames;
mod mounts;
mod pairs;
mod params;
mod report;
mod reports;
mod rig;
mod senders;
mod sensors;
mod settings;
mod tasks;
mod vehicles;
mod views;
