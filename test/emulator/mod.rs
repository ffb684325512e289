//! Tests of `emulator`: over its sockets, against arithmetic of their own.
mod autopilot;
mod cameras;
mod command_line;
mod consistency;
mod failsafe;
mod faults;
mod lidars;
mod lines;
mod motion;
mod mounts;
mod objects;
mod pilot_rig;
mod protocol;
mod reports;
mod response;
mod rig;
mod shared_memory;
