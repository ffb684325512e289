//! Commands and modes. The steps of a call:
//!
//! 1. `calls.rs` makes a command from a service that is answered with the vehicle's acknowledgement; `changes.rs` from
//!    `set_mode`, `cmd/arming` and `cmd/takeoff`, which are answered when the vehicle shows the change (`goal.rs`). One
//!    change of a kind is under way at a time; the others wait in `wanted.rs`.
//! 2. This file sends and retransmits it until an acknowledgement or a timeout (`ending.rs`).
//! 3. The result is the answer, or starts the wait for the change: `wanted.rs`.
mod calls;
mod changes;
mod ending;
mod goal;
mod wanted;

use super::Part;
use crate::ros::RosError;
use crate::session::{Command, CommandEnd, CommandEvent, CommandSettings, Commands};
use crate::vehicle::link::Abilities;
use crate::vehicle::{Counter, Fcu, Open, Refusal};
use crate::wire::mavlink::Frame;
use crate::wire::mavlink::raw::{self, CommandAck, Heartbeat, StatusText};
use ending::Ending;
use std::time::Duration;
use wanted::{Change, Wanted};

/// Callback with the result of a command.
type Then = Box<dyn FnOnce(&mut Fcu, Ending) + Send>;

/// Receiver of a command's result.
enum Waiter {
    /// A caller of a service.
    Caller(Then),
    /// A [`Wanted`] change, by its number.
    Wanted(u64),
    /// No receiver.
    Nobody,
}

/// Commands under way.
pub(super) struct CommandPart {
    machine: Commands<Waiter>,
    wanted: Wanted,
    /// Why the last unsent message was refused.
    refusal: Option<Refusal>,
}

impl Part for CommandPart {
    fn open(open: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        calls::open(open)?;
        changes::open(open)?;
        Ok(Self {
            machine: Commands::new(CommandSettings::default(), 1, 191),
            wanted: Wanted::default(),
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
                self.wanted.text(&text);
                Ok(())
            },
        })
    }

    /// The heartbeat shows the mode and whether the vehicle is armed.
    fn heartbeat(&mut self, fcu: &mut Fcu) {
        self.wanted.look(fcu);
        self.run(fcu);
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        for message in std::mem::take(&mut fcu.requests) {
            let request = request_message(fcu, message);
            // The request is repeated; failures are counted.
            let _counted = self.ask(fcu, request);
        }
        self.machine.tick(fcu.now.mono);
        self.run(fcu);
        let counters = self.machine.counters();
        fcu.set_count(Counter::CommandRetransmitted, counters.retransmitted);
        fcu.set_count(Counter::AckForOthers, counters.foreign);
        fcu.set_count(Counter::AckUnexpected, counters.unexpected);
        if self.wanted.poll(fcu) {
            let request = request_message(fcu, Heartbeat::ID);
            self.begin(fcu, request.into(), Waiter::Nobody);
        }
        self.run(fcu);
        Ok(())
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        let deadlines = [self.machine.deadline(), self.wanted.deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.wanted.lost(fcu);
        self.machine.lose_link();
        self.run(fcu);
        Ok(())
    }
}

impl CommandPart {
    /// Sends a command and retransmits it until it is acknowledged.
    fn start(&mut self, fcu: &mut Fcu, command: impl Into<Command>, waiter: Waiter) {
        self.begin(fcu, command.into(), waiter);
        self.run(fcu);
    }

    /// Sends a command after others of its kind, and waits until the vehicle shows the change.
    fn change(&mut self, fcu: &mut Fcu, change: Change, command: impl Into<Command>) {
        self.wanted.push(fcu, change, command.into());
        self.run(fcu);
    }

    /// Sends a command that is answered by a message, or returns why not. No retransmission: the caller asks again.
    pub(super) fn ask(&mut self, fcu: &mut Fcu, command: raw::CommandLong) -> Result<(), String> {
        let command = command.into();
        match unanswered(fcu, &command) {
            Some(ending) if ending.end == CommandEnd::Broadcast => {}
            Some(ending) => return Err(ending.describe()),
            None => {
                self.set_sender(fcu);
                (self.machine).start_once(fcu.now.mono, command, Waiter::Nobody);
                self.run(fcu);
            }
        }
        Ok(())
    }

    fn begin(&mut self, fcu: &mut Fcu, command: Command, waiter: Waiter) {
        match unanswered(fcu, &command) {
            Some(ending) => self.end(fcu, waiter, ending),
            None => {
                self.set_sender(fcu);
                self.machine.start(fcu.now.mono, command, waiter);
            }
        }
    }

    /// Commands carry the bridge's own ids.
    fn set_sender(&mut self, fcu: &Fcu) {
        let (system, component) = fcu.own();
        self.machine.set_sender(system, component);
    }

    /// Sends pending messages and handles results, until no event is left.
    fn run(&mut self, fcu: &mut Fcu) {
        loop {
            while let Some(event) = self.machine.next_event() {
                match event {
                    CommandEvent::Send { id, message } => {
                        if let Err(refusal) = fcu.send(message) {
                            self.refusal = Some(refusal);
                            self.machine.not_sent(fcu.now.mono, id);
                        }
                    }
                    CommandEvent::Progress {
                        command, percent, ..
                    } => {
                        let percent = percent.map_or(-1, i32::from);
                        tracing::debug!(vehicle = fcu.settings.id, command, percent, "in progress");
                    }
                    CommandEvent::Ended { token, end, .. } => {
                        let refusal = self.refusal.take_if(|_| end == CommandEnd::NotSent);
                        self.end(fcu, token, Ending { end, refusal });
                    }
                }
            }
            let Some((id, command)) = self.wanted.next_command() else {
                return;
            };
            self.begin(fcu, command, Waiter::Wanted(id));
        }
    }

    fn end(&mut self, fcu: &mut Fcu, waiter: Waiter, ending: Ending) {
        match waiter {
            Waiter::Caller(then) => then(fcu, ending),
            Waiter::Wanted(id) => self.wanted.ended(fcu, id, ending),
            Waiter::Nobody => {}
        }
    }
}

/// The result of a command that cannot be acknowledged: the vehicle is not connected, or the link has no
/// acknowledgements.
fn unanswered(fcu: &mut Fcu, command: &Command) -> Option<Ending> {
    if fcu.abilities().heartbeat && !fcu.connected() {
        return Some(CommandEnd::LinkLost.into());
    }
    if fcu.abilities().acks {
        return None;
    }
    Some(match fcu.send(command.message()) {
        Ok(()) => CommandEnd::Broadcast.into(),
        Err(refusal) => Ending {
            end: CommandEnd::NotSent,
            refusal: Some(refusal),
        },
    })
}

fn long(fcu: &Fcu, command: u16, confirmation: u8, params: [f32; 7]) -> raw::CommandLong {
    raw::CommandLong {
        params,
        command,
        target_system: fcu.system,
        target_component: fcu.component,
        confirmation,
    }
}

fn request_message(fcu: &Fcu, id: u32) -> raw::CommandLong {
    /// MAV_CMD_REQUEST_MESSAGE.
    const REQUEST_MESSAGE: u16 = 512;
    let params = [id as f32, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    long(fcu, REQUEST_MESSAGE, 0, params)
}
