//! Services that become requests to `CopterSim`. It acknowledges none of them.
use super::of_fleet;
use super::outlet::{Outlet, READ_ONLY};
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

/// A response that has only a result and a text.
trait Answer {
    fn of(success: bool, message: String) -> Self;
}

macro_rules! answers {
    ($($name:ident)+) => { $(
        impl Answer for $name {
            fn of(success: bool, message: String) -> Self {
                Self { success, message }
            }
        }
    )+ };
}

answers! {
    LoadByNameResponse SetBoolResponse SetGeoOriginResponse SetGeoPlaceResponse
    SetUdpModeResponse SetVehiclePoseResponse TriggerResponse
}

/// The newest request that placed a vehicle.
type Last = Arc<Mutex<Option<CopterSimRequestPacket>>>;

/// Opens the services of a vehicle.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    outlet: &Outlet,
) -> Result<(), NodeError> {
    let params = &context.settings.params;
    let (world, map) = (params.frames.world, params.frames.map.clone());
    let id = outlet.vehicle;
    let last = Last::default();
    let mut requests = Requests {
        context,
        assembly,
        outlet,
    };
    let keep = last.clone();
    requests.open::<SetVehiclePose>("coptersim/set_pose", move |request, outlet| {
        let packet = model::set_pose(id, world, &map, &request)?;
        place(outlet, &keep, packet)
    })?;
    let keep = last.clone();
    requests.open::<SetGeoPlace>("coptersim/set_geo_place", move |request, outlet| {
        place(outlet, &keep, model::set_geo_place(id, &request)?)
    })?;
    let presence = context.presence.clone();
    requests.open::<Trigger>("coptersim/restart", move |_, outlet| {
        restart(outlet, &last, &presence)
    })?;
    requests.open::<SetGeoOrigin>("coptersim/set_geo_origin", move |request, outlet| {
        outlet.request(model::set_geo_origin(id, &request)?.as_bytes())
    })?;
    requests.open::<SetUdpMode>("coptersim/set_udp_mode", move |request, outlet| {
        outlet.request(model::set_udp_mode(id, &request)?.as_bytes())
    })?;
    requests.open::<SetBool>("coptersim/show_geodetic", move |request, outlet| {
        outlet.request(model::set_display(id, request.data).as_bytes())
    })?;
    for (name, what) in [
        ("coptersim/load_model", CopterSimLoad::Model),
        ("coptersim/load_map", CopterSimLoad::Map),
    ] {
        let load = move |request: LoadByNameRequest, outlet: &Outlet| {
            outlet.request(model::load(id, what, &request)?.as_bytes())
        };
        requests.open::<LoadByName>(name, load)?;
    }
    requests.open::<Trigger>("coptersim/start_signal", move |_, outlet| {
        let signal = StartSignalPacket::new(Some(id.into()));
        outlet.send(signal.as_bytes(), outlet.start)
    })?;
    requests.open::<Trigger>("coptersim/reboot_autopilot", |_, outlet| {
        let reboot = RebootPacket::new(RebootPacket::AT_ONCE);
        outlet.send(reboot.as_bytes(), outlet.autopilot)
    })?;
    if context.settings.vehicles().first() == Some(&id) {
        let name = of_fleet(context, "fleet/start_signal");
        requests.open_at::<Trigger>(&name, |_, outlet| {
            outlet.send(StartSignalPacket::new(None).as_bytes(), outlet.start)
        })?;
    }
    Ok(())
}

/// Places a vehicle, and records the request.
fn place(outlet: &Outlet, last: &Last, packet: CopterSimRequestPacket) -> Result<(), String> {
    *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(packet);
    outlet.request(packet.as_bytes())
}

/// CopterSim has no restart request: it restarts when its vehicle is placed.
fn restart(outlet: &Outlet, last: &Last, presence: &Presence) -> Result<(), String> {
    let last = *last.lock().unwrap_or_else(PoisonError::into_inner);
    let first = || {
        let [north, east, yaw] = presence.first(outlet.vehicle)?;
        let packet = CopterSimRequestPacket::new(outlet.vehicle.into());
        Some(packet.at([north, east], yaw.to_degrees() as f32))
    };
    let packet = last.or_else(first).ok_or_else(|| {
        format!(
            "it is not known where vehicle {} was: its true state never came; call coptersim/set_pose",
            outlet.vehicle
        )
    })?;
    outlet.request(packet.as_bytes())
}

struct Requests<'a, 'c> {
    context: &'a Context<'c>,
    assembly: &'a mut Assembly,
    outlet: &'a Outlet,
}

impl Requests<'_, '_> {
    fn open<S: Service<Response: Answer>>(
        &mut self,
        name: &str,
        run: impl FnMut(S::Request, &Outlet) -> Result<(), String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let name = self.context.of_vehicle(self.outlet.vehicle, name);
        self.open_at::<S>(&name, run)
    }

    fn open_at<S: Service<Response: Answer>>(
        &mut self,
        name: &str,
        mut run: impl FnMut(S::Request, &Outlet) -> Result<(), String> + Send + 'static,
    ) -> Result<(), NodeError> {
        let (outlet, presence) = (self.outlet.clone(), self.context.presence.clone());
        let answer = move |request: S::Request| {
            if outlet.read_only {
                return S::Response::of(false, READ_ONLY.to_owned());
            }
            match run(request, &outlet) {
                Ok(()) => S::Response::of(true, sent(&outlet, &presence)),
                Err(text) => S::Response::of(false, text),
            }
        };
        let mut answer = answer;
        let service = self
            .context
            .middleware
            .service::<S>(name, move |request, responder| {
                responder.respond(answer(request));
            })?;
        self.assembly.guards.push(Box::new(service));
        Ok(())
    }
}

/// Response to a request that was sent.
fn sent(outlet: &Outlet, presence: &Presence) -> String {
    match presence.beats().contains_key(&outlet.vehicle) {
        true => "sent; CopterSim acknowledges nothing".to_owned(),
        false => format!(
            "sent, but CopterSim {} was never heard: fleet/ready says what to look at",
            outlet.vehicle
        ),
    }
}
