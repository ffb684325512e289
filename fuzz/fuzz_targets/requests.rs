//! Every message and every request that a vehicle takes, as bytes of a foreign writer.
#![no_main]

#[path = "../../test/support/vehicle.rs"]
#[allow(dead_code, reason = "the other script")]
mod vehicle;

libfuzzer_sys::fuzz_target!(|script: &[u8]| vehicle::deliver(script));
