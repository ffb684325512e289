use thiserror::Error;

/// Why a mission request failed.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum MissionError {
    /// The autopilot refused it (MAV_MISSION_RESULT).
    #[error("the vehicle refused it: {result} ({name})", result = .0, name = name(*.0))]
    Refused(u8),
    /// The autopilot did not answer, or requested items without end.
    #[error("no answer")]
    TimedOut,
    /// The list has no such item.
    #[error("there is no item {seq}: the mission has {items}, counted from 0")]
    NotInList { seq: u16, items: usize },
    /// The list is longer than the limit.
    #[error("{items} items exceed the limit of {most}")]
    TooLong { items: usize, most: usize },
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
    #[rustfmt::skip] // a table
    const NAMES: [&str; 16] = [
        "ACCEPTED", "ERROR", "UNSUPPORTED_FRAME", "UNSUPPORTED", "NO_SPACE", "INVALID", "INVALID_PARAM1", "INVALID_PARAM2",
        "INVALID_PARAM3", "INVALID_PARAM4", "INVALID_PARAM5_X", "INVALID_PARAM6_Y", "INVALID_PARAM7", "INVALID_SEQUENCE",
        "DENIED", "OPERATION_CANCELLED",
    ];
    NAMES.get(usize::from(result)).unwrap_or(&"unknown result")
}
