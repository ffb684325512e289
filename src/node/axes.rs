//! Axes of the simulator that no datagram names: sensors and IMUs detect them, the log and `/diagnostics` report them.
use super::section::{Finding, Level, Section, value};
use crate::sensors::Verdict;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Verdict and text by subject.
#[derive(Clone, Default)]
pub(super) struct AxesReport(Arc<Mutex<BTreeMap<String, (Verdict, String)>>>);

impl AxesReport {
    /// Reports the axes of a subject; `text` is [`ConventionFinder::text`](crate::sensors::ConventionFinder::text), `parameter` sets the axes.
    pub(super) fn report(&self, what: String, verdict: Verdict, text: &str, parameter: &str) {
        match verdict {
            Verdict::Found => tracing::info!("axes of {what}: {text} ({parameter})"),
            Verdict::Differs => {
                tracing::warn!(
                    "axes of {what} differ from {parameter}: {text}; set {parameter}:=auto"
                )
            }
            Verdict::Unknown | Verdict::Some => {}
        }
        let text = format!("{text} ({parameter})");
        self.0.lock().insert(what, (verdict, text));
    }
}

impl Section for AxesReport {
    fn name(&self) -> &'static str {
        "axes"
    }

    fn check(&mut self) -> Finding {
        let known = self.0.lock();
        let differs = |(verdict, _): &&(Verdict, String)| *verdict == Verdict::Differs;
        let differ = known.values().filter(differs).count();
        Finding {
            level: if differ > 0 { Level::Warn } else { Level::Ok },
            message: match differ {
                0 => "no difference from the parameters found".to_owned(),
                n => format!("{n} differ from the parameters"),
            },
            values: known.iter().map(|(what, (_, text))| value(what, text)).collect(),
        }
    }
}
