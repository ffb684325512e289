//! Bytes of a MAVLink link, as datagram and as stream.
#![no_main]

#[path = "../../test/support/mavlink.rs"]
mod mavlink;

libfuzzer_sys::fuzz_target!(|data: &[u8]| mavlink::check(data));
