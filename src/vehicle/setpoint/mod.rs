//! Setpoints: ROS messages in ENU and FLU to MAVLink messages in NED and FRD.
mod raw;

pub(super) use raw::local;
