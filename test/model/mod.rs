//! Tests of `model`.
mod asking;
mod faults;
mod fleet;
mod inputs;
mod netsim;
mod requests;
