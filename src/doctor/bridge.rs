//! Checks the facts of a bridge: a running one, or one that `doctor` starts for the check.
use super::facts::{
    AutopilotFacts, AxesFacts, BridgeFacts, DropFault, LinkState, RequestFacts, SourceFacts,
    SourceRole,
};
use super::firewall::{PortsBySender, capture, open_ports, port_ranges, windows_rule};
use super::{Code, Finding, Simulator};
use crate::{ros::WriterReport, time::ClockStatus};
use std::collections::BTreeSet;
use std::time::Duration;

/// Share of lost frames above which the loss is a finding.
const MAX_LOSS: f64 = 0.01;
/// Minimum rate of setpoints: PX4 leaves OFFBOARD below 2 Hz; this adds a margin.
const MIN_SETPOINT_HZ: f64 = 4.0;
/// Maximum drift of a clock, above that of a bad crystal; and the observations needed to estimate the drift.
const MAX_DRIFT_PPM: f64 = 500.0;
const MIN_OBSERVATIONS: u64 = 1000;
/// Minimum rate of undelivered packets that indicates a firewall: CopterSim sends a heartbeat per second, other sources more. A
/// network always has a few packets for nobody.
const MIN_UNDELIVERED_HEARTBEATS_HZ: f64 = 0.5;
const MIN_UNDELIVERED_HZ: f64 = 3.0;
/// Sources that end within this time end together.
const SAME_END: Duration = Duration::from_secs(3);

/// Checks the facts of a bridge. `settled`: the bridge has run long enough for the simulator to answer its requests.
pub fn check_bridge(facts: &BridgeFacts, simulator: &Simulator, settled: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_heartbeats = |source: &&SourceFacts| matches!(source.kind, SourceRole::Heartbeats);
    let heartbeats = facts.sources.iter().find(is_heartbeats);
    let simulator_runs = heartbeats.is_some_and(|source| source.state == LinkState::Up);
    if settled {
        match blocked_ports(facts, simulator) {
            Some(blocked) => found.push(blocked),
            None => check_silence(facts, simulator, heartbeats, &mut found),
        }
    }
    for source in &facts.sources {
        match &source.kind {
            SourceRole::Sensor(seq_id) => check_sensor(source, *seq_id, &mut found),
            SourceRole::Autopilot(autopilot) => {
                if settled
                    && simulator_runs
                    && source.state != LinkState::Up
                    && !found.iter().any(|found| found.code == Code::Firewall)
                {
                    found.push(autopilot_silent(autopilot.vehicle));
                }
                check_autopilot(autopilot, &mut found);
            }
            SourceRole::Heartbeats if source.count(DropFault::OtherVehicle) > 0 => {
                let what = "CopterSim sends heartbeats of vehicles that this bridge does not serve";
                let remedy = "the log names them: -p 'vehicles:=[...]', or 'other_vehicles:=[...]' if another bridge serves them";
                found.push(Finding::new(Code::VehicleNotServed, &source.name, what, remedy));
            }
            SourceRole::Heartbeats
            | SourceRole::TrueState(_)
            | SourceRole::Imu(_)
            | SourceRole::Other => {}
        }
    }
    if settled && simulator_runs {
        found.extend(facts.absent_vehicles.iter().map(|absent| {
            let code = if absent.is_elsewhere { Code::WrongAddress } else { Code::VehicleMissing };
            let subject = format!("vehicle {}", absent.vehicle);
            Finding::new(code, subject, &absent.what, &absent.remedy)
        }));
    }
    found.extend(facts.silent_hosts.iter().map(|(host, silence)| {
        let what = format!("nothing is heard of its bridge for {} s", silence.as_secs());
        let remedy = "start the bridge there; check its PC, the link, and with Zenoh the router of both PCs (docs/fleet.md)";
        Finding::new(Code::HostSilent, host, what, remedy)
    }));
    found.extend(facts.requests.iter().filter_map(unicast_requests));
    found.extend(facts.clocks.iter().filter_map(|(vehicle, clock)| clocks_apart(*vehicle, clock)));
    found.extend(facts.topics.iter().filter_map(reader_qos));
    check_process(facts, &mut found);
    found
}

impl SourceFacts {
    fn count(&self, fault: DropFault) -> u64 {
        self.drops.get(&fault).copied().unwrap_or(0)
    }
}

/// Returns a finding if sources are silent while the kernel receives packets that it gives to no program.
fn blocked_ports(facts: &BridgeFacts, simulator: &Simulator) -> Option<Finding> {
    let silent = facts.sources.iter().filter(|source| source.is_silent());
    let mut senders = PortsBySender::new();
    let mut min_hz = MIN_UNDELIVERED_HEARTBEATS_HZ;
    for (source, (sender, port)) in silent.filter_map(|source| Some((source, source.awaited?))) {
        senders.entry(sender).or_default().insert(port);
        if !matches!(source.kind, SourceRole::Heartbeats) {
            min_hz = MIN_UNDELIVERED_HZ;
        }
    }
    if senders.is_empty() || simulator.undelivered_hz < min_hz {
        return None;
    }
    let ports: BTreeSet<_> = senders.values().flatten().copied().collect();
    let subject = format!("UDP ports {}", port_ranges(&ports, " to ").join(", "));
    let what = format!(
        "nothing arrives on them, while the kernel of this host receives {:.1} packets per second that it gives to no program: \
         a firewall of this host (iptables, nftables) drops them",
        simulator.undelivered_hz
    );
    let remedy = format!(
        "{}; `{}` shows whether they are the simulator's",
        open_ports(simulator.firewall.as_ref(), &senders),
        capture(&ports)
    );
    Some(Finding::new(Code::Firewall, subject, what, remedy))
}

/// Finds out which program is silent.
fn check_silence(
    facts: &BridgeFacts,
    simulator: &Simulator,
    heartbeats: Option<&SourceFacts>,
    found: &mut Vec<Finding>,
) {
    let Simulator { renderer, bridge, .. } = simulator;
    let simulator_runs = heartbeats.is_some_and(|source| source.state == LinkState::Up);
    let sensors: Vec<_> = facts.sources.iter().filter(|s| s.is_requested_sensor()).collect();
    let count = |state| sensors.iter().filter(|source| source.state == state).count();
    let (all, up, lost) = (sensors.len(), count(LinkState::Up), count(LinkState::Lost));
    // An autopilot that is a program of its own may continue while the simulation is paused.
    let of_simulator = |s: &&SourceFacts| {
        let is_autopilot = matches!(s.kind, SourceRole::Autopilot(_));
        s.is_requested_sensor() || (s.awaited.is_some() && !is_autopilot)
    };
    let last = facts.sources.iter().filter(of_simulator).filter_map(|source| source.age).min();
    // Data of vehicles may arrive where heartbeats do not.
    let is_heard = simulator_runs || last.is_some_and(|age| age < SAME_END);
    match (all, up) {
        (1.., 0) if is_heard && lost > 0 => {
            // A simulator that stops sends its last heartbeat with its last frame.
            let sensors_end = sensors.iter().filter_map(|source| source.age).min();
            let others_continue =
                last.zip(sensors_end).is_some_and(|(last, end)| end >= last + SAME_END);
            found.extend(others_continue.then(|| captures_ended(lost, all)));
        }
        (1.., 0) if is_heard => found.push(renderer_silent(simulator, &sensors)),
        (1.., 0) => found.push(match last {
            Some(last) => Finding::new(
                Code::SimulatorStopped,
                renderer.to_string(),
                format!("last datagram {} s ago: the simulation was paused or stopped", last.as_secs()),
                "resume the simulation, or start RflySim3D and CopterSim again; the bridge repeats its requests until data arrives",
            ),
            None => Finding::new(
                Code::SimulatorSilent,
                renderer.to_string(),
                "neither heartbeats nor sensor data arrive: the simulator does not run at this address, or a firewall drops UDP",
                match simulator.may_be_windows {
                    true => format!(
                        "start RflySim3D and CopterSim; compare simulator_address with `ipconfig` on Windows (now {}); {}",
                        renderer.ip(),
                        windows_rule("RflySim3D,CopterSim", &simulator.ports, *bridge)
                    ),
                    false => "start RflySim3D and CopterSim on this host (without them: rflysim_emulator), or set \
                              -p simulator_address:=<their host>"
                        .to_owned(),
                },
            ),
        }),
        _ => {
            found.extend(sensors.into_iter().filter(|s| s.is_silent()).map(|sensor| {
                let reason = sensor.reason.as_deref().unwrap_or("other sensors deliver");
                let what = format!("delivers nothing: {reason}");
                let remedy = "try another map (RflyChangeMapbyName), fewer sensors, or TypeID 20 to 22 for a lidar; \
                    -p sensor<SeqID>.enabled:=false disables it";
                Finding::new(Code::SensorSilent, &sensor.name, what, remedy)
            }));
        }
    }
    let awaited = heartbeats.and_then(|source| Some((source.awaited?, source.age)));
    if let Some(((host, port), age)) = awaited.filter(|_| !simulator_runs && (all == 0 || up > 0)) {
        let what = match age {
            Some(age) => {
                format!("the last heartbeat of a CopterSim arrived {} s ago", age.as_secs())
            }
            None => "no CopterSim sends heartbeats, not even on request by unicast".to_owned(),
        };
        let senders = PortsBySender::from([(host, [port].into())]);
        let what = format!("{what}: stamps are times of arrival, and vehicles do not fly");
        let remedy = format!(
            "start or resume CopterSim; if it runs on another host, let it send to this host or to the network; if this host has a \
             firewall, open the port: {}",
            open_ports(simulator.firewall.as_ref(), &senders)
        );
        found.push(Finding::new(Code::NoHeartbeat, format!("UDP port {port}"), what, remedy));
    }
}

fn captures_ended(lost: usize, all: usize) -> Finding {
    let what = "delivered frames and stopped while the simulation continues: a change of the map or RflyClearCapture ended the captures";
    let remedy = "the bridge requests them again; if none delivers within 30 s, restart RflySim3D";
    Finding::new(Code::CapturesEnded, format!("{lost} of {all} sensors"), what, remedy)
}

fn renderer_silent(simulator: &Simulator, sensors: &[&SourceFacts]) -> Finding {
    let Simulator { renderer, bridge, .. } = simulator;
    let ports: BTreeSet<_> = sensors.iter().filter_map(|s| Some(s.awaited?.1)).collect();
    if ports.is_empty() {
        let reason = sensors.iter().find_map(|sensor| sensor.reason.as_deref());
        let what = format!(
            "CopterSim is heard, but no sensor writes into shared memory: {}",
            reason.unwrap_or("RflySim3D does not run on this host")
        );
        let remedy =
            "check that RflySim3D's window is open on this host, or -p transport_mode:=1 for UDP";
        return Finding::new(Code::RendererSilent, renderer.to_string(), what, remedy);
    }
    let windows = match simulator.may_be_windows {
        true => format!("; {}", windows_rule("RflySim3D", &[renderer.port()].into(), *bridge)),
        false => String::new(),
    };
    let what = "CopterSim is heard, but no sensor delivers: RflySim3D does not run at this address or sends to another one, or a \
        firewall drops its datagrams";
    let remedy = format!(
        "check that RflySim3D's window is open there; `-p window:=1` requests from the second window; \
         `-p receive_address:={}` sets the address that RflySim3D sends to; `{}` shows whether datagrams arrive{windows}",
        bridge.map_or_else(|| "<this host>".to_owned(), |ip| ip.to_string()),
        capture(&ports)
    );
    Finding::new(Code::RendererSilent, renderer.to_string(), what, remedy)
}

fn unicast_requests(requests: &RequestFacts) -> Option<Finding> {
    let RequestFacts { vehicle, address, sent, is_needed, missing } = requests;
    let subject = format!("vehicle {vehicle}");
    match missing {
        Some(missing) => Some(Finding::new(
            Code::AskedInVain,
            subject,
            format!(
                "its CopterSim runs, but does not send what the bridge requested by unicast: {missing} after {sent} requests \
                 ({address})"
            ),
            "resume the simulation if it is paused; name this host in CopterSim's file of addresses (JSON, since 4.10) or \
             as IS_BROADCAST of its .bat; stop another bridge that requests data of the same vehicle; \
             `sudo tcpdump -ni any udp portrange 20005-30199` shows what arrives",
        )),
        None if *is_needed => Some(Finding::new(
            Code::AskedByUnicast,
            subject,
            format!(
                "its heartbeats and true state arrived only after requests, {sent} so far ({address}): its CopterSim does not \
                 broadcast them"
            ),
            "nothing for the bridge, which repeats its request when they stop; for other programs, name their host as IS_BROADCAST \
             of CopterSim's .bat",
        )),
        None => None,
    }
}

fn check_sensor(sensor: &SourceFacts, seq_id: u16, found: &mut Vec<Finding>) {
    let mut report = |code, what: String, remedy: &str| {
        found.push(Finding::new(code, &sensor.name, what, remedy));
    };
    if let Some(shortfall) = sensor.shortfall {
        let rate = shortfall.rate_hz.floor().max(1.0);
        let what = format!("arrives at {shortfall}: the renderer or the network does not keep up");
        let remedy = format!(
            "request less: -p sensor{seq_id}.rate_hz:={rate}, or smaller DataWidth and DataHeight; or share the load with a second \
             window (-p window:=1) or a second PC"
        );
        report(Code::RendererOverloaded, what, &remedy);
    }
    let overflows = sensor.count(DropFault::FullBuffer);
    if overflows > 0 {
        let what = format!("the receive buffer was full for {overflows} datagrams");
        let remedy = "sudo sysctl -w net.core.rmem_max=67108864, then start the bridge with -p receive_buffer_bytes:=67108864";
        report(Code::BuffersOverflow, what, remedy);
    }
    let lost = sensor.count(DropFault::Network);
    let sent = sensor.frames + lost;
    if lost as f64 > MAX_LOSS * sent as f64 {
        let what = format!("{lost} of {sent} frames arrived incomplete or not at all");
        let remedy = "a cable instead of WLAN; compressed images (-p transport_mode:=1); fewer or smaller sensors";
        report(Code::DatagramsLost, what, remedy);
    }
    let wrong_size = sensor.count(DropFault::WrongSize);
    if wrong_size > 0 {
        let what = format!("{wrong_size} frames do not have the configured size");
        let remedy = "compare DataWidth and DataHeight with the Config.json that the simulator loaded; stop other programs that request \
            the same SeqID";
        report(Code::SizeMismatch, what, remedy);
    }
    let wrong_type = sensor.count(DropFault::WrongType);
    if wrong_type > 0 {
        let what = format!("{wrong_type} frames do not have the configured TypeID or mode");
        let remedy = "compare TypeID and SendProtocol[0] with the Config.json that the simulator loaded; stop other programs that request \
            the same SeqID";
        report(Code::TypeMismatch, what, remedy);
    }
}

fn autopilot_silent(vehicle: u16) -> Finding {
    let what = "CopterSim runs, but its autopilot sends nothing: PX4 did not start, or CopterSim runs in another mode";
    let remedy = format!(
        "check PX4's console of vehicle {vehicle}; set the mode that CopterSim runs in: \
         -p control.link:=mavlink_full (or udp_full, udp_simple)"
    );
    Finding::new(Code::AutopilotSilent, format!("vehicle {vehicle}"), what, remedy)
}

fn check_autopilot(autopilot: &AutopilotFacts, found: &mut Vec<Finding>) {
    let subject = format!("vehicle {}", autopilot.vehicle);
    if let Some(why) = &autopilot.not_ready {
        let what = format!("the autopilot would refuse to arm: {why}");
        let remedy = "wait for the position estimate (30 s after the start), then resolve the reasons above in their order";
        found.push(Finding::new(Code::WillNotArm, &subject, what, remedy));
    }
    if let Some(what) = &autopilot.link_warnings {
        let remedy = "give each vehicle its own system id and port; stamp measurements with the time of this host, or with simulation \
            time if time.mode is sim";
        found.push(Finding::new(Code::LinkOdd, &subject, what, remedy));
    }
    if let Some(rate) = autopilot.setpoint_hz.filter(|rate| *rate < MIN_SETPOINT_HZ) {
        let what = format!("setpoints arrive at {rate:.1} Hz; PX4 leaves OFFBOARD below 2 Hz");
        let remedy = "publish setpoints at 10 Hz or more, also before the request for OFFBOARD; or -p control.keep_alive_s:=2.0";
        found.push(Finding::new(Code::OffboardSlow, &subject, what, remedy));
    }
}

fn clocks_apart(vehicle: u16, clock: &ClockStatus) -> Option<Finding> {
    let drift = clock.drift_ppm;
    let is_apart = drift.abs() > MAX_DRIFT_PPM && clock.observations > MIN_OBSERVATIONS;
    is_apart.then(|| {
        let what = format!("its clock drifts by {drift:.0} ppm against this host's: the simulation does not run in real time");
        let remedy = "request less from the simulator, or use its time: -p time.mode:=sim -p use_sim_time:=true";
        Finding::new(Code::ClocksApart, format!("vehicle {vehicle}"), what, remedy)
    })
}

fn reader_qos(writer: &WriterReport) -> Option<Finding> {
    let WriterReport { topic, incompatible, qos, .. } = writer;
    (incompatible.count > 0).then(|| {
        let what = format!("{incompatible}; the bridge offers {qos}");
        let remedy = format!(
            "`ros2 topic info -v {topic}` names the subscriber; or offer more: \
             -p qos_overrides.{topic}.publisher.reliability:=reliable, .durability:=transient_local"
        );
        Finding::new(Code::ReaderQos, topic, what, remedy)
    })
}

/// Checks the facts that belong to no single source.
fn check_process(facts: &BridgeFacts, found: &mut Vec<Finding>) {
    let (refused, new_count) = &facts.refused;
    if *new_count > 0 {
        let senders: Vec<_> = refused.senders.keys().map(ToString::to_string).collect();
        let what = "sends to the bridge, but is not an accepted sender: its datagrams are dropped";
        let remedy = format!(
            "if it is your simulator: -p simulator_address:=<this address>, or behind NAT -p 'accept_from:=[{}]'",
            senders.join(",")
        );
        found.push(Finding::new(Code::SenderRefused, senders.join(", "), what, remedy));
    }
    found.extend(facts.axes.iter().filter(|axes| axes.differ).map(|differing| {
        let AxesFacts { subject, axes, parameter, .. } = differing;
        let what = format!(
            "its messages are rotated: its measurements exclude the axes of {parameter} ({axes})"
        );
        let remedy = format!("-p {parameter}:=auto, or the axes that fit the measurements");
        Finding::new(Code::AxesMismatch, subject, what, remedy)
    }));
    found.extend(facts.fields_of_view.iter().map(|(seq_id, configured, shown)| {
        let what = format!("the renderer describes a field of view of {shown} degrees, configured are {configured}: another program \
            requested it");
        let remedy = format!(
            "stop other programs that request the same SeqID; -p request.foreign:=restore repeats the bridge's request; if \
             {shown} is right: -p sensor{seq_id}.fov_deg:={shown:?}"
        );
        Finding::new(Code::FovMismatch, format!("sensor{seq_id}"), what, remedy)
    }));
    found.extend(facts.shared_ports.iter().map(|(port, holder)| {
        let what = format!(
            "{holder} also receives on it: each datagram reaches only one of the two programs"
        );
        let remedy = "stop the other program, or let one bridge serve each vehicle (docs/ros2.md)";
        Finding::new(Code::PortShared, format!("UDP port {port}"), what, remedy)
    }));
    if let Some(panic) = &facts.last_panic {
        let what = format!("an internal error of the program: {panic}");
        let remedy = "report it, with the log";
        found.push(Finding::new(Code::Panic, "rfly_bridge", what, remedy));
    }
    if facts.lost_log_lines > 0 {
        let what = "log lines were lost: the terminal or pipe behind stderr is not read";
        let remedy = "press Ctrl-Q in that terminal, or redirect stderr to a file";
        found.push(Finding::new(Code::LogLost, "stderr", what, remedy));
    }
}
