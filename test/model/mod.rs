//! Tests of `model`.
mod faults;
mod fleet;
mod inputs;
mod netsim;
mod requests;
