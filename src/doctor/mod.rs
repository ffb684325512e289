//! Checks of a set-up: turns facts into findings with their remedies. Pure; `node` gathers the facts.
//!
//! * `host`: the settings against this host: addresses, routes, buffers, shared memory.
//! * `arrangement`: relation of this host to the simulator's host: a row of `docs/hosts.md`.
//! * `environment`: the environment variables of ROS 2 and its middleware.
//! * `setup`: the settings that `host` and `arrangement` read, and how addresses are looked up in the routes of this host.
//! * `vendor_loader`: Config.json as the vendor's loader reads it.
//! * `bridge`: the `facts` of a bridge; the bridge reports these findings in `/diagnostics`, too.
//! * `firewall`: commands that open a firewall.
//! * `silence`: when the log says that nothing arrives.
//! * `format`: findings as a table, as JSON and as values of `/diagnostics`.
mod arrangement;
mod bridge;
mod code;
mod environment;
mod facts;
mod firewall;
mod format;
mod host;
mod setup;
mod silence;
mod vendor_loader;

pub use arrangement::{Arrangement, arrangement};
pub use bridge::check_bridge;
pub use code::{Code, Severity};
pub use environment::check_environment;
pub use facts::{
    AbsentVehicle, AutopilotFacts, AxesFacts, BridgeFacts, DropFault, LinkState, RequestFacts,
    Shortfall, SourceFacts, SourceRole,
};
pub use format::{from_values, to_json, to_table, to_values};
pub use host::{Simulator, check_host};
pub use setup::{SensorSetup, Setup};
pub use silence::{SilenceNews, SilenceWatch, awaited_text, silence};
pub use vendor_loader::check_vendor_loader;

/// One problem of a set-up.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Finding {
    /// Its row in `docs/doctor.md`.
    pub code: Code,
    /// What has the problem: a sensor, a vehicle, a port, a variable.
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
        Self { code, subject: subject.into(), what: what.into(), remedy: remedy.into() }
    }

    /// The severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The highest severity; [`Severity::Note`] without findings.
pub fn worst(findings: &[Finding]) -> Severity {
    let severities = findings.iter().map(Finding::severity);
    severities.max().unwrap_or(Severity::Note)
}

/// Sorts by severity, the worst first, and removes duplicates.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| b.severity().cmp(&a.severity()).then_with(|| a.cmp(b)));
    findings.dedup();
}
