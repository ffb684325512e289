//! Checks what a bridge reports in `/diagnostics`: a running bridge, or the one that `doctor` starts for the check.
use super::{Code, Finding};

/// Causes of drops of frames that do not have the configured size or type.
const SIZE_CAUSES: [&str; 4] = ["size", "oversize", "too_large", "layout"];
const TYPE_CAUSES: [&str; 5] =
    ["unknown_codec", "undecodable", "unexpected", "cloud_form", "depth_format"];
/// Causes of drops in the network.
const NETWORK_CAUSES: [&str; 2] = ["incomplete", "lost"];
/// Share of lost frames above which they are a finding.
const MAX_LOSS: f64 = 0.01;
/// Minimum rate of setpoints: PX4 leaves OFFBOARD below 2 Hz; this adds a margin.
const MIN_SETPOINT_HZ: f64 = 4.0;
/// Maximum drift of a clock, above that of a bad crystal; and the observations that an estimate of the drift needs.
const MAX_DRIFT_PPM: f64 = 500.0;
const MIN_OBSERVATIONS: f64 = 1000.0;

/// One status of `/diagnostics`.
#[derive(Clone, Debug, Default)]
pub struct DiagnosticsStatus {
    /// Its name without the bridge's prefix.
    pub name: String,
    /// Its level, 0 to 3.
    pub level: u8,
    /// Its message.
    pub message: String,
    /// Its values.
    pub values: Vec<(String, String)>,
}

impl DiagnosticsStatus {
    fn value(&self, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, key: &str) -> f64 {
        self.value(key).and_then(|text| text.parse().ok()).unwrap_or(0.0)
    }

    fn dropped(&self, cause: &str) -> f64 {
        self.number(&format!("drop_{cause}"))
    }

    fn is(&self, state: &str) -> bool {
        self.value("state") == Some(state)
    }

    /// The part of the message after the first "; ".
    fn reason(&self) -> Option<&str> {
        self.message.split_once("; ").map(|(_, reason)| reason)
    }
}

/// All statuses that a bridge reports.
#[derive(Clone, Debug, Default)]
pub struct DiagnosticsReport {
    /// The statuses.
    pub statuses: Vec<DiagnosticsStatus>,
    /// `simulator_address:port` of the renderer.
    pub renderer: String,
    /// The bridge has run long enough for the simulator to answer its requests.
    pub settled: bool,
}

/// Checks a report.
pub fn check_diagnostics(report: &DiagnosticsReport) -> Vec<Finding> {
    let mut found = Vec::new();
    let named = |name: &str| report.statuses.iter().find(|status| status.name == name);
    let heartbeats = named("heartbeats");
    let alive = heartbeats.is_some_and(|status| status.is("up"));
    if report.settled {
        check_silence(report, alive, &mut found);
    }
    if let Some(fleet) = named("fleet").filter(|_| report.settled && alive) {
        check_fleet(fleet, &mut found);
    }
    if let Some(requests) = named("requests to CopterSim") {
        check_requests(requests, &mut found);
    }
    if let Some(heartbeats) = heartbeats
        && heartbeats.number("drop_other_vehicle") > 0.0
    {
        found.push(Finding::new(
            Code::VehicleNotServed,
            "heartbeats",
            "CopterSim sends heartbeats of vehicles that this bridge does not serve",
            "the log names them: -p vehicles:=[...], or other_vehicles:=[...] if another bridge serves them",
        ));
    }
    for status in &report.statuses {
        if status.name.starts_with("sensor") {
            check_sensor(status, &mut found);
        } else if let Some(vehicle) = status.name.strip_prefix("autopilot of vehicle ") {
            check_autopilot(status, vehicle, alive && report.settled, &mut found);
        } else if let Some(vehicle) = status.name.strip_prefix("clock of vehicle ") {
            check_clock(status, vehicle, &mut found);
        } else if let Some(topic) = status.name.strip_prefix("topic ") {
            check_subscribers(status, topic, &mut found);
        }
    }
    check_bridge(&named, &mut found);
    found
}

/// The sensors that the bridge requests.
fn sensors(report: &DiagnosticsReport) -> impl Iterator<Item = &DiagnosticsStatus> {
    let requested = |status: &&DiagnosticsStatus| {
        status.name.starts_with("sensor") && status.value("asked_hz").is_some()
    };
    report.statuses.iter().filter(requested)
}

/// Finds out which program is silent. `alive`: CopterSim sends heartbeats.
fn check_silence(report: &DiagnosticsReport, alive: bool, found: &mut Vec<Finding>) {
    let count = |state: &str| sensors(report).filter(|status| status.is(state)).count();
    let (all, up, lost) = (sensors(report).count(), count("up"), count("lost"));
    let address = report.renderer.split(':').next().unwrap_or_default();
    let expects_heartbeats = report.statuses.iter().any(|status| status.name == "heartbeats");
    match (all, up) {
        (1.., 0) if lost > 0 && alive => found.push(Finding::new(
            Code::CapturesEnded,
            format!("{lost} of {all} sensors"),
            "delivered frames and stopped while the simulation continues: a change of the map or RflyClearCapture ended the captures",
            "the bridge requests them again; if none delivers within 30 s, restart RflySim3D",
        )),
        (1.., 0) if !alive => found.push(Finding::new(
            Code::SimulatorSilent,
            &report.renderer,
            "neither heartbeats nor sensor data arrive: the simulator does not run at this address, or a firewall drops UDP",
            format!(
                "start RflySim3D and CopterSim; compare simulator_address with `ipconfig` on Windows (now {address}); in PowerShell as \
                 administrator: New-NetFirewallRule -DisplayName RflySim -Direction Inbound -Protocol UDP -Action Allow"
            ),
        )),
        (1.., 0) => found.push(Finding::new(
            Code::RendererSilent,
            &report.renderer,
            "heartbeats arrive, but no sensor delivers: RflySim3D does not run at this address or sends to another one, or a \
             firewall drops its datagrams",
            "check that RflySim3D's window is open there; `-p window:=1` requests from the second window; \
             `-p receive_address:=<this host>` sets the address that RflySim3D sends to; \
             `sudo tcpdump -ni any udp port 9999` shows whether datagrams arrive",
        )),
        _ => {
            for status in sensors(report).filter(|status| status.is("waiting") || status.is("lost")) {
                let why = status.reason().unwrap_or("other sensors deliver");
                found.push(Finding::new(
                    Code::SensorSilent,
                    &status.name,
                    format!("delivers nothing: {why}"),
                    "try another map (RflyChangeMapbyName), fewer sensors, or TypeID 20 to 22 for a lidar; \
                     -p sensor<SeqID>.enabled:=false disables it",
                ));
            }
        }
    }
    if expects_heartbeats && !alive && (all == 0 || up > 0) {
        found.push(Finding::new(
            Code::NoHeartbeat,
            "UDP port 20005",
            "no CopterSim sends heartbeats, not even on request by unicast: stamps are times of arrival, and vehicles do not fly",
            "start CopterSim; if it runs on another host, let it send to this host or to the network; \
             open UDP port 20005 on this host: sudo ufw allow 20005/udp",
        ));
    }
}

fn check_fleet(fleet: &DiagnosticsStatus, found: &mut Vec<Finding>) {
    let missing = fleet.values.iter().filter(|(_, text)| !text.starts_with("ready"));
    for (vehicle, text) in missing {
        let (what, remedy) = text.split_once(": ").unwrap_or((text, "check its window"));
        let code =
            if remedy.starts_with("set ") { Code::WrongAddress } else { Code::VehicleMissing };
        found.push(Finding::new(code, vehicle, what, remedy));
    }
}

/// Finds vehicles whose CopterSim restricts its broadcasts.
fn check_requests(requests: &DiagnosticsStatus, found: &mut Vec<Finding>) {
    for (vehicle, text) in &requests.values {
        if let Some(missing) = text.strip_prefix("unanswered: ") {
            found.push(Finding::new(
                Code::AskedInVain,
                vehicle,
                format!("its CopterSim runs, but does not send what the bridge requested by unicast: {missing}"),
                "resume the simulation if it is paused; name this host in CopterSim's file of addresses (JSON, since 4.10) or \
                 as IS_BROADCAST of its .bat; stop another bridge that requests data of the same vehicle; \
                 `sudo tcpdump -ni any udp portrange 20005-30199` shows what arrives",
            ));
        } else if let Some(requests) = text.strip_prefix("on request: ") {
            found.push(Finding::new(
                Code::AskedByUnicast,
                vehicle,
                format!("its heartbeats and true state {requests}: its CopterSim does not broadcast them"),
                "nothing for the bridge, which repeats its request when they stop; for other programs, name their host as IS_BROADCAST \
                 of CopterSim's .bat",
            ));
        }
    }
}

fn check_sensor(status: &DiagnosticsStatus, found: &mut Vec<Finding>) {
    let number = status.name.trim_start_matches("sensor");
    let number = number.split(' ').next().unwrap_or_default();
    if let Some(shortfall) = status.value("below_asked") {
        let rate = shortfall.split(' ').next().and_then(|rate| rate.parse::<f64>().ok());
        let rate = rate.unwrap_or(1.0).floor().max(1.0);
        found.push(Finding::new(
            Code::RendererOverloaded,
            &status.name,
            format!("arrives at {shortfall}: the renderer or the network does not keep up"),
            format!(
                "request less: -p sensor{number}.rate_hz:={rate}, or smaller DataWidth and DataHeight; or share the load with a second \
                 window (-p window:=1) or a second PC"
            ),
        ));
    }
    let sum = |causes: &[&str]| causes.iter().map(|cause| status.dropped(cause)).sum::<f64>();
    let frames = status.number("frames");
    if status.dropped("socket_overflow") > 0.0 {
        found.push(Finding::new(
            Code::BuffersOverflow,
            &status.name,
            format!("the receive buffer was full for {} datagrams", status.dropped("socket_overflow")),
            "sudo sysctl -w net.core.rmem_max=67108864, then start the bridge with -p receive_buffer_bytes:=67108864",
        ));
    }
    let lost = sum(&NETWORK_CAUSES);
    if lost > MAX_LOSS * (frames + lost) {
        found.push(Finding::new(
            Code::DatagramsLost,
            &status.name,
            format!("{lost} of {} frames arrived incomplete or not at all", frames + lost),
            "a cable instead of WLAN; compressed images (-p transport_mode:=1); fewer or smaller sensors",
        ));
    }
    let (wrong_size, wrong_type) = (sum(&SIZE_CAUSES), sum(&TYPE_CAUSES));
    if wrong_size > 0.0 {
        found.push(Finding::new(
            Code::SizeMismatch,
            &status.name,
            format!("{wrong_size} frames do not have the configured size"),
            "compare DataWidth and DataHeight with the Config.json that the simulator loaded; stop other programs that request \
             the same SeqID",
        ));
    }
    if wrong_type > 0.0 {
        found.push(Finding::new(
            Code::TypeMismatch,
            &status.name,
            format!("{wrong_type} frames do not have the configured TypeID or mode"),
            "compare TypeID and SendProtocol[0] with the Config.json that the simulator loaded; stop other programs that request \
             the same SeqID",
        ));
    }
}

fn check_autopilot(
    status: &DiagnosticsStatus,
    vehicle: &str,
    expected: bool,
    found: &mut Vec<Finding>,
) {
    let subject = format!("vehicle {vehicle}");
    if expected && !status.is("up") {
        found.push(Finding::new(
            Code::AutopilotSilent,
            &subject,
            "CopterSim runs, but its autopilot sends nothing: PX4 did not start, or CopterSim runs in another mode",
            format!(
                "check PX4's console of vehicle {vehicle}; set the mode that CopterSim runs in: \
                 -p control.link:=mavlink_full (or udp_full, udp_simple)"
            ),
        ));
    }
    if let Some(why) = status.value("not_ready") {
        found.push(Finding::new(
            Code::WillNotArm,
            &subject,
            format!("the autopilot would refuse to arm: {why}"),
            "wait for the position estimate (30 s after the start), then resolve the reasons above in their order",
        ));
    }
    if let Some(what) = status.value("odd") {
        found.push(Finding::new(
            Code::LinkOdd,
            &subject,
            what,
            "give each vehicle its own system id and port; stamp measurements with the time of this host, or with simulation \
             time if time.mode is sim",
        ));
    }
    if let Some(rate) = status.value("setpoint_hz").and_then(|text| text.parse::<f64>().ok())
        && rate < MIN_SETPOINT_HZ
    {
        found.push(Finding::new(
            Code::OffboardSlow,
            &subject,
            format!("setpoints arrive at {rate:.1} Hz; PX4 leaves OFFBOARD below 2 Hz"),
            "publish setpoints at 10 Hz or more, also before the request for OFFBOARD; or -p control.keep_alive_s:=2.0",
        ));
    }
}

fn check_clock(status: &DiagnosticsStatus, vehicle: &str, found: &mut Vec<Finding>) {
    let drift = status.number("drift_ppm");
    if drift.abs() > MAX_DRIFT_PPM && status.number("observations") > MIN_OBSERVATIONS {
        found.push(Finding::new(
            Code::ClocksApart,
            format!("vehicle {vehicle}"),
            format!("its clock drifts by {drift:.0} ppm against this host's: the simulation does not run in real time"),
            "request less from the simulator, or use its time: -p time.mode:=sim -p use_sim_time:=true",
        ));
    }
}

fn check_subscribers(status: &DiagnosticsStatus, topic: &str, found: &mut Vec<Finding>) {
    if status.number("incompatible_qos") > 0.0 {
        let offered = status.value("qos").unwrap_or("another QoS");
        found.push(Finding::new(
            Code::ReaderQos,
            topic,
            format!("{}; the bridge offers {offered}", status.message),
            format!(
                "`ros2 topic info -v {topic}` names the subscriber; or offer more: \
                 -p qos_overrides.{topic}.publisher.reliability:=reliable, .durability:=transient_local"
            ),
        ));
    }
}

/// Checks the statuses of the bridge as a whole.
fn check_bridge<'a>(
    named: &dyn Fn(&str) -> Option<&'a DiagnosticsStatus>,
    found: &mut Vec<Finding>,
) {
    if let Some(senders) = named("senders").filter(|status| status.level > 0) {
        let counters = ["refused", "others"];
        let addresses = senders.values.iter().filter(|(key, _)| !counters.contains(&key.as_str()));
        let list: Vec<_> = addresses.map(|(key, _)| key.as_str()).collect();
        found.push(Finding::new(
            Code::SenderRefused,
            list.join(", "),
            "sends to the bridge, but is not an accepted sender: its datagrams are dropped",
            format!(
                "if it is your simulator: -p simulator_address:=<this address>, or behind NAT -p accept_from:=[{}]",
                list.join(",")
            ),
        ));
    }
    for (what, told) in named("axes").iter().flat_map(|s| &s.values) {
        let told = told.strip_prefix("differs: ");
        if let Some((axes, parameter)) =
            told.and_then(|told| told.trim_end_matches(')').split_once(" ("))
        {
            found.push(Finding::new(
                Code::AxesMismatch,
                what,
                format!("its messages are rotated: its measurements exclude the axes of {parameter} ({axes})"),
                format!("-p {parameter}:=auto, or the axes that are seen"),
            ));
        }
    }
    for (camera, told) in named("fields of view").iter().flat_map(|s| &s.values) {
        let told = told.strip_prefix("differs: ");
        if let Some((shown, configured)) = told.and_then(|told| told.split_once(", configured "))
            && let Ok(degrees) = shown.parse::<f64>()
        {
            found.push(Finding::new(
                Code::FovMismatch,
                camera,
                format!("the renderer describes a field of view of {shown} degrees, configured are {configured}: another program \
                         requested it"),
                format!(
                    "stop other programs that request the same SeqID; -p request.foreign:=restore repeats the bridge's request; if \
                     {shown} is right: -p {camera}.fov_deg:={degrees:?}"
                ),
            ));
        }
    }
    if let Some(shared) = named("shared ports").filter(|status| status.level > 0) {
        for (port, holder) in &shared.values {
            found.push(Finding::new(
                Code::PortShared,
                format!("UDP port {port}"),
                format!("{holder} also receives on it: each datagram reaches only one of the two programs"),
                "stop the other program, or let one bridge serve each vehicle (docs/ros2.md)",
            ));
        }
    }
    if let Some(program) = named("program") {
        if program.number("panics") > 0.0 {
            let last = program.value("last_panic").unwrap_or_default();
            found.push(Finding::new(
                Code::Panic,
                "rfly_bridge",
                format!("an internal error of the program: {last}"),
                "report it, with the log",
            ));
        }
        if program.number("log_lines_lost") > 0.0 {
            found.push(Finding::new(
                Code::LogLost,
                "stderr",
                "log lines were lost: the terminal or pipe behind stderr is not read",
                "press Ctrl-Q in that terminal, or redirect stderr to a file",
            ));
        }
    }
}
