//! Vehicles that the bridge flies itself, where the user has no `CopterSim`: simple models of motion behind the datagrams of
//! UDP_Simple, so that everything else takes them for any other vehicle.
//!
//! No clock and no socket: a step is told its time, and bytes go in and out.
mod airframe;
mod body;
mod order;
mod vehicle;

pub use airframe::Airframe;
pub use vehicle::{Ignored, OwnVehicle, Start, Terrain};
