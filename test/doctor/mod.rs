//! Tests of `src/doctor`: facts in, findings out.
mod bridge;
mod documents;
mod environment;
mod format;
mod hosts;
mod silence;
mod vendor_loader;

use rfly_bridge::doctor::{Code, Finding};

fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().map(|finding| finding.code).collect()
}
