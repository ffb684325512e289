//! What several test modules need.
pub mod anything;
pub mod clock;
pub mod cloud_payload;
pub mod every_parser;
pub mod geometry;
#[allow(dead_code, reason = "fields and helpers are used as tests come")]
pub mod golden;
pub mod mavlink;
pub mod parameters;
pub mod ports;
#[allow(dead_code, reason = "fields and helpers are used as tests come")]
pub mod python;
pub mod random;
pub mod request;
pub mod seeds;
pub mod sensor;
pub mod vehicle;
pub mod wait;
