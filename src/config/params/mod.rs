//! All ROS parameters, typed, from one table.
mod all;
mod check;
mod choices;
mod control;
mod declare;
mod degrade;
mod families;
mod frames;
mod imu;
mod model;
mod node;
mod parse;
mod qos;
mod reader;
mod render;
mod scene;
mod sensor;
mod store;
mod streams;
mod table;
mod together;
mod value;
mod vehicle;

pub use super::angle_unit::AngleUnitChoice;
pub use crate::frames::{Geoid, WorldConvention};
pub use crate::time::{Estimator, StampMode};
pub use all::{PARAMETERS, Params};
pub use choices::*;
pub use control::{ControlParams, SetpointParams};
pub use degrade::DegradeParams;
pub use families::{completed_names, reopens_sensor};
pub(crate) use families::{is_address, is_parameter, is_text};
pub use frames::{FrameParams, TimeParams};
pub use imu::{ImuNoiseParams, ImuParams};
pub use model::{ModelParams, NetSimParams, RedisParams};
pub use node::{RecordParams, ViewParams};
pub use qos::{QOS_PARAMETERS, Qos, QosChange, QosGroup, QosParams};
pub use render::{render_help, render_markdown, render_yaml};
pub use scene::{ReportParams, SceneParams};
pub use sensor::{SENSOR_PARAMETERS, SensorParams};
pub use store::{Checked, Description, ParamType, Store};
pub use streams::{DepthParams, RequestParams, ScanParams};
pub use table::{ParameterSpec, ValueKind};
pub use value::ParamValue;
pub use vehicle::{VEHICLE_PARAMETERS, VehicleParams};

use super::config_json::{EntryChange, VendorOverrides};
use super::{AngleUnit, ControlLink, MountOrientation, SensorConfig, SimMode};
use std::net::Ipv4Addr;

impl Params {
    /// Returns the control link of a vehicle.
    pub fn control_link(&self, id: u16) -> &ControlLink {
        const FLOWN_HERE_LINK: ControlLink = ControlLink::Simulator(SimMode::UdpSimple);
        let vehicle = self.per_vehicle.get(&id);
        let given = vehicle.and_then(|vehicle| vehicle.link.as_ref());
        let is_flown_here = vehicle.is_some_and(VehicleParams::is_flown_here);
        given.unwrap_or(if is_flown_here { &FLOWN_HERE_LINK } else { &self.control.link })
    }

    /// Returns the prefix of a vehicle's mavros-style topics.
    pub fn control_prefix(&self, id: u16) -> String {
        let given = self.per_vehicle.get(&id).and_then(|vehicle| vehicle.prefix.clone());
        given.unwrap_or_else(|| {
            let n = if id == 1 { String::new() } else { id.to_string() };
            let template = &self.control.prefix;
            template.replace("{id}", &id.to_string()).replace("{n}", &n)
        })
    }

    /// Returns the host of a vehicle's CopterSim.
    pub fn copter_sim(&self, id: u16) -> Ipv4Addr {
        match self.per_vehicle.get(&id) {
            Some(vehicle) if vehicle.is_flown_here() => Ipv4Addr::LOCALHOST,
            vehicle => { vehicle.and_then(|v| v.address) }.unwrap_or(self.simulator_address),
        }
    }

    /// Returns the overrides of the sensor files.
    pub fn vendor_overrides(&self) -> VendorOverrides {
        VendorOverrides {
            transport: self.transport_mode,
            receive_address: self.receive_address.map(|a| a.octets()),
            piece_bytes: self.request.piece_bytes,
            segmentation: self.cloud_segmentation.number(),
            refuse_unsupported: self.config_unsupported == UnsupportedSensors::Refuse,
        }
    }

    /// Returns `sensor<SeqID>.*` of a sensor.
    pub fn sensor(&self, seq_id: u16) -> SensorParams {
        self.sensors.get(&seq_id).cloned().unwrap_or_default()
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::read(&reader::Values::defaults(&PARAMETERS))
    }
}
