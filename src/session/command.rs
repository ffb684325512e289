//! Commands of MAVLink: what they change, which are the same, and what becomes of them.
use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::raw::{CommandInt, CommandLong, SetMode};
use std::time::Duration;

/// MAV_CMD_DO_SET_MODE.
const DO_SET_MODE: u16 = 176;
/// MAV_CMD_COMPONENT_ARM_DISARM.
const ARM_DISARM: u16 = 400;
/// Commands that change what the vehicle does: MAV_CMD_NAV_LOITER_UNLIM, _RETURN_TO_LAUNCH, _LAND, _TAKEOFF, _LAND_LOCAL,
/// _TAKEOFF_LOCAL, DO_ORBIT, NAV_VTOL_TAKEOFF, NAV_VTOL_LAND, DO_SET_MODE, DO_REPOSITION, DO_PAUSE_CONTINUE,
/// OVERRIDE_GOTO, MISSION_START.
const MODES: [u16; 14] = [
    17,
    20,
    21,
    22,
    23,
    24,
    34,
    84,
    85,
    DO_SET_MODE,
    192,
    193,
    252,
    300,
];
/// Those of them that stop a flight or choose a mode; and MAV_CMD_DO_FLIGHTTERMINATION.
const SAFER: [u16; 7] = [17, 20, 21, 85, DO_SET_MODE, 193, 185];
/// MAV_CMD_NAV_RETURN_TO_LAUNCH, NAV_LAND, NAV_VTOL_LAND.
const ENDS_FLIGHT: [u16; 3] = [20, 21, 85];
/// PX4's AUTO.RTL, AUTO.LAND, AUTO.RTGS, AUTO.PRECLAND.
const PX4_ENDS_FLIGHT: [u32; 4] = [px4_auto(5), px4_auto(6), px4_auto(7), px4_auto(9)];
/// MAV_MODE_FLAG: armed, hardware in the loop.
const STATE: u8 = 128 | 32;

/// Commands of which the newest wins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Arms or disarms.
    Arming,
    /// Changes the mode: `SET_MODE`, take-off, landing, return, a goal to fly to.
    Mode,
}

/// A command to a vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// COMMAND_LONG.
    Long(CommandLong),
    /// COMMAND_INT.
    Int(CommandInt),
    /// SET_MODE, which PX4 acknowledges as MAV_CMD_DO_SET_MODE.
    Mode(SetMode),
}

impl Command {
    /// MAV_CMD.
    pub fn number(&self) -> u16 {
        match self {
            Self::Long(long) => long.command,
            Self::Int(int) => int.command,
            Self::Mode(_) => DO_SET_MODE,
        }
    }

    /// The message.
    pub fn message(&self) -> Outbound {
        match *self {
            Self::Long(long) => long.into(),
            Self::Int(int) => int.into(),
            Self::Mode(mode) => mode.into(),
        }
    }

    /// Its kind, if newer ones overtake it.
    pub fn kind(&self) -> Option<Kind> {
        match self.number() {
            ARM_DISARM => Some(Kind::Arming),
            number if MODES.contains(&number) => Some(Kind::Mode),
            _ => None,
        }
    }

    /// Whether it can make a vehicle safer: disarm, land, return, another mode. It is sent whatever is known of the link.
    pub fn is_safer(&self) -> bool {
        matches!(self, Self::Mode(_)) || SAFER.contains(&self.number()) || self.disarms()
    }

    /// Whether it disarms.
    pub fn disarms(&self) -> bool {
        let first = match self {
            Self::Long(long) => long.params[0],
            Self::Int(int) => int.params[0],
            Self::Mode(_) => return false,
        };
        // PX4 rounds it.
        self.number() == ARM_DISARM && first.abs() < 0.5
    }

    /// PX4's custom mode that it names.
    pub fn custom_mode(&self) -> Option<u32> {
        let custom = |main: f32, sub: f32| Some((main as u32) << 16 | (sub as u32) << 24);
        match *self {
            Self::Mode(set) => Some(set.custom_mode),
            Self::Long(CommandLong {
                command: DO_SET_MODE,
                params: [_, main, sub, ..],
                ..
            })
            | Self::Int(CommandInt {
                command: DO_SET_MODE,
                params: [_, main, sub, _],
                ..
            }) => custom(main, sub),
            _ => match self.number() {
                20 => Some(px4_auto(5)),
                21 => Some(px4_auto(6)),
                _ => None,
            },
        }
    }

    /// Whether it ends the flight: land or return.
    pub fn ends_flight(&self) -> bool {
        ENDS_FLIGHT.contains(&self.number())
            || (self.custom_mode()).is_some_and(|mode| PX4_ENDS_FLIGHT.contains(&mode))
    }

    /// Whether a newer command overrides it only when the vehicle has taken that one.
    pub(super) fn is_kept(&self) -> bool {
        self.ends_flight() || self.disarms()
    }

    /// Whether it asks for the same. NaN is equal to NaN; the number of the transmission does not count.
    pub fn equals(&self, other: &Self) -> bool {
        let bits = |params: &[f32]| params.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
        match (self, other) {
            (Self::Long(a), Self::Long(b)) => {
                let target = |c: &CommandLong| (c.command, c.target_system, c.target_component);
                target(a) == target(b) && bits(&a.params) == bits(&b.params)
            }
            (Self::Int(a), Self::Int(b)) => {
                let rest = |c: &CommandInt| CommandInt {
                    params: [0.0; 4],
                    z: 0.0,
                    ..*c
                };
                rest(a) == rest(b)
                    && bits(&a.params) == bits(&b.params)
                    && a.z.to_bits() == b.z.to_bits()
            }
            (Self::Mode(a), Self::Mode(b)) => {
                // Whether it is armed or simulated is the vehicle's state of the moment, and no wish.
                let wish = |c: &SetMode| (c.target_system, c.custom_mode, c.base_mode & !STATE);
                wish(a) == wish(b)
            }
            _ => false,
        }
    }

    pub(super) fn key(&self) -> Key {
        let (system, component) = match self {
            Self::Long(long) => (long.target_system, long.target_component),
            Self::Int(int) => (int.target_system, int.target_component),
            Self::Mode(mode) => (mode.target_system, 0),
        };
        Key {
            command: self.number(),
            system,
            component,
        }
    }

    pub(super) fn count_transmission(&mut self) {
        // Only COMMAND_LONG has this field.
        if let Self::Long(long) = self {
            long.confirmation = long.confirmation.saturating_add(1);
        }
    }
}

/// PX4's AUTO mode of this number.
const fn px4_auto(sub: u32) -> u32 {
    4 << 16 | sub << 24
}

impl From<CommandLong> for Command {
    fn from(command: CommandLong) -> Self {
        Self::Long(command)
    }
}

impl From<CommandInt> for Command {
    fn from(command: CommandInt) -> Self {
        Self::Int(command)
    }
}

impl From<SetMode> for Command {
    fn from(command: SetMode) -> Self {
        Self::Mode(command)
    }
}

/// Timeouts and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommandSettings {
    /// Timeout of the first transmission; the second waits twice as long, and so on.
    pub first_wait: Duration,
    /// Transmissions.
    pub tries: u32,
    /// Timeout after each progress report.
    pub progress_wait: Duration,
    /// Longest duration of a command in progress.
    pub longest: Duration,
    /// Calls that wait for an answer; of more, the oldest ends as overridden.
    pub most_waiting: usize,
}

impl Default for CommandSettings {
    /// Sends at 0, 0.5, 1.5 and 3 s and gives up at 5 s, when mavros gives up too.
    fn default() -> Self {
        Self {
            first_wait: Duration::from_millis(500),
            tries: 4,
            progress_wait: Duration::from_secs(5),
            longest: Duration::from_secs(120),
            most_waiting: 128,
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
    /// No acknowledgement, or no final one.
    TimedOut {
        /// Transmissions.
        sent: u32,
        /// The vehicle had reported progress.
        in_progress: bool,
    },
    /// Sent as a broadcast, which is not acknowledged.
    Broadcast,
    /// A newer command of its kind, or another change of the mode, was faster than its acknowledgement.
    Overridden,
    /// The link to the vehicle was lost.
    LinkLost,
    /// The link could not send it.
    NotSent,
}

/// Work for the owner, in order.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "lives on the stack between two calls"
)]
pub enum CommandEvent<T> {
    /// Send this; call [`Commands::not_sent`](super::Commands::not_sent) if that fails.
    Send {
        /// Returned by [`Commands::start`](super::Commands::start).
        id: u64,
        /// The message.
        message: Outbound,
    },
    /// Progress of a command.
    Progress {
        /// MAV_CMD.
        command: u16,
        /// Returned by [`Commands::start`](super::Commands::start).
        id: u64,
        /// Percent, if the vehicle reports it.
        percent: Option<u8>,
    },
    /// A command has ended.
    Ended {
        /// The token given to [`Commands::start`](super::Commands::start).
        token: T,
        /// MAV_CMD.
        command: u16,
        /// Its result.
        end: CommandEnd,
    },
    /// The acknowledgement of a command came after its call had been answered without.
    Late {
        /// The command.
        command: Command,
        /// MAV_RESULT.
        result: u8,
    },
}

/// Acknowledgements and commands so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CommandCounters {
    /// Commands started.
    pub started: u64,
    /// Second and further transmissions.
    pub retransmitted: u64,
    /// Ended without a final answer.
    pub timed_out: u64,
    /// Acknowledgements for another system or component.
    pub foreign: u64,
    /// Acknowledgements that no command waits for: duplicates and late ones.
    pub unexpected: u64,
    /// Ended because a newer one won, or because too many waited.
    pub overridden: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Key {
    pub(super) command: u16,
    pub(super) system: u8,
    pub(super) component: u8,
}

impl Key {
    /// Whether an acknowledgement could belong to either. Component 0 means all.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.command == other.command
            && self.system == other.system
            && (self.component == other.component || self.component == 0 || other.component == 0)
    }
}
