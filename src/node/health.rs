//! What the bridge knows about itself, as `/diagnostics`.
use super::clock::{SimClocks, host_now};
use super::figures::{SourceFigures, StatsTopic};
use super::plan::is_below;
use super::request::LinkState;
use super::stats::SourceStats;
use crate::frames::MissingPath;
use crate::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::ros::{Middleware, Publisher, ServiceStats, WriterReport};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const OK: u8 = 0;
const WARN: u8 = 1;
const ERROR: u8 = 2;
const STALE: u8 = 3;
/// Services with failed calls that are named one by one.
const NAMED: usize = 20;

/// What is reported on, and where to.
pub(crate) struct Reported {
    pub(crate) middleware: Middleware,
    pub(crate) publisher: Publisher<DiagnosticArray>,
    pub(crate) renderer: String,
    /// Sources that nobody requests from the renderer: IMU, true state, heartbeats.
    pub(crate) others: Vec<Arc<SourceStats>>,
    pub(crate) clocks: SimClocks,
    pub(crate) missing: Vec<MissingPath>,
    /// Prefixes of the mavros-style topics, absolute.
    pub(crate) control_prefixes: Vec<String>,
    pub(crate) stats: Option<StatsTopic>,
}

/// Collects figures and publishes them.
pub(crate) struct Health {
    on: Reported,
    before: BTreeMap<String, (u64, u64, u64)>,
    /// Calls of services that had failed at the last report.
    failed: u64,
    last: Instant,
}

impl Health {
    /// Begins to report.
    pub(crate) fn new(on: Reported) -> Self {
        Self {
            on,
            before: BTreeMap::new(),
            failed: 0,
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
        let now = host_now();
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
        let before = self
            .before
            .insert(stats.name.clone(), (figures.frames, dropped, figures.bytes))
            .unwrap_or_default();
        SourceFigures {
            name: stats.name.clone(),
            state,
            rate_hz: (figures.frames - before.0) as f64 / seconds,
            new_drops: dropped - before.1,
            bytes_per_s: (figures.bytes - before.2) as f64 / seconds,
            figures,
        }
    }

    fn source_status(&self, source: &SourceFigures) -> DiagnosticStatus {
        let (new_drops, rate) = (source.new_drops, source.rate_hz);
        let (level, message) = match source.state {
            LinkState::Waiting => (WARN, "no data yet".to_owned()),
            LinkState::Lost => (ERROR, "silent".to_owned()),
            LinkState::Up if new_drops > 0 => (WARN, format!("{new_drops} drops, {rate:.1} Hz")),
            LinkState::Up => (OK, format!("{rate:.1} Hz")),
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
    let ms = |quantile| {
        format!(
            "{:.3}",
            figures.latency_us.value_at_quantile(quantile) as f64 * 1e-3
        )
    };
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
    values.extend(
        figures
            .drops
            .iter()
            .map(|(cause, count)| value(&format!("drop_{cause}"), count)),
    );
    values
}

fn value(key: &str, value: impl ToString) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: value.to_string(),
    }
}
