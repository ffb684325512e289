//! What the bridge knows about itself, as `/diagnostics`.
use super::clock::{HeaderClock, SimClocks};
use super::condition::{Condition, Level};
use super::figures::{SourceFigures, StatsTopic};
use super::neighbours::Neighbours;
use super::plan::is_below;
use super::rate::RateWatch;
use super::request::LinkState;
use super::senders::Senders;
use super::stats::SourceStats;
use super::unserved::{End, Unserved};
use crate::frames::MissingPath;
use crate::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::ros::{Middleware, Publisher, ServiceStats, WriterReport};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const OK: u8 = 0;
const WARN: u8 = 1;
const ERROR: u8 = 2;
const STALE: u8 = 3;
/// Key of a rate that is lower than it should be; `top` shows it.
pub(super) const SHORT: &str = "below_asked";
/// Services with failed calls that are named one by one.
const NAMED: usize = 20;
/// Time between searches of the graph, which has thousands of entries with many vehicles.
const SEARCH_PERIOD: Duration = Duration::from_secs(5);

/// What is reported on, and where to.
pub(crate) struct Reported {
    pub(crate) middleware: Middleware,
    pub(crate) publisher: Publisher<DiagnosticArray>,
    pub(crate) renderer: String,
    /// Sources that nobody requests from the renderer: IMU, true state, heartbeats.
    pub(crate) others: Vec<Arc<SourceStats>>,
    pub(crate) senders: Arc<Senders>,
    pub(super) neighbours: Neighbours,
    pub(crate) clocks: SimClocks,
    pub(crate) headers: HeaderClock,
    pub(crate) missing: Vec<MissingPath>,
    /// Prefixes of the mavros-style topics, absolute.
    pub(crate) control_prefixes: Vec<String>,
    pub(crate) stats: Option<StatsTopic>,
}

/// Collects figures and publishes them.
pub(crate) struct Health {
    on: Reported,
    before: BTreeMap<String, (u64, u64, u64)>,
    rates: BTreeMap<String, RateWatch>,
    /// Calls of services that had failed at the last report.
    failed: u64,
    /// Datagrams of strangers at the last report.
    refused: u64,
    condition: Condition,
    unserved: Unserved,
    /// When the graph was last searched for what nobody serves.
    searched: Option<Instant>,
    last: Instant,
}

impl Health {
    /// Begins to report.
    pub(crate) fn new(on: Reported) -> Self {
        let unserved = Unserved::new(on.control_prefixes.clone());
        Self {
            on,
            before: BTreeMap::new(),
            rates: BTreeMap::new(),
            failed: 0,
            refused: 0,
            condition: Condition::default(),
            unserved,
            searched: None,
            last: Instant::now(),
        }
    }

    /// Publishes one report.
    pub(crate) fn report(&mut self, links: &[(&SourceStats, LinkState)]) {
        let seconds = self.last.elapsed().as_secs_f64().max(1e-3);
        self.last = Instant::now();
        let mut sources: Vec<_> = links
            .iter()
            .map(|(stats, state)| self.source(stats, *state, seconds))
            .collect();
        for stats in self.on.others.clone() {
            let state = match stats.lock().last_frame {
                None => LinkState::Waiting,
                Some(at) if at.elapsed().as_secs_f64() > 3.0 => LinkState::Lost,
                Some(_) => LinkState::Up,
            };
            sources.push(self.source(&stats, state, seconds));
        }
        let mut status: Vec<_> = sources.iter().map(|s| self.source_status(s)).collect();
        // Looked at once, so that both reports say the same.
        let clocks: Vec<_> = (self.on.clocks.iter())
            .map(|(vehicle, clock)| (vehicle, clock.status()))
            .collect();
        status.extend(clocks.iter().map(|(vehicle, c)| {
            let values = vec![
                value("offset_s", format!("{:.9}", c.offset_ns as f64 * 1e-9)),
                value(
                    "spread_p50_ms",
                    format!("{:.3}", c.spread.p50_ns as f64 * 1e-6),
                ),
                value(
                    "spread_p99_ms",
                    format!("{:.3}", c.spread.p99_ns as f64 * 1e-6),
                ),
                value("drift_ppm", format!("{:.2}", c.drift_ppm)),
                value("restarts", c.restarts),
                value("steps", c.steps),
                value("observations", c.observations),
                value("rejected", c.rejected),
            ];
            let level = if c.observations == 0 { STALE } else { OK };
            let message = if c.observations == 0 {
                "no data yet"
            } else {
                "aligned"
            };
            self.status(
                level,
                format!("clock of vehicle {vehicle}"),
                message.into(),
                values,
            )
        }));
        status.extend(self.writers());
        status.push(self.services());
        status.push(self.refused_senders());
        status.push(self.shared_ports());
        status.push(self.program());
        status.push(self.unserved());
        let unreachable: Vec<_> = self.on.missing.iter().map(ToString::to_string).collect();
        let (level, message) = match unreachable.len() {
            0 => (OK, "every frame has a path to map".to_owned()),
            n => (ERROR, format!("{n} frames without a path to map")),
        };
        let values = unreachable
            .into_iter()
            .map(|text| value("missing", text))
            .collect();
        status.push(self.status(level, "frames".into(), message, values));
        let mut message = DiagnosticArray {
            status,
            ..DiagnosticArray::default()
        };
        let now = self.on.headers.now();
        message.header.stamp = now.to_msg();
        // A failure is in the counters of the publisher.
        let _counted = self.on.publisher.publish(&message);
        if let Some(stats) = &self.on.stats {
            stats.publish(now, &sources, &clocks);
        }
    }

    fn source(&mut self, stats: &SourceStats, state: LinkState, seconds: f64) -> SourceFigures {
        let figures = stats.take_report();
        let dropped: u64 = figures.drops.values().sum();
        let asked = figures.asked_hz.filter(|_| state == LinkState::Up);
        let short = match asked {
            Some(asked) => {
                // A pause, or data that has just begun, is no rate.
                let speed = self.on.clocks.speed();
                let watch = self.rates.entry(stats.name.clone()).or_default();
                watch.look(self.last, figures.frames, asked, speed)
            }
            None => {
                self.rates.remove(&stats.name);
                None
            }
        };
        let before = self
            .before
            .insert(stats.name.clone(), (figures.frames, dropped, figures.bytes))
            .unwrap_or_default();
        SourceFigures {
            name: stats.name.clone(),
            state,
            rate_hz: (figures.frames - before.0) as f64 / seconds,
            new_drops: dropped.saturating_sub(before.1),
            bytes_per_s: (figures.bytes - before.2) as f64 / seconds,
            short,
            figures,
        }
    }

    fn source_status(&self, source: &SourceFigures) -> DiagnosticStatus {
        let (new_drops, rate) = (source.new_drops, source.rate_hz);
        let because = |what: &str| match &source.figures.obstacle {
            Some(obstacle) => format!("{what}: {obstacle}"),
            None => what.to_owned(),
        };
        let (level, message) = match source.state {
            LinkState::Waiting => (WARN, because("no data yet")),
            LinkState::Lost => (ERROR, because("silent")),
            LinkState::Up => {
                let level = if new_drops > 0 || source.short.is_some() {
                    WARN
                } else {
                    OK
                };
                let rate = match source.short {
                    Some(short) => short.to_string(),
                    None => format!("{rate:.1} Hz"),
                };
                match new_drops {
                    0 => (level, rate),
                    drops => (level, format!("{drops} drops, {rate}")),
                }
            }
        };
        self.status(level, source.name.clone(), message, values_of(source))
    }

    /// One status per topic, but one for all topics of a vehicle's control: there are dozens, most without readers. Those
    /// with a problem stand by themselves all the same.
    fn writers(&self) -> Vec<DiagnosticStatus> {
        let reports = self.on.middleware.report();
        let (control, single): (Vec<_>, Vec<_>) = reports.iter().partition(|writer| {
            let mut prefixes = self.on.control_prefixes.iter();
            prefixes.any(|prefix| is_below(&writer.topic, prefix))
                && writer.stats.dropped == 0
                && writer.incompatible.count == 0
        });
        let mut status: Vec<_> = single.iter().map(|writer| self.writer(writer)).collect();
        for prefix in &self.on.control_prefixes {
            let own = control
                .iter()
                .filter(|writer| is_below(&writer.topic, prefix));
            let (mut topics, mut read, mut published, mut bytes) = (0, 0, 0, 0);
            for writer in own {
                topics += 1;
                read += usize::from(writer.subscribers > 0);
                published += writer.stats.published;
                bytes += writer.stats.bytes;
            }
            let values = vec![
                value("topics", topics),
                value("with_subscribers", read),
                value("published", published),
                value("bytes", bytes),
            ];
            let message = format!("{read} of {topics} topics are read");
            status.push(self.status(OK, format!("topics of {prefix}"), message, values));
        }
        status
    }

    fn writer(&self, writer: &WriterReport) -> DiagnosticStatus {
        let mut values = vec![
            value("type", writer.type_name),
            value("qos", writer.qos),
            value("subscribers", writer.subscribers),
            value("published", writer.stats.published),
            value("bytes", writer.stats.bytes),
            value("dropped", writer.stats.dropped),
            value("torn", writer.stats.torn),
            value("incompatible_qos", writer.incompatible.count),
        ];
        if let Some(bytes) = writer.stats.retransmitted_bytes {
            values.push(value("retransmitted_bytes", bytes));
        }
        let (level, message) = match writer.incompatible.last_policy {
            Some(policy) => {
                let count = writer.incompatible.count;
                (
                    WARN,
                    format!("{count} readers ask for a {policy:?} that is not offered"),
                )
            }
            None if writer.stats.dropped > 0 => {
                (WARN, format!("{} messages dropped", writer.stats.dropped))
            }
            None => (OK, format!("{} subscribers", writer.subscribers)),
        };
        self.status(level, format!("topic {}", writer.topic), message, values)
    }

    /// What others publish or call below the vehicles' prefixes and nobody here knows.
    fn unserved(&mut self) -> DiagnosticStatus {
        if self.searched.is_none_or(|at| at.elapsed() >= SEARCH_PERIOD) {
            self.searched = Some(Instant::now());
            let topics = self.on.middleware.topics();
            let clients = self.on.middleware.clients();
            let published = topics
                .iter()
                .map(|t| (End::Publisher, t.name.as_str(), t.type_name.as_str()));
            let called = clients
                .iter()
                .map(|c| (End::Client, c.name.as_str(), c.type_name.as_str()));
            for text in self.unserved.look(published.chain(called)) {
                tracing::warn!("{text}");
            }
        }
        let values: Vec<_> = self
            .unserved
            .found()
            .map(|(name, why)| value(name, why))
            .collect();
        let (level, message) = match values.len() {
            0 => (
                OK,
                "everybody below the vehicles' prefixes is served".to_owned(),
            ),
            n => (
                WARN,
                format!("{n} publishers or clients that nobody serves"),
            ),
        };
        self.status(level, "unserved".into(), message, values)
    }

    /// All services in one status: there are dozens per vehicle, and most are never called.
    fn services(&mut self) -> DiagnosticStatus {
        let services = self.on.middleware.services();
        let failed = |s: &ServiceStats| s.undecodable + s.unanswered + s.undelivered + s.foreign;
        let sum = |of: fn(&ServiceStats) -> u64| services.iter().map(|s| of(&s.stats)).sum::<u64>();
        let mut values = vec![
            value("services", services.len()),
            value("requests", sum(|s| s.requests)),
            value("undecodable", sum(|s| s.undecodable)),
            value("unanswered", sum(|s| s.unanswered)),
            value("undelivered", sum(|s| s.undelivered)),
            value("foreign", sum(|s| s.foreign)),
        ];
        let bad = services.iter().filter(|s| failed(&s.stats) > 0);
        values.extend(bad.take(NAMED).map(|s| {
            let n = &s.stats;
            let text = format!(
                "{} requests, {} undecodable, {} unanswered, {} undelivered, {} foreign",
                n.requests, n.undecodable, n.unanswered, n.undelivered, n.foreign
            );
            value(&s.service, text)
        }));
        let failed: u64 = services.iter().map(|s| failed(&s.stats)).sum();
        // A service that was removed takes its failures along.
        let new = failed.saturating_sub(self.failed);
        self.failed = failed;
        let (level, message) = match new {
            0 => (OK, format!("{} services", services.len())),
            n => (WARN, format!("{n} calls failed")),
        };
        self.status(level, "services".into(), message, values)
    }

    /// Who takes datagrams that are meant for us.
    fn shared_ports(&mut self) -> DiagnosticStatus {
        let shared = self.on.neighbours.look();
        let values = (shared.iter())
            .map(|(port, holder)| value(&port.to_string(), holder))
            .collect();
        let (level, message) = match shared.len() {
            0 => (OK, "nobody else listens".to_owned()),
            n => (WARN, format!("{n} other sockets take what is sent here")),
        };
        self.status(level, "shared ports".into(), message, values)
    }

    /// Who sends and is not accepted.
    fn refused_senders(&mut self) -> DiagnosticStatus {
        let refused = self.on.senders.report();
        let total = refused.total();
        let new = total - self.refused;
        self.refused = total;
        let mut values = vec![value("refused", total)];
        let senders = refused.senders.iter();
        values.extend(senders.map(|(address, sender)| value(&address.to_string(), sender.count)));
        if refused.others > 0 {
            values.push(value("others", refused.others));
        }
        let (level, message) = match (new, total) {
            (0, 0) => (OK, "nobody was refused".to_owned()),
            (0, _) => (OK, format!("{total} datagrams refused, none lately")),
            _ => (WARN, format!("{new} datagrams refused; accept_from")),
        };
        self.status(level, "senders".into(), message, values)
    }

    fn program(&mut self) -> DiagnosticStatus {
        let found = self.condition.look();
        let level = match found.level {
            Level::Ok => OK,
            Level::Warn => WARN,
            Level::Error => ERROR,
        };
        let values = found.values.iter().map(|(key, text)| value(key, text));
        self.status(level, "program".into(), found.message, values.collect())
    }

    fn status(
        &self,
        level: u8,
        name: String,
        message: String,
        values: Vec<KeyValue>,
    ) -> DiagnosticStatus {
        DiagnosticStatus {
            level,
            name: format!("rfly_bridge: {name}"),
            message,
            hardware_id: self.on.renderer.clone(),
            values,
        }
    }
}

fn values_of(source: &SourceFigures) -> Vec<KeyValue> {
    let figures = &source.figures;
    let ms = |quantile| format!("{:.3}", figures.latency_s(quantile) * 1e3);
    let mut values = vec![
        value("rate_hz", format!("{:.2}", source.rate_hz)),
        value("mb_per_s", format!("{:.2}", source.bytes_per_s * 1e-6)),
        value("received", figures.received),
        value("bytes", figures.bytes),
        value("frames", figures.frames),
        value("converted", figures.converted),
        value("latency_p50_ms", ms(0.5)),
        value("latency_p99_ms", ms(0.99)),
    ];
    values.extend(figures.asked_hz.map(|hz| value("asked_hz", hz)));
    values.extend(source.short.map(|short| value(SHORT, short)));
    values.extend(
        figures
            .drops
            .iter()
            .map(|(cause, count)| value(&format!("drop_{cause}"), count)),
    );
    values.extend(
        figures
            .others
            .iter()
            .map(|(name, count)| value(name, count)),
    );
    values
}

fn value(key: &str, value: impl ToString) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: value.to_string(),
    }
}
