//! Commands and modes. The steps of a call:
//!
//! 1. A call becomes a command: in `acknowledged.rs` if the vehicle's acknowledgement answers the call; in `shown.rs` for
//!    `set_mode`, `cmd/arming` and others, which are answered when the vehicle shows the change (`goal.rs`).
//! 2. This file sends it at once; [`CommandClient`] retransmits it until an acknowledgement or a timeout (`outcome.rs`), unless a
//!    newer command of its group overrides it, or another station changes the mode (`mode_watch.rs`).
//! 3. The result of the command answers the call, or starts the wait for the change (`pending_calls.rs`).
mod acknowledged;
mod coordinates;
mod goal;
mod mode_watch;
mod outcome;
mod pending_calls;
mod shown;

pub(super) use acknowledged::SERVICES;

use super::ServicePart;
use crate::session::{
    CommandClient, CommandEnd, CommandEvent, CommandGroup, CommandSettings, MavCommand,
};
use crate::vehicle::link::Abilities;
use crate::vehicle::{Counter, Fcu, Open, SendError, mode};
use crate::wire::mavlink::raw::{self, CommandAck, Heartbeat, StatusText};
use crate::{ros::RosError, wire::mavlink::Frame, wire::mavlink::numbers::MAV_AUTOPILOT_PX4};
use mode_watch::ModeWatch;
use outcome::CommandOutcome;
use pending_calls::{PendingCalls, RequestedChange};
use std::time::Duration;

/// Callback with the result of a command.
type ResultCallback = Box<dyn FnOnce(&mut Fcu, CommandOutcome) + Send>;

/// Receiver of a command's result.
enum Waiter {
    /// A caller of a service.
    Caller(ResultCallback),
    /// A call in [`PendingCalls`], by its id.
    PendingCall(u64),
    /// No receiver.
    Nobody,
}

/// Commands under way.
pub(super) struct CommandPart {
    machine: CommandClient<Waiter>,
    pending: PendingCalls,
    modes: ModeWatch,
    /// Why the last unsent message was refused.
    refusal: Option<SendError>,
}

impl ServicePart for CommandPart {
    fn open(_: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self {
            machine: CommandClient::new(CommandSettings::default(), 1, 191),
            pending: PendingCalls::default(),
            modes: ModeWatch::default(),
            refusal: None,
        })
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        handle!(frame {
            CommandAck => |ack| {
                let now = fcu.now.mono;
                (self.machine).acknowledge(now, frame.system, frame.component, &ack);
                self.run(fcu);
                Ok(())
            },
            // The text may be the reason of a refusal.
            StatusText => |text| {
                self.pending.add_text(&text);
                Ok(())
            },
        })
    }

    /// The heartbeat shows the mode and whether the vehicle is armed.
    fn heartbeat(&mut self, fcu: &mut Fcu) {
        self.answer_shown(fcu);
        if self.modes.take_foreign_change(fcu) {
            // Commands that end the flight are still sent: they are safer than any mode that others chose.
            self.machine.override_group(CommandGroup::Mode, MavCommand::ends_flight);
            self.pending.override_modes(fcu);
        }
        self.run(fcu);
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        for message in std::mem::take(&mut fcu.requests) {
            let request = fcu.request_message(message);
            // The request is repeated; failures are counted.
            let _counted = self.ask(fcu, request);
        }
        self.machine.tick(fcu.now.mono);
        self.run(fcu);
        let counters = self.machine.counters();
        fcu.set_count(Counter::CommandRetransmitted, counters.retransmitted);
        fcu.set_count(Counter::AckForOthers, counters.foreign);
        fcu.set_count(Counter::AckUnexpected, counters.unexpected);
        fcu.set_count(Counter::CommandOverridden, counters.overridden);
        self.answer_shown(fcu);
        let (asks_heartbeat, repeats) = self.pending.poll(fcu);
        for (id, command) in repeats {
            self.machine.start(fcu.now.mono, command, Waiter::PendingCall(id));
        }
        if asks_heartbeat {
            let request = fcu.request_message(Heartbeat::ID);
            self.begin(fcu, request.into(), Waiter::Nobody);
        }
        self.run(fcu);
        Ok(())
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        let deadlines = [self.machine.deadline(), self.pending.deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.modes = ModeWatch::default();
        self.pending.lost(fcu);
        self.machine.lose_link(fcu.now.mono);
        self.run(fcu);
        Ok(())
    }
}

impl CommandPart {
    /// Sends a command and retransmits it until it is acknowledged.
    fn start(&mut self, fcu: &mut Fcu, command: impl Into<MavCommand>, waiter: Waiter) {
        self.begin(fcu, command.into(), waiter);
        self.run(fcu);
    }

    /// Sends a command, and waits until the vehicle shows the change.
    fn change(&mut self, fcu: &mut Fcu, change: RequestedChange, command: impl Into<MavCommand>) {
        let command = command.into();
        let id = self.pending.push(fcu, change, command);
        self.start(fcu, command, Waiter::PendingCall(id));
    }

    /// Answers calls whose change the vehicle shows. Their commands are not sent again.
    fn answer_shown(&mut self, fcu: &mut Fcu) {
        for shown in self.pending.answer_shown(fcu) {
            self.machine.confirm(&shown);
        }
    }

    /// Sends a command that the vehicle answers with a message, or returns why not. No retransmission: the caller asks again.
    pub(super) fn ask(&mut self, fcu: &mut Fcu, command: raw::CommandLong) -> Result<(), String> {
        let command = command.into();
        match send_without_ack(fcu, &command) {
            Some(ending) if ending.end == CommandEnd::Broadcast => {}
            Some(ending) => return Err(ending.describe(fcu)),
            None => {
                self.set_sender(fcu);
                (self.machine).start_once(fcu.now.mono, command, Waiter::Nobody);
                self.run(fcu);
            }
        }
        Ok(())
    }

    fn begin(&mut self, fcu: &mut Fcu, command: MavCommand, waiter: Waiter) {
        if command.group().is_some() {
            self.pending.override_by(fcu, &command);
            self.modes.record(fcu.now.mono, &command);
        }
        match send_without_ack(fcu, &command) {
            Some(ending) => self.end(fcu, waiter, ending),
            None => {
                self.set_sender(fcu);
                self.machine.start(fcu.now.mono, command, waiter);
            }
        }
    }

    /// Commands carry the bridge's own ids.
    fn set_sender(&mut self, fcu: &Fcu) {
        let (system, component) = fcu.own_ids();
        self.machine.set_sender(system, component);
    }

    /// Sends pending messages and handles results.
    fn run(&mut self, fcu: &mut Fcu) {
        while let Some(event) = self.machine.next_event() {
            match event {
                CommandEvent::Send { id, message } => {
                    if let Err(refusal) = fcu.send(message) {
                        self.refusal = Some(refusal);
                        self.machine.not_sent(fcu.now.mono, id);
                    }
                }
                CommandEvent::Progress { command, percent, .. } => {
                    let percent = percent.map_or(-1, i32::from);
                    tracing::debug!(vehicle = fcu.settings.id, command, percent, "in progress");
                }
                CommandEvent::Ended { token, end, .. } => {
                    // All equal calls get it.
                    let refusal = self.refusal.filter(|_| end == CommandEnd::NotSent);
                    self.end(fcu, token, CommandOutcome { end, refusal });
                }
                CommandEvent::Late { command, result } => warn_late(fcu, &command, result),
            }
        }
    }

    fn end(&mut self, fcu: &mut Fcu, waiter: Waiter, ending: CommandOutcome) {
        match waiter {
            Waiter::Caller(then) => then(fcu, ending),
            Waiter::PendingCall(id) => self.pending.handle_end(fcu, id, ending),
            Waiter::Nobody => {}
        }
    }
}

/// Returns a failure if the vehicle is not connected and the command does not make it safer. On a link without acknowledgements
/// sends the command and returns its result. Otherwise returns `None`: the command is still to be sent.
fn send_without_ack(fcu: &mut Fcu, command: &MavCommand) -> Option<CommandOutcome> {
    if fcu.abilities().heartbeat && !fcu.is_connected() && !command.is_safer() {
        return Some(CommandEnd::LinkLost.into());
    }
    if fcu.abilities().acks {
        return None;
    }
    Some(match fcu.send(command.message()) {
        Ok(()) => CommandEnd::Broadcast.into(),
        Err(refusal) => CommandOutcome { end: CommandEnd::NotSent, refusal: Some(refusal) },
    })
}

/// Reports the answer of the vehicle to a command whose call was answered without success: the caller may not expect it.
fn warn_late(fcu: &mut Fcu, command: &MavCommand, result: u8) {
    let what = match command {
        MavCommand::Long(c) => format!("command {} with {:?}", c.command, c.params),
        MavCommand::Int(c) => format!("command {} with {:?}", c.command, c.params),
        MavCommand::Mode(c) => {
            format!("set_mode {}", mode::name(c.base_mode, c.custom_mode, MAV_AUTOPILOT_PX4))
        }
    };
    let text = format!(
        "{what}: the vehicle answered {} after the call had been answered without success",
        outcome::name(result)
    );
    fcu.warn(text);
    fcu.count(Counter::AckLate);
}

/// Reports a call that is refused without asking the vehicle.
fn refuse(fcu: &mut Fcu, why: String) {
    fcu.warn(why);
    fcu.count(Counter::CommandRefused);
}
