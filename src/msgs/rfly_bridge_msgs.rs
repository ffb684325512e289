//! Messages of `msg/` for builds without them: the fields in the order of the `.msg` files, which explain them.
mod model;

/// Messages.
pub mod msg {
    pub use super::model::msg::*;
    use crate::msgs::geometry_msgs::msg::{Point, Pose, Vector3};
    use crate::msgs::std_msgs::msg::Header;
    use serde::{Deserialize, Serialize};

    /// `msg/Attachment.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct Attachment {
        pub entity: String,
        pub carrier: String,
        pub kind: u8,
    }

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

    /// `msg/EntityStates.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct EntityStates {
        pub header: Header,
        pub names: Vec<String>,
        pub ids: Vec<u16>,
        pub vehicle_types: Vec<u32>,
        pub poses: Vec<Pose>,
        pub motor_rpm: Vec<f32>,
        pub scale: Vec<f32>,
        pub fit_to_ground: bool,
        pub velocities: Vec<Vector3>,
        pub rates: Vec<Vector3>,
        pub times: Vec<f64>,
        pub grouped: bool,
    }

    /// `msg/ThermalClass.msg`.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
    #[expect(missing_docs, reason = "documented in the .msg file")]
    pub struct ThermalClass {
        pub name: String,
        pub temperature: f64,
        pub emissivity: f64,
        pub actor: bool,
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
    pub use super::model::srv::*;
    use super::msg::{Attachment, ThermalClass};
    use crate::msgs::{
        geometry_msgs::msg::{Point, PoseStamped, Vector3},
        halves,
        std_msgs::msg::ColorRGBA,
    };
    use serde::{Deserialize, Serialize};

    halves! { AddSensor
        { row: String, } => { success: bool, message: String, seq_id: u16, }
    }
    halves! { Attach
        { attachments: Vec<Attachment>, } => { success: bool, message: String, }
    }
    halves! { DescribeAll
        { kind: u8, } => { success: bool, message: String, }
    }

    #[expect(missing_docs, reason = "documented in the .srv file")]
    impl DescribeAllRequest {
        pub const CAMERAS: u8 = 0;
        pub const VEHICLES: u8 = 1;
        pub const OBJECTS: u8 = 2;
        pub const VEHICLES_AND_OBJECTS: u8 = 3;
        pub const ALL: u8 = 4;
    }

    halves! { GetHeight
        {
            shape: u8,
            step: f64,
            points: Vec<Point>,
        } => {
            success: bool,
            message: String,
            points: Vec<Point>,
            height: Vec<f64>,
        }
    }

    impl GetHeightRequest {
        pub const SHAPE_POINTS: u8 = 0;
        pub const SHAPE_LINE: u8 = 1;
        pub const SHAPE_GRID: u8 = 2;
    }

    halves! { PublishTerrain
        {
            center: Point,
            length_x: f64,
            length_y: f64,
            resolution: f64,
            occupied_above: f64,
        } => {
            success: bool,
            message: String,
            width: u32,
            height: u32,
            resolution: f64,
        }
    }
    halves! { SceneCommand
        { command: String, window: i16, } => { success: bool, message: String, }
    }
    halves! { SetActuators
        {
            entity: String,
            inputs: Vec<f64>,
            extended: Vec<f64>,
        } => {
            success: bool,
            message: String,
        }
    }
    halves! { SetLabel
        {
            entity: String,
            text: String,
            row: i8,
            color: ColorRGBA,
            size: f32,
            duration: f32,
            clear: bool,
        } => {
            success: bool,
            message: String,
        }
    }
    halves! { SetSize
        { entity: String, scale: Vector3, } => { success: bool, message: String, }
    }
    halves! { SetStencil
        { by: u8, name: String, regex: bool, value: u8, } => { success: bool, message: String, }
    }
    halves! { SetTemperatures
        { classes: Vec<ThermalClass>, } => { success: bool, message: String, values: Vec<u8>, }
    }
    halves! { SetView
        {
            entity: String,
            set_pose: bool,
            relative: bool,
            pose: PoseStamped,
            fov_deg: f32,
        } => {
            success: bool,
            message: String,
        }
    }
    halves! { ShowMessage
        {
            entities: Vec<String>,
            text: String,
            duration: f32,
        } => {
            success: bool,
            message: String,
        }
    }
}
