//! Heartbeats: they update the clocks and announce vehicles.
use super::heartbeat_directory::{Announcement, HeartbeatDirectory, IDS, VehicleAddress};
use crate::node::datagrams::{BUFFER, arrival, receive};
use crate::node::presence::{LastHeartbeat, Presence};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, cause::Cause, clock::SimClocks, context::Context, settings::Settings,
    shared_scene::SharedScene, stats::SourceStats,
};
use crate::transport::{UdpReceiver, is_local_address};
use crate::wire::{HeartbeatPacket, Packet as _};
use crate::{config::ControlLink, doctor::SourceRole, time::Heartbeat};
use std::{net::Ipv4Addr, sync::Arc, time::Instant};
use tokio::runtime::Handle;

/// Opens the port of all vehicles' heartbeats.
pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly, runtime: &Handle) {
    let options = context.senders.group(context.settings.ports.heartbeat);
    let Some(receiver) = assembly.binder.bind(&options, "clock heartbeats") else { return };
    let source = HeartbeatSource {
        receiver,
        clocks: context.clocks.clone(),
        directory: directory_of(context.settings),
        served: context.settings.vehicles(),
        scene: context.scene.clone(),
        presence: context.presence.clone(),
        stats: assembly.add_source_of(SourceRole::Heartbeats, "heartbeats".into()),
    };
    tasks::start_counted(runtime, source.stats.clone(), source);
}

/// The served vehicles; with the address of CopterSim, unless the vehicle has an autopilot elsewhere.
fn directory_of(settings: &Settings) -> HeartbeatDirectory {
    let params = &settings.params;
    let address_of = |id: u16| {
        let address = params.copter_sim(id);
        let local = is_local_address(address);
        match params.control_link(id) {
            ControlLink::Simulator(_) | ControlLink::Off => Some(VehicleAddress { address, local }),
            _ => None,
        }
    };
    let vehicles = settings.vehicles().into_iter();
    let others = params.other_vehicles.iter().copied();
    HeartbeatDirectory::new(vehicles.map(|id| (id, address_of(id))), others)
}

/// Heartbeats of all vehicles, also of those not served.
struct HeartbeatSource {
    receiver: UdpReceiver,
    clocks: SimClocks,
    directory: HeartbeatDirectory,
    served: Vec<u16>,
    scene: SharedScene,
    presence: Presence,
    stats: Arc<SourceStats>,
}

impl CountedTask for HeartbeatSource {
    /// Updates the clocks, the presence and the scene.
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            let received = receive(&mut self.receiver, &mut buffer, &self.stats, || true).await;
            let Some(datagram) = received else { continue };
            let Ok(packet) = HeartbeatPacket::parse(&buffer[..datagram.len.min(BUFFER)]) else {
                self.stats.lock().count(Cause::Malformed);
                continue;
            };
            let (id, from) = (packet.copter_id.get(), *datagram.from.ip());
            if IDS.contains(&id) {
                self.scene.lock().entities.add_vehicle(id);
            }
            let cause = self.announce(id, from);
            if let Some(cause) = cause {
                self.stats.lock().count(cause);
            }
            let Ok(vehicle) = u16::try_from(id) else { continue };
            let Some(clock) = self.clocks.get(vehicle) else { continue };
            let beat = LastHeartbeat { from, is_expected: cause.is_none(), at: Instant::now() };
            self.presence.record_heartbeat(vehicle, beat);
            clock.heartbeat(Heartbeat {
                start_ms: packet.start_ms.get(),
                now_ms: packet.now_ms.get(),
                host: arrival(&datagram),
                local: is_local_address(from),
            });
            self.stats.lock().count_frame();
        }
    }
}

impl HeartbeatSource {
    /// Warns once about a vehicle that is not served or has another address; returns the cause under which to count it.
    fn announce(&mut self, id: i32, from: Ipv4Addr) -> Option<Cause> {
        let local = is_local_address(from);
        let sender = VehicleAddress { address: from, local };
        match self.directory.hear(id, sender) {
            Announcement::Served | Announcement::OfAnotherBridge => None,
            Announcement::NotServed { first } => {
                if first {
                    let mut vehicles: Vec<_> = self.served.iter().map(u16::to_string).collect();
                    vehicles.push(id.to_string());
                    tracing::warn!(
                        "vehicle {id} announces itself from {from} and is not served: vehicles are not added while the bridge \
                         runs. Restart the bridge with vehicles:=[{}], or with control.discover_s; if another bridge serves it, \
                         say so with other_vehicles:=[{id}]",
                        vehicles.join(", ")
                    );
                }
                Some(Cause::OtherVehicle)
            }
            Announcement::Elsewhere { sent_to, first } => {
                if first {
                    tracing::warn!(
                        "heartbeats of vehicle {id} come from {from}, but the bridge sends to {sent_to}: set \
                         vehicle{id}.address:={from}, or simulator_address if all vehicles are there"
                    );
                }
                Some(Cause::OtherAddress)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ParamValue, Params};

    #[test]
    fn heartbeats_from_another_host_are_reported_without_control_too() {
        let values = [("control.link", "off"), ("simulator_address", "192.0.2.1")];
        let values = values.map(|(name, text)| (name.to_owned(), ParamValue::Str(text.to_owned())));
        let params = Params::from_values(&values).expect("parameters");
        let settings = Settings::with_params(params).expect("settings");
        let [own, other] = [1, 2].map(|host| Ipv4Addr::new(192, 0, 2, host));
        let from = |address| VehicleAddress { address, local: false };
        let mut directory = directory_of(&settings);
        assert_eq!(directory.hear(1, from(own)), Announcement::Served);
        let elsewhere = Announcement::Elsewhere { sent_to: own, first: true };
        assert_eq!(directory.hear(1, from(other)), elsewhere);
    }
}
