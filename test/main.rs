//! One integration binary; its modules mirror `src/`.
#![allow(
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    reason = "tests have no callers and stop at the first surprise"
)]
mod architecture;
mod config;
mod doctor;
mod documents;
mod emulator;
mod flight;
mod frames;
#[cfg(has_rfly_bridge_msgs)]
mod model;
mod motion;
mod node;
mod noise;
mod program;
mod reports;
mod ros;
mod scene;
mod sensors;
mod session;
mod stream;
mod support;
mod time;
mod transport;
mod vehicle;
mod wire;
