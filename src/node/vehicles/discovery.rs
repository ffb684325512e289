//! Discovery of vehicles by the heartbeats of CopterSim.
use super::heartbeat_directory::IDS;
use crate::node::{error::NodeError, senders::Senders, settings::Settings, tasks};
use crate::transport::{Received, UdpReceiver, is_local_address};
use crate::wire::{HeartbeatPacket, Packet as _};
use std::io::{self, IoSliceMut};
use std::{collections::BTreeMap, net::Ipv4Addr, time::Duration};

/// Listens for `control.discover_s` and returns the settings with all announced vehicles; a vehicle on another host gets the
/// address of that host. A duration of 0 disables discovery.
pub(in crate::node) fn with_discovered(
    settings: &Settings,
    senders: &Senders,
) -> Result<Settings, NodeError> {
    let time = settings.params.control.discover;
    if time.is_zero() {
        return Ok(settings.clone());
    }
    let port = settings.ports.heartbeat;
    let runtime = tasks::runtime("the search for vehicles")?;
    let found = runtime.block_on(listen(senders, port, time));
    senders.log_refused();
    let vehicles = match found {
        Ok(vehicles) => vehicles,
        Err(error) => {
            tracing::error!("UDP port {port}: {error}; no vehicle can be found by its heartbeat");
            return Ok(settings.clone());
        }
    };
    let mut params = settings.params.clone();
    for (id, address) in &vehicles {
        params.vehicles.push(*id);
        if !is_local_address(*address) && params.simulator_address != *address {
            let vehicle = params.per_vehicle.entry(*id).or_default();
            vehicle.address.get_or_insert(*address);
        }
    }
    let settings = settings.with_params_changed(params)?;
    if vehicles.is_empty() {
        let served = settings.vehicles();
        tracing::warn!(
            "no heartbeat received on UDP port {port} within {} s: start CopterSim before the bridge, let it send to \
            this host, name its host (simulator_address, accept_from), or name the vehicles (vehicles:=[1, 2]). Serving vehicles {served:?}",
            time.as_secs_f64()
        );
    } else {
        let ids: Vec<_> = vehicles.keys().map(u16::to_string).collect();
        tracing::info!("heartbeats of {} vehicles: {}", ids.len(), ids.join(", "));
    }
    Ok(settings)
}

/// Returns CopterIDs and addresses of accepted senders: the bridge never sends to a refused one.
async fn listen(
    senders: &Senders,
    port: u16,
    time: Duration,
) -> io::Result<BTreeMap<u16, Ipv4Addr>> {
    let mut receiver = UdpReceiver::bind(&senders.group(port))?;
    let mut vehicles = BTreeMap::new();
    let mut buffer = [0; 256];
    let end = tokio::time::sleep(time);
    tokio::pin!(end);
    loop {
        let mut buffers = [IoSliceMut::new(&mut buffer)];
        let received = tokio::select! {
            () = &mut end => return Ok(vehicles),
            received = receiver.recv(&mut buffers) => received?,
        };
        let Received::Datagram(datagram) = received else { continue };
        let heartbeat = buffer.get(..datagram.len).map(HeartbeatPacket::parse);
        if let Some(Ok(packet)) = heartbeat {
            let id = packet.copter_id.get();
            if IDS.contains(&id) {
                vehicles.insert(id as u16, *datagram.from.ip());
            }
        }
    }
}
