//! Statistics of a recording: rates, gaps, kinds of datagrams, lost fragments.
use super::raw::{BLOCK, DATAGRAM, HEADER_LEN};
use super::reader::{ReadError, RecordingEntry, RecordingReader, printable};
use crate::wire::{
    FragmentHeader, HeartbeatPacket, ImuPacket, Packet, SceneReport, ShmHeader, TruthDatagram,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::{fmt::Write as _, net::Ipv4Addr, path::Path};

/// Number of bytes of an unknown message that are printed.
const DUMP_BYTES: usize = 32;
/// Kind of messages that no parser accepts.
const UNKNOWN: &str = "unknown";

/// Statistics of a recording.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct InspectReport {
    /// Time from the first message to the last.
    pub seconds: f64,
    /// Why the end of the file could not be read.
    pub cut_off: Option<String>,
    /// Parameters of the bridge that made the recording.
    pub parameters: BTreeMap<String, String>,
    /// Names of the attached files.
    pub files: Vec<String>,
    /// Statistics by port, block or topic.
    pub channels: BTreeMap<String, ChannelReport>,
}

/// Statistics of one UDP port, block or topic.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ChannelReport {
    /// Encoding in the file.
    pub encoding: String,
    /// Number of messages.
    pub messages: u64,
    /// Bytes of the messages.
    pub bytes: u64,
    /// Messages per second.
    pub rate_hz: f64,
    /// Longest time without a message.
    pub longest_gap_s: f64,
    /// Messages dropped because the disk was too slow.
    pub not_recorded: u64,
    /// Addresses of the senders.
    pub senders: BTreeSet<String>,
    /// Number of messages of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Frames with at least one fragment.
    pub frames: u64,
    /// Fragments missing in these frames except the last, which the recording may cut off.
    pub missing_fragments: u64,
    /// First and last simulation time in s.
    pub simulation_s: Option<(f64, f64)>,
    /// Length and first bytes of the first unknown datagram or block.
    pub unknown: Option<(usize, String)>,
    #[serde(skip)]
    progress: ChannelProgress,
}

#[derive(Debug, Default)]
struct ChannelProgress {
    /// Time of the first message in ns.
    first: Option<u64>,
    last: u64,
    next_sequence: Option<u32>,
    /// Simulation time of the current frame, and the number of its missing fragments.
    frame: Option<(f64, u32)>,
}

/// Reads a recording to its end, or to where it is cut off. Errors: the file cannot be read, or is not an MCAP file.
pub fn inspect(path: &Path) -> Result<InspectReport, ReadError> {
    let mut inspected = InspectReport::default();
    let (mut first, mut last) = (u64::MAX, 0);
    let mut reader = RecordingReader::open(path)?;
    while let Some(entry) = reader.next()? {
        match entry {
            RecordingEntry::Channel(channel) => {
                let report = inspected.channels.entry(channel.topic.clone()).or_default();
                report.encoding.clone_from(&channel.encoding);
            }
            RecordingEntry::Message(message) => {
                first = message.time.min(first);
                last = message.time.max(last);
                if let Some(report) = inspected.channels.get_mut(&message.channel.topic) {
                    report.count(message.time, message.sequence, message.data.len());
                    report.classify(&message.data);
                }
            }
            RecordingEntry::Parameters(parameters) => inspected.parameters = parameters,
            RecordingEntry::File { name, .. } => inspected.files.push(name),
        }
    }
    inspected.cut_off = reader.cut_off;
    inspected.seconds = last.saturating_sub(first) as f64 * 1e-9;
    inspected.channels.values_mut().for_each(ChannelReport::set_rate);
    Ok(inspected)
}

impl ChannelReport {
    fn count(&mut self, time: u64, sequence: u32, len: usize) {
        self.messages += 1;
        self.bytes += len as u64;
        let progress = &mut self.progress;
        if progress.first.is_none() {
            (progress.first, progress.last) = (Some(time), time);
        }
        self.longest_gap_s =
            self.longest_gap_s.max(time.saturating_sub(progress.last) as f64 * 1e-9);
        progress.last = progress.last.max(time);
        if let Some(next) = progress.next_sequence {
            self.not_recorded += u64::from(sequence.saturating_sub(next));
        }
        progress.next_sequence = sequence.checked_add(1);
    }

    fn classify(&mut self, data: &[u8]) {
        match self.encoding.as_str() {
            DATAGRAM => {
                let Some((header, datagram)) = data.split_at_checked(HEADER_LEN) else {
                    return self.add_unknown(data);
                };
                let port = u16::from_be_bytes([header[4], header[5]]);
                let from = Ipv4Addr::new(header[0], header[1], header[2], header[3]);
                // An autopilot may use a new port for each request; a few senders are enough.
                if self.senders.len() < 8 {
                    self.senders.insert(format!("{from}:{port}"));
                }
                self.classify_datagram(datagram);
            }
            BLOCK if ShmHeader::parse_prefix(data).is_ok() => self.add_kind("block"),
            BLOCK => self.add_unknown(data),
            _ => {}
        }
    }

    fn classify_datagram(&mut self, datagram: &[u8]) {
        if let Ok(header) = FragmentHeader::parse(datagram, datagram.len()) {
            self.add_kind("fragment");
            return self.add_fragment(&header);
        }
        let kind = if HeartbeatPacket::parse(datagram).is_ok() {
            "heartbeat"
        } else if let Ok(imu) = ImuPacket::parse(datagram) {
            self.add_sim_time(imu.sim_time.get());
            "imu"
        } else if TruthDatagram::parse(datagram).is_ok() {
            "true state"
        } else if SceneReport::parse(datagram).is_ok() {
            "report"
        } else if is_mavlink(datagram) {
            "mavlink"
        } else {
            return self.add_unknown(datagram);
        };
        self.add_kind(kind);
    }

    fn add_fragment(&mut self, header: &FragmentHeader) {
        self.add_sim_time(header.sim_time);
        match &mut self.progress.frame {
            Some((time, missing)) if time.to_bits() == header.sim_time.to_bits() => {
                *missing = missing.saturating_sub(1);
            }
            frame => {
                self.frames += 1;
                let previous = frame.replace((header.sim_time, header.count - 1));
                self.missing_fragments += previous.map_or(0, |(_, missing)| u64::from(missing));
            }
        }
    }

    fn add_sim_time(&mut self, time: f64) {
        let (first, _) = self.simulation_s.unwrap_or((time, time));
        self.simulation_s = Some((first, time));
    }

    fn add_kind(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    fn add_unknown(&mut self, data: &[u8]) {
        self.add_kind(UNKNOWN);
        self.unknown.get_or_insert_with(|| {
            let bytes = data.iter().take(DUMP_BYTES);
            (data.len(), bytes.map(|byte| format!("{byte:02x}")).collect())
        });
    }

    fn set_rate(&mut self) {
        let first = self.progress.first.unwrap_or(self.progress.last);
        let seconds = (self.progress.last - first) as f64 * 1e-9;
        if seconds > 0.0 {
            self.rate_hz = (self.messages - 1) as f64 / seconds;
        }
    }

    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if self.not_recorded > 0 {
            findings.push(format!("{} messages dropped: the disk was too slow", self.not_recorded));
        }
        if self.missing_fragments > 0 {
            findings.push(format!("{} fragments missing", self.missing_fragments));
        }
        if let Some((len, hex)) = &self.unknown {
            let count = self.kinds.get(UNKNOWN).copied().unwrap_or_default();
            let first = format!("the first has {len} bytes: {hex}");
            findings.push(format!("{count} messages of unknown kind; {first}"));
        }
        findings
    }
}

/// Whether a datagram consists of MAVLink 1 or 2 frames.
fn is_mavlink(mut datagram: &[u8]) -> bool {
    while let [magic, len, rest @ ..] = datagram {
        let frame_len = match magic {
            0xfe => 8 + usize::from(*len),
            0xfd => {
                let signed = rest.first().is_some_and(|flags| flags & 1 != 0);
                12 + usize::from(*len) + if signed { 13 } else { 0 }
            }
            _ => return false,
        };
        match datagram.get(frame_len..) {
            Some([]) => return true,
            Some(next) => datagram = next,
            None => return false,
        }
    }
    false
}

impl InspectReport {
    /// The report as text.
    pub fn text(&self) -> String {
        let mut text = format!("{:.1} s, {} parameters", self.seconds, self.parameters.len());
        for file in &self.files {
            let _ = write!(text, ", {}", printable(file));
        }
        text.push('\n');
        if let Some(why) = &self.cut_off {
            let _ = writeln!(text, "the file is cut off: {why}; the table shows the part before");
        }
        let mut table = comfy_table::Table::new();
        table.load_preset(comfy_table::presets::NOTHING);
        let columns = "channel messages rate gap simulation contents senders";
        table.set_header(columns.split(' '));
        for (name, report) in &self.channels {
            let kinds = report.kinds.iter().map(|(kind, count)| format!("{count} {kind}"));
            let mut kinds: Vec<_> = kinds.collect();
            if report.frames > 0 {
                kinds.push(format!("{} frames", report.frames));
            }
            let simulation = report.simulation_s.map(|(a, b)| format!("{a:.2} to {b:.2} s"));
            let senders: Vec<_> = report.senders.iter().map(String::as_str).collect();
            table.add_row([
                printable(name),
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
                let _ = writeln!(text, "{}: {finding}", printable(name));
            }
        }
        text
    }
}
