//! Tests of `config`.
mod angle_unit;
mod golden;
mod vendor;
