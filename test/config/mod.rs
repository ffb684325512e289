//! Tests of `config`.
mod angle_unit;
mod golden;
mod params;
mod ros_args;
mod store;
mod vendor;
