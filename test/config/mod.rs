//! Tests of `config`.
mod angle_unit;
mod config_json;
mod control;
mod encoding;
mod fleet;
mod golden;
mod meant;
mod params;
mod problem;
mod ros_args;
mod rows;
mod store;
