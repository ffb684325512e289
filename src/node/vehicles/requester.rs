//! Requests from each vehicle's CopterSim the data that it does not send to this host, and a change of UDPSIMMODE if configured.
use crate::config::ControlLink;
use crate::config::params::VehicleParams;
use crate::model::{DueRequests, LastArrivals, UnicastRequests};
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::presence::Presence;
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::{Settings, SettingsWatch};
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, Endless};
use crate::node::threads::PROMPT;
use crate::transport::{HostFacts, Interface, UdpSender, is_local_address, played_time};
use crate::wire::{CopterSimRequestPacket, IntoBytes as _, NETWORK_GROUP, ProbePacket};
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Opens the requests for all vehicles that CopterSim simulates.
pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    // A recording answers nobody.
    if played_time().is_some() {
        return Ok(());
    }
    let interfaces = HostFacts::read().interfaces;
    let vehicles = context.settings.vehicles().into_iter();
    let vehicles: Vec<_> = vehicles
        .filter_map(|id| Vehicle::new(context.settings, assembly, &interfaces, id))
        .collect();
    if vehicles.is_empty() {
        return Ok(());
    }
    let socket = UdpSender::open().map_err(|source| NodeError::Start {
        what: "a socket for requests",
        source,
    })?;
    let requests = Requests(Arc::new(Mutex::new(vehicles)));
    let runtime = assembly.threads.runtime(PROMPT)?;
    assembly.sections.push(Box::new(requests.clone()));
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

struct Vehicle {
    id: u16,
    unicast: UnicastRequests,
    packet: CopterSimRequestPacket,
    /// The packet also changes UDPSIMMODE.
    switches: bool,
    group: SocketAddrV4,
    /// Port of all CopterSims of the host, and that of this one.
    own: [SocketAddrV4; 2],
    /// Parameter that names the host.
    key: String,
    probe: ProbePacket,
    logged: bool,
    truth: Arc<SourceStats>,
    autopilot: Option<Arc<SourceStats>>,
    imu: Option<Arc<SourceStats>>,
}

impl Vehicle {
    /// `None` if no CopterSim simulates it.
    fn new(
        settings: &Settings,
        assembly: &Assembly,
        interfaces: &[Interface],
        id: u16,
    ) -> Option<Self> {
        let Settings { params, ports, .. } = settings;
        let own = params.own_vehicles.get(&id);
        let mut packet = CopterSimRequestPacket::new(id.into());
        let switches = match params.control_link(id) {
            _ if own.is_some_and(VehicleParams::is_flown_here) => return None,
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
            switches,
            group: SocketAddrV4::new(NETWORK_GROUP, ports.requests),
            own: [ports.requests, ports.coptersim(id)].map(|port| SocketAddrV4::new(host, port)),
            key: match own.and_then(|own| own.address) {
                Some(_) => format!("vehicle{id}.address"),
                None => "simulator_address".to_owned(),
            },
            probe: ProbePacket::new(match interfaces.iter().any(|i| i.network.contains(&host)) {
                true => ProbePacket::NEARBY,
                false => ProbePacket::ELSEWHERE,
            }),
            logged: false,
            truth: source("true state")?,
            autopilot,
            imu: source("imu"),
        })
    }

    /// Sends what is due.
    fn ask(&mut self, heartbeats: Option<Instant>, start: Instant, socket: &UdpSender) {
        let since_start = |at: Instant| at.saturating_duration_since(start);
        let last = |source: &SourceStats| source.lock().last_frame.map(since_start);
        let arrivals = LastArrivals {
            heartbeats: heartbeats.map(since_start),
            true_state: last(&self.truth),
            autopilot: self.autopilot.as_deref().and_then(last),
            imu: self.imu.as_deref().and_then(last),
        };
        let due = self.unicast.due(&arrivals, start.elapsed());
        if due != DueRequests::default() && !self.logged {
            self.logged = true;
            let (missing, [all, one], key) = (self.unicast.missing(), self.own, &self.key);
            tracing::info!(
                "vehicle {}: CopterSim at {all} and {one} ({key}) does not send {missing}: requested by unicast",
                self.id
            );
        }
        let switches = self.switches && arrivals.autopilot.is_none();
        let mut failed = 0;
        let mut send = |bytes: &[u8], to: SocketAddrV4| {
            failed += u64::from(socket.send_to(bytes, to).is_err());
        };
        if due.data || switches {
            let packet = if due.data {
                self.packet.to_sender()
            } else {
                self.packet
            };
            for to in self.own {
                send(packet.as_bytes(), to);
            }
            // A vehicle of this number on another host is not to send here.
            if !self.unicast.is_local() || !due.data {
                send(packet.as_bytes(), self.group);
            }
        }
        if due.heartbeat {
            send(self.probe.as_bytes(), self.own[1]);
        }
        self.truth.lock().drop_many(Cause::RequestNotSent, failed);
    }
}

#[derive(Clone)]
struct Requests(Arc<Mutex<Vec<Vehicle>>>);

impl Requests {
    fn lock(&self) -> MutexGuard<'_, Vec<Vehicle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Requester {
    requests: Requests,
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
            let beats = self.presence.beats();
            for vehicle in self.requests.lock().iter_mut() {
                let heard = beats.get(&vehicle.id).map(|beat| beat.at);
                vehicle.ask(heard, self.start, &self.socket);
            }
            let period: Duration = self.settings.borrow().params.request.period;
            tokio::time::sleep(period).await;
        }
    }
}

impl Section for Requests {
    fn name(&self) -> &'static str {
        "requests to CopterSim"
    }

    fn look(&mut self) -> Finding {
        let vehicles = self.lock();
        let unanswered = { vehicles.iter() }.filter(|vehicle| vehicle.unicast.is_unanswered());
        let (level, message) = match unanswered.count() {
            0 => (Level::Ok, "none unanswered".to_owned()),
            count => (Level::Warn, format!("unanswered by {count} vehicles")),
        };
        let values = vehicles.iter().map(|vehicle| {
            let text = format!("{} ({})", vehicle.unicast.text(), vehicle.own[1]);
            value(format!("vehicle {}", vehicle.id), text)
        });
        Finding {
            level,
            message,
            values: values.collect(),
        }
    }
}
