//! `vehicle_info_get`: type, versions and capabilities. The bridge requests the versions after the connection, a limited number of
//! times.
use super::{ServicePart, repeated_request::RepeatedRequest};
use crate::msgs::mavros_msgs::srv::{
    VehicleInfoGet, VehicleInfoGetRequest, VehicleInfoGetResponse,
};
use crate::vehicle::link::Abilities;
use crate::vehicle::service_table::services;
use crate::vehicle::{Fcu, Open, mode};
use crate::wire::mavlink::raw::AutopilotVersion;
use crate::{msgs::mavros_msgs::msg::VehicleInfo, ros::RosError, wire::mavlink::Frame};
use std::time::Duration;

/// Period of the requests.
const PERIOD: Duration = Duration::from_secs(2);
/// Bits of `available_info`.
const HAS_HEARTBEAT: u8 = 1;
const HAS_VERSION: u8 = 2;

services! {
    VehicleInfoGet("vehicle_info_get", "type, versions and capabilities of the vehicle")
        => |call, request| {
            let response = call.autopilot.services.info.get(&call.autopilot.fcu, &request);
            call.responder.respond(response);
        };
}

pub(super) struct VehicleInfoPart {
    version: Option<AutopilotVersion>,
    requests: RepeatedRequest,
}

impl ServicePart for VehicleInfoPart {
    fn open(_: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self { version: None, requests: RepeatedRequest::new(AutopilotVersion::ID, PERIOD) })
    }

    fn connected(&mut self, fcu: &Fcu) {
        self.version = None;
        self.requests.start(fcu, PERIOD);
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        handle!(frame {
            AutopilotVersion => |m| {
                self.store_version(fcu, m);
                Ok(())
            },
        })
    }

    fn lost(&mut self, _: &mut Fcu) -> Result<(), RosError> {
        self.requests.stop();
        Ok(())
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.requests.poll(fcu);
        Ok(())
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        self.requests.next
    }
}

impl VehicleInfoPart {
    fn store_version(&mut self, fcu: &Fcu, version: AutopilotVersion) {
        if self.version.replace(version).is_none() {
            let [major, minor, patch, _] = version.flight_sw.to_be_bytes();
            let software = format!("{major}.{minor}.{patch}");
            tracing::info!(vehicle = fcu.settings.id, software, "the autopilot's version");
        }
        self.requests.stop();
    }

    fn get(&self, fcu: &Fcu, request: &VehicleInfoGetRequest) -> VehicleInfoGetResponse {
        let includes = |id: u8, ours: u8| id == 0 || id == ours;
        let is_requested = request.get_all
            || (includes(request.sysid, fcu.system) && includes(request.compid, fcu.component));
        let Some(heartbeat) = fcu.heartbeat.filter(|_| is_requested) else {
            return VehicleInfoGetResponse::default();
        };
        let mut info = VehicleInfo {
            available_info: HAS_HEARTBEAT,
            sysid: fcu.system,
            compid: fcu.component,
            autopilot: heartbeat.autopilot,
            type_: heartbeat.kind,
            system_status: heartbeat.system_status,
            base_mode: heartbeat.base_mode,
            custom_mode: heartbeat.custom_mode,
            mode: mode::name(heartbeat.base_mode, heartbeat.custom_mode, heartbeat.autopilot),
            mode_id: heartbeat.custom_mode,
            ..VehicleInfo::default()
        };
        info.header.stamp = fcu.now.ros.to_msg();
        if let Some(version) = &self.version {
            info.available_info |= HAS_VERSION;
            info.capabilities = version.capabilities;
            info.flight_sw_version = version.flight_sw;
            info.middleware_sw_version = version.middleware_sw;
            info.os_sw_version = version.os_sw;
            info.board_version = version.board;
            info.vendor_id = version.vendor_id;
            info.product_id = version.product_id;
            info.uid = version.uid;
            // The least significant byte comes first.
            info.flight_custom_version =
                (version.flight_custom.iter().rev()).map(|byte| format!("{byte:02x}")).collect();
        }
        VehicleInfoGetResponse { success: true, vehicles: vec![info] }
    }
}
