//! Sends the datagrams of scene requests.
use crate::node::{cause::Cause, context::Context, error::NodeError, stats::SourceStats};
use crate::scene::{Datagram, Recipient};
use crate::transport::{UdpSender, is_local_address};
use crate::wire::{NETWORK_GROUP, Ports};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::{collections::BTreeMap, sync::Arc};

const LAST_WINDOW: u16 = 19;

pub(super) struct SceneSocket {
    socket: UdpSender,
    renderer: Ipv4Addr,
    /// All windows of the renderer's host.
    windows: Vec<SocketAddrV4>,
    /// The windows of `scene.windows`.
    draw_windows: Vec<SocketAddrV4>,
    /// Hosts of `CopterSim` by vehicle; all other vehicles are on the renderer's host.
    hosts: BTreeMap<u16, Ipv4Addr>,
    ports: Ports,
    stats: Arc<SourceStats>,
}

impl SceneSocket {
    pub(super) fn open(context: &Context<'_>, stats: Arc<SourceStats>) -> Result<Self, NodeError> {
        let socket = UdpSender::open()
            .map_err(|source| NodeError::Start { what: "the socket of the scene", source })?;
        let params = &context.settings.params;
        let vehicles = context.settings.vehicles().into_iter();
        Ok(Self {
            socket,
            renderer: params.simulator_address,
            windows: (0..=LAST_WINDOW).map(|number| context.settings.window(number)).collect(),
            draw_windows: context.settings.draw_windows(),
            hosts: vehicles.map(|id| (id, params.copter_sim(id))).collect(),
            ports: context.settings.ports,
            stats,
        })
    }

    /// Sends all datagrams; counts those that are sent and those that cannot be sent.
    pub(super) fn send(&self, datagrams: &[Datagram]) {
        for Datagram { to, bytes } in datagrams {
            let send = |target: &SocketAddrV4| self.socket.send_to(bytes, *target).is_ok();
            // A datagram counts as sent if it was sent to one of its destinations.
            let count = self.targets(*to).into_iter().filter(send).count();
            let mut figures = self.stats.lock();
            match count {
                0 => figures.count(Cause::NotSent),
                _ => figures.frames += 1,
            }
        }
    }

    fn targets(&self, to: Recipient) -> Vec<SocketAddrV4> {
        let ports = &self.ports;
        match to {
            Recipient::Windows => self.draw_windows.clone(),
            Recipient::Window(number) => {
                self.windows.get(usize::from(number)).copied().into_iter().collect()
            }
            Recipient::Network => vec![SocketAddrV4::new(NETWORK_GROUP, ports.network_windows)],
            Recipient::CopterSim(id) => {
                let host = self.host(id);
                let mut targets = vec![
                    SocketAddrV4::new(NETWORK_GROUP, ports.requests),
                    SocketAddrV4::new(host, ports.coptersim(id)),
                ];
                if !is_local_address(host) {
                    targets.push(SocketAddrV4::new(host, ports.requests));
                }
                targets
            }
            Recipient::Autopilot(id) => vec![SocketAddrV4::new(self.host(id), ports.autopilot(id))],
        }
    }

    fn host(&self, id: u16) -> Ipv4Addr {
        self.hosts.get(&id).copied().unwrap_or(self.renderer)
    }
}
