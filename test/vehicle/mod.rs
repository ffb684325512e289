//! Tests of `vehicle`.
mod ground_truth;
mod json;
mod rig;
mod setpoint;
mod state;
mod to_fcu;
mod udp_links;
