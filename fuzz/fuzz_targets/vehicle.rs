//! A vehicle that is sent anything, from the autopilot and from users, while time passes.
#![no_main]

#[path = "../../test/support/anything.rs"]
#[allow(dead_code, reason = "the other script")]
mod anything;
#[path = "../../test/support/vehicle.rs"]
#[allow(dead_code, reason = "what only tests need")]
mod vehicle;

libfuzzer_sys::fuzz_target!(|script: &[u8]| anything::play(script));
