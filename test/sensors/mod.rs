//! Tests of `sensors`.
mod allocation;
mod camera_infos;
mod cameras;
mod clouds;
mod degraded;
mod depths;
mod doubtful;
mod float_clouds;
mod golden_images;
mod golden_points;
mod golden_ros;
mod imu_noise;
mod imu_orientation;
mod layouts;
mod ranges;
pub mod rig;
mod scans;
mod table;
