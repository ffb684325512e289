//! A vehicle that is sent anything, from the autopilot and from users, while time passes.
#![no_main]

#[path = "../../test/support/vehicle.rs"]
#[allow(dead_code, reason = "the other script")]
mod vehicle;

libfuzzer_sys::fuzz_target!(|script: &[u8]| vehicle::play(script));
