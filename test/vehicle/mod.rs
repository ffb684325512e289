//! Tests of `vehicle`.
mod fcu;
mod from_fcu;
mod golden_services;
mod ground_truth;
mod json;
mod rig;
mod services;
mod setpoint;
mod state;
mod to_fcu;
mod udp_links;
