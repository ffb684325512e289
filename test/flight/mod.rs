//! The bridge's vehicle and the emulator's autopilot, face to face on virtual time: flights without sockets, clocks and
//! waiting. A failure names its seed, and the same seed fails again.
mod bad_lines;
mod interruptions;
mod line;
mod pair;
