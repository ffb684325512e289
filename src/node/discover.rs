//! Vehicles that announce themselves: CopterSim sends a heartbeat for each.
use super::Settings;
use super::announced::IDS;
use super::sources::{HEARTBEAT_GROUP, HEARTBEAT_PORT};
use crate::config::Problems;
use crate::transport::is_local_address;
use crate::wire::{HeartbeatPacket, Packet as _};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

/// Listens for as long as the parameters say, and returns the settings with every vehicle that was heard; one on
/// another machine gets that machine's address.
pub(super) fn with_found(settings: &Settings) -> Result<Settings, Problems> {
    let time = settings.params.control.discover;
    if time.is_zero() {
        return Ok(settings.clone());
    }
    let found = match listen(time) {
        Ok(found) => found,
        Err(error) => {
            tracing::error!(
                "UDP port {HEARTBEAT_PORT}: {error}; no vehicle can be found by its heartbeat"
            );
            return Ok(settings.clone());
        }
    };
    let mut params = settings.params.clone();
    for (id, address) in &found {
        params.vehicles.push(*id);
        if !is_local_address(*address) && params.simulator_address != *address {
            let own = params.own_vehicles.entry(*id).or_default();
            own.address.get_or_insert(*address);
        }
    }
    let settings = settings.changed(params)?;
    if found.is_empty() {
        let served = settings.vehicles();
        tracing::warn!(
            "no vehicle was heard on UDP port {HEARTBEAT_PORT} within {} s: start CopterSim before the bridge, let it send to \
             this host, or name the vehicles (vehicles:=[1, 2]). Served are {served:?}",
            time.as_secs_f64()
        );
    } else {
        let ids: Vec<_> = found.keys().map(u16::to_string).collect();
        tracing::info!("heartbeats of {} vehicles: {}", ids.len(), ids.join(", "));
    }
    Ok(settings)
}

/// CopterIDs, and where they are.
fn listen(time: Duration) -> io::Result<BTreeMap<u16, Ipv4Addr>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, HEARTBEAT_PORT).into())?;
    let socket = UdpSocket::from(socket);
    // Without a route for multicast, heartbeats still come to this host's own address.
    let _no_route = socket.join_multicast_v4(&HEARTBEAT_GROUP, &Ipv4Addr::UNSPECIFIED);
    let _no_loopback = socket.join_multicast_v4(&HEARTBEAT_GROUP, &Ipv4Addr::LOCALHOST);
    let end = Instant::now() + time;
    let mut found = BTreeMap::new();
    let mut buffer = [0; 256];
    loop {
        let rest = end.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            return Ok(found);
        }
        socket.set_read_timeout(Some(rest))?;
        let (len, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            // Interrupted: this process was stopped and goes on.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                continue;
            }
            Err(error) => return Err(error),
        };
        let heard = buffer.get(..len).map(HeartbeatPacket::parse);
        if let (Some(Ok(packet)), SocketAddr::V4(from)) = (heard, from) {
            let id = packet.copter_id.get();
            if IDS.contains(&id) {
                found.insert(id as u16, *from.ip());
            }
        }
    }
}
