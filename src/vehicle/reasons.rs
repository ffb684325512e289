//! Status texts during a request: they give the reason for a refusal.
use crate::{wire::mavlink::numbers::MAV_SEVERITY_WARNING, wire::mavlink::raw::StatusText};

/// Limit of stored texts, and of the characters of each.
const TEXTS: usize = 6;
const TEXT_CHARS: usize = 500;

/// Status texts with the number that their chunks share.
#[derive(Debug, Default)]
pub(super) struct Reasons(Vec<(u16, String)>);

impl Reasons {
    /// Adds a text if its severity makes it a reason; returns whether it does.
    pub(super) fn add(&mut self, message: &StatusText) -> bool {
        // A larger number is a lower severity.
        if message.severity > MAV_SEVERITY_WARNING {
            return false;
        }
        let len = message.text.iter().take_while(|byte| **byte != 0).count();
        let text = String::from_utf8_lossy(message.text.get(..len).unwrap_or_default());
        let has_room = self.0.len() < TEXTS;
        match self.0.last_mut() {
            Some((id, joined)) if message.chunk > 0 && *id == message.id => {
                let room = TEXT_CHARS.saturating_sub(joined.chars().count());
                joined.extend(text.chars().take(room));
            }
            _ if has_room => self.0.push((message.id, text.into_owned())),
            _ => {}
        }
        true
    }

    /// Whether a text contains `what`.
    pub(super) fn contains(&self, what: &str) -> bool {
        self.0.iter().any(|(_, text)| text.contains(what))
    }

    /// All texts, joined; empty if there are none.
    pub(super) fn joined(&self) -> String {
        let texts: Vec<_> = self.0.iter().map(|(_, text)| text.trim()).collect();
        texts.join("; ")
    }

    /// As [`Self::joined`], and clears the texts.
    pub(super) fn take(&mut self) -> String {
        let joined = self.joined();
        self.0.clear();
        joined
    }
}
