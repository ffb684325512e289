use thiserror::Error;

/// Why a mission request failed.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum MissionError {
    /// The autopilot refused it (MAV_MISSION_RESULT).
    #[error("the vehicle refused it: {result} ({name})", result = .0, name = name(*.0))]
    Refused(u8),
    /// The autopilot did not answer.
    #[error("no answer")]
    TimedOut,
    /// The list has no such item.
    #[error("there is no item {seq}: the mission has {items}, counted from 0")]
    NotInList {
        /// The requested item.
        seq: u16,
        /// Known items.
        items: usize,
    },
    /// The list is longer than the limit.
    #[error("{items} items exceed the limit of {most}")]
    TooLong {
        /// Its length.
        items: usize,
        /// Limit.
        most: usize,
    },
    /// Too many requests are waiting.
    #[error("too many mission requests are waiting")]
    TooMany,
    /// The settings forbid changes.
    #[error("control.read_only is true")]
    ReadOnly,
    /// The link to the vehicle was lost.
    #[error("the link to the vehicle was lost")]
    LinkLost,
}

/// MAV_MISSION_RESULT without its prefix.
pub(super) fn name(result: u8) -> &'static str {
    match result {
        0 => "ACCEPTED",
        1 => "ERROR",
        2 => "UNSUPPORTED_FRAME",
        3 => "UNSUPPORTED",
        4 => "NO_SPACE",
        5 => "INVALID",
        6 => "INVALID_PARAM1",
        7 => "INVALID_PARAM2",
        8 => "INVALID_PARAM3",
        9 => "INVALID_PARAM4",
        10 => "INVALID_PARAM5_X",
        11 => "INVALID_PARAM6_Y",
        12 => "INVALID_PARAM7",
        13 => "INVALID_SEQUENCE",
        14 => "DENIED",
        15 => "OPERATION_CANCELLED",
        _ => "unknown result",
    }
}
