//! Silence of the simulator: how long it lasts, what is awaited, and when the log says so.
use super::{Code, Finding, LinkState, SourceFacts, SourceRole, firewall::port_ranges};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Silence before the first log line, and the minimum time between two lines.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of names in a log line.
const MAX_NAMES: usize = 3;

/// Returns the time since the last frame of any requested sensor or, if no sensor is requested, since the last heartbeat;
/// `since_start` if none has arrived. `None` if such a source is up, or nothing is awaited.
pub fn silence(sources: &[SourceFacts], since_start: Duration) -> Option<Duration> {
    let sensors: Vec<_> = sources.iter().filter(|s| s.is_requested_sensor()).collect();
    let is_heartbeats =
        |s: &&SourceFacts| matches!(s.kind, SourceRole::Heartbeats) && s.awaited.is_some();
    let awaited = match sensors.is_empty() {
        false => sensors,
        true => sources.iter().filter(is_heartbeats).collect(),
    };
    if awaited.is_empty() || awaited.iter().any(|source| source.state == LinkState::Up) {
        return None;
    }
    Some(awaited.iter().filter_map(|source| source.age).min().unwrap_or(since_start))
}

/// Lists the silent sources by the host that should send: names and UDP ports.
pub fn awaited_text(sources: &[SourceFacts]) -> String {
    let mut hosts: BTreeMap<_, (Vec<&str>, BTreeSet<u16>)> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_silent()) {
        let host = match source.awaited {
            Some((host, _)) => host.to_string(),
            None if source.is_requested_sensor() => "shared memory".to_owned(),
            None => continue,
        };
        let (names, ports) = hosts.entry(host).or_default();
        names.push(&source.name);
        ports.extend(source.awaited.map(|(_, port)| port));
    }
    let text = |(host, (mut names, ports)): (String, (Vec<&str>, BTreeSet<u16>))| {
        let more = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        let names = names.join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let ports = match ports.is_empty() {
            true => String::new(),
            false => format!(" on UDP ports {}", port_ranges(&ports, " to ").join(", ")),
        };
        format!("{names}{more} from {host}{ports}")
    };
    hosts.into_iter().map(text).collect::<Vec<_>>().join("; ")
}

/// What to log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SilenceNews {
    /// The first finding that explains the silence.
    Silent(Finding),
    /// Data arrives, after a silence that was logged.
    Ended(Duration),
}

/// Decides what to log about silences.
#[derive(Clone, Debug, Default)]
pub struct SilenceWatch {
    logged: Option<LoggedSilence>,
}

/// A silence that was logged.
#[derive(Clone, Debug, Default)]
struct LoggedSilence {
    /// Its duration at the last check.
    lasted: Duration,
    /// Its duration at the last line.
    line_at: Duration,
    /// Code and subject of each line.
    findings: BTreeSet<(Code, String)>,
}

impl SilenceWatch {
    /// Takes the duration of the silence ([`silence`]) and what was found, the worst first.
    pub fn update(&mut self, silence: Option<Duration>, found: &[Finding]) -> Option<SilenceNews> {
        let Some(silence) = silence else {
            return self.logged.take().map(|logged| SilenceNews::Ended(logged.lasted));
        };
        if let Some(logged) = &mut self.logged {
            logged.lasted = silence;
        }
        let finding = found.iter().find(|finding| finding.code.explains_silence())?;
        let line_at = self.logged.as_ref().map_or(Duration::ZERO, |logged| logged.line_at);
        if silence.saturating_sub(line_at) < PATIENCE {
            return None;
        }
        let logged = self.logged.get_or_insert_default();
        // Each finding once: two that alternate tell nothing new.
        if !logged.findings.insert((finding.code, finding.subject.clone())) {
            return None;
        }
        (logged.lasted, logged.line_at) = (silence, silence);
        Some(SilenceNews::Silent(finding.clone()))
    }
}
