//! Result of a command, as a number for callers and as text.
use crate::session::CommandEnd;
use crate::vehicle::{Fcu, Refusal};

/// MAV_RESULT_FAILED: answered where the vehicle gave no result.
pub(super) const FAILED: u8 = 4;
/// MAV_RESULT_DENIED.
pub(super) const DENIED: u8 = 2;
/// MAV_RESULT_UNSUPPORTED.
pub(super) const UNSUPPORTED: u8 = 3;
/// MAV_RESULT_TEMPORARILY_REJECTED: the command was not sent.
const LATER: u8 = 1;
/// MAV_RESULT_CANCELLED: a newer command won.
const CANCELLED: u8 = 6;

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ending {
    pub(super) end: CommandEnd,
    /// The reason if it was not sent.
    pub(super) refusal: Option<Refusal>,
}

impl From<CommandEnd> for Ending {
    fn from(end: CommandEnd) -> Self {
        Self { end, refusal: None }
    }
}

impl Ending {
    /// Success and MAV_RESULT.
    pub(super) fn result(&self) -> (bool, u8) {
        match self.end {
            CommandEnd::Acked { result, .. } => (result == 0, result),
            // Sent, and no acknowledgement is expected.
            CommandEnd::Broadcast => (true, 0),
            CommandEnd::NotSent if matches!(self.refusal, Some(Refusal::Unsupported { .. })) => {
                (false, UNSUPPORTED)
            }
            CommandEnd::TimedOut { .. } | CommandEnd::NotSent => (false, FAILED),
            CommandEnd::LinkLost => (false, LATER),
            CommandEnd::Overridden => (false, CANCELLED),
        }
    }

    /// The result as text, with what is known of the link.
    pub(super) fn describe(&self, fcu: &Fcu) -> String {
        let mut text = self.text();
        if fcu.abilities().heartbeat && !fcu.connected() && self.end != CommandEnd::LinkLost {
            text += "; the vehicle is not connected";
        }
        text
    }

    fn text(&self) -> String {
        match self.end {
            CommandEnd::Acked { result, .. } => format!("the vehicle answered {}", name(result)),
            CommandEnd::TimedOut { in_progress: true, .. } => {
                "in progress, but no final answer came".to_owned()
            }
            CommandEnd::TimedOut { sent, .. } => format!("no answer; sent {sent} times"),
            CommandEnd::Broadcast => "sent".to_owned(),
            CommandEnd::Overridden => {
                "overridden by a newer command or another change of the mode".to_owned()
            }
            CommandEnd::LinkLost => "the vehicle is not connected".to_owned(),
            CommandEnd::NotSent => match self.refusal {
                Some(refusal) => refusal.to_string(),
                None => "not sent".to_owned(),
            },
        }
    }
}

/// MAV_RESULT without its prefix.
pub(super) fn name(result: u8) -> String {
    let name = match result {
        0 => "ACCEPTED",
        1 => "TEMPORARILY_REJECTED",
        2 => "DENIED",
        3 => "UNSUPPORTED",
        4 => "FAILED",
        5 => "IN_PROGRESS",
        6 => "CANCELLED",
        7 => "COMMAND_LONG_ONLY",
        8 => "COMMAND_INT_ONLY",
        9 => "COMMAND_UNSUPPORTED_MAV_FRAME",
        10 => "NOT_IN_CONTROL",
        _ => return format!("result {result}"),
    };
    name.to_owned()
}
