//! Every message and every request that a vehicle takes, as bytes of a foreign writer.
#![no_main]

#[path = "../../test/support/anything.rs"]
#[allow(dead_code, reason = "the other script")]
mod anything;
#[path = "../../test/support/vehicle.rs"]
#[allow(dead_code, reason = "what only tests need")]
mod vehicle;

libfuzzer_sys::fuzz_target!(|script: &[u8]| anything::deliver(script));
