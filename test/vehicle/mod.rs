//! Tests of `vehicle`.
mod from_fcu;
mod ground_truth;
mod json;
mod rig;
mod setpoint;
mod state;
mod to_fcu;
mod udp_links;
