//! Counts refused messages and datagrams by cause; logs each cause once per topic.
use crate::node::cause::Cause;
use crate::node::section::{Finding, Level, Section, value};
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};

#[derive(Default)]
struct Counts {
    passed_on: u64,
    refused: BTreeMap<(String, Cause), u64>,
    /// Total of refused messages at the last report.
    reported: u64,
}

/// Counters of the messages for models. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Refusals(Arc<Mutex<Counts>>);

impl Refusals {
    pub(super) fn count_passed_on(&self) {
        self.0.lock().passed_on += 1;
    }

    /// Counts a refused message; logs the first one of each cause and topic.
    pub(super) fn refuse(&self, topic: &str, cause: Cause, text: &str) {
        let mut counts = self.0.lock();
        let count = counts.refused.entry((topic.to_owned(), cause)).or_default();
        *count += 1;
        if *count == 1 {
            tracing::warn!(
                "{topic}: {text}; further ones are only counted (drop_{} in /diagnostics)",
                cause.name()
            );
        }
    }
}

impl Section for Refusals {
    fn check(&mut self) -> Finding {
        let mut counts = self.0.lock();
        let total: u64 = counts.refused.values().sum();
        let new = total - std::mem::replace(&mut counts.reported, total);
        let mut values = vec![value("passed_on", counts.passed_on), value("refused", total)];
        let refused = counts.refused.iter();
        values.extend(
            refused.map(|((topic, cause), count)| {
                value(format!("{topic} drop_{}", cause.name()), count)
            }),
        );
        let (level, message) = match new {
            0 => (Level::Ok, format!("{} messages passed on", counts.passed_on)),
            _ => (Level::Warn, format!("{new} messages for or from models were refused")),
        };
        Finding { level, message, values }
    }
}
