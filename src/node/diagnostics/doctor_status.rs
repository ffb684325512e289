//! The status `doctor`: the checks of `doctor` on the facts of all other statuses, and the log of a silent simulator.
use crate::doctor::{
    BridgeFacts, Code, LinkState, Severity, SilenceNews, SilenceWatch, Simulator, SourceFacts,
    awaited_text, check_bridge, silence, sort, to_values, worst,
};
use crate::node::section::{Finding, Level};
use crate::node::{host_checks, settings::SettingsWatch};
use crate::transport::{PacketCounts, played_time};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub(super) const DOCTOR: &str = "doctor";
/// Time for a simulator to start and to answer requests.
const SETTLING_TIME: Duration = Duration::from_secs(5);
/// Interval of the checks of the host.
const HOST_PERIOD: Duration = Duration::from_secs(10);
/// Interval over which the kernel's undelivered packets are counted.
const PACKET_PERIOD: Duration = Duration::from_secs(2);

/// Checks each report before it is published.
pub(super) struct DoctorStatus {
    settings: SettingsWatch,
    start: Instant,
    /// Time, simulator and findings of the last check of the host.
    host: (Instant, Simulator, Vec<crate::doctor::Finding>),
    /// Start of the interval, and the kernel's count at that time.
    packets: (Instant, Option<PacketCounts>),
    watch: SilenceWatch,
}

impl DoctorStatus {
    /// Logs a warning if sensors send to an address that this host does not have.
    pub(super) fn new(settings: SettingsWatch) -> Self {
        let (simulator, found) = host_checks::check(&settings.borrow());
        let mut elsewhere: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for found in found.iter().filter(|found| found.code == Code::ReceiveAddress) {
            elsewhere.entry((&found.what, &found.remedy)).or_default().push(&found.subject);
        }
        for ((what, remedy), sensors) in elsewhere.iter().filter(|_| played_time().is_none()) {
            tracing::warn!("{}: {what}; do: {remedy}", sensors.join(", "));
        }
        let now = Instant::now();
        Self {
            settings,
            start: now,
            host: (now, simulator, found),
            packets: (now, PacketCounts::read()),
            watch: SilenceWatch::default(),
        }
    }

    /// How long nothing has arrived from the simulator; see [`silence`]. A replay has none.
    pub(super) fn silence(&self, sources: &[SourceFacts]) -> Option<Duration> {
        silence(sources, self.start.elapsed()).filter(|_| played_time().is_none())
    }

    /// Checks the facts of this report.
    pub(super) fn check(&mut self, facts: &BridgeFacts) -> Vec<crate::doctor::Finding> {
        if self.host.0.elapsed() >= HOST_PERIOD {
            let undelivered_hz = self.host.1.undelivered_hz;
            let (simulator, found) = host_checks::check(&self.settings.borrow());
            self.host = (Instant::now(), Simulator { undelivered_hz, ..simulator }, found);
        }
        let (since, before) = self.packets;
        if since.elapsed() >= PACKET_PERIOD {
            let now = PacketCounts::read();
            let new = before.zip(now).map_or(0, |(before, now)| now.dropped_since(&before));
            self.host.1.undelivered_hz = new as f64 / since.elapsed().as_secs_f64();
            self.packets = (Instant::now(), now);
        }
        let (_, simulator, host) = &self.host;
        let mut found = check_bridge(facts, simulator, self.start.elapsed() >= SETTLING_TIME);
        let delivers =
            |name: &str| facts.sources.iter().any(|s| s.name == name && s.state == LinkState::Up);
        // Behind NAT an address of another host may be right.
        let is_disproved = |found: &crate::doctor::Finding| {
            found.code == Code::ReceiveAddress && delivers(&found.subject)
        };
        found.extend(host.iter().filter(|found| !is_disproved(found)).cloned());
        sort(&mut found);
        found
    }

    /// Logs the start and the end of a silence.
    pub(super) fn log(
        &mut self,
        silence: Option<Duration>,
        sources: &[SourceFacts],
        found: &[crate::doctor::Finding],
    ) {
        match (self.watch.update(silence, found), silence) {
            (Some(SilenceNews::Silent(first)), Some(silence)) => {
                let crate::doctor::Finding { code, subject, what, remedy } = first;
                let (seconds, awaited) = (silence.as_secs(), awaited_text(sources));
                tracing::warn!(
                    "nothing has arrived for {seconds} s; awaited are {awaited}. {} ({subject}): {what}; do: {remedy}",
                    code.name()
                );
            }
            (Some(SilenceNews::Ended(lasted)), _) => {
                tracing::info!(
                    "data arrives from the simulator, after {} s of silence",
                    lasted.as_secs()
                );
            }
            _ => {}
        }
    }
}

/// The status of the findings, the worst first.
pub(super) fn status(found: &[crate::doctor::Finding]) -> Finding {
    let level = match worst(found) {
        Severity::Note => Level::Ok,
        Severity::Warning => Level::Warn,
        Severity::Error => Level::Error,
    };
    let message = match found {
        [] => "nothing found".to_owned(),
        [first, ..] => format!("{} findings; {}: {}", found.len(), first.subject, first.what),
    };
    Finding { level, message, values: to_values(found) }
}
