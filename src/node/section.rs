//! One status of `/diagnostics`.
use crate::doctor::BridgeFacts;

/// Level of a status in `/diagnostics`, with the numbers of `diagnostic_msgs/msg/DiagnosticStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// No fault.
    Ok,
    /// Degraded or incomplete.
    Warn,
    /// Not working.
    Error,
    /// No data yet.
    Stale,
}

/// A status of `/diagnostics`.
#[derive(Debug)]
pub struct Finding {
    /// Severity.
    pub level: Level,
    /// Summary: the worst finding.
    pub message: String,
    /// All values.
    pub values: Vec<(String, String)>,
}

/// A part of the bridge with its own status in `/diagnostics`.
pub(super) trait Section: Send {
    /// Checks the part; called once per report.
    fn check(&mut self) -> Finding;

    /// Adds the facts that `doctor` needs.
    fn add_facts(&self, _facts: &mut BridgeFacts) {}
}

pub(super) fn value(key: impl ToString, value: impl ToString) -> (String, String) {
    (key.to_string(), value.to_string())
}
