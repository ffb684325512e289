//! The MAVLink command protocol: each command is retransmitted until it is acknowledged.
//!
//! An acknowledgement names the command but not the transmission. So the second of two calls of one command is sent when
//! the first has ended, and after a retransmission only when no duplicate acknowledgement can be under way any more;
//! otherwise the acknowledgement of "arm" could be taken for that of "disarm".
//!
//! Source: <https://mavlink.io/en/services/command.html>.
use crate::wire::mavlink::Outbound;
use crate::wire::mavlink::raw::{CommandAck, CommandInt, CommandLong, SetMode};
use std::collections::VecDeque;
use std::time::Duration;

/// MAV_RESULT_IN_PROGRESS.
const IN_PROGRESS: u8 = 5;
/// MAV_CMD_DO_SET_MODE.
const DO_SET_MODE: u16 = 176;

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
    /// Commands under way at a time.
    pub most_running: usize,
    /// Commands that wait for their turn.
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
            most_running: 32,
            most_waiting: 64,
        }
    }
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

    fn key(&self) -> Key {
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

    fn count_transmission(&mut self) {
        // Only COMMAND_LONG has this field.
        if let Self::Long(long) = self {
            long.confirmation = long.confirmation.saturating_add(1);
        }
    }
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
    /// Not sent: too many commands are waiting.
    TooMany,
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
    /// Send this; call [`Commands::not_sent`] if that fails.
    Send {
        /// Returned by [`Commands::start`].
        id: u64,
        /// The message.
        message: Outbound,
    },
    /// Progress of a command.
    Progress {
        /// MAV_CMD.
        command: u16,
        /// Returned by [`Commands::start`].
        id: u64,
        /// Percent, if the vehicle reports it.
        percent: Option<u8>,
    },
    /// A command has ended.
    Ended {
        /// The token given to [`Commands::start`].
        token: T,
        /// MAV_CMD.
        command: u16,
        /// Its result.
        end: CommandEnd,
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
    /// Not started because too many waited.
    pub too_many: u64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Key {
    command: u16,
    system: u8,
    component: u8,
}

impl Key {
    /// Whether an acknowledgement could belong to either. Component 0 means all.
    fn overlaps(&self, other: &Self) -> bool {
        self.command == other.command
            && self.system == other.system
            && (self.component == other.component || self.component == 0 || other.component == 0)
    }
}

#[derive(Debug)]
struct Waiting<T> {
    command: Command,
    token: T,
    id: u64,
    tries: u32,
}

#[derive(Debug)]
struct Running<T> {
    command: Command,
    key: Key,
    token: T,
    id: u64,
    started: Duration,
    tries: u32,
    sent: u32,
    last_sent: Duration,
    /// Time of the next transmission, or of the timeout.
    next: Duration,
    in_progress: bool,
}

/// Acknowledgements of an ended command that can still arrive.
#[derive(Clone, Copy, Debug)]
struct Owed {
    key: Key,
    answers: u32,
    until: Duration,
}

/// The commands of one sender to any number of vehicles; `T` is the token returned with each result.
#[derive(Debug)]
pub struct Commands<T> {
    settings: CommandSettings,
    system: u8,
    component: u8,
    running: Vec<Running<T>>,
    waiting: VecDeque<Waiting<T>>,
    owed: Vec<Owed>,
    events: VecDeque<CommandEvent<T>>,
    next_id: u64,
    counters: CommandCounters,
}

impl<T> Commands<T> {
    /// Creates the queue of commands that `system` and `component` send.
    pub fn new(settings: CommandSettings, system: u8, component: u8) -> Self {
        Self {
            settings,
            system,
            component,
            running: Vec::new(),
            waiting: VecDeque::new(),
            owed: Vec::new(),
            events: VecDeque::new(),
            next_id: 0,
            counters: CommandCounters::default(),
        }
    }

    /// Changes the sender's ids.
    pub fn set_sender(&mut self, system: u8, component: u8) {
        (self.system, self.component) = (system, component);
    }

    /// Sends a command when its turn comes. Returns the id for its progress reports.
    pub fn start(&mut self, now: Duration, command: impl Into<Command>, token: T) -> u64 {
        self.queue(now, command.into(), self.settings.tries, token)
    }

    /// As [`start`](Self::start), but without retransmission: for callers that repeat the request themselves. An
    /// unanswered command blocks others of its kind only briefly.
    pub fn start_once(&mut self, now: Duration, command: impl Into<Command>, token: T) -> u64 {
        self.queue(now, command.into(), 1, token)
    }

    fn queue(&mut self, now: Duration, command: Command, tries: u32, token: T) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let number = command.number();
        if command.key().system == 0 {
            self.counters.started += 1;
            self.send(id, &command);
            self.end(token, number, CommandEnd::Broadcast);
        } else if self.waiting.len() >= self.settings.most_waiting {
            self.counters.too_many += 1;
            self.end(token, number, CommandEnd::TooMany);
        } else {
            self.waiting.push_back(Waiting {
                command,
                token,
                id,
                tries,
            });
            self.send_waiting(now);
        }
        id
    }

    /// Handles an acknowledgement from `system` and `component`.
    pub fn acknowledge(&mut self, now: Duration, system: u8, component: u8, ack: &CommandAck) {
        let ours = (ack.target_system == 0 || ack.target_system == self.system)
            && (ack.target_component == 0 || ack.target_component == self.component);
        if !ours {
            self.counters.foreign += 1;
            return;
        }
        let from = Key {
            command: ack.command,
            system,
            component,
        };
        let Some(at) = self.running.iter().position(|r| r.key.overlaps(&from)) else {
            self.counters.unexpected += 1;
            if ack.result != IN_PROGRESS {
                for owed in self.owed.iter_mut().filter(|o| o.key.overlaps(&from)) {
                    owed.answers = owed.answers.saturating_sub(1);
                }
                self.send_waiting(now);
            }
            return;
        };
        if ack.result != IN_PROGRESS {
            let end = CommandEnd::Acked {
                result: ack.result,
                result_param2: ack.result_param2,
            };
            self.finish(at, end);
            self.send_waiting(now);
        } else if let Some(running) = self.running.get_mut(at) {
            running.in_progress = true;
            running.next = now
                .saturating_add(self.settings.progress_wait)
                .min(running.started.saturating_add(self.settings.longest));
            self.events.push_back(CommandEvent::Progress {
                command: ack.command,
                id: running.id,
                percent: (ack.progress <= 100).then_some(ack.progress),
            });
        }
    }

    /// Retransmits unacknowledged commands and ends those that timed out.
    pub fn tick(&mut self, now: Duration) {
        let mut at = 0;
        while let Some(running) = self.running.get_mut(at) {
            if running.next > now {
                at += 1;
            } else if running.in_progress || running.sent >= running.tries {
                self.counters.timed_out += 1;
                let end = CommandEnd::TimedOut {
                    sent: running.sent,
                    in_progress: running.in_progress,
                };
                self.finish(at, end);
            } else {
                running.command.count_transmission();
                running.sent += 1;
                running.last_sent = now;
                running.next = now.saturating_add(self.settings.first_wait * running.sent);
                self.counters.retransmitted += 1;
                let (id, command) = (running.id, running.command);
                self.send(id, &command);
                at += 1;
            }
        }
        self.send_waiting(now);
    }

    /// Reports that a message of this command could not be sent.
    pub fn not_sent(&mut self, now: Duration, id: u64) {
        if let Some(at) = self.running.iter().position(|r| r.id == id) {
            let ended = self.running.remove(at);
            self.end(ended.token, ended.key.command, CommandEnd::NotSent);
            self.send_waiting(now);
        }
    }

    /// Ends all commands: the link is lost.
    pub fn lose_link(&mut self) {
        let running = std::mem::take(&mut self.running);
        let waiting = std::mem::take(&mut self.waiting);
        self.owed.clear();
        let running = running.into_iter().map(|r| (r.token, r.key.command));
        let waiting = waiting.into_iter().map(|w| (w.token, w.command.number()));
        for (token, command) in running.chain(waiting) {
            self.events.push_back(CommandEvent::Ended {
                token,
                command,
                end: CommandEnd::LinkLost,
            });
        }
    }

    /// Returns the next event, `None` if there is none.
    pub fn next_event(&mut self) -> Option<CommandEvent<T>> {
        self.events.pop_front()
    }

    /// When [`tick`](Self::tick) has work.
    pub fn deadline(&self) -> Option<Duration> {
        let waits = !self.waiting.is_empty();
        let owed = self.owed.iter().filter(|_| waits).map(|owed| owed.until);
        self.running.iter().map(|r| r.next).chain(owed).min()
    }

    /// Commands under way or waiting.
    pub fn pending(&self) -> usize {
        self.running.len() + self.waiting.len()
    }

    /// Counters so far.
    pub fn counters(&self) -> CommandCounters {
        self.counters
    }

    fn send(&mut self, id: u64, command: &Command) {
        let message = command.message();
        self.events.push_back(CommandEvent::Send { id, message });
    }

    fn end(&mut self, token: T, command: u16, end: CommandEnd) {
        self.events.push_back(CommandEvent::Ended {
            token,
            command,
            end,
        });
    }

    fn finish(&mut self, at: usize, end: CommandEnd) {
        if at >= self.running.len() {
            return;
        }
        let ended = self.running.remove(at);
        let answers =
            ended.sent - u32::from(matches!(end, CommandEnd::Acked { .. })).min(ended.sent);
        if answers > 0 {
            self.owed.push(Owed {
                key: ended.key,
                answers,
                until: ended.last_sent.saturating_add(self.settings.first_wait),
            });
        }
        self.end(ended.token, ended.key.command, end);
    }

    /// Sends waiting commands that nothing blocks any more, in order.
    fn send_waiting(&mut self, now: Duration) {
        self.owed.retain(|o| o.answers > 0 && o.until > now);
        let mut at = 0;
        while self.running.len() < self.settings.most_running {
            let Some(key) = self.waiting.get(at).map(|w| w.command.key()) else {
                return;
            };
            let blocked = self.running.iter().any(|r| r.key.overlaps(&key))
                || self.owed.iter().any(|o| o.key.overlaps(&key))
                || (self.waiting.iter().take(at)).any(|w| w.command.key().overlaps(&key));
            if blocked {
                at += 1;
                continue;
            }
            let Some(waiting) = self.waiting.remove(at) else {
                return;
            };
            let Waiting {
                command,
                token,
                id,
                tries,
            } = waiting;
            self.counters.started += 1;
            self.send(id, &command);
            self.running.push(Running {
                command,
                key,
                token,
                id,
                started: now,
                tries,
                sent: 1,
                last_sent: now,
                next: now.saturating_add(self.settings.first_wait),
                in_progress: false,
            });
        }
    }
}
