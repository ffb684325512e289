//! Vehicles that the bridge simulates itself, for users without `CopterSim`: simple models of motion with the datagrams of
//! UDP_Simple, so that the rest of the bridge treats them like any other vehicle.
mod airframe;
mod body_state;
mod setpoint;
mod vehicle;

pub use airframe::Airframe;
pub use vehicle::{Ignored, OwnVehicle, Start, Terrain};
