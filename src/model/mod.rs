//! Messages about a vehicle's model, `CopterSim` and the simulated network, to datagrams and back.
//!
//! An error names the field, what it must be and what it is.
mod asking;
mod faults;
mod fleet;
mod inputs;
mod netsim;
mod requests;
mod topics;

pub use asking::{Asking, Came, Wish};
pub use faults::{Cleared, FAULT_KINDS, FaultKind, Faults, Now, Parameter, Parameters};
pub use fleet::{Fleet, Heard};
pub use inputs::{
    Datagrams, InputCause, Wrong, command, custom_data, doubles, dynamic_parameters,
    initial_parameters, rays, renderer, sil, surroundings, uorb,
};
pub use netsim::{NetSim, NetSimIn};
pub use requests::{load, set_display, set_geo_origin, set_geo_place, set_pose, set_udp_mode};
pub use topics::{MODEL_SERVICES, MODEL_TOPICS};
