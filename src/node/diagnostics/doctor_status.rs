//! The status `doctor`: the checks of `doctor` on all other statuses.
use crate::doctor::{
    DiagnosticsReport, DiagnosticsStatus, Severity, check_diagnostics, sort, to_values, worst,
};
use crate::node::host_checks;
use crate::node::section::{Finding, Level};
use crate::node::settings::Settings;
use std::time::{Duration, Instant};

/// Name of the status.
pub(super) const DOCTOR: &str = "doctor";
/// Time for a simulator to start and to answer requests.
const SETTLING_TIME: Duration = Duration::from_secs(5);
/// Interval of the checks of the host.
const HOST_PERIOD: Duration = Duration::from_secs(10);

/// Checks each report before it is published.
pub(super) struct DoctorStatus {
    settings: Settings,
    start: Instant,
    /// Time and findings of the last check of the host.
    host: Option<(Instant, Vec<crate::doctor::Finding>)>,
}

impl DoctorStatus {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), start: Instant::now(), host: None }
    }

    /// Returns the status from all others.
    pub(super) fn check(&mut self, statuses: &[(String, Finding)]) -> (String, Finding) {
        let report = DiagnosticsReport {
            statuses: statuses.iter().map(status).collect(),
            renderer: self.settings.renderer().to_string(),
            settled: self.start.elapsed() >= SETTLING_TIME,
        };
        let mut found = check_diagnostics(&report);
        let due = |(at, _): &(Instant, _)| at.elapsed() >= HOST_PERIOD;
        if self.host.as_ref().is_none_or(due) {
            self.host = Some((Instant::now(), host_checks::check(&self.settings)));
        }
        found.extend(self.host.iter().flat_map(|(_, found)| found.iter().cloned()));
        sort(&mut found);
        let level = match worst(&found) {
            Severity::Note => Level::Ok,
            Severity::Warning => Level::Warn,
            Severity::Error => Level::Error,
        };
        let message = match &found[..] {
            [] => "nothing found".to_owned(),
            [first, ..] => format!("{} findings; {}: {}", found.len(), first.subject, first.what),
        };
        let finding = Finding { level, message, values: to_values(&found) };
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
