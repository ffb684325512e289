//! Axis conventions that the simulator does not report: the bridge detects them, the log and `/diagnostics` report them.
use super::section::{Finding, Level, Section, value};
use crate::doctor::{AxesFacts, BridgeFacts};
use crate::sensors::Verdict;
use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};

/// Detected axes by subject: a sensor or an IMU.
#[derive(Clone, Default)]
pub(super) struct AxesReport(Arc<Mutex<BTreeMap<String, ReportedAxes>>>);

struct ReportedAxes {
    verdict: Verdict,
    text: String,
    parameter: String,
}

impl AxesReport {
    /// Reports the detected axes of a subject; `text` describes them, `parameter` sets them.
    pub(super) fn report(&self, subject: String, verdict: Verdict, text: &str, parameter: &str) {
        match verdict {
            Verdict::Found => tracing::info!("axes of {subject}: {text} ({parameter})"),
            Verdict::Differs => {
                tracing::warn!(
                    "axes of {subject} differ from {parameter}: {text}; set {parameter}:=auto"
                )
            }
            Verdict::Unknown | Verdict::Some => {}
        }
        let (text, parameter) = (text.to_owned(), parameter.to_owned());
        self.0.lock().insert(subject, ReportedAxes { verdict, text, parameter });
    }
}

impl Section for AxesReport {
    fn check(&mut self) -> Finding {
        let reported = self.0.lock();
        let differ = reported.values().filter(|axes| axes.verdict == Verdict::Differs).count();
        let values = reported.iter().map(|(subject, ReportedAxes { verdict, text, parameter })| {
            let differs = if *verdict == Verdict::Differs { "differs: " } else { "" };
            value(subject, format!("{differs}{text} ({parameter})"))
        });
        Finding {
            level: if differ > 0 { Level::Warn } else { Level::Ok },
            message: match differ {
                0 => "no difference from the parameters".to_owned(),
                n => format!("{n} differ from the parameters"),
            },
            values: values.collect(),
        }
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        facts.axes.extend(self.0.lock().iter().map(|(subject, axes)| AxesFacts {
            subject: subject.clone(),
            differ: axes.verdict == Verdict::Differs,
            axes: axes.text.clone(),
            parameter: axes.parameter.clone(),
        }));
    }
}
