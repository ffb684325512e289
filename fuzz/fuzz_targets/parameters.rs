//! The parameter services of a running bridge.
#![no_main]

#[path = "../../test/support/parameters.rs"]
mod parameters;

libfuzzer_sys::fuzz_target!(|script: &[u8]| parameters::play(script));
