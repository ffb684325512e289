//! ROS message types.
