//! Sends datagrams to the model, CopterSim and autopilot of a vehicle.
use crate::node::{error::NodeError, settings::Settings};
use crate::transport::{UdpSender, is_local_address};
use crate::{config::params::VehicleParams, wire::NETWORK_GROUP};
use std::{net::SocketAddrV4, sync::Arc};

/// Text of a refusal while `control.read_only` is set.
pub(super) const READ_ONLY: &str =
    "control.read_only is true: start the bridge without it to change the simulation";

/// The socket and the destinations of a vehicle. Cheap to clone.
#[derive(Clone)]
pub(super) struct ModelSocket {
    pub(super) vehicle: u16,
    pub(super) is_read_only: bool,
    socket: UdpSender,
    /// Destination of inputs of the model.
    pub(super) model: SocketAddrV4,
    /// Destinations of requests: the multicast group (as the vendor's client does), the host of a remote CopterSim, or the bridge's
    /// own model.
    requests: Arc<[SocketAddrV4]>,
    /// Destination of the autopilot's reboot.
    pub(super) autopilot: SocketAddrV4,
    /// Destination of start signals.
    pub(super) start: SocketAddrV4,
    /// Destination of `model/custom_data`.
    pub(super) custom: SocketAddrV4,
}

impl ModelSocket {
    pub(super) fn new(settings: &Settings, vehicle: u16) -> Result<Self, NodeError> {
        let Settings { params, ports, .. } = settings;
        let failed = |source| NodeError::Start { what: "a socket for models", source };
        let socket = UdpSender::open().map_err(failed)?;
        let host = params.copter_sim(vehicle);
        let model = SocketAddrV4::new(host, ports.coptersim(vehicle));
        let config = params.per_vehicle.get(&vehicle);
        let is_flown_here = config.is_some_and(VehicleParams::is_flown_here);
        let requests = if !is_local_address(host) {
            vec![SocketAddrV4::new(host, ports.requests), model]
        } else if is_flown_here {
            vec![model]
        } else {
            vec![SocketAddrV4::new(NETWORK_GROUP, ports.requests)]
        };
        Ok(Self {
            vehicle,
            is_read_only: params.control.read_only,
            socket,
            model,
            requests: requests.into(),
            autopilot: SocketAddrV4::new(host, ports.autopilot(vehicle)),
            start: SocketAddrV4::new(NETWORK_GROUP, ports.start),
            custom: params.model.custom_data,
        })
    }

    /// Sends a datagram. Errors: a text for the log or the response.
    pub(super) fn send(&self, bytes: &[u8], to: SocketAddrV4) -> Result<(), String> {
        let sent = self.socket.send_to(bytes, to);
        sent.map(drop).map_err(|error| format!("not sent to {to}: {error}"))
    }

    pub(super) fn request(&self, bytes: &[u8]) -> Result<(), String> {
        self.requests.iter().try_for_each(|to| self.send(bytes, *to))
    }
}
