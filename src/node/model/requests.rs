//! Services that send requests to `CopterSim`, which acknowledges none of them.
use super::model_socket::{ModelSocket, READ_ONLY};
use super::of_fleet;
use crate::model;
use crate::msgs::Service;
use crate::msgs::rfly_bridge_msgs::srv::{
    LoadByName, LoadByNameRequest, LoadByNameResponse, SetGeoOrigin, SetGeoOriginResponse,
    SetGeoPlace, SetGeoPlaceResponse, SetUdpMode, SetUdpModeResponse, SetVehiclePose,
    SetVehiclePoseResponse,
};
use crate::msgs::std_srvs::srv::{SetBool, SetBoolResponse, Trigger, TriggerResponse};
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::presence::Presence;
use crate::wire::{
    CopterSimLoad, CopterSimRequestPacket, IntoBytes as _, RebootPacket, StartSignalPacket,
};
use std::sync::{Arc, Mutex, PoisonError};

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

/// The newest request for a vehicle's position.
type LastPosition = Arc<Mutex<Option<CopterSimRequestPacket>>>;

/// Opens the services of a vehicle.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    socket: &ModelSocket,
) -> Result<(), NodeError> {
    let params = &context.settings.params;
    let (world, map) = (params.frames.world, params.frames.map.clone());
    let id = socket.vehicle;
    let last = LastPosition::default();
    let mut requests = RequestServices { context, assembly, socket };
    let keep = last.clone();
    requests.open::<SetVehiclePose>("coptersim/set_pose", move |request, socket| {
        let packet = model::set_pose(id, world, &map, &request)?;
        set_position(socket, &keep, packet)
    })?;
    let keep = last.clone();
    requests.open::<SetGeoPlace>("coptersim/set_geo_place", move |request, socket| {
        set_position(socket, &keep, model::set_geo_place(id, &request)?)
    })?;
    let presence = context.presence.clone();
    requests
        .open::<Trigger>("coptersim/restart", move |_, socket| restart(socket, &last, &presence))?;
    requests.open::<SetGeoOrigin>("coptersim/set_geo_origin", move |request, socket| {
        socket.request(model::set_geo_origin(id, &request)?.as_bytes())
    })?;
    requests.open::<SetUdpMode>("coptersim/set_udp_mode", move |request, socket| {
        socket.request(model::set_udp_mode(id, &request)?.as_bytes())
    })?;
    requests.open::<SetBool>("coptersim/show_geodetic", move |request, socket| {
        socket.request(model::set_display(id, request.data).as_bytes())
    })?;
    for (name, what) in
        [("coptersim/load_model", CopterSimLoad::Model), ("coptersim/load_map", CopterSimLoad::Map)]
    {
        let load = move |request: LoadByNameRequest, socket: &ModelSocket| {
            socket.request(model::load(id, what, &request)?.as_bytes())
        };
        requests.open::<LoadByName>(name, load)?;
    }
    requests.open::<Trigger>("coptersim/start_signal", move |_, socket| {
        let signal = StartSignalPacket::new(Some(id.into()));
        socket.send(signal.as_bytes(), socket.start)
    })?;
    requests.open::<Trigger>("coptersim/reboot_autopilot", |_, socket| {
        let reboot = RebootPacket::new(RebootPacket::AT_ONCE);
        socket.send(reboot.as_bytes(), socket.autopilot)
    })?;
    if context.settings.vehicles().first() == Some(&id) {
        let name = of_fleet(context, "fleet/start_signal");
        requests.open_at::<Trigger>(&name, |_, socket| {
            socket.send(StartSignalPacket::new(None).as_bytes(), socket.start)
        })?;
    }
    Ok(())
}

/// Sets the position of a vehicle and records the request.
fn set_position(
    socket: &ModelSocket,
    last: &LastPosition,
    packet: CopterSimRequestPacket,
) -> Result<(), String> {
    *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(packet);
    socket.request(packet.as_bytes())
}

/// Restarts CopterSim, which has no request for that, but restarts when its vehicle gets a position.
fn restart(socket: &ModelSocket, last: &LastPosition, presence: &Presence) -> Result<(), String> {
    let last = *last.lock().unwrap_or_else(PoisonError::into_inner);
    let first = || {
        let [north, east, yaw] = presence.first_position(socket.vehicle)?;
        let packet = CopterSimRequestPacket::new(socket.vehicle.into());
        Some(packet.at([north, east], yaw.to_degrees() as f32))
    };
    let packet = last.or_else(first).ok_or_else(|| {
        format!(
            "the position of vehicle {} is not known, because no true state has arrived; call coptersim/set_pose",
            socket.vehicle
        )
    })?;
    socket.request(packet.as_bytes())
}

struct RequestServices<'a, 'c> {
    context: &'a Context<'c>,
    assembly: &'a mut Assembly,
    socket: &'a ModelSocket,
}

impl RequestServices<'_, '_> {
    fn open<S: Service<Response: StatusResponse>>(
        &mut self,
        name: &str,
        run: impl FnMut(S::Request, &ModelSocket) -> Result<(), String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let name = self.context.of_vehicle(self.socket.vehicle, name);
        self.open_at::<S>(&name, run)
    }

    fn open_at<S: Service<Response: StatusResponse>>(
        &mut self,
        name: &str,
        mut run: impl FnMut(S::Request, &ModelSocket) -> Result<(), String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let (socket, presence) = (self.socket.clone(), self.context.presence.clone());
        let answer = move |request: S::Request| {
            if socket.read_only {
                return S::Response::of(false, READ_ONLY.to_owned());
            }
            match run(request, &socket) {
                Ok(()) => S::Response::of(true, sent(&socket, &presence)),
                Err(text) => S::Response::of(false, text),
            }
        };
        let mut answer = answer;
        let service = self.context.middleware.service::<S>(name, move |request, responder| {
            responder.respond(answer(request));
        })?;
        self.assembly.guards.push(Box::new(service));
        Ok(())
    }
}

/// Response to a request that was sent.
fn sent(socket: &ModelSocket, presence: &Presence) -> String {
    if presence.heartbeats().contains_key(&socket.vehicle) {
        "sent; CopterSim acknowledges nothing".to_owned()
    } else {
        format!(
            "sent, but CopterSim {} has sent no heartbeat: see fleet/ready for the reason",
            socket.vehicle
        )
    }
}
