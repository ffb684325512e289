//! What a bridge says in `/diagnostics`, put together: the same for a bridge that runs and for one that only looks.
use super::{Code, Finding};

/// Drops by which a frame is of another size or type than configured.
const SIZES: [&str; 4] = ["size", "oversize", "too_large", "layout"];
const TYPES: [&str; 5] = [
    "unknown_codec",
    "undecodable",
    "unexpected",
    "cloud_form",
    "depth_format",
];
/// Drops that a bad network causes.
const NETWORK: [&str; 2] = ["incomplete", "lost"];
/// Share of the frames that are worth a word.
const LOSSES: f64 = 0.01;
/// Below it PX4 leaves OFFBOARD (2 Hz), with a margin.
const OFFBOARD_HZ: f64 = 4.0;
/// A clock that is worse than a bad crystal, and how much must be known of it.
const DRIFT_PPM: f64 = 500.0;
const OBSERVATIONS: f64 = 1000.0;

/// One status of `/diagnostics`.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Its name, without the bridge's prefix.
    pub name: String,
    /// 0 to 3.
    pub level: u8,
    /// Its message.
    pub message: String,
    /// Its values.
    pub values: Vec<(String, String)>,
}

impl Status {
    fn value(&self, key: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, key: &str) -> f64 {
        self.value(key)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0.0)
    }

    fn dropped(&self, cause: &str) -> f64 {
        self.number(&format!("drop_{cause}"))
    }

    fn is(&self, state: &str) -> bool {
        self.value("state") == Some(state)
    }

    /// What stands behind the first part of the message.
    fn reason(&self) -> Option<&str> {
        self.message.split_once("; ").map(|(_, reason)| reason)
    }
}

/// A report.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The statuses.
    pub statuses: Vec<Status>,
    /// `simulator_address:port` of the renderer.
    pub renderer: String,
    /// The bridge has had time to ask and to be answered.
    pub patient: bool,
}

/// Checks a report.
pub fn check_live(heard: &Heard) -> Vec<Finding> {
    let mut found = Vec::new();
    let named = |name: &str| heard.statuses.iter().find(|status| status.name == name);
    let beats = named("heartbeats");
    let alive = beats.is_some_and(|status| status.is("up"));
    if heard.patient {
        silence(heard, alive, &mut found);
    }
    if let Some(fleet) = named("fleet").filter(|_| heard.patient && alive) {
        fleet_of(fleet, &mut found);
    }
    if let Some(requests) = named("requests to CopterSim") {
        requests_of(requests, &mut found);
    }
    if let Some(beats) = beats
        && beats.number("drop_other_vehicle") > 0.0
    {
        found.push(Finding::new(
            Code::VehicleNotServed,
            "heartbeats",
            "vehicles announce themselves that this bridge does not serve",
            "the log names them: -p vehicles:=[...], or other_vehicles:=[...] if another bridge serves them",
        ));
    }
    for status in &heard.statuses {
        if status.name.starts_with("sensor") {
            sensor(status, &mut found);
        } else if let Some(vehicle) = status.name.strip_prefix("autopilot of vehicle ") {
            autopilot(status, vehicle, alive && heard.patient, &mut found);
        } else if let Some(vehicle) = status.name.strip_prefix("clock of vehicle ") {
            clock(status, vehicle, &mut found);
        } else if let Some(topic) = status.name.strip_prefix("topic ") {
            readers(status, topic, &mut found);
        }
    }
    others(&named, &mut found);
    found
}

fn sensors(heard: &Heard) -> impl Iterator<Item = &Status> {
    let asked =
        |status: &&Status| status.name.starts_with("sensor") && status.value("asked_hz").is_some();
    heard.statuses.iter().filter(asked)
}

/// What comes from nobody, and from whom something should.
fn silence(heard: &Heard, alive: bool, found: &mut Vec<Finding>) {
    let count = |state: &str| sensors(heard).filter(|status| status.is(state)).count();
    let (all, up, lost) = (sensors(heard).count(), count("up"), count("lost"));
    let address = heard.renderer.split(':').next().unwrap_or_default();
    let has_beats = heard
        .statuses
        .iter()
        .any(|status| status.name == "heartbeats");
    match (all, up) {
        (1.., 0) if lost > 0 && alive => found.push(Finding::new(
            Code::CapturesEnded,
            format!("{lost} of {all} sensors"),
            "delivered and stopped while the simulation goes on: a change of the map, or RflyClearCapture, ended the captures",
            "they are asked for again; if none returns within 30 s, restart RflySim3D",
        )),
        (1.., 0) if !alive => found.push(Finding::new(
            Code::SimulatorSilent,
            &heard.renderer,
            "neither heartbeats nor sensor data: the simulator does not run there, or a firewall between drops UDP",
            format!(
                "start RflySim3D and CopterSim; compare simulator_address with `ipconfig` on Windows (now {address}); in PowerShell as \
                 administrator: New-NetFirewallRule -DisplayName RflySim -Direction Inbound -Protocol UDP -Action Allow"
            ),
        )),
        (1.., 0) => found.push(Finding::new(
            Code::RendererSilent,
            &heard.renderer,
            "heartbeats come, but no sensor delivers: RflySim3D does not run where it is asked, or answers to another address, or a \
             firewall drops its datagrams",
            "look for RflySim3D's window there; `-p window:=1` asks the second one; `-p receive_address:=<this host>` tells \
             where to send; `sudo tcpdump -ni any udp port 9999` shows whether datagrams arrive at all",
        )),
        _ => {
            for status in sensors(heard).filter(|status| status.is("waiting") || status.is("lost")) {
                let why = status.reason().unwrap_or("others deliver");
                found.push(Finding::new(
                    Code::SensorSilent,
                    &status.name,
                    format!("delivers nothing: {why}"),
                    "try another map (RflyChangeMapbyName), fewer sensors, or TypeID 20 to 22 for a lidar; \
                     -p sensor<SeqID>.enabled:=false leaves it out",
                ));
            }
        }
    }
    if has_beats && !alive && (all == 0 || up > 0) {
        found.push(Finding::new(
            Code::NoHeartbeat,
            "UDP port 20005",
            "no heartbeat of any CopterSim, by itself or asked by unicast: stamps are those of arrival, and vehicles do not fly",
            "start CopterSim; on another host let it send to this one or to the network; \
             open UDP port 20005 here: sudo ufw allow 20005/udp",
        ));
    }
}

fn fleet_of(fleet: &Status, found: &mut Vec<Finding>) {
    let missing = fleet
        .values
        .iter()
        .filter(|(_, text)| !text.starts_with("ready"));
    for (vehicle, text) in missing {
        let (what, remedy) = text
            .split_once(": ")
            .unwrap_or((text, "look at its window"));
        let code = match remedy.starts_with("set ") {
            true => Code::WrongAddress,
            false => Code::VehicleMissing,
        };
        found.push(Finding::new(code, vehicle, what, remedy));
    }
}

/// What CopterSim sends by unicast only, since it restricts its broadcasts.
fn requests_of(requests: &Status, found: &mut Vec<Finding>) {
    for (vehicle, text) in &requests.values {
        if let Some(missing) = text.strip_prefix("in vain: ") {
            found.push(Finding::new(
                Code::AskedInVain,
                vehicle,
                format!("its CopterSim runs, and does not send here what it was asked for by unicast: {missing}"),
                "let the simulation go on, if it is paused; name this host in CopterSim's file of addresses (JSON, since 4.10) or \
                 as IS_BROADCAST of its .bat; end another bridge that asks for the same vehicle; \
                 `sudo tcpdump -ni any udp portrange 20005-30199` shows what arrives",
            ));
        } else if let Some(since) = text.strip_prefix("answered: ") {
            found.push(Finding::new(
                Code::AskedByUnicast,
                vehicle,
                format!("its heartbeats and true state {since}: its CopterSim does not send them to everybody"),
                "nothing for the bridge, which asks again when they stop; for other programs name their host as IS_BROADCAST \
                 of CopterSim's .bat",
            ));
        }
    }
}

fn sensor(status: &Status, found: &mut Vec<Finding>) {
    let number = status.name.trim_start_matches("sensor");
    let number = number.split(' ').next().unwrap_or_default();
    if let Some(short) = status.value("below_asked") {
        let rate = short
            .split(' ')
            .next()
            .and_then(|rate| rate.parse::<f64>().ok());
        let rate = rate.unwrap_or(1.0).floor().max(1.0);
        found.push(Finding::new(
            Code::RendererOverloaded,
            &status.name,
            format!("comes with {short}: the renderer, or the network, does not keep up"),
            format!(
                "ask for less: -p sensor{number}.rate_hz:={rate}, or smaller DataWidth and DataHeight; a second window \
                 (-p window:=1) or a second PC shares the load"
            ),
        ));
    }
    let sum = |causes: &[&str]| {
        causes
            .iter()
            .map(|cause| status.dropped(cause))
            .sum::<f64>()
    };
    let frames = status.number("frames");
    if status.dropped("socket_overflow") > 0.0 {
        found.push(Finding::new(
            Code::BuffersOverflow,
            &status.name,
            format!("{} datagrams found a full receive buffer", status.dropped("socket_overflow")),
            "sudo sysctl -w net.core.rmem_max=67108864, then start the bridge with -p receive_buffer_bytes:=67108864",
        ));
    }
    let lost = sum(&NETWORK);
    if lost > LOSSES * (frames + lost) {
        found.push(Finding::new(
            Code::DatagramsLost,
            &status.name,
            format!("{lost} of {} frames did not arrive whole", frames + lost),
            "a cable instead of WLAN; compressed images (-p transport_mode:=1); fewer or smaller sensors",
        ));
    }
    let (sizes, types) = (sum(&SIZES), sum(&TYPES));
    if sizes > 0.0 {
        found.push(Finding::new(
            Code::SizeMismatch,
            &status.name,
            format!("{sizes} frames are not of the configured size"),
            "compare DataWidth and DataHeight with the Config.json that the simulator loaded; end other programs that ask for \
             the same SeqID",
        ));
    }
    if types > 0.0 {
        found.push(Finding::new(
            Code::TypeMismatch,
            &status.name,
            format!("{types} frames are not of the configured TypeID or mode"),
            "compare TypeID and SendProtocol[0] with the Config.json that the simulator loaded; end other programs that ask for \
             the same SeqID",
        ));
    }
}

fn autopilot(status: &Status, vehicle: &str, expected: bool, found: &mut Vec<Finding>) {
    let subject = format!("vehicle {vehicle}");
    if expected && !status.is("up") {
        found.push(Finding::new(
            Code::AutopilotSilent,
            &subject,
            "CopterSim runs, but its autopilot says nothing: PX4 did not start, or CopterSim has another mode",
            format!(
                "look for PX4's console of vehicle {vehicle}; choose the mode of CopterSim: \
                 -p control.link:=mavlink_full (or udp_full, udp_simple)"
            ),
        ));
    }
    if let Some(why) = status.value("not_ready") {
        found.push(Finding::new(
            Code::WillNotArm,
            &subject,
            format!("would refuse to arm: {why}"),
            "wait until its position is known (30 s after the start), then look at the reasons above in this order",
        ));
    }
    if let Some(what) = status.value("odd") {
        found.push(Finding::new(
            Code::LinkOdd,
            &subject,
            what,
            "give each vehicle a system id and a port of its own; stamp measurements with the time of this host, or with the \
             simulation's where time.mode is sim",
        ));
    }
    if let Some(rate) = status
        .value("setpoint_hz")
        .and_then(|text| text.parse::<f64>().ok())
        && rate < OFFBOARD_HZ
    {
        found.push(Finding::new(
            Code::OffboardSlow,
            &subject,
            format!("setpoints come with {rate:.1} Hz; PX4 leaves OFFBOARD below 2 Hz"),
            "publish setpoints with 10 Hz or more, also before OFFBOARD is asked for; or -p control.keep_alive_s:=2.0",
        ));
    }
}

fn clock(status: &Status, vehicle: &str, found: &mut Vec<Finding>) {
    let drift = status.number("drift_ppm");
    if drift.abs() > DRIFT_PPM && status.number("observations") > OBSERVATIONS {
        found.push(Finding::new(
            Code::ClocksApart,
            format!("vehicle {vehicle}"),
            format!("its clock and this host's drift apart by {drift:.0} ppm: the simulation does not run in real time"),
            "ask the simulator for less, or use its time: -p time.mode:=sim -p use_sim_time:=true",
        ));
    }
}

fn readers(status: &Status, topic: &str, found: &mut Vec<Finding>) {
    if status.number("incompatible_qos") > 0.0 {
        let offered = status.value("qos").unwrap_or("something else");
        found.push(Finding::new(
            Code::ReaderQos,
            topic,
            format!("{}; offered is {offered}", status.message),
            format!(
                "`ros2 topic info -v {topic}` names the reader; or offer more: \
                 -p qos_overrides.{topic}.publisher.reliability:=reliable, .durability:=transient_local"
            ),
        ));
    }
}

fn others<'a>(named: &dyn Fn(&str) -> Option<&'a Status>, found: &mut Vec<Finding>) {
    if let Some(senders) = named("senders").filter(|status| status.level > 0) {
        let known = ["refused", "others"];
        let addresses = senders
            .values
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        let list: Vec<_> = addresses.map(|(key, _)| key.as_str()).collect();
        found.push(Finding::new(
            Code::SenderRefused,
            list.join(", "),
            "sends to the bridge and is not accepted: its datagrams are dropped",
            format!(
                "if it is your simulator: -p simulator_address:=<it>, or behind NAT -p accept_from:=[{}]",
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
                format!("its messages are turned: its axes are not those of {parameter} ({axes})"),
                format!("-p {parameter}:=auto, or what is seen"),
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
                format!("the renderer describes a field of view of {shown} degrees, configured are {configured}: another program has \
                         asked for it"),
                format!(
                    "end other programs that ask for the same SeqID; -p request.foreign:=restore asks for ours again; if {shown} is \
                     right: -p {camera}.fov_deg:={degrees:?}"
                ),
            ));
        }
    }
    if let Some(shared) = named("shared ports").filter(|status| status.level > 0) {
        for (port, holder) in &shared.values {
            found.push(Finding::new(
                Code::PortShared,
                format!("UDP port {port}"),
                format!("{holder} listens there, too: each datagram reaches only one of the two"),
                "end the other program, or serve each vehicle by one bridge (docs/ros2.md)",
            ));
        }
    }
    if let Some(program) = named("program") {
        if program.number("panics") > 0.0 {
            let last = program.value("last_panic").unwrap_or_default();
            found.push(Finding::new(
                Code::Panic,
                "rfly_bridge",
                format!("an error of the program: {last}"),
                "please report it, with the log",
            ));
        }
        if program.number("log_lines_lost") > 0.0 {
            found.push(Finding::new(
                Code::LogLost,
                "stderr",
                "log lines were lost: nobody reads the terminal or pipe behind stderr",
                "Ctrl-Q in that terminal, or send stderr to a file",
            ));
        }
    }
}
