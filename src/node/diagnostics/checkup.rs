//! The checks of `doctor` on what is reported, as a status of its own.
use crate::doctor::{
    DiagnosticsReport, DiagnosticsStatus, Severity, check_diagnostics, sort, to_values, worst,
};
use crate::node::section::{Finding, Level};
use crate::node::settings::Settings;
use crate::node::setup;
use std::time::{Duration, Instant};

/// Name of the status.
pub(super) const DOCTOR: &str = "doctor";
/// A simulator that starts, and one that is asked, need some time.
const SETTLING_TIME: Duration = Duration::from_secs(5);
/// Time between two looks at the host.
const HOST_EVERY: Duration = Duration::from_secs(10);

/// Looks at each report before it is published.
pub(super) struct Checkup {
    settings: Settings,
    start: Instant,
    /// What the last look at the host found.
    host: Option<(Instant, Vec<crate::doctor::Finding>)>,
}

impl Checkup {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            start: Instant::now(),
            host: None,
        }
    }

    /// The status, from all others.
    pub(super) fn look(&mut self, statuses: &[(String, Finding)]) -> (String, Finding) {
        let report = DiagnosticsReport {
            statuses: statuses.iter().map(status).collect(),
            renderer: self.settings.renderer().to_string(),
            settled: self.start.elapsed() >= SETTLING_TIME,
        };
        let mut found = check_diagnostics(&report);
        let due = |(at, _): &(Instant, _)| at.elapsed() >= HOST_EVERY;
        if self.host.as_ref().is_none_or(due) {
            self.host = Some((Instant::now(), setup::check(&self.settings)));
        }
        found.extend(
            self.host
                .iter()
                .flat_map(|(_, found)| found.iter().cloned()),
        );
        sort(&mut found);
        let level = match worst(&found) {
            Severity::Note => Level::Ok,
            Severity::Warning => Level::Warn,
            Severity::Error => Level::Error,
        };
        let message = match &found[..] {
            [] => "nothing found".to_owned(),
            [first, ..] => format!(
                "{} findings; {}: {}",
                found.len(),
                first.subject,
                first.what
            ),
        };
        let finding = Finding {
            level,
            message,
            values: to_values(&found),
        };
        (DOCTOR.to_owned(), finding)
    }
}

fn status((name, finding): &(String, Finding)) -> DiagnosticsStatus {
    DiagnosticsStatus {
        name: name.clone(),
        level: match finding.level {
            Level::Ok => 0,
            Level::Warn => 1,
            Level::Error => 2,
            Level::Stale => 3,
        },
        message: finding.message.clone(),
        values: finding.values.clone(),
    }
}
