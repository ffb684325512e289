//! The fleet file: which vehicles, renderer windows and bridges run on which PC. All PCs have the same file.
use super::problem::did_you_mean;
use super::ros_args::yaml::{self, Yaml, YamlKind};
use super::{ParamValue, Problem, Problems, SensorConfig, names};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::path::Path;

/// CopterIDs.
const IDS: RangeInclusive<i64> = 1..=10_000;
/// Numbers of RflySim3D's windows.
const WINDOWS: RangeInclusive<i64> = 0..=19;
const FLEET_KEYS: [&str; 2] = ["hosts", "TOTOAL_COPTER"];
#[rustfmt::skip] // a table
const HOST_KEYS: [&str; 8] = [
    "bridge", "simulator", "renderer", "window", "config", "START_INDEX", "VehicleNum", "IS_BROADCAST",
];

/// A fleet file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// Number of all vehicles, from which CopterSim computes where each one starts.
    pub total: u16,
    /// Its hosts, in the order of the file.
    pub hosts: Vec<FleetHost>,
}

/// One bridge, and what it serves.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetHost {
    /// Its name: prefix of its topics, and suffix of its node's name.
    pub name: String,
    /// Address of the bridge.
    pub bridge: Ipv4Addr,
    /// Address of the CopterSims.
    pub simulator: Ipv4Addr,
    /// Address of RflySim3D.
    pub renderer: Ipv4Addr,
    /// Window of RflySim3D that renders the sensors.
    pub window: u8,
    /// Config.json files, relative to the fleet file.
    pub config: Vec<String>,
    /// CopterIDs.
    pub vehicles: RangeInclusive<u16>,
    /// `IS_BROADCAST` of the platform's script, if the file has it.
    pub is_broadcast: Option<String>,
}

impl Fleet {
    /// Reads a fleet file. Errors: all problems of the file, with their lines.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problems> {
        let mut reader = FleetReader { file, problems: Problems::default() };
        let parsed = yaml::parse(text)
            .map_err(|error| Problem::new(format!("{file}:{}", error.line), error.message));
        let root = reader.problems.keep(parsed);
        let fleet = root.and_then(|root| reader.fleet(root.as_ref()));
        let empty = Self { total: 0, hosts: Vec::new() };
        reader.problems.or(fleet.unwrap_or(empty))
    }

    /// Returns the host with this name or, if `name` is empty, the only host whose bridge has an address of this PC.
    /// Errors: there is none, or several.
    pub fn host(
        &self,
        name: &str,
        is_here: impl Fn(Ipv4Addr) -> bool,
    ) -> Result<&FleetHost, String> {
        let names = || self.hosts.iter().map(|host| host.name.as_str());
        let listed = || names().collect::<Vec<_>>().join(", ");
        if !name.is_empty() {
            let found = self.hosts.iter().find(|host| host.name == name);
            return found.ok_or_else(|| {
                let hint = did_you_mean(name, names());
                format!("must be a host of the fleet file ({}), is {name:?}{hint}", listed())
            });
        }
        let mut here = self.hosts.iter().filter(|host| is_here(host.bridge));
        match (here.next(), here.next()) {
            (Some(host), None) => Ok(host),
            (None, _) => Err(format!(
                "must be set to one of {}: the file has no bridge with an address of this PC",
                listed()
            )),
            _ => Err(format!(
                "must be set to one of {}: the file has several bridges with addresses of this PC",
                listed()
            )),
        }
    }

    /// Returns the settings that the platform's script on this host must have.
    pub fn script(&self, host: &FleetHost) -> String {
        let (first, last) = host.vehicles.clone().into_inner();
        let default = if self.hosts.len() > 1 || host.simulator != host.bridge { "1" } else { "0" };
        format!(
            "START_INDEX={first}, VehicleNum={}, TOTOAL_COPTER={}, IS_BROADCAST={}",
            last - first + 1,
            self.total,
            host.is_broadcast.as_deref().unwrap_or(default)
        )
    }

    /// Returns the host that simulates a vehicle.
    pub fn host_of(&self, vehicle: u16) -> Option<&FleetHost> {
        self.hosts.iter().find(|host| host.vehicles.contains(&vehicle))
    }

    /// Returns the parameters of the bridge on this host. `folder`: that of the fleet file.
    pub fn parameters(&self, host: &FleetHost, folder: &Path) -> Vec<(String, ParamValue)> {
        let text = |text: &str| ParamValue::Str(text.to_owned());
        let address = |address: Ipv4Addr| ParamValue::Str(address.to_string());
        let ids = |ids: RangeInclusive<u16>| ids.map(|id| ParamValue::Int(id.into()));
        let others = || self.hosts.iter().filter(|other| other.name != host.name);
        let mut simulators: Vec<_> = others().map(|other| other.simulator).collect();
        simulators.sort_unstable();
        simulators.dedup();
        let config = host.config.iter().map(|path| text(&folder.join(path).to_string_lossy()));
        let mut values = vec![
            ("topic_prefix".to_owned(), text(&host.name)),
            ("frame_prefix".to_owned(), text("copter{id}/")),
            ("window".to_owned(), ParamValue::Int(host.window.into())),
            ("config".to_owned(), ParamValue::List(config.collect())),
            ("vehicles".to_owned(), ParamValue::List(ids(host.vehicles.clone()).collect())),
            (
                "other_vehicles".to_owned(),
                ParamValue::List(others().flat_map(|other| ids(other.vehicles.clone())).collect()),
            ),
            (
                "accept_from".to_owned(),
                ParamValue::List(simulators.into_iter().map(address).collect()),
            ),
        ];
        // The bridge's own PC gets 127.0.0.1: from WSL with mirrored networks, the PC's own address does not reach Windows.
        let from_bridge = |of: Ipv4Addr| if of == host.bridge { Ipv4Addr::LOCALHOST } else { of };
        values.push(("simulator_address".to_owned(), address(from_bridge(host.renderer))));
        if host.renderer != host.bridge {
            values.push(("receive_address".to_owned(), address(host.bridge)));
        }
        if host.simulator != host.renderer {
            let named = host.vehicles.clone().map(|id| format!("vehicle{id}.address"));
            values.extend(named.map(|name| (name, address(from_bridge(host.simulator)))));
        }
        values
    }

    /// Returns `sensor<SeqID>.frame_id` for the host's sensors on the ground, because SeqIDs of hosts may be equal; frames of
    /// vehicles have unique prefixes. `carrier` returns the vehicle of a sensor. Errors: sensors on vehicles of other hosts.
    pub fn sensor_frames(
        &self,
        host: &FleetHost,
        sensors: &[SensorConfig],
        carrier: impl Fn(&SensorConfig) -> Option<u16>,
    ) -> Result<Vec<(String, ParamValue)>, Problems> {
        let mut problems = Problems::default();
        let mut frames = Vec::new();
        for sensor in sensors {
            let id = sensor.seq_id;
            match carrier(sensor) {
                None => {
                    let frame = format!("{}/sensor{id}_link", host.name);
                    frames.push((format!("sensor{id}.frame_id"), ParamValue::Str(frame)));
                }
                Some(vehicle) if host.vehicles.contains(&vehicle) => {}
                Some(vehicle) => {
                    let owner = self.host_of(vehicle).map_or("no host", |owner| &owner.name);
                    let (first, last) = host.vehicles.clone().into_inner();
                    let why = format!(
                        "is on vehicle {vehicle} of {owner} in the fleet file; {} has {first} to {last}: move the sensor to the \
                         Config.json of that vehicle's host; if another PC renders it, set `renderer` of that host",
                        host.name
                    );
                    problems.push(format!("sensor{id}.vehicle"), why);
                }
            }
        }
        problems.or(frames)
    }
}

struct FleetReader<'a> {
    file: &'a str,
    problems: Problems,
}

/// A mapping with its line, and its path: empty for the file, else with a dot at the end.
struct Entry<'a> {
    path: String,
    line: usize,
    pairs: &'a [(String, Yaml)],
}

impl Entry<'_> {
    fn get(&self, key: &str) -> Option<&Yaml> {
        self.pairs.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    fn line_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.line, |node| node.line)
    }
}

impl FleetReader<'_> {
    fn problem(&mut self, line: usize, path: impl fmt::Display, why: impl Into<String>) {
        self.problems.push(format!("{}:{line}: {path}", self.file), why);
    }

    /// Reads a mapping; reports keys that occur twice, and keys not in `keys` (`None`: any key is valid).
    fn entry<'a>(
        &mut self,
        path: &str,
        node: &'a Yaml,
        keys: Option<&[&str]>,
    ) -> Option<Entry<'a>> {
        let YamlKind::Mapping(pairs) = &node.kind else {
            let what = if path.is_empty() { "the file" } else { path.trim_end_matches('.') };
            self.problem(node.line, what, "must be a mapping");
            return None;
        };
        for (at, (key, value)) in pairs.iter().enumerate() {
            if let Some(keys) = keys.filter(|keys| !keys.contains(&key.as_str())) {
                let hint = did_you_mean(key, keys.iter().copied());
                let why = format!("unknown key{hint}; known are {}", keys.join(", "));
                self.problem(value.line, format!("{path}{key}"), why);
            }
            if pairs[..at].iter().any(|(earlier, _)| earlier == key) {
                self.problem(value.line, format!("{path}{key}"), "occurs twice");
            }
        }
        Some(Entry { path: path.to_owned(), line: node.line, pairs })
    }

    fn fleet(&mut self, root: Option<&Yaml>) -> Option<Fleet> {
        let empty = Yaml { line: 1, kind: YamlKind::Empty };
        let root = self.entry("", root.unwrap_or(&empty), Some(&FLEET_KEYS))?;
        let Some(hosts) = root.get("hosts") else {
            self.problem(root.line, "hosts", "is missing");
            return None;
        };
        let entries = self.entry("hosts.", hosts, None)?;
        let mut found = Vec::new();
        for (name, node) in entries.pairs {
            let path = format!("hosts.{name}.");
            if let Err(why) = names::check_token(name) {
                self.problem(
                    node.line,
                    format!("hosts.{name}"),
                    format!("must be a part of a topic name: {why}"),
                );
            }
            let Some(entry) = self.entry(&path, node, Some(&HOST_KEYS)) else { continue };
            found.extend(self.host(name, &entry).map(|host| (host, entry)));
        }
        self.check_together(&found);
        let hosts: Vec<_> = found.into_iter().map(|(host, _)| host).collect();
        let highest = hosts.iter().map(|host| *host.vehicles.end()).max().unwrap_or_default();
        let total = self.number(&root, "TOTOAL_COPTER", IDS, Some(highest.into()))?;
        if total < i64::from(highest) {
            let why = format!(
                "must be at least {highest}, the highest CopterID, is {total}: CopterSim computes from it where each vehicle \
                 starts; leave the key out"
            );
            self.problem(root.line_of("TOTOAL_COPTER"), "TOTOAL_COPTER", why);
        }
        Some(Fleet { total: u16::try_from(total).ok()?, hosts })
    }

    fn host(&mut self, name: &str, entry: &Entry<'_>) -> Option<FleetHost> {
        let bridge = self.address(entry, "bridge", None);
        let simulator = self.address(entry, "simulator", bridge);
        let renderer = self.address(entry, "renderer", simulator);
        let window = self.number(entry, "window", WINDOWS, Some(0));
        let first = self.number(entry, "START_INDEX", IDS, None);
        let count = self.number(entry, "VehicleNum", IDS, None);
        let config = self.texts(entry, "config");
        let is_broadcast = self.texts(entry, "IS_BROADCAST").into_iter().next();
        let (first, count) = first.zip(count)?;
        let last = first + count - 1;
        if !IDS.contains(&last) {
            let why = format!("its last CopterID must be in {IDS:?}, is {last}");
            self.problem(entry.line_of("VehicleNum"), format!("{}VehicleNum", entry.path), why);
        }
        Some(FleetHost {
            name: name.to_owned(),
            bridge: bridge?,
            simulator: simulator?,
            renderer: renderer?,
            window: u8::try_from(window?).ok()?,
            config,
            vehicles: u16::try_from(first).ok()?..=u16::try_from(last).ok()?,
            is_broadcast,
        })
    }

    /// Reports vehicles that two hosts have, and windows that two bridges request sensors from.
    fn check_together(&mut self, hosts: &[(FleetHost, Entry<'_>)]) {
        for (at, (host, entry)) in hosts.iter().enumerate() {
            for (other, _) in &hosts[..at] {
                let [own, theirs] = [&host.vehicles, &other.vehicles];
                if own.start() <= theirs.end() && theirs.start() <= own.end() {
                    let why = format!(
                        "vehicles {} to {} overlap {} to {} of {}",
                        own.start(),
                        own.end(),
                        theirs.start(),
                        theirs.end(),
                        other.name
                    );
                    let path = format!("{}START_INDEX", entry.path);
                    self.problem(entry.line_of("START_INDEX"), path, why);
                }
                let is_same = (host.renderer, host.window) == (other.renderer, other.window);
                if is_same && !host.config.is_empty() && !other.config.is_empty() {
                    let why = format!(
                        "window {} renders for {} already, and a window has each SeqID once: give this host another window",
                        host.window, other.name
                    );
                    self.problem(entry.line_of("window"), format!("{}window", entry.path), why);
                }
            }
        }
    }

    fn address(
        &mut self,
        entry: &Entry<'_>,
        key: &str,
        default: Option<Ipv4Addr>,
    ) -> Option<Ipv4Addr> {
        let found = match entry.get(key).map(|node| &node.kind) {
            None if default.is_some() || key != "bridge" => return default,
            None => return self.missing(entry, key, "an IPv4 address like 192.168.1.21"),
            Some(YamlKind::Scalar(text, _)) => text.as_str(),
            Some(_) => "no address",
        };
        let address = found.parse().ok().filter(|address: &Ipv4Addr| {
            !address.is_unspecified() && !address.is_broadcast() && !address.is_multicast()
        });
        if address.is_none() {
            let why = format!("must be the IPv4 address of one PC like 192.168.1.21, is {found}");
            self.problem(entry.line_of(key), format!("{}{key}", entry.path), why);
        }
        address
    }

    fn number(
        &mut self,
        entry: &Entry<'_>,
        key: &str,
        range: RangeInclusive<i64>,
        default: Option<i64>,
    ) -> Option<i64> {
        let found = match entry.get(key).map(|node| &node.kind) {
            None if default.is_some() => return default,
            None => return self.missing(entry, key, &format!("a number in {range:?}")),
            Some(YamlKind::Scalar(_, ParamValue::Int(number))) if range.contains(number) => {
                return Some(*number);
            }
            Some(YamlKind::Scalar(text, _)) => text.as_str(),
            Some(_) => "no number",
        };
        let why = format!("must be a number in {range:?}, is {found}");
        self.problem(entry.line_of(key), format!("{}{key}", entry.path), why);
        None
    }

    fn texts(&mut self, entry: &Entry<'_>, key: &str) -> Vec<String> {
        let Some(node) = entry.get(key) else { return Vec::new() };
        let nodes = match &node.kind {
            YamlKind::Sequence(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let text = |node: &Yaml| match &node.kind {
            YamlKind::Scalar(text, _) => Some(text.clone()),
            _ => None,
        };
        let texts: Option<Vec<_>> = nodes.iter().map(text).collect();
        if texts.is_none() {
            self.problem(node.line, format!("{}{key}", entry.path), "must be a text");
        }
        texts.unwrap_or_default()
    }

    fn missing<T>(&mut self, entry: &Entry<'_>, key: &str, wanted: &str) -> Option<T> {
        self.problem(entry.line, format!("{}{key}", entry.path), format!("is missing: {wanted}"));
        None
    }
}
