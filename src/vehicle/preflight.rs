//! Reports of the autopilot about arming: SYS_STATUS, ESTIMATOR_STATUS and status texts.
use std::{collections::VecDeque, time::Duration};

/// Limit of stored texts, and of the characters of each.
const TEXTS: usize = 4;
const TEXT_CHARS: usize = 200;

/// The last reports.
#[derive(Debug, Default)]
pub(super) struct Preflight {
    /// Bits of SYS_STATUS: sensors that are present, enabled and healthy.
    pub(super) status: Option<[u32; 3]>,
    pub(super) estimator: Option<u16>,
    pub(super) texts: VecDeque<(Duration, String)>,
    /// Since when the autopilot would refuse to arm.
    pub(super) refuses_since: Option<Duration>,
    /// When the bridge last queried the reasons.
    pub(super) queried: Option<Duration>,
}

impl Preflight {
    /// Stores a text of the autopilot, if it is about arming.
    pub(super) fn add_text(&mut self, now: Duration, text: &str) {
        let lower = text.to_ascii_lowercase();
        let keywords = ["preflight", "prearm", "arming denied", "not ready"];
        if !keywords.iter().any(|word| lower.contains(word)) {
            return;
        }
        let text: String = text.trim().chars().take(TEXT_CHARS).collect();
        self.texts.retain(|(_, known)| *known != text);
        self.texts.push_back((now, text));
        if self.texts.len() > TEXTS {
            self.texts.pop_front();
        }
    }
}
