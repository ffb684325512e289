//! Tests of `vehicle`.
mod ground_truth;
mod json;
mod rig;
mod state;
mod udp_links;
