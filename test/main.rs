//! One integration binary; its modules mirror `src/`.
mod config;
mod emulator;
mod frames;
mod node;
mod ros;
mod sensors;
mod session;
mod support;
mod time;
mod transport;
mod wire;
