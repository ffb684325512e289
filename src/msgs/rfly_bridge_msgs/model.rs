//! Messages and services of vehicle models, of `CopterSim` and of the simulated network between vehicles.

/// Messages.
pub(super) mod msg {
    use crate::msgs::builtin_interfaces::msg::Time;
    use crate::msgs::geometry_msgs::msg::{Point, Quaternion, Vector3};
    use crate::msgs::std_msgs::msg::Header;
    use serde::{Deserialize, Serialize};

    macro_rules! messages {
        ($($name:ident { $($field:ident: $type:ty,)+ })+) => { $(
            #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
            #[expect(missing_docs, reason = "documented in the .msg file")]
            pub struct $name {
                $(pub $field: $type,)+
            }
        )+ };
    }

    messages! {
        ActiveFault {
            kind: String,
            id: i32,
            mask: u32,
            parameters: Vec<f64>,
            since: Time,
            remaining: f64,
            keep_alive: f64,
        }
        ActiveFaults {
            header: Header,
            faults: Vec<ActiveFault>,
        }
        CustomData {
            checksum: i32,
            data: [f64; 16],
        }
        FleetReady {
            header: Header,
            ready: bool,
            vehicles: Vec<VehicleReady>,
        }
        ModelCommand {
            kind: u8,
            value: Vector3,
            yaw: f64,
            has_yaw_rate: bool,
            yaw_rate: f64,
        }
        ModelDoubles {
            set: u8,
            wait: bool,
            values: Vec<f64>,
        }
        ModelInputs {
            set: u8,
            ints: [i32; 8],
            floats: [f32; 20],
        }
        ModelOutput {
            header: Header,
            values: Vec<f64>,
        }
        ModelParameters {
            mask: u64,
            values: Vec<f64>,
        }
        ModelRays {
            size: f32,
            velocity: Vector3,
            position: Point,
            front: f32,
            back: f32,
            left: f32,
            right: f32,
            up: f32,
            down: f32,
        }
        ModelUorb {
            modes: u32,
            flags: u32,
            data: [f32; 16],
        }
        ModelValues {
            values: Vec<f64>,
        }
        NetSimData {
            sender: u16,
            receivers: Vec<u16>,
            delay: f64,
            data: Vec<u8>,
        }
        NetSimRequest {
            sender: u16,
            wanted: Vec<u16>,
        }
        NetSimState {
            sender: u16,
            receivers: Vec<u16>,
            delay: f64,
            time: f64,
            orientation: Quaternion,
            velocity: Vector3,
            home_latitude: f64,
            home_longitude: f64,
            home_altitude: f64,
            position: Vector3,
            global_position: Point,
        }
        VehicleReady {
            id: u16,
            ready: bool,
            address: String,
            missing: String,
        }
    }
}

/// Services.
#[expect(missing_docs, reason = "documented in the .srv files")]
pub(super) mod srv {
    use super::msg::ActiveFault;
    use crate::msgs::geometry_msgs::msg::PoseStamped;
    use crate::msgs::halves;
    use serde::{Deserialize, Serialize};

    halves! { ClearFaults
        { kind: String, id: i32, } => { success: bool, message: String, cleared: Vec<ActiveFault>, }
    }
    halves! { InjectFault
        { kind: String, id: i32, mask: u32, parameters: Vec<f64>, restore: Vec<f64>, duration: f64, keep_alive: f64, } => { success: bool, message: String, }
    }
    halves! { LoadByName
        { name: String, by_index: bool, index: i32, } => { success: bool, message: String, }
    }
    halves! { SetGeoOrigin
        { latitude: f64, longitude: f64, altitude: f64, } => { success: bool, message: String, }
    }
    halves! { SetGeoPlace
        { latitude: f64, longitude: f64, yaw: f64, } => { success: bool, message: String, }
    }
    halves! { SetUdpMode
        { mode: String, } => { success: bool, message: String, }
    }
    halves! { SetVehiclePose
        { pose: PoseStamped, on_ground: bool, } => { success: bool, message: String, }
    }
}
