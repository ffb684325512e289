//! A ROS 2 bridge for the RflySim drone simulator.
//!
//! Layers from the lowest; a module uses only modules of its own item and of items before it (`test/architecture.rs` has the
//! exact rules):
//!
//! * [`msgs`], [`wire`], [`frames`], [`time`], [`noise`], [`config`]: message types, bytes, rotations, clocks, random numbers and
//!   settings, without I/O.
//! * [`session`]: sans-IO state machines, such as the reassembly of frames from fragments.
//! * [`transport`] exchanges bytes with the simulator, [`ros`] messages with the graph; neither uses the other.
//! * [`sensors`] converts data of sensors, with one table row per kind; [`vehicle`] that of autopilots; `model` that of the
//!   vendor's vehicle models and `CopterSim`; [`reports`] the renderer's descriptions of vehicles, cameras and objects.
//! * [`motion`]: models of the vehicles that the bridge flies itself; [`scene`]: terrain, and objects that the renderer draws.
//! * [`doctor`] finds faults of a set-up. [`program`]: log, signals and resource limits of the two programs, `rfly_bridge` and
//!   `rflysim_emulator`.
//! * [`node`] assembles the bridge; [`calib`] writes configuration files of programs that read its topics.
//!   [`emulator`] replaces the simulator, with the same wire types.
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
