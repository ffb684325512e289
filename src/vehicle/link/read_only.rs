//! A link that only listens: passes requests, refuses every message that could move or change the vehicle.
use super::{Abilities, Link, SendError};
use crate::vehicle::Counter;
use crate::vehicle::mav::*;
use crate::wire::TrueState;
use crate::wire::mavlink::dialect::*;
use crate::wire::mavlink::raw::{CommandInt, CommandLong, SetAttitudeTarget};
use crate::wire::mavlink::{MessageData as _, Outbound};

/// Messages that change nothing.
#[expect(deprecated, reason = "controllers send them")]
const QUESTIONS: [u32; 10] = [
    HEARTBEAT_DATA::ID,
    PING_DATA::ID,
    PARAM_REQUEST_READ_DATA::ID,
    PARAM_REQUEST_LIST_DATA::ID,
    MISSION_REQUEST_DATA::ID,
    MISSION_REQUEST_LIST_DATA::ID,
    MISSION_ACK_DATA::ID,
    MISSION_REQUEST_INT_DATA::ID,
    REQUEST_DATA_STREAM_DATA::ID,
    TIMESYNC_DATA::ID,
];
/// Commands that change nothing.
const QUESTIONS_AS_COMMANDS: [u16; 5] = [
    MAV_CMD_GET_HOME_POSITION,
    MAV_CMD_SET_MESSAGE_INTERVAL,
    MAV_CMD_REQUEST_MESSAGE,
    MAV_CMD_REQUEST_PROTOCOL_VERSION,
    MAV_CMD_REQUEST_AUTOPILOT_CAPABILITIES,
];
/// Offset of the command's number in COMMAND_LONG and COMMAND_INT.
const COMMAND: usize = 28;

const REFUSED: SendError =
    SendError::Unsupported { link: "a read-only link", what: "control.read_only is true" };

/// Wraps a link of which only telemetry is wanted.
pub struct ReadOnlyLink {
    link: Box<dyn Link>,
    component: u8,
}

impl ReadOnlyLink {
    /// Passes requests of `component`, the bridge's own, to `link`.
    pub fn new(link: Box<dyn Link>, component: u8) -> Self {
        Self { link, component }
    }
}

fn is_question(message: &Outbound) -> bool {
    match message {
        Outbound::Raw(raw) if matches!(message.id(), CommandLong::ID | CommandInt::ID) => {
            // MAVLink 2 cuts zeros off the end of a payload.
            let byte = |at| raw.payload().get(at).copied().unwrap_or(0);
            let command = u16::from_le_bytes([byte(COMMAND), byte(COMMAND + 1)]);
            QUESTIONS_AS_COMMANDS.contains(&command)
        }
        _ => QUESTIONS.contains(&message.id()),
    }
}

impl Link for ReadOnlyLink {
    fn abilities(&self) -> Abilities {
        self.link.abilities()
    }

    fn send(&mut self, message: &Outbound, system: u8, component: u8) -> Result<(), SendError> {
        // Under another component id even a heartbeat has an effect: it announces a companion process.
        if component == self.component && is_question(message) {
            return self.link.send(message, system, component);
        }
        Err(REFUSED)
    }

    fn send_throttle_step(&mut self, _: &SetAttitudeTarget) -> Result<(), SendError> {
        Err(REFUSED)
    }

    fn incoming<'a>(
        &mut self,
        bytes: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Counter> {
        self.link.incoming(bytes, buffer)
    }

    fn true_state<'a>(
        &mut self,
        state: &TrueState,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Counter> {
        self.link.true_state(state, buffer)
    }

    fn lost(&mut self) {
        self.link.lost();
    }
}
