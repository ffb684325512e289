//! A ROS 2 bridge for the RflySim drone simulator.
//!
//! Layers, lowest first; a module uses only modules above it in this list (`test/architecture.rs` enforces it):
//!
//! * [`wire`], [`frames`], [`time`], [`noise`], [`config`]: pure. Bytes, rotations, clocks, chance and settings as values.
//! * [`session`]: sans-IO state machines, for example fragments to frames.
//! * [`transport`] brings bytes in, [`ros`] takes messages out; neither knows the other.
//! * [`sensors`]: conversion, one row of one table and one file per kind of sensor; [`vehicle`]: of the vehicle itself; `model`: of
//!   its model and `CopterSim`; [`motion`]: models that the bridge flies itself; [`scene`]: terrain and what the renderer draws; [`reports`]: what the renderer says of vehicles,
//!   cameras and objects.
//! * [`doctor`]: what is wrong with a set-up, from facts.
//! * [`program`]: what both programs share around their work, log and signals.
//! * [`node`] assembles the bridge; [`calib`] writes configuration files for those who read its topics.
//!   [`emulator`] plays the simulator's side with the same wire types.
#![cfg_attr(
    not(all(has_rfly_bridge_msgs, has_simulation_interfaces)),
    allow(dead_code, reason = "a workspace may lack the interfaces of optional parts")
)]
pub mod calib;
pub mod config;
pub mod doctor;
pub mod emulator;
pub mod frames;
#[cfg(has_rfly_bridge_msgs)]
pub mod model;
pub mod motion;
pub mod msgs;
pub mod node;
pub mod noise;
pub mod program;
pub mod reports;
pub mod ros;
pub mod scene;
pub mod sensors;
pub mod session;
pub mod time;
pub mod transport;
pub mod vehicle;
pub mod wire;
