//! A simulator's clock that is told anything, and then the truth again.
#![no_main]

#[path = "../../test/support/clock.rs"]
mod clock;

libfuzzer_sys::fuzz_target!(|script: &[u8]| clock::play(script));
