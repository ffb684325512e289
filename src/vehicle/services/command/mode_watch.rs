//! Changes of the mode that this bridge did not command: by another station, a remote control or the vehicle itself.
use crate::session::{Command, Kind};
use crate::vehicle::Fcu;
use crate::vehicle::mode::{self, CUSTOM_MODE_ENABLED};
use std::collections::VecDeque;
use std::time::Duration;

/// The vehicle shows a commanded mode within this time.
const SHOWN: Duration = Duration::from_secs(3);
/// Commands kept.
const COMMANDS: usize = 32;
/// MAV_CMD_NAV_RETURN_TO_LAUNCH, NAV_LAND, NAV_VTOL_LAND.
const ENDS_FLIGHT: [u16; 3] = [20, 21, 85];
/// MAV_CMD_DO_SET_MODE.
pub(super) const DO_SET_MODE: u16 = 176;

/// The last mode, and the commands that may have led to it.
#[derive(Debug, Default)]
pub(super) struct ModeWatch {
    last: Option<u32>,
    commands: VecDeque<(Duration, Command)>,
}

impl ModeWatch {
    /// A command is about to be sent.
    pub(super) fn commanded(&mut self, now: Duration, command: &Command) {
        if self.commands.len() >= COMMANDS {
            self.commands.pop_front();
        }
        self.commands.push_back((now, *command));
    }

    /// Whether the newest heartbeat shows another mode than the one before, to which no recent command of this bridge led.
    pub(super) fn changed_by_others(&mut self, fcu: &Fcu) -> bool {
        let Some(heartbeat) = fcu.heartbeat else {
            return false;
        };
        if heartbeat.base_mode & CUSTOM_MODE_ENABLED == 0 {
            return false;
        }
        let mode = heartbeat.custom_mode;
        let before = self.last.replace(mode);
        if before.is_none_or(|before| before == mode) {
            return false;
        }
        let now = fcu.now.mono;
        (self.commands).retain(|(at, _)| at.saturating_add(SHOWN) > now);
        let explained = self.commands.iter().any(|(_, c)| may_lead_to(c, mode));
        // What was shown explains no later change.
        self.commands.retain(|(_, c)| chosen(c) != Some(mode));
        !explained
    }
}

/// Whether the command may have this mode as its result.
fn may_lead_to(command: &Command, shown: u32) -> bool {
    match chosen(command) {
        Some(chosen) => chosen == shown,
        None => command.kind() == Some(Kind::Mode),
    }
}

/// The mode that a command names.
pub(super) fn chosen(command: &Command) -> Option<u32> {
    match command {
        Command::Mode(set) => Some(set.custom_mode),
        Command::Long(long) if long.command == DO_SET_MODE => {
            let [_, main, sub, ..] = long.params;
            Some((main as u32) << 16 | (sub as u32) << 24)
        }
        Command::Int(int) if int.command == DO_SET_MODE => {
            let [_, main, sub, _] = int.params;
            Some((main as u32) << 16 | (sub as u32) << 24)
        }
        _ => match command.number() {
            20 => mode::number("AUTO.RTL"),
            21 => mode::number("AUTO.LAND"),
            _ => None,
        },
    }
}

/// Whether a command ends the flight: land or return. Others' changes of the mode do not override it.
pub(super) fn ends_flight(command: &Command) -> bool {
    let modes = ["AUTO.LAND", "AUTO.RTL", "AUTO.PRECLAND", "AUTO.RTGS"];
    ENDS_FLIGHT.contains(&command.number())
        || chosen(command).is_some_and(|m| modes.iter().any(|name| mode::number(name) == Some(m)))
}
