//! Services that send requests to `CopterSim`, and start signals to programs; none of them acknowledges.
use super::model_socket::{ModelSocket, READ_ONLY};
use super::{VehicleModel, fleet_name};
use crate::msgs::rfly_bridge_msgs::srv::{
    LoadByName, LoadByNameResponse, SetGeoOrigin, SetGeoOriginResponse, SetGeoPlace,
    SetGeoPlaceResponse, SetUdpMode, SetUdpModeResponse, SetVehiclePose, SetVehiclePoseResponse,
};
use crate::msgs::std_srvs::srv::{SetBool, SetBoolResponse, Trigger, TriggerResponse};
use crate::node::{error::NodeError, presence::Presence};
use crate::wire::{
    CopterSimLoad, CopterSimRequestPacket, IntoBytes as _, RebootPacket, StartSignalPacket,
};
use crate::{model, msgs::Service};
use parking_lot::Mutex;
use std::sync::Arc;

/// A response with only a result and a text.
trait StatusResponse {
    fn of(success: bool, message: String) -> Self;
}

macro_rules! status_responses {
    ($($name:ident)+) => { $(
        impl StatusResponse for $name {
            fn of(success: bool, message: String) -> Self {
                Self { success, message }
            }
        }
    )+ };
}

status_responses! {
    LoadByNameResponse SetBoolResponse SetGeoOriginResponse SetGeoPlaceResponse
    SetUdpModeResponse SetVehiclePoseResponse TriggerResponse
}

/// The newest request that set the vehicle's position.
type LastPosition = Arc<Mutex<Option<CopterSimRequestPacket>>>;

pub(super) fn open(model: &mut VehicleModel<'_, '_>) -> Result<(), NodeError> {
    let (context, id) = (model.context, model.socket.vehicle);
    let params = &context.settings.params;
    let (world, map) = (params.frames.world, params.frames.map.clone());
    let last = LastPosition::default();
    let stored = last.clone();
    model.serve_request::<SetVehiclePose>("coptersim/set_pose", move |request, socket| {
        set_position(socket, &stored, model::set_pose(id, world, &map, &request)?)
    })?;
    let stored = last.clone();
    model.serve_request::<SetGeoPlace>("coptersim/set_geo_place", move |request, socket| {
        set_position(socket, &stored, model::set_geo_place(id, &request)?)
    })?;
    let presence = context.presence.clone();
    model.serve_request::<Trigger>("coptersim/restart", move |_, socket| {
        restart(socket, &last, &presence)
    })?;
    model.serve_request::<SetGeoOrigin>("coptersim/set_geo_origin", move |request, socket| {
        socket.request(model::set_geo_origin(id, &request)?.as_bytes())
    })?;
    model.serve_request::<SetUdpMode>("coptersim/set_udp_mode", move |request, socket| {
        socket.request(model::set_udp_mode(id, &request)?.as_bytes())
    })?;
    model.serve_request::<SetBool>("coptersim/show_geodetic", move |request, socket| {
        socket.request(model::set_display(id, request.data).as_bytes())
    })?;
    for (name, load) in
        [("coptersim/load_model", CopterSimLoad::Model), ("coptersim/load_map", CopterSimLoad::Map)]
    {
        model.serve_request::<LoadByName>(name, move |request, socket| {
            socket.request(model::load(id, load, &request)?.as_bytes())
        })?;
    }
    let name = model.full_name("coptersim/start_signal");
    model.serve_start_signal(&name, StartSignalPacket::new(Some(id.into())))?;
    model.serve_request::<Trigger>("coptersim/reboot_autopilot", |_, socket| {
        let reboot = RebootPacket::new(RebootPacket::AT_ONCE);
        socket.send(reboot.as_bytes(), socket.autopilot)
    })?;
    if context.settings.vehicles().first() == Some(&id) {
        let name = fleet_name(context, "fleet/start_signal");
        model.serve_start_signal(&name, StartSignalPacket::new(None))?;
    }
    Ok(())
}

/// Sets the position of a vehicle and records the request.
fn set_position(
    socket: &ModelSocket,
    last: &LastPosition,
    packet: CopterSimRequestPacket,
) -> Result<(), String> {
    *last.lock() = Some(packet);
    socket.request(packet.as_bytes())
}

/// Restarts CopterSim, which has no request for a restart, by setting the position of its vehicle.
fn restart(socket: &ModelSocket, last: &LastPosition, presence: &Presence) -> Result<(), String> {
    let last = *last.lock();
    let first = || {
        let [north, east, yaw] = presence.first_position(socket.vehicle)?;
        let packet = CopterSimRequestPacket::new(socket.vehicle.into());
        Some(packet.at([north, east], yaw.to_degrees() as f32))
    };
    let unknown = || {
        format!(
            "the position of vehicle {} is not known, because no true state has arrived; call coptersim/set_pose",
            socket.vehicle
        )
    };
    let packet = last.or_else(first).ok_or_else(unknown)?;
    socket.request(packet.as_bytes())
}

impl VehicleModel<'_, '_> {
    /// Offers a service of the vehicle that sends a request.
    fn serve_request<S: Service<Response: StatusResponse>>(
        &mut self,
        name: &str,
        mut run: impl FnMut(S::Request, &ModelSocket) -> Result<(), String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let (name, presence) = (self.full_name(name), self.context.presence.clone());
        self.serve_sender::<S>(&name, move |request, socket| {
            run(request, socket).map(|()| sent_text(socket, &presence))
        })
    }

    fn serve_start_signal(
        &mut self,
        name: &str,
        signal: StartSignalPacket,
    ) -> Result<(), NodeError> {
        self.serve_sender::<Trigger>(name, move |_, socket| {
            socket.send(signal.as_bytes(), socket.start)?;
            Ok(format!("sent to {}; programs acknowledge no start signal", socket.start))
        })
    }

    /// Offers a service that sends something; `run` returns the text of the response.
    fn serve_sender<S: Service<Response: StatusResponse>>(
        &mut self,
        name: &str,
        mut run: impl FnMut(S::Request, &ModelSocket) -> Result<String, String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let socket = self.socket.clone();
        self.serve::<S>(name, move |request| {
            if socket.is_read_only {
                return S::Response::of(false, READ_ONLY.to_owned());
            }
            match run(request, &socket) {
                Ok(text) => S::Response::of(true, text),
                Err(text) => S::Response::of(false, text),
            }
        })
    }
}

/// Returns the response to a request that was sent.
fn sent_text(socket: &ModelSocket, presence: &Presence) -> String {
    if presence.heartbeats().contains_key(&socket.vehicle) {
        "sent; CopterSim acknowledges nothing".to_owned()
    } else {
        format!(
            "sent, but CopterSim {} has sent no heartbeat: see fleet/ready for the reason",
            socket.vehicle
        )
    }
}
