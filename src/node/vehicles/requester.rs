//! Requests to each vehicle's CopterSim: for data that it does not send to this host, and to change UDPSIMMODE if configured.
use crate::config::{ControlLink, params::VehicleParams};
use crate::doctor::{BridgeFacts, RequestFacts};
use crate::model::{DueRequests, LastArrivals, UnicastRequests};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::{Settings, SettingsWatch};
use crate::node::tasks::{self, Endless};
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError, presence::Presence,
    stats::SourceStats, threads::PROMPT,
};
use crate::transport::{HostFacts, NetworkInterface, UdpSender, is_local_address, played_time};
use crate::wire::{CopterSimRequestPacket, IntoBytes as _, NETWORK_GROUP, ProbePacket};
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use std::{net::SocketAddrV4, sync::Arc};

/// Opens the requests for all vehicles that CopterSim simulates.
pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    // A recording does not answer.
    if played_time().is_some() {
        return Ok(());
    }
    let interfaces = HostFacts::read().interfaces;
    let vehicles = context.settings.vehicles().into_iter();
    let vehicles: Vec<_> = vehicles
        .filter_map(|id| RequestedVehicle::new(context.settings, assembly, &interfaces, id))
        .collect();
    if vehicles.is_empty() {
        return Ok(());
    }
    let socket = UdpSender::open()
        .map_err(|source| NodeError::Start { what: "a socket for requests", source })?;
    let requests = VehicleRequests(Arc::new(Mutex::new(vehicles)));
    let runtime = assembly.threads.runtime(PROMPT)?;
    assembly.add_section("requests to CopterSim", requests.clone());
    let requester = Requester {
        requests,
        socket,
        presence: context.presence.clone(),
        start: context.start,
        settings: context.watch(),
    };
    tasks::start(&runtime, requester);
    Ok(())
}

struct RequestedVehicle {
    id: u16,
    unicast: UnicastRequests,
    packet: CopterSimRequestPacket,
    /// Whether the packet also changes UDPSIMMODE.
    changes_mode: bool,
    group: SocketAddrV4,
    /// The port that all CopterSim processes of the host share, and the port of this vehicle's CopterSim.
    addresses: [SocketAddrV4; 2],
    /// Name of the parameter that sets the host.
    key: String,
    probe: ProbePacket,
    is_logged: bool,
    truth: Arc<SourceStats>,
    autopilot: Option<Arc<SourceStats>>,
    imu: Option<Arc<SourceStats>>,
}

impl RequestedVehicle {
    /// Returns `None` if no CopterSim simulates the vehicle, or its true state is not received.
    fn new(
        settings: &Settings,
        assembly: &Assembly,
        interfaces: &[NetworkInterface],
        id: u16,
    ) -> Option<Self> {
        let Settings { params, ports, .. } = settings;
        let config = params.per_vehicle.get(&id);
        let mut packet = CopterSimRequestPacket::new(id.into());
        let changes_mode = match params.control_link(id) {
            _ if config.is_some_and(VehicleParams::is_flown_here) => return None,
            ControlLink::Simulator(mode) if params.control.switch_mode => {
                let number = mode.number();
                packet = number.map_or(packet, |number| packet.with_udp_mode(number));
                number.is_some()
            }
            ControlLink::Simulator(_) | ControlLink::Off => false,
            ControlLink::Serial { .. } | ControlLink::Direct { .. } => return None,
        };
        let source = |what: &str| {
            let key = format!("{what} of vehicle {id}");
            let mut sources = assembly.sources.all().into_iter();
            sources.find(|source| source.key == key)
        };
        let host = params.copter_sim(id);
        let autopilot = source("autopilot");
        Some(Self {
            id,
            unicast: UnicastRequests::new(is_local_address(host), autopilot.is_some()),
            packet,
            changes_mode,
            group: SocketAddrV4::new(NETWORK_GROUP, ports.requests),
            addresses: [ports.requests, ports.coptersim(id)]
                .map(|port| SocketAddrV4::new(host, port)),
            key: match config.and_then(|config| config.address) {
                Some(_) => format!("vehicle{id}.address"),
                None => "simulator_address".to_owned(),
            },
            probe: ProbePacket::new(if interfaces.iter().any(|i| i.network.contains(&host)) {
                ProbePacket::NEARBY
            } else {
                ProbePacket::ELSEWHERE
            }),
            is_logged: false,
            truth: source("true state")?,
            autopilot,
            imu: source("imu"),
        })
    }

    /// Sends the requests that are due. `heartbeat_at`: time of the last heartbeat.
    fn send_requests(&mut self, heartbeat_at: Option<Instant>, start: Instant, socket: &UdpSender) {
        let since_start = |at: Instant| at.saturating_duration_since(start);
        let last = |source: &SourceStats| source.lock().last_frame.map(since_start);
        let arrivals = LastArrivals {
            heartbeats: heartbeat_at.map(since_start),
            true_state: last(&self.truth),
            autopilot: self.autopilot.as_deref().and_then(last),
            imu: self.imu.as_deref().and_then(last),
        };
        let due = self.unicast.due(&arrivals, start.elapsed());
        if due != DueRequests::default() && !self.is_logged {
            self.is_logged = true;
            let (missing, [all, one], key) = (self.unicast.missing(), self.addresses, &self.key);
            tracing::info!(
                "vehicle {}: requesting missing data by unicast from CopterSim at {all} and {one} ({key}): {missing}",
                self.id
            );
        }
        let changes_mode = self.changes_mode && arrivals.autopilot.is_none();
        let mut failed = 0;
        let mut send = |bytes: &[u8], to: SocketAddrV4| {
            failed += u64::from(socket.send_to(bytes, to).is_err());
        };
        if due.data || changes_mode {
            let packet = if due.data { self.packet.to_sender() } else { self.packet };
            for to in self.addresses {
                send(packet.as_bytes(), to);
            }
            // Data of a local CopterSim is not requested by multicast: another host's vehicle with this CopterID would answer.
            if !self.unicast.is_local() || !due.data {
                send(packet.as_bytes(), self.group);
            }
        }
        if due.heartbeat {
            send(self.probe.as_bytes(), self.addresses[1]);
        }
        self.truth.lock().count_many(Cause::RequestNotSent, failed);
    }
}

#[derive(Clone)]
struct VehicleRequests(Arc<Mutex<Vec<RequestedVehicle>>>);

struct Requester {
    requests: VehicleRequests,
    socket: UdpSender,
    presence: Presence,
    start: Instant,
    settings: SettingsWatch,
}

impl Endless for Requester {
    fn name(&self) -> String {
        "requests to CopterSim".to_owned()
    }

    async fn work(&mut self) {
        loop {
            let heartbeats = self.presence.heartbeats();
            for vehicle in self.requests.0.lock().iter_mut() {
                let heartbeat_at = heartbeats.get(&vehicle.id).map(|heartbeat| heartbeat.at);
                vehicle.send_requests(heartbeat_at, self.start, &self.socket);
            }
            let period: Duration = self.settings.borrow().params.request.period;
            tokio::time::sleep(period).await;
        }
    }
}

impl Section for VehicleRequests {
    fn check(&mut self) -> Finding {
        let vehicles = self.0.lock();
        let unanswered = { vehicles.iter() }.filter(|vehicle| vehicle.unicast.is_unanswered());
        let (level, message) = match unanswered.count() {
            0 => (Level::Ok, "all answered".to_owned()),
            count => (Level::Warn, format!("no answer for {count} vehicles")),
        };
        let values = vehicles.iter().map(|vehicle| {
            let text = format!("{} ({})", vehicle.unicast.text(), vehicle.addresses[1]);
            value(format!("vehicle {}", vehicle.id), text)
        });
        Finding { level, message, values: values.collect() }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        facts.requests.extend(self.0.lock().iter().map(|vehicle| RequestFacts {
            vehicle: vehicle.id,
            address: vehicle.addresses[1],
            sent: vehicle.unicast.sent(),
            is_needed: vehicle.unicast.is_on_request(),
            missing: vehicle.unicast.is_unanswered().then(|| vehicle.unicast.missing()),
        }));
    }
}
