//! Tests of `src/doctor`: facts in, findings out.
mod documents;
mod environment;
mod hosts;
mod live;
mod loader;
mod texts;

use rfly_bridge::doctor::{Code, Finding};

fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().map(|finding| finding.code).collect()
}
