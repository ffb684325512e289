//! Health of the process itself: panics and lost log messages.
use super::rosout::lost_messages;
use crate::doctor::BridgeFacts;
use crate::node::section::{Finding, Level, Section, value};
use crate::program::{lost_lines, panics};

/// Counts of panics and lost messages at the last check.
#[derive(Debug, Default)]
pub struct ProgramHealth {
    panics: u64,
    lost: u64,
}

impl ProgramHealth {
    /// An error if a thread panicked since the last check; a warning if one ever did or log messages were lost.
    pub fn check(&mut self) -> Finding {
        let found = panics();
        let (lines, messages) = (lost_lines(), lost_messages());
        let lost = lines + messages;
        let new_panics = found.count - std::mem::replace(&mut self.panics, found.count);
        let new_lost = lost - std::mem::replace(&mut self.lost, lost);
        let (level, message) = if new_panics > 0 {
            (Level::Error, found.last.clone())
        } else if found.count > 0 {
            let count = found.count;
            (Level::Warn, format!("{count} panics, the last: {}", found.last))
        } else if new_lost > 0 {
            let text = format!("{new_lost} log messages lost: the queue was full");
            (Level::Warn, text)
        } else {
            (Level::Ok, "no panics".to_owned())
        };
        let values = vec![
            value("panics", found.count),
            value("last_panic", found.last),
            value("log_lines_lost", lines),
            value("rosout_messages_lost", messages),
        ];
        Finding { level, message, values }
    }
}

impl Section for ProgramHealth {
    fn check(&mut self) -> Finding {
        Self::check(self)
    }

    fn add_facts(&self, facts: &mut BridgeFacts) {
        let found = panics();
        facts.last_panic = (found.count > 0).then_some(found.last);
        facts.lost_log_lines = lost_lines();
    }
}
