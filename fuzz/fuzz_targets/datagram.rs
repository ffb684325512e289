//! Every wire parser on the same bytes.
#![no_main]

#[path = "../../test/support/every_parser.rs"]
mod every_parser;

libfuzzer_sys::fuzz_target!(|data: &[u8]| every_parser::parse_all(data));
