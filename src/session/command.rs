//! MAVLink commands: their effect, their equality and their results.
use crate::wire::mavlink::dialect::MavCmd::{self, *};
use crate::wire::mavlink::raw::{CommandInt, CommandLong, RawMessage, SetMode};
use crate::{wire::mavlink::Outbound, wire::mavlink::dialect::MavModeFlag};
use std::time::Duration;

const DO_SET_MODE: u16 = MAV_CMD_DO_SET_MODE as u16;
/// Commands that change the mode.
#[rustfmt::skip] // a table
const MODE_COMMANDS: [MavCmd; 14] = [
    MAV_CMD_NAV_LOITER_UNLIM, MAV_CMD_NAV_RETURN_TO_LAUNCH, MAV_CMD_NAV_LAND, MAV_CMD_NAV_TAKEOFF, MAV_CMD_NAV_LAND_LOCAL,
    MAV_CMD_NAV_TAKEOFF_LOCAL, MAV_CMD_DO_ORBIT, MAV_CMD_NAV_VTOL_TAKEOFF, MAV_CMD_NAV_VTOL_LAND, MAV_CMD_DO_SET_MODE,
    MAV_CMD_DO_REPOSITION, MAV_CMD_DO_PAUSE_CONTINUE, MAV_CMD_OVERRIDE_GOTO, MAV_CMD_MISSION_START,
];
/// Commands that stop a flight or choose a mode.
#[rustfmt::skip] // a table
const SAFER_COMMANDS: [MavCmd; 7] = [
    MAV_CMD_NAV_LOITER_UNLIM, MAV_CMD_NAV_RETURN_TO_LAUNCH, MAV_CMD_NAV_LAND, MAV_CMD_NAV_VTOL_LAND, MAV_CMD_DO_SET_MODE,
    MAV_CMD_DO_PAUSE_CONTINUE, MAV_CMD_DO_FLIGHTTERMINATION,
];
#[rustfmt::skip] // a table
const FLIGHT_ENDING_COMMANDS: [MavCmd; 3] = [MAV_CMD_NAV_RETURN_TO_LAUNCH, MAV_CMD_NAV_LAND, MAV_CMD_NAV_VTOL_LAND];
/// PX4's custom modes AUTO.RTL, AUTO.LAND, AUTO.RTGS and AUTO.PRECLAND.
const PX4_RTL: u32 = px4_auto_mode(5);
const PX4_LAND: u32 = px4_auto_mode(6);
const PX4_RTGS: u32 = px4_auto_mode(7);
const PX4_PRECLAND: u32 = px4_auto_mode(9);
/// Flags of a base mode that are state of the vehicle, not part of the requested mode.
const STATE_FLAGS: u8 =
    MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED.bits() | MavModeFlag::MAV_MODE_FLAG_HIL_ENABLED.bits();

/// Commands of which the newest overrides the older ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CommandGroup {
    /// Arms or disarms.
    Arming,
    /// Changes the mode: `SET_MODE`, take-off, landing, return, reposition.
    Mode,
}

/// A command to a vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MavCommand {
    /// COMMAND_LONG.
    Long(CommandLong),
    /// COMMAND_INT.
    Int(CommandInt),
    /// SET_MODE, which PX4 acknowledges as MAV_CMD_DO_SET_MODE.
    Mode(SetMode),
}

impl MavCommand {
    /// Returns its number in MAV_CMD.
    pub fn number(&self) -> u16 {
        match self {
            Self::Long(long) => long.command,
            Self::Int(int) => int.command,
            Self::Mode(_) => DO_SET_MODE,
        }
    }

    /// Returns the message to send.
    pub fn message(&self) -> Outbound {
        match *self {
            Self::Long(long) => long.into(),
            Self::Int(int) => int.into(),
            Self::Mode(mode) => mode.into(),
        }
    }

    /// Returns its group, if newer commands override it.
    pub fn group(&self) -> Option<CommandGroup> {
        if self.is_one_of(&[MAV_CMD_COMPONENT_ARM_DISARM]) {
            return Some(CommandGroup::Arming);
        }
        self.is_one_of(&MODE_COMMANDS).then_some(CommandGroup::Mode)
    }

    fn is_one_of(&self, commands: &[MavCmd]) -> bool {
        commands.iter().any(|command| *command as u16 == self.number())
    }

    /// Whether it can make a vehicle safer: it disarms, lands, returns, pauses, terminates the flight, or chooses a mode. Such a
    /// command is sent even if the link seems lost.
    pub fn is_safer(&self) -> bool {
        matches!(self, Self::Mode(_)) || self.is_one_of(&SAFER_COMMANDS) || self.disarms()
    }

    /// Whether it disarms.
    pub fn disarms(&self) -> bool {
        let first = match self {
            Self::Long(long) => long.params[0],
            Self::Int(int) => int.params[0],
            Self::Mode(_) => return false,
        };
        // PX4 rounds the parameter.
        self.is_one_of(&[MAV_CMD_COMPONENT_ARM_DISARM]) && first.abs() < 0.5
    }

    /// Returns the custom mode of PX4 that it requests.
    pub fn custom_mode(&self) -> Option<u32> {
        let custom = |main: f32, sub: f32| Some((main as u32) << 16 | (sub as u32) << 24);
        match *self {
            Self::Mode(set) => Some(set.custom_mode),
            Self::Long(CommandLong {
                command: DO_SET_MODE, params: [_, main, sub, ..], ..
            })
            | Self::Int(CommandInt { command: DO_SET_MODE, params: [_, main, sub, _], .. }) => {
                custom(main, sub)
            }
            _ if self.is_one_of(&[MAV_CMD_NAV_RETURN_TO_LAUNCH]) => Some(PX4_RTL),
            _ if self.is_one_of(&[MAV_CMD_NAV_LAND]) => Some(PX4_LAND),
            _ => None,
        }
    }

    /// Whether it ends the flight: land or return.
    pub fn ends_flight(&self) -> bool {
        let ends_flight = |mode| matches!(mode, PX4_RTL | PX4_LAND | PX4_RTGS | PX4_PRECLAND);
        self.is_one_of(&FLIGHT_ENDING_COMMANDS) || self.custom_mode().is_some_and(ends_flight)
    }

    /// Whether a newer command of its group supersedes it, instead of overriding it at once.
    pub(super) fn waits_for_newer(&self) -> bool {
        self.ends_flight() || self.disarms()
    }

    /// Whether both commands request the same action. NaN equals NaN; `confirmation` and flags of the vehicle's
    /// state are ignored.
    pub fn equals(&self, other: &Self) -> bool {
        self.request() == other.request()
    }

    /// Returns its message without `confirmation` and without flags of the vehicle's state.
    fn request(&self) -> RawMessage {
        match *self {
            Self::Long(long) => CommandLong { confirmation: 0, ..long }.to_raw(),
            Self::Int(int) => int.to_raw(),
            Self::Mode(set) => SetMode { base_mode: set.base_mode & !STATE_FLAGS, ..set }.to_raw(),
        }
    }

    pub(super) fn key(&self) -> CommandKey {
        let (system, component) = match self {
            Self::Long(long) => (long.target_system, long.target_component),
            Self::Int(int) => (int.target_system, int.target_component),
            Self::Mode(mode) => (mode.target_system, 0),
        };
        CommandKey { command: self.number(), system, component }
    }

    pub(super) fn count_transmission(&mut self) {
        // Only COMMAND_LONG has this field.
        if let Self::Long(long) = self {
            long.confirmation = long.confirmation.saturating_add(1);
        }
    }
}

/// PX4's custom mode with main mode AUTO.
const fn px4_auto_mode(sub: u32) -> u32 {
    4 << 16 | sub << 24
}

impl From<CommandLong> for MavCommand {
    fn from(command: CommandLong) -> Self {
        Self::Long(command)
    }
}

impl From<CommandInt> for MavCommand {
    fn from(command: CommandInt) -> Self {
        Self::Int(command)
    }
}

impl From<SetMode> for MavCommand {
    fn from(command: SetMode) -> Self {
        Self::Mode(command)
    }
}

/// Timeouts and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandSettings {
    /// Timeout of the first transmission; that of the n-th is n times as long.
    pub first_wait: Duration,
    /// Number of transmissions.
    pub tries: u32,
    /// Timeout after each progress report.
    pub progress_wait: Duration,
    /// Longest duration of a command in progress, or of a deferred one.
    pub max_duration: Duration,
    /// Maximum number of pending calls; one more ends an older call as overridden.
    pub max_pending: usize,
}

impl Default for CommandSettings {
    /// Sends at 0, 0.5, 1.5 and 3 s and times out at 5 s, like mavros.
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(500),
            tries: 4,
            progress_wait: Duration::from_secs(5),
            max_duration: Duration::from_secs(120),
            max_pending: 128,
        }
    }
}

/// Result of a command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CommandEnd {
    /// The vehicle sent its final acknowledgement.
    Acked {
        /// MAV_RESULT, never IN_PROGRESS.
        result: u8,
        /// Details of the result, by command.
        result_param2: i32,
    },
    /// The vehicle sent no final acknowledgement.
    TimedOut {
        /// Number of transmissions.
        sent: u32,
        /// The vehicle had reported progress.
        in_progress: bool,
    },
    /// Sent as a broadcast, which is not acknowledged.
    Broadcast,
    /// A newer command of its group or another change of the mode preceded its acknowledgement, or too many calls were pending.
    Overridden,
    /// The link to the vehicle was lost.
    LinkLost,
    /// The link failed to send it.
    NotSent,
}

/// Work for the caller, in the order in which `next_event` returns it.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack between two calls")]
pub enum CommandEvent<T> {
    /// Send this; call [`CommandClient::not_sent`](super::CommandClient::not_sent) if that fails.
    Send {
        /// Returned by [`CommandClient::start`](super::CommandClient::start).
        id: u64,
        /// The message.
        message: Outbound,
    },
    /// Progress of a command.
    Progress {
        /// MAV_CMD.
        command: u16,
        /// Returned by [`CommandClient::start`](super::CommandClient::start).
        id: u64,
        /// Percent, if the vehicle reports it.
        percent: Option<u8>,
    },
    /// A command has ended.
    Ended {
        /// The token given to [`CommandClient::start`](super::CommandClient::start).
        token: T,
        /// MAV_CMD.
        command: u16,
        /// Its result.
        end: CommandEnd,
    },
    /// A command was acknowledged after its call had timed out.
    Late {
        /// The command.
        command: MavCommand,
        /// MAV_RESULT.
        result: u8,
    },
}

/// Numbers of commands and acknowledgements so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CommandCounters {
    /// Commands started.
    pub started: u64,
    /// Second and further transmissions.
    pub retransmitted: u64,
    /// Commands of which all calls timed out.
    pub timed_out: u64,
    /// Acknowledgements for another system or component.
    pub foreign: u64,
    /// Acknowledgements without a pending command: duplicates and late ones.
    pub unexpected: u64,
    /// Commands that a newer one overrode, or that exceeded the limit of pending calls.
    pub overridden: u64,
}

/// What identifies a command in its acknowledgement; system and component are those of the vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct CommandKey {
    pub(super) command: u16,
    pub(super) system: u8,
    pub(super) component: u8,
}

impl CommandKey {
    /// Whether the same acknowledgement could belong to both. Component 0 means all.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.command == other.command
            && self.system == other.system
            && (self.component == other.component || self.component == 0 || other.component == 0)
    }
}
