//! Helpers of several test modules.
pub mod anything;
pub mod clock;
pub mod cloud_payload;
pub mod every_parser;
pub mod geometry;
#[allow(dead_code, reason = "fields and helpers are not all used at all times")]
pub mod golden;
pub mod mavlink;
pub mod parameters;
pub mod ports;
#[allow(dead_code, reason = "fields and helpers are not all used at all times")]
pub mod python;
pub mod random;
pub mod request;
pub mod seeds;
pub mod sensor;
pub mod vehicle;
pub mod wait;
