//! Tests of `model`.
mod coptersim_requests;
mod faults;
mod fleet;
mod inputs;
mod netsim;
mod unicast_requests;
