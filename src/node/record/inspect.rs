//! What is in a raw recording, and whether it is what the simulator sends.
use super::raw::{BLOCK, DATAGRAM, HEAD};
use super::reading::{Contents, Found, ReadError, shown};
use crate::wire::{
    FragmentHeader, HeartbeatPacket, ImuPacket, Packet, SceneReport, ShmHeader, TruthDatagram,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;

/// Bytes that are shown of a datagram of no known kind.
const SHOWN: usize = 32;
/// Kind of what is unknown.
const UNKNOWN: &str = "unknown";

/// What a recording contains.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Inspected {
    /// From the first message to the last.
    pub seconds: f64,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
    /// Parameters of the bridge that recorded.
    pub parameters: BTreeMap<String, String>,
    /// Files in the recording.
    pub files: Vec<String>,
    /// By port, block or topic.
    pub channels: BTreeMap<String, ChannelReport>,
}

/// What came through one port or block, or on one topic.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ChannelReport {
    /// Encoding in the file.
    pub encoding: String,
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages per second.
    pub rate_hz: f64,
    /// Longest time without one.
    pub longest_gap_s: f64,
    /// Messages that the recording lacks, because the disk was too slow.
    pub not_recorded: u64,
    /// Addresses they came from.
    pub senders: BTreeSet<String>,
    /// How many of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Frames of which the first fragment came.
    pub frames: u64,
    /// Fragments that are missing in these.
    pub missing_fragments: u64,
    /// First and last simulation time in s.
    pub simulation_s: Option<(f64, f64)>,
    /// The first datagram of no known kind: its length and first bytes.
    pub unknown: Option<(usize, String)>,
    #[serde(skip)]
    seen: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    first: Option<u64>,
    last: u64,
    next: Option<u32>,
    /// Simulation time of a frame and how many of its fragments are to come.
    frame: Option<(f64, u32)>,
}

/// Looks through a recording to its end, or to where it is cut off.
///
/// # Errors
/// The file cannot be read, or is no MCAP file.
pub fn inspect(path: &Path) -> Result<Inspected, ReadError> {
    let mut found = Inspected::default();
    let (mut first, mut last) = (u64::MAX, 0);
    let mut contents = Contents::open(path)?;
    while let Some(next) = contents.next()? {
        match next {
            Found::Channel(channel) => {
                let report = found.channels.entry(channel.topic.clone()).or_default();
                report.encoding.clone_from(&channel.encoding);
            }
            Found::Message(message) => {
                first = message.time.min(first);
                last = message.time.max(last);
                if let Some(report) = found.channels.get_mut(&message.channel.topic) {
                    report.came(message.time, message.sequence, message.data.len());
                    report.look(&message.data);
                }
            }
            Found::Parameters(parameters) => found.parameters = parameters,
            Found::File { name, .. } => found.files.push(name),
        }
    }
    found.cut_off = contents.cut_off;
    found.seconds = last.saturating_sub(first) as f64 * 1e-9;
    for report in found.channels.values_mut() {
        report.end();
    }
    Ok(found)
}

impl ChannelReport {
    fn came(&mut self, time: u64, sequence: u32, len: usize) {
        self.messages += 1;
        self.bytes += len as u64;
        let seen = &mut self.seen;
        if seen.first.is_none() {
            (seen.first, seen.last) = (Some(time), time);
        }
        self.longest_gap_s = self
            .longest_gap_s
            .max(time.saturating_sub(seen.last) as f64 * 1e-9);
        seen.last = seen.last.max(time);
        if let Some(next) = seen.next {
            self.not_recorded += u64::from(sequence.saturating_sub(next));
        }
        seen.next = sequence.checked_add(1);
    }

    fn look(&mut self, data: &[u8]) {
        match self.encoding.as_str() {
            DATAGRAM => {
                let Some((head, datagram)) = data.split_at_checked(HEAD) else {
                    return self.unknown(data);
                };
                let port = u16::from_be_bytes([head[4], head[5]]);
                let from = Ipv4Addr::new(head[0], head[1], head[2], head[3]);
                // Each request of an autopilot may come from another port; a few are enough.
                if self.senders.len() < 8 {
                    self.senders.insert(format!("{from}:{port}"));
                }
                self.datagram(datagram);
            }
            BLOCK => match ShmHeader::parse_prefix(data) {
                Ok(_) => self.kind("block"),
                Err(_) => self.unknown(data),
            },
            _ => {}
        }
    }

    fn datagram(&mut self, datagram: &[u8]) {
        if let Ok(head) = FragmentHeader::parse(datagram, datagram.len()) {
            self.kind("fragment");
            return self.fragment(&head);
        }
        if HeartbeatPacket::parse(datagram).is_ok() {
            self.kind("heartbeat");
        } else if let Ok(imu) = ImuPacket::parse(datagram) {
            self.kind("imu");
            self.simulated(imu.sim_time.get());
        } else if TruthDatagram::parse(datagram).is_ok() {
            self.kind("true state");
        } else if SceneReport::parse(datagram).is_ok() {
            self.kind("report");
        } else if is_mavlink(datagram) {
            self.kind("mavlink");
        } else {
            self.unknown(datagram);
        }
    }

    fn fragment(&mut self, head: &FragmentHeader) {
        self.simulated(head.sim_time);
        match &mut self.seen.frame {
            Some((time, left)) if time.to_bits() == head.sim_time.to_bits() => {
                *left = left.saturating_sub(1);
            }
            frame => {
                self.frames += 1;
                let before = frame.replace((head.sim_time, head.count - 1));
                self.missing_fragments += before.map_or(0, |(_, left)| u64::from(left));
            }
        }
    }

    fn simulated(&mut self, time: f64) {
        let (first, _) = self.simulation_s.unwrap_or((time, time));
        self.simulation_s = Some((first, time));
    }

    fn kind(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    fn unknown(&mut self, data: &[u8]) {
        self.kind(UNKNOWN);
        self.unknown.get_or_insert_with(|| {
            let mut hex = String::new();
            for byte in data.iter().take(SHOWN) {
                let _ = write!(hex, "{byte:02x}");
            }
            (data.len(), hex)
        });
    }

    fn end(&mut self) {
        let first = self.seen.first.unwrap_or(self.seen.last);
        let seconds = (self.seen.last - first) as f64 * 1e-9;
        if seconds > 0.0 {
            self.rate_hz = (self.messages - 1) as f64 / seconds;
        }
    }

    /// What is wrong with it.
    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if self.not_recorded > 0 {
            findings.push(format!(
                "{} not recorded: the disk was too slow",
                self.not_recorded
            ));
        }
        if self.missing_fragments > 0 {
            findings.push(format!("{} fragments missing", self.missing_fragments));
        }
        if let Some((len, hex)) = &self.unknown {
            let count = self.kinds.get(UNKNOWN).copied().unwrap_or_default();
            findings.push(format!(
                "{count} of no known kind, the first {len} bytes: {hex}"
            ));
        }
        findings
    }
}

/// Whether frames of MAVLink 1 or 2 fill a datagram.
fn is_mavlink(mut datagram: &[u8]) -> bool {
    while let [magic, len, rest @ ..] = datagram {
        let whole = match magic {
            0xfe => 8 + usize::from(*len),
            0xfd => {
                let signed = rest.first().is_some_and(|flags| flags & 1 != 0);
                12 + usize::from(*len) + if signed { 13 } else { 0 }
            }
            _ => return false,
        };
        match datagram.get(whole..) {
            Some([]) => return true,
            Some(next) => datagram = next,
            None => return false,
        }
    }
    false
}

impl Inspected {
    /// For a person at a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:.1} s, {} parameters",
            self.seconds,
            self.parameters.len()
        );
        for file in &self.files {
            let _ = write!(text, ", {}", shown(file));
        }
        text.push('\n');
        if let Some(why) = &self.cut_off {
            let _ = writeln!(text, "cut off: {why}; what comes before is below");
        }
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        table.set_header([
            "channel",
            "messages",
            "rate",
            "gap",
            "simulation",
            "what",
            "from",
        ]);
        for (name, report) in &self.channels {
            let kinds = report
                .kinds
                .iter()
                .map(|(kind, count)| format!("{count} {kind}"));
            let mut kinds: Vec<_> = kinds.collect();
            if report.frames > 0 {
                kinds.push(format!("{} frames", report.frames));
            }
            let simulation = report
                .simulation_s
                .map(|(a, b)| format!("{a:.2} to {b:.2} s"));
            let senders: Vec<_> = report.senders.iter().map(String::as_str).collect();
            table.add_row([
                shown(name),
                report.messages.to_string(),
                format!("{:.1} Hz", report.rate_hz),
                format!("{:.3} s", report.longest_gap_s),
                simulation.unwrap_or_default(),
                kinds.join(", "),
                senders.join(" "),
            ]);
        }
        let _ = writeln!(text, "{table}");
        for (name, report) in &self.channels {
            for finding in report.findings() {
                let _ = writeln!(text, "{}: {finding}", shown(name));
            }
        }
        text
    }
}
