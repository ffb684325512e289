//! The bridge's health as `/diagnostics`.
use super::doctor_status::{self, DOCTOR, DoctorStatus};
use super::stats_topic::{SourceFigures, StatsTopic};
use super::{rate::RateWatch, topic_status};
use crate::doctor::{AutopilotFacts, BridgeFacts, LinkState, SourceRole};
use crate::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use crate::node::clock::{HeaderClock, SimClocks};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::Settings;
use crate::node::stats::{Figures, SourceStats, Sources};
use crate::ros::{Middleware, Publisher};
use crate::time::ClockStatus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Key of the value that reports a rate below the requested one; `top` shows it.
pub(super) const BELOW_ASKED: &str = "below_asked";
/// A source that does not report its state is lost after this time without a frame.
const SILENCE: Duration = Duration::from_secs(3);

/// Collects the figures and publishes the reports.
pub(super) struct Health {
    pub(super) middleware: Middleware,
    pub(super) publisher: Publisher<DiagnosticArray>,
    /// Beginning of the names of all statuses.
    pub(super) node: String,
    /// `hardware_id` of all statuses: the address of the renderer.
    pub(super) hardware_id: String,
    pub(super) sources: Sources,
    pub(super) sections: Vec<(&'static str, Box<dyn Section>)>,
    pub(super) clocks: SimClocks,
    pub(super) headers: HeaderClock,
    /// Absolute prefixes whose topics share a status.
    pub(super) topic_groups: Vec<String>,
    pub(super) stats: Option<StatsTopic>,
    pub(super) doctor: DoctorStatus,
    pub(super) last: LastReport,
}

/// Figures of the last report, by source.
pub(super) struct LastReport {
    at: Instant,
    /// Frames, drops and bytes.
    counts: BTreeMap<String, (u64, u64, u64)>,
    rates: BTreeMap<String, RateWatch>,
}

impl Default for LastReport {
    fn default() -> Self {
        Self { at: Instant::now(), counts: BTreeMap::new(), rates: BTreeMap::new() }
    }
}

impl Health {
    /// Updates all figures, publishes one report if there are subscribers, and logs if the simulator is silent.
    pub(super) fn report(&mut self, settings: &Settings) {
        let seconds = self.last.at.elapsed().as_secs_f64().max(1e-3);
        self.last.at = Instant::now();
        let sources = self.sources.all();
        let sources: Vec<_> = sources.iter().map(|s| self.source_figures(s, seconds)).collect();
        // Read once, so that both topics agree.
        let clocks: Vec<_> =
            (self.clocks.iter()).map(|(vehicle, clock)| (vehicle, clock.status())).collect();
        // Checked without subscribers, too: sections also log their findings.
        let sections = self.sections.iter_mut();
        let sections = sections.map(|(name, section)| ((*name).to_owned(), section.check()));
        let sections: Vec<_> = sections.collect();
        let now = self.headers.now();
        let mut facts = BridgeFacts {
            sources: sources.iter().map(|source| source.facts(settings)).collect(),
            clocks: clocks.clone(),
            ..BridgeFacts::default()
        };
        let silence = self.doctor.silence(&facts.sources);
        let is_published = self.publisher.subscribers() > 0;
        let mut diagnosed = Vec::new();
        if is_published || silence.is_some() {
            facts.topics = self.middleware.report();
            for (_, section) in &self.sections {
                section.add_facts(&mut facts);
            }
            diagnosed = self.doctor.check(&facts);
        }
        self.doctor.log(silence, &facts.sources, &diagnosed);
        if is_published {
            let sources = sources.iter();
            let sources = sources.map(|source| (source.name.clone(), source_finding(source)));
            let clocks = clocks.iter().map(|(vehicle, clock)| {
                let name = format!("clock of vehicle {vehicle}");
                (name, clock_finding(clock))
            });
            let topics = topic_status::findings(&facts.topics, &self.topic_groups);
            let found = sources.chain(clocks).chain(topics).chain(sections);
            let found = found.chain([(DOCTOR.to_owned(), doctor_status::status(&diagnosed))]);
            let found: Vec<_> = found.collect();
            let mut message = DiagnosticArray {
                status: found
                    .into_iter()
                    .map(|(name, finding)| self.to_status(&name, finding))
                    .collect(),
                ..DiagnosticArray::default()
            };
            message.header.stamp = now.to_msg();
            // The publisher counts failures.
            let _counted = self.publisher.publish(&message);
        }
        if let Some(stats) = &self.stats {
            stats.publish(now, &sources, &clocks);
        }
    }

    fn source_figures(&mut self, stats: &SourceStats, seconds: f64) -> SourceFigures {
        let figures = stats.take_report();
        let state = figures.state.unwrap_or(match figures.last_frame {
            None => LinkState::Waiting,
            Some(at) if at.elapsed() > SILENCE => LinkState::Lost,
            Some(_) => LinkState::Up,
        });
        let dropped: u64 = figures.drops().map(|(_, count)| count).sum();
        let asked = figures.asked_hz.filter(|_| state == LinkState::Up);
        let shortfall = match asked {
            Some(asked) => {
                let speed = self.clocks.speed();
                let watch = self.last.rates.entry(stats.key.clone()).or_default();
                watch.update(self.last.at, figures.frames, asked, speed)
            }
            None => {
                // A pause is not a low rate: a new window starts with the next data.
                self.last.rates.remove(&stats.key);
                None
            }
        };
        let before = self
            .last
            .counts
            .insert(stats.key.clone(), (figures.frames, dropped, figures.bytes))
            .unwrap_or_default();
        SourceFigures {
            name: stats.name().to_string(),
            state,
            rate_hz: (figures.frames - before.0) as f64 / seconds,
            new_drops: dropped.saturating_sub(before.1),
            bytes_per_s: (figures.bytes - before.2) as f64 / seconds,
            shortfall,
            figures,
        }
    }

    fn to_status(&self, name: &str, finding: Finding) -> DiagnosticStatus {
        let values = finding.values.into_iter();
        DiagnosticStatus {
            level: finding.level as u8,
            name: format!("{}: {name}", self.node),
            message: finding.message,
            hardware_id: self.hardware_id.clone(),
            values: values.map(|(key, value)| KeyValue { key, value }).collect(),
        }
    }
}

fn source_finding(source: &SourceFigures) -> Finding {
    let (new_drops, rate) = (source.new_drops, source.rate_hz);
    let Figures { obstacle, hint, .. } = &source.figures;
    let with_hint = |text: String| match hint {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    };
    let with_reason = |problem: &str| {
        with_hint(match obstacle {
            Some(obstacle) => format!("{problem}: {obstacle}"),
            None => problem.to_owned(),
        })
    };
    let (level, message) = match source.state {
        LinkState::Waiting => (Level::Warn, with_reason("no data yet")),
        LinkState::Lost => (Level::Error, with_reason("silent")),
        LinkState::Idle if new_drops == 0 && rate == 0.0 => (Level::Ok, "idle".to_owned()),
        LinkState::Up | LinkState::Idle => {
            let level =
                if new_drops > 0 || source.shortfall.is_some() { Level::Warn } else { Level::Ok };
            let rate = match source.shortfall {
                Some(shortfall) => with_hint(format!("arrives at {shortfall}")),
                None => format!("{rate:.1} Hz"),
            };
            match new_drops {
                0 => (level, rate),
                drops => (level, format!("{drops} drops, {rate}")),
            }
        }
    };
    Finding { level, message, values: values_of(source) }
}

fn clock_finding(c: &ClockStatus) -> Finding {
    let (level, message) = match c.observations {
        0 => (Level::Stale, "no data yet"),
        _ => (Level::Ok, "aligned"),
    };
    let ms = |ns: i64| format!("{:.3}", ns as f64 * 1e-6);
    Finding {
        level,
        message: message.to_owned(),
        values: vec![
            value("offset_s", format!("{:.9}", c.offset_ns as f64 * 1e-9)),
            value("spread_p50_ms", ms(c.spread.p50_ns)),
            value("spread_p99_ms", ms(c.spread.p99_ns)),
            value("drift_ppm", format!("{:.2}", c.drift_ppm)),
            value("restarts", c.restarts),
            value("steps", c.steps),
            value("observations", c.observations),
            value("rejected", c.rejected),
        ],
    }
}

fn values_of(source: &SourceFigures) -> Vec<(String, String)> {
    let figures = &source.figures;
    let ms = |quantile| format!("{:.3}", figures.latency_s(quantile) * 1e3);
    let mut values = vec![
        value("state", <&str>::from(source.state)),
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
    values.extend(source.shortfall.map(|shortfall| value(BELOW_ASKED, shortfall)));
    values.extend(figures.counts.iter().map(|(cause, count)| value(cause.key(), count)));
    if let SourceRole::Autopilot(facts) = &figures.kind {
        let AutopilotFacts { not_ready, link_warnings: odd, setpoint_hz, .. } = facts;
        values.extend(not_ready.iter().map(|text| value("not_ready", text)));
        values.extend(odd.iter().map(|text| value("odd", text)));
        values.extend(setpoint_hz.iter().map(|hz| value("setpoint_hz", format!("{hz:.1}"))));
    }
    values
}
