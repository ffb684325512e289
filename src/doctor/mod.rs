//! What is wrong with a set-up, and what to type: facts in, findings out. Pure; `node` gathers the facts.
//!
//! * `host`: the set-up against this host: addresses, routes, WSL, buffers, shared memory.
//! * `environment`: the variables of ROS 2 and of its middleware.
//! * `loader`: Config.json as the vendor's loader reads it.
//! * `live`: what a bridge says in `/diagnostics`.
mod code;
mod environment;
mod host;
mod live;
mod loader;
mod text;

pub use code::{Code, Severity};
pub use environment::check_environment;
pub use host::{SensorSetup, Setup, check_host};
pub use live::{Heard, Status, check_live};
pub use loader::check_loader;
pub use text::{from_values, to_json, to_table, to_values};

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Finding {
    /// Its row in `docs/doctor.md`.
    pub code: Code,
    /// What it concerns: a sensor, a vehicle, a port, a variable.
    pub subject: String,
    /// What is wrong.
    pub what: String,
    /// What to type or do.
    pub remedy: String,
}

impl Finding {
    /// Creates a finding.
    pub fn new(
        code: Code,
        subject: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            code,
            subject: subject.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The worst of some findings; [`Severity::Note`] if there are none.
pub fn worst(findings: &[Finding]) -> Severity {
    let severities = findings.iter().map(Finding::severity);
    severities.max().unwrap_or(Severity::Note)
}

/// The worst first; each once.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| b.severity().cmp(&a.severity()).then_with(|| a.cmp(b)));
    findings.dedup();
}
