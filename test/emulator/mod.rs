//! Tests of `emulator`: over its sockets, against arithmetic of their own.
mod cameras;
mod command_line;
mod faults;
mod lidars;
mod motion;
mod mounts;
mod objects;
mod protocol;
mod reports;
mod rig;
mod shared_memory;
