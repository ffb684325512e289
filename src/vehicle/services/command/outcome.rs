//! Result of a command, as a number for callers and as text.
use crate::msgs::mavros_msgs::srv::*;
use crate::vehicle::{Fcu, SendError};
use crate::wire::mavlink::numbers::*;
use crate::{msgs::Service, session::CommandEnd};

/// A service that sends a command.
pub(super) trait CommandService: Service {
    /// The response with success and MAV_RESULT.
    fn response(success: bool, result: u8) -> Self::Response;
}

macro_rules! responses {
    ($($service:ident => |$success:ident, $result:ident| $response:expr;)+) => {$(
        impl CommandService for $service {
            fn response($success: bool, $result: u8) -> Self::Response {
                $response
            }
        }
    )+};
}

responses! {
    CommandBool => |success, result| CommandBoolResponse { success, result };
    CommandHome => |success, result| CommandHomeResponse { success, result };
    CommandInt => |success, _result| CommandIntResponse { success };
    CommandLong => |success, result| CommandLongResponse { success, result };
    CommandTOL => |success, result| CommandTOLResponse { success, result };
    CommandTOLLocal => |success, result| CommandTOLLocalResponse { success, result };
    CommandTriggerControl => |success, result| CommandTriggerControlResponse { success, result };
    CommandTriggerInterval => |success, result| CommandTriggerIntervalResponse { success, result };
    CommandVtolTransition => |success, result| CommandVtolTransitionResponse { success, result };
    MessageInterval => |success, _result| MessageIntervalResponse { success };
    MountConfigure => |success, result| MountConfigureResponse { success, result };
    SetMode => |mode_sent, _result| SetModeResponse { mode_sent };
}

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CommandOutcome {
    pub(super) end: CommandEnd,
    /// Why the command was not sent, if it was not.
    pub(super) refusal: Option<SendError>,
}

impl From<CommandEnd> for CommandOutcome {
    fn from(end: CommandEnd) -> Self {
        Self { end, refusal: None }
    }
}

impl CommandOutcome {
    /// Success and MAV_RESULT.
    pub(super) fn result(&self) -> (bool, u8) {
        match self.end {
            CommandEnd::Acked { result, .. } => (result == MAV_RESULT_ACCEPTED, result),
            // Sent, and no acknowledgement is expected.
            CommandEnd::Broadcast => (true, MAV_RESULT_ACCEPTED),
            CommandEnd::NotSent if matches!(self.refusal, Some(SendError::Unsupported { .. })) => {
                (false, MAV_RESULT_UNSUPPORTED)
            }
            // The vehicle gave no result.
            CommandEnd::TimedOut { .. } | CommandEnd::NotSent => (false, MAV_RESULT_FAILED),
            CommandEnd::LinkLost => (false, MAV_RESULT_TEMPORARILY_REJECTED),
            CommandEnd::Overridden => (false, MAV_RESULT_CANCELLED),
        }
    }

    /// Returns the result as text, with a note about a lost connection.
    pub(super) fn describe(&self, fcu: &Fcu) -> String {
        let mut text = self.text();
        if fcu.abilities().heartbeat && !fcu.is_connected() && self.end != CommandEnd::LinkLost {
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
