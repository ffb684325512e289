//! Tests of `vehicle`.
mod anything;
mod fcu;
mod from_fcu;
mod golden_services;
mod ground_truth;
mod json;
mod origin;
mod px4_flight;
mod rig;
mod services;
mod setpoint;
mod stamps;
mod state;
mod statustext;
mod telemetry;
mod to_fcu;
mod udp_links;
