//! The status `doctor`: the checks of `doctor` on the facts of all other statuses.
use crate::doctor::{BridgeFacts, Severity, check_bridge, sort, to_values, worst};
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

    /// Checks the facts of this report.
    pub(super) fn check(&mut self, facts: &BridgeFacts) -> Finding {
        let is_settled = self.start.elapsed() >= SETTLING_TIME;
        let mut found = check_bridge(facts, self.settings.renderer(), is_settled);
        let is_due = |(at, _): &(Instant, _)| at.elapsed() >= HOST_PERIOD;
        if self.host.as_ref().is_none_or(is_due) {
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
        Finding { level, message, values: to_values(&found) }
    }
}
