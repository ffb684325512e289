//! Changes of the mode that this bridge did not command: by another station, a remote control or the vehicle itself.
use crate::session::{CommandGroup, MavCommand};
use crate::vehicle::Fcu;
use crate::wire::mavlink::numbers::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
use std::{collections::VecDeque, time::Duration};

/// Longest time until the vehicle shows a commanded mode.
const SHOW_TIMEOUT: Duration = Duration::from_secs(3);
/// Limit of stored commands.
const MAX_COMMANDS: usize = 32;

/// The last mode, and the commands that may have led to it.
#[derive(Debug, Default)]
pub(super) struct ModeWatch {
    last: Option<u32>,
    commands: VecDeque<(Duration, MavCommand)>,
}

impl ModeWatch {
    /// Records a command that is about to be sent.
    pub(super) fn record(&mut self, now: Duration, command: &MavCommand) {
        if self.commands.len() >= MAX_COMMANDS {
            self.commands.pop_front();
        }
        self.commands.push_back((now, *command));
    }

    /// Stores the mode of the newest heartbeat; returns whether it is new and no recent command of this bridge explains it.
    pub(super) fn take_foreign_change(&mut self, fcu: &Fcu) -> bool {
        let Some(heartbeat) = fcu.heartbeat else { return false };
        if heartbeat.base_mode & MAV_MODE_FLAG_CUSTOM_MODE_ENABLED == 0 {
            return false;
        }
        let mode = heartbeat.custom_mode;
        let before = self.last.replace(mode);
        if before.is_none_or(|before| before == mode) {
            return false;
        }
        let now = fcu.now.mono;
        (self.commands).retain(|(at, _)| at.saturating_add(SHOW_TIMEOUT) > now);
        let is_explained = self.commands.iter().any(|(_, c)| may_lead_to(c, mode));
        // A command whose mode was shown explains no later change.
        self.commands.retain(|(_, c)| c.custom_mode() != Some(mode));
        !is_explained
    }
}

/// Whether the command may have this mode as its result.
fn may_lead_to(command: &MavCommand, shown: u32) -> bool {
    match command.custom_mode() {
        Some(chosen) => chosen == shown,
        None => command.group() == Some(CommandGroup::Mode),
    }
}
