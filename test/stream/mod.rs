//! The path of images on virtual time, from the emulator's renderer to the topic: streams without sockets, clocks and
//! waiting. A failure names its seed, and the same seed fails again.
mod bad_networks;
mod bridge;
mod conditions;
mod path;
mod simulator;
