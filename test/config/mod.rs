//! Tests of `config`.
mod angle_unit;
mod config_json;
mod control;
mod golden;
mod meant;
mod params;
mod ros_args;
mod rows;
mod store;
