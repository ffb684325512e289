//! Tests of `config`.
mod angle_unit;
mod control;
mod golden;
mod params;
mod ros_args;
mod store;
mod vendor;
