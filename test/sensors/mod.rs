//! Tests of `sensors`.
mod allocation;
mod camera_infos;
mod cameras;
mod clouds;
mod depths;
mod golden_images;
mod golden_points;
mod golden_ros;
mod ranges;
mod rig;
mod table;
