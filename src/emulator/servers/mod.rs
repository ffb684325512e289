//! The servers: one thread polls all sockets except those of the autopilots, and dispatches the datagrams.
pub(super) mod autopilot;
mod collision;
pub(super) mod coptersim;
pub(super) mod report;
pub(super) mod shm;
pub(super) mod window;

use super::{control, shared::SharedState};
use crate::transport::{try_recv_from, wait_readable};
use crate::wire::NETWORK_GROUP;
use std::net::{IpAddr, UdpSocket};
use std::{sync::Arc, time::Duration};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// Renderer window, by index.
    Window(usize),
    /// Multicast to all renderers, handled by window 0.
    Group,
    /// `CopterSim` of a vehicle, by id.
    CopterSim(u16),
    /// Autopilot of a vehicle, by id.
    Autopilot(u16),
    /// Requests to any `CopterSim` of the network.
    Requests,
    /// Commands to the emulator.
    Control,
}

/// Sends a datagram to a client, if there is one, and to the multicast group, if it is used. There may be no listener.
fn send_to_all(
    shared: &SharedState,
    socket: &UdpSocket,
    bytes: &[u8],
    client: Option<IpAddr>,
    port: u16,
) {
    let group = shared.options.multicast.then_some(NETWORK_GROUP.into());
    for address in client.into_iter().chain(group) {
        let _ = socket.send_to(bytes, (address, port));
    }
}

/// Sends a datagram to the client of a vehicle's `CopterSim`, if there is one. There may be no listener.
fn send_to_client(shared: &SharedState, socket: &UdpSocket, id: u16, bytes: &[u8]) {
    if let Some(client) = shared.client(id) {
        let _ = socket.send_to(bytes, (client, shared.options.ports.true_state(id)));
    }
}

/// Serves these sockets until the emulator stops.
pub(super) fn run(shared: &SharedState, sockets: &[(Role, Arc<UdpSocket>)]) {
    /// Datagrams per turn of one socket.
    const BATCH: usize = 64;
    /// Longer than a packet of 100 states.
    const BUFFER_LEN: usize = 8192;
    /// Interval of checks whether to stop.
    const CHECK_PERIOD: Duration = Duration::from_millis(50);
    let mut buffer = [0u8; BUFFER_LEN];
    while !shared.is_stopped() {
        let readable = wait_readable(sockets.iter().map(|(_, s)| &**s), CHECK_PERIOD);
        for (readable, (role, socket)) in readable.iter().zip(sockets) {
            if !readable {
                continue;
            }
            // Bounded, so that a flood on one port does not starve the others.
            for _ in 0..BATCH {
                let Some((len, source)) = try_recv_from(socket, &mut buffer) else { break };
                let bytes = &buffer[..len];
                match role {
                    Role::Window(window) => window::accept(shared, socket, *window, bytes, source),
                    Role::Group => window::accept(shared, socket, 0, bytes, source),
                    Role::CopterSim(id) => coptersim::accept(shared, socket, *id, bytes, source),
                    Role::Requests => {
                        if !coptersim::execute_request(shared, socket, bytes, source) {
                            shared.stats.lock().refused += 1;
                        }
                    }
                    Role::Autopilot(_) => {} // has a thread of its own
                    Role::Control => {
                        let answer = control::execute(shared, &String::from_utf8_lossy(bytes));
                        let _ = socket.send_to(answer.as_bytes(), source); // the sender may be gone
                    }
                }
            }
        }
    }
}
