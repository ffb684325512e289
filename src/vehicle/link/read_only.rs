//! With `control.read_only`: requests are sent, every message that could move or change the vehicle is refused.
use super::SendError;
use crate::wire::mavlink::dialect::*;
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{CommandInt, CommandLong};
use crate::wire::mavlink::{MessageData as _, Outbound};

/// Messages that only request data or keep up the link.
#[expect(deprecated, reason = "controllers send them")]
#[rustfmt::skip] // a table
const REQUESTS: [u32; 10] = [
    HEARTBEAT_DATA::ID, PING_DATA::ID, PARAM_REQUEST_READ_DATA::ID, PARAM_REQUEST_LIST_DATA::ID,
    MISSION_REQUEST_DATA::ID, MISSION_REQUEST_LIST_DATA::ID, MISSION_ACK_DATA::ID, MISSION_REQUEST_INT_DATA::ID,
    REQUEST_DATA_STREAM_DATA::ID, TIMESYNC_DATA::ID,
];
/// Commands that only request data.
const REQUEST_COMMANDS: [u16; 5] = [
    MAV_CMD_GET_HOME_POSITION,
    MAV_CMD_SET_MESSAGE_INTERVAL,
    MAV_CMD_REQUEST_MESSAGE,
    MAV_CMD_REQUEST_PROTOCOL_VERSION,
    MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES,
];
/// Offset of the command's number in COMMAND_LONG and COMMAND_INT.
const COMMAND: usize = 28;

/// The error for all other messages.
pub(in crate::vehicle) const REFUSED: SendError =
    SendError::Unsupported { link: "a read-only link", why: "control.read_only is true" };

/// Whether the message only requests data or keeps up the link.
pub(in crate::vehicle) fn is_request(message: &Outbound) -> bool {
    match message {
        Outbound::Raw(raw) if matches!(message.id(), CommandLong::ID | CommandInt::ID) => {
            // MAVLink 2 cuts zeros off the end of a payload.
            let byte = |at| raw.payload().get(at).copied().unwrap_or(0);
            let command = u16::from_le_bytes([byte(COMMAND), byte(COMMAND + 1)]);
            REQUEST_COMMANDS.contains(&command)
        }
        _ => REQUESTS.contains(&message.id()),
    }
}
