//! Messages of `livox_ros_driver2` (version 1.2) for builds without that package.

/// Messages.
pub mod msg {
    use crate::msgs::std_msgs::msg::Header;
    use serde::{Deserialize, Serialize};

    /// `CustomMsg.msg`: the points of a scan.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct CustomMsg {
        /// Time of the first point, and frame.
        pub header: Header,
        /// Time of the first point in ns.
        pub timebase: u64,
        /// Number of points.
        pub point_num: u32,
        /// Id of the lidar.
        pub lidar_id: u8,
        /// Reserved.
        pub rsvd: [u8; 3],
        /// The points.
        pub points: Vec<CustomPoint>,
    }

    /// `CustomPoint.msg`: a point.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    pub struct CustomPoint {
        /// Time after the time base in ns.
        pub offset_time: u32,
        /// Forward in m.
        pub x: f32,
        /// Left in m.
        pub y: f32,
        /// Up in m.
        pub z: f32,
        /// 0 to 255.
        pub reflectivity: u8,
        /// Confidence and number of the return.
        pub tag: u8,
        /// Line of the laser.
        pub line: u8,
    }
}
