//! Requests CopterSim to send its control port's data to this host, and to change UDPSIMMODE if configured.
use crate::config::ControlLink;
use crate::node::settings::Settings;
use crate::transport::{UdpSender, is_local_address};
use crate::wire::{CopterSimRequestPacket, NETWORK_GROUP};
use std::net::SocketAddrV4;
use std::time::Duration;
use zerocopy::IntoBytes as _;

/// Sends the request of one vehicle.
pub(super) struct Requester {
    socket: UdpSender,
    packet: CopterSimRequestPacket,
    targets: Vec<SocketAddrV4>,
    /// Time between requests.
    pub(super) period: Duration,
}

impl Requester {
    /// `None` if no request is needed: CopterSim sends to its own host by default.
    pub(super) fn new(settings: &Settings, id: u16, link: &ControlLink) -> Option<Self> {
        let ControlLink::Simulator(mode) = link else {
            return None;
        };
        let Settings { params, ports, .. } = settings;
        let host = params.copter_sim(id);
        let remote = !is_local_address(host);
        if !remote && !params.control.switch_mode {
            return None;
        }
        let mut packet = CopterSimRequestPacket::new(id.into());
        let mut targets = vec![SocketAddrV4::new(NETWORK_GROUP, ports.requests)];
        if remote {
            packet = packet.to_sender();
            targets.push(SocketAddrV4::new(host, ports.requests));
            targets.push(SocketAddrV4::new(host, ports.coptersim(id)));
        }
        if params.control.switch_mode {
            packet = packet.with_udp_mode(mode.number());
        }
        let socket = UdpSender::open().ok()?;
        Some(Self {
            socket,
            packet,
            targets,
            period: params.request.period,
        })
    }

    /// Sends the request once; returns the number of datagrams that failed.
    pub(super) fn ask(&self) -> usize {
        let failed = |target: &&SocketAddrV4| {
            let sent = self.socket.send_to(self.packet.as_bytes(), **target);
            sent.is_err()
        };
        self.targets.iter().filter(failed).count()
    }
}
