//! Converts messages about vehicle models, `CopterSim` and the simulated network to datagrams and back.
//!
//! An error names the field, what it must be and what it is.
mod coptersim_requests;
mod faults;
mod fleet;
mod inputs;
mod netsim;
mod topics;
mod unicast_requests;

pub use coptersim_requests::{
    load, set_display, set_geo_origin, set_geo_place, set_pose, set_udp_mode,
};
pub use faults::{
    ClearedFaults, FAULT_KINDS, FaultKind, FaultParameter, FaultParameters, FaultTime, Faults,
};
pub use fleet::{Absence, Fleet, Heartbeats, LastHeartbeat};
pub use inputs::{
    Datagrams, InputCause, InputError, InputResult, command, custom_data, doubles,
    dynamic_parameters, initial_parameters, rays, renderer, sil, surroundings, uorb,
};
pub use netsim::{NetSim, NetSimReceived};
pub use topics::{MODEL_SERVICES, MODEL_TOPICS};
pub use unicast_requests::{DueRequests, LastArrivals, UnicastRequests};
