//! How the program itself does: what panicked, and what is missing in its log.
use super::rosout::lost_messages;
use crate::program::{lost_lines, panics};

/// Level of a status in `/diagnostics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Something is missing.
    Warn,
    /// Something is broken.
    Error,
}

/// What was found at the last look.
#[derive(Debug, Default)]
pub struct Condition {
    panics: u64,
    lost: u64,
}

/// A status of the program, as `/diagnostics` has it.
#[derive(Debug)]
pub struct Finding {
    /// An error if something panicked since the last look, a warning if it ever did or lines of the log were lost.
    pub level: Level,
    /// The worst, in a sentence.
    pub message: String,
    /// Everything.
    pub values: Vec<(&'static str, String)>,
}

impl Condition {
    /// Looks.
    pub fn look(&mut self) -> Finding {
        let found = panics();
        let (lines, messages) = (lost_lines(), lost_messages());
        let lost = lines + messages;
        let new_panics = found.count - std::mem::replace(&mut self.panics, found.count);
        let new_lost = lost - std::mem::replace(&mut self.lost, lost);
        let (level, message) = if new_panics > 0 {
            (Level::Error, found.last.clone())
        } else if found.count > 0 {
            let count = found.count;
            (
                Level::Warn,
                format!("{count} panics, the last: {}", found.last),
            )
        } else if new_lost > 0 {
            let text = format!("{new_lost} messages of the log are lost: nobody took them in time");
            (Level::Warn, text)
        } else {
            (Level::Ok, "no panics".to_owned())
        };
        let values = vec![
            ("panics", found.count.to_string()),
            ("last_panic", found.last),
            ("log_lines_lost", lines.to_string()),
            ("rosout_messages_lost", messages.to_string()),
        ];
        Finding {
            level,
            message,
            values,
        }
    }
}
