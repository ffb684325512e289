//! Messages of `msg/` for builds without them: the fields in the order of the `.msg` files, which explain them.

/// Messages.
pub mod msg {
    use crate::msgs::geometry_msgs::msg::{Point, Pose, Vector3};
    use crate::msgs::std_msgs::msg::Header;
    use serde::{Deserialize, Serialize};

    /// `msg/BridgeStats.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct BridgeStats {
        pub header: Header,
        pub sources: Vec<SourceStats>,
        pub clocks: Vec<ClockStats>,
    }

    /// `msg/SourceStats.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct SourceStats {
        pub name: String,
        pub state: u8,
        pub rate_hz: f64,
        pub received: u64,
        pub bytes: u64,
        pub frames: u64,
        pub converted: u64,
        pub drops: Vec<DropCount>,
        pub latency_p50_s: f64,
        pub latency_p99_s: f64,
        pub latency_max_s: f64,
    }

    /// `msg/DropCount.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct DropCount {
        pub cause: String,
        pub count: u64,
    }

    /// `msg/ClockStats.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct ClockStats {
        pub vehicle_id: u16,
        pub offset_ns: i64,
        pub spread_p50_s: f64,
        pub spread_p99_s: f64,
        pub drift_ppm: f64,
        pub restarts: u64,
        pub steps: u64,
        pub observations: u64,
        pub rejected: u64,
    }

    /// `msg/CameraReport.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct CameraReport {
        pub header: Header,
        pub sensor: i32,
        pub type_id: i32,
        pub width: u32,
        pub height: u32,
        pub fov_deg: f64,
        pub pose: Pose,
    }

    /// `msg/Collision.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct Collision {
        pub header: Header,
        pub vehicle: i32,
        pub kind: u8,
        pub other: i32,
        pub name: String,
        pub located: bool,
        pub position: Point,
        pub centre: Point,
        pub count: u32,
    }

    /// `msg/VehicleReport.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct VehicleReport {
        pub header: Header,
        pub vehicle: i32,
        pub class_id: i32,
        pub style: i32,
        pub pose: Pose,
        pub velocity: Vector3,
        pub motor_speeds: [f64; 8],
        pub clearance: [f64; 6],
    }
}

/// Services of `srv/`.
#[expect(missing_docs, reason = "documented in the .srv files")]
pub mod srv {
    use crate::msgs::{geometry_msgs::msg::Point, halves};
    use serde::{Deserialize, Serialize};

    halves! { GetHeight
        { points: Vec<Point>, } => { success: bool, message: String, height: Vec<f64>, }
    }
}
