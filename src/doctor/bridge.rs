//! Checks the facts of a bridge: a running one, or one that `doctor` starts for the check.
use super::facts::{
    AutopilotFacts, AxesFacts, BridgeFacts, DropFault, LinkState, RequestFacts, SourceFacts,
    SourceRole,
};
use super::{Code, Finding};
use crate::ros::WriterReport;
use crate::time::ClockStatus;
use std::net::SocketAddrV4;

/// Share of lost frames above which the loss is a finding.
const MAX_LOSS: f64 = 0.01;
/// Minimum rate of setpoints: PX4 leaves OFFBOARD below 2 Hz; this adds a margin.
const MIN_SETPOINT_HZ: f64 = 4.0;
/// Maximum drift of a clock, above that of a bad crystal; and the observations needed to estimate the drift.
const MAX_DRIFT_PPM: f64 = 500.0;
const MIN_OBSERVATIONS: u64 = 1000;

/// Checks the facts of a bridge. `renderer`: the address of the renderer; `settled`: the bridge has run long enough for the
/// simulator to answer its requests.
pub fn check_bridge(facts: &BridgeFacts, renderer: SocketAddrV4, settled: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_heartbeats = |source: &&SourceFacts| matches!(source.kind, SourceRole::Heartbeats);
    let heartbeats = facts.sources.iter().find(is_heartbeats);
    let simulator_runs = heartbeats.is_some_and(|source| source.state == LinkState::Up);
    if settled {
        let expects_heartbeats = heartbeats.is_some();
        check_silence(facts, renderer, simulator_runs, expects_heartbeats, &mut found);
    }
    for source in &facts.sources {
        match &source.kind {
            SourceRole::Sensor(seq_id) => check_sensor(source, *seq_id, &mut found),
            SourceRole::Autopilot(autopilot) => {
                if settled && simulator_runs && source.state != LinkState::Up {
                    found.push(autopilot_silent(autopilot.vehicle));
                }
                check_autopilot(autopilot, &mut found);
            }
            SourceRole::Heartbeats if source.dropped(DropFault::OtherVehicle) > 0 => {
                found.push(Finding::new(
                    Code::VehicleNotServed,
                    &source.name,
                    "CopterSim sends heartbeats of vehicles that this bridge does not serve",
                    "the log names them: -p vehicles:=[...], or other_vehicles:=[...] if another bridge serves them",
                ));
            }
            SourceRole::Heartbeats | SourceRole::Other => {}
        }
    }
    if settled && simulator_runs {
        found.extend(facts.absent_vehicles.iter().map(|absent| {
            let code = if absent.is_elsewhere { Code::WrongAddress } else { Code::VehicleMissing };
            let subject = format!("vehicle {}", absent.vehicle);
            Finding::new(code, subject, &absent.what, &absent.remedy)
        }));
    }
    found.extend(facts.requests.iter().filter_map(restricted_broadcasts));
    found.extend(facts.clocks.iter().filter_map(|(vehicle, clock)| clocks_apart(*vehicle, clock)));
    found.extend(facts.topics.iter().filter_map(reader_qos));
    check_process(facts, &mut found);
    found
}

impl SourceFacts {
    fn dropped(&self, fault: DropFault) -> u64 {
        self.drops.get(&fault).copied().unwrap_or(0)
    }
}

/// Finds out which program is silent.
fn check_silence(
    facts: &BridgeFacts,
    renderer: SocketAddrV4,
    simulator_runs: bool,
    expects_heartbeats: bool,
    found: &mut Vec<Finding>,
) {
    let sensors = facts.sources.iter();
    let sensors = sensors.filter(|s| s.is_requested && matches!(s.kind, SourceRole::Sensor(_)));
    let sensors: Vec<_> = sensors.collect();
    let count = |state| sensors.iter().filter(|source| source.state == state).count();
    let (all, up, lost) = (sensors.len(), count(LinkState::Up), count(LinkState::Lost));
    match (all, up) {
        (1.., 0) if lost > 0 && simulator_runs => found.push(Finding::new(
            Code::CapturesEnded,
            format!("{lost} of {all} sensors"),
            "delivered frames and stopped while the simulation continues: a change of the map or RflyClearCapture ended the captures",
            "the bridge requests them again; if none delivers within 30 s, restart RflySim3D",
        )),
        (1.., 0) if !simulator_runs => found.push(Finding::new(
            Code::SimulatorSilent,
            renderer.to_string(),
            "neither heartbeats nor sensor data arrive: the simulator does not run at this address, or a firewall drops UDP",
            format!(
                "start RflySim3D and CopterSim; compare simulator_address with `ipconfig` on Windows (now {}); in PowerShell as \
                 administrator: New-NetFirewallRule -DisplayName RflySim -Direction Inbound -Protocol UDP -Action Allow",
                renderer.ip()
            ),
        )),
        (1.., 0) => found.push(Finding::new(
            Code::RendererSilent,
            renderer.to_string(),
            "heartbeats arrive, but no sensor delivers: RflySim3D does not run at this address or sends to another one, or a \
             firewall drops its datagrams",
            "check that RflySim3D's window is open there; `-p window:=1` requests from the second window; \
             `-p receive_address:=<this host>` sets the address that RflySim3D sends to; \
             `sudo tcpdump -ni any udp port 9999` shows whether datagrams arrive",
        )),
        _ => {
            let is_silent = |s: &&SourceFacts| matches!(s.state, LinkState::Waiting | LinkState::Lost);
            found.extend(sensors.into_iter().filter(is_silent).map(|sensor| {
                let reason = sensor.reason.as_deref().unwrap_or("other sensors deliver");
                Finding::new(
                    Code::SensorSilent,
                    &sensor.name,
                    format!("delivers nothing: {reason}"),
                    "try another map (RflyChangeMapbyName), fewer sensors, or TypeID 20 to 22 for a lidar; \
                     -p sensor<SeqID>.enabled:=false disables it",
                )
            }));
        }
    }
    if expects_heartbeats && !simulator_runs && (all == 0 || up > 0) {
        found.push(Finding::new(
            Code::NoHeartbeat,
            "UDP port 20005",
            "no CopterSim sends heartbeats, not even on request by unicast: stamps are times of arrival, and vehicles do not fly",
            "start CopterSim; if it runs on another host, let it send to this host or to the network; \
             open UDP port 20005 on this host: sudo ufw allow 20005/udp",
        ));
    }
}

fn restricted_broadcasts(requests: &RequestFacts) -> Option<Finding> {
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
        report(
            Code::RendererOverloaded,
            format!("arrives at {shortfall}: the renderer or the network does not keep up"),
            &format!(
                "request less: -p sensor{seq_id}.rate_hz:={rate}, or smaller DataWidth and DataHeight; or share the load with a second \
                 window (-p window:=1) or a second PC"
            ),
        );
    }
    let overflows = sensor.dropped(DropFault::FullBuffer);
    if overflows > 0 {
        report(
            Code::BuffersOverflow,
            format!("the receive buffer was full for {overflows} datagrams"),
            "sudo sysctl -w net.core.rmem_max=67108864, then start the bridge with -p receive_buffer_bytes:=67108864",
        );
    }
    let lost = sensor.dropped(DropFault::Network);
    let sent = sensor.frames + lost;
    if lost as f64 > MAX_LOSS * sent as f64 {
        report(
            Code::DatagramsLost,
            format!("{lost} of {sent} frames arrived incomplete or not at all"),
            "a cable instead of WLAN; compressed images (-p transport_mode:=1); fewer or smaller sensors",
        );
    }
    let wrong_size = sensor.dropped(DropFault::WrongSize);
    if wrong_size > 0 {
        report(
            Code::SizeMismatch,
            format!("{wrong_size} frames do not have the configured size"),
            "compare DataWidth and DataHeight with the Config.json that the simulator loaded; stop other programs that request \
             the same SeqID",
        );
    }
    let wrong_type = sensor.dropped(DropFault::WrongType);
    if wrong_type > 0 {
        report(
            Code::TypeMismatch,
            format!("{wrong_type} frames do not have the configured TypeID or mode"),
            "compare TypeID and SendProtocol[0] with the Config.json that the simulator loaded; stop other programs that request \
             the same SeqID",
        );
    }
}

fn autopilot_silent(vehicle: u16) -> Finding {
    Finding::new(
        Code::AutopilotSilent,
        format!("vehicle {vehicle}"),
        "CopterSim runs, but its autopilot sends nothing: PX4 did not start, or CopterSim runs in another mode",
        format!(
            "check PX4's console of vehicle {vehicle}; set the mode that CopterSim runs in: \
             -p control.link:=mavlink_full (or udp_full, udp_simple)"
        ),
    )
}

fn check_autopilot(autopilot: &AutopilotFacts, found: &mut Vec<Finding>) {
    let subject = format!("vehicle {}", autopilot.vehicle);
    if let Some(why) = &autopilot.not_ready {
        found.push(Finding::new(
            Code::WillNotArm,
            &subject,
            format!("the autopilot would refuse to arm: {why}"),
            "wait for the position estimate (30 s after the start), then resolve the reasons above in their order",
        ));
    }
    if let Some(what) = &autopilot.link_warnings {
        found.push(Finding::new(
            Code::LinkOdd,
            &subject,
            what,
            "give each vehicle its own system id and port; stamp measurements with the time of this host, or with simulation \
             time if time.mode is sim",
        ));
    }
    if let Some(rate) = autopilot.setpoint_hz.filter(|rate| *rate < MIN_SETPOINT_HZ) {
        found.push(Finding::new(
            Code::OffboardSlow,
            &subject,
            format!("setpoints arrive at {rate:.1} Hz; PX4 leaves OFFBOARD below 2 Hz"),
            "publish setpoints at 10 Hz or more, also before the request for OFFBOARD; or -p control.keep_alive_s:=2.0",
        ));
    }
}

fn clocks_apart(vehicle: u16, clock: &ClockStatus) -> Option<Finding> {
    let drift = clock.drift_ppm;
    let is_apart = drift.abs() > MAX_DRIFT_PPM && clock.observations > MIN_OBSERVATIONS;
    is_apart.then(|| {
        Finding::new(
            Code::ClocksApart,
            format!("vehicle {vehicle}"),
            format!("its clock drifts by {drift:.0} ppm against this host's: the simulation does not run in real time"),
            "request less from the simulator, or use its time: -p time.mode:=sim -p use_sim_time:=true",
        )
    })
}

fn reader_qos(writer: &WriterReport) -> Option<Finding> {
    let WriterReport { topic, incompatible, qos, .. } = writer;
    (incompatible.count > 0).then(|| {
        Finding::new(
            Code::ReaderQos,
            topic,
            format!("{incompatible}; the bridge offers {qos}"),
            format!(
                "`ros2 topic info -v {topic}` names the subscriber; or offer more: \
                 -p qos_overrides.{topic}.publisher.reliability:=reliable, .durability:=transient_local"
            ),
        )
    })
}

/// Checks the facts that belong to no single source.
fn check_process(facts: &BridgeFacts, found: &mut Vec<Finding>) {
    let (refused, new_count) = &facts.refused;
    if *new_count > 0 {
        let senders: Vec<_> = refused.senders.keys().map(ToString::to_string).collect();
        found.push(Finding::new(
            Code::SenderRefused,
            senders.join(", "),
            "sends to the bridge, but is not an accepted sender: its datagrams are dropped",
            format!(
                "if it is your simulator: -p simulator_address:=<this address>, or behind NAT -p accept_from:=[{}]",
                senders.join(",")
            ),
        ));
    }
    found.extend(facts.axes.iter().filter(|axes| axes.differ).map(|differing| {
        let AxesFacts { subject, axes, parameter, .. } = differing;
        Finding::new(
            Code::AxesMismatch,
            subject,
            format!("its messages are rotated: its measurements exclude the axes of {parameter} ({axes})"),
            format!("-p {parameter}:=auto, or the axes that are seen"),
        )
    }));
    found.extend(facts.fields_of_view.iter().map(|(seq_id, configured, shown)| {
        Finding::new(
            Code::FovMismatch,
            format!("sensor{seq_id}"),
            format!("the renderer describes a field of view of {shown} degrees, configured are {configured}: another program \
                     requested it"),
            format!(
                "stop other programs that request the same SeqID; -p request.foreign:=restore repeats the bridge's request; if \
                 {shown} is right: -p sensor{seq_id}.fov_deg:={shown:?}"
            ),
        )
    }));
    found.extend(facts.shared_ports.iter().map(|(port, holder)| {
        Finding::new(
            Code::PortShared,
            format!("UDP port {port}"),
            format!(
                "{holder} also receives on it: each datagram reaches only one of the two programs"
            ),
            "stop the other program, or let one bridge serve each vehicle (docs/ros2.md)",
        )
    }));
    if let Some(panic) = &facts.last_panic {
        found.push(Finding::new(
            Code::Panic,
            "rfly_bridge",
            format!("an internal error of the program: {panic}"),
            "report it, with the log",
        ));
    }
    if facts.lost_log_lines > 0 {
        found.push(Finding::new(
            Code::LogLost,
            "stderr",
            "log lines were lost: the terminal or pipe behind stderr is not read",
            "press Ctrl-Q in that terminal, or redirect stderr to a file",
        ));
    }
}
