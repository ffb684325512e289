//! Which axes the simulator means where nothing on the wire says so: found by sensors and IMUs, told in the log and in `/diagnostics`.
use super::section::{Finding, Level, Section, value};
use crate::sensors::Verdict;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of the conventions, by what they concern.
#[derive(Clone, Default)]
pub(super) struct Conventions(Arc<Mutex<BTreeMap<String, (Verdict, String)>>>);

impl Conventions {
    fn known(&self) -> MutexGuard<'_, BTreeMap<String, (Verdict, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what is known of a convention, in the words of [`Ballot::text`](crate::sensors::Ballot::text). `parameter` sets it.
    pub(super) fn tell(&self, what: String, verdict: Verdict, text: &str, parameter: &str) {
        match verdict {
            Verdict::Found => tracing::info!("axes of {what}: {text} ({parameter})"),
            Verdict::Differs => {
                tracing::warn!("axes of {what} are not those given: {text}; set {parameter}:=auto")
            }
            Verdict::Unknown | Verdict::Some => {}
        }
        let text = format!("{text} ({parameter})");
        self.known().insert(what, (verdict, text));
    }
}

impl Section for Conventions {
    fn name(&self) -> &'static str {
        "axes"
    }

    fn look(&mut self) -> Finding {
        let known = self.known();
        let differs = |(verdict, _): &&(Verdict, String)| *verdict == Verdict::Differs;
        let differ = known.values().filter(differs).count();
        Finding {
            level: if differ > 0 { Level::Warn } else { Level::Ok },
            message: match differ {
                0 => "none is seen to differ from what is given".to_owned(),
                n => format!("{n} differ from what is given"),
            },
            values: known
                .iter()
                .map(|(what, (_, text))| value(what, text))
                .collect(),
        }
    }
}
