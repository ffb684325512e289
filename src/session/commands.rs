//! The MAVLink command protocol: each command is sent at once and retransmitted until it is acknowledged.
//!
//! Commands are wishes. The newest of a [`Kind`](super::Kind) wins: those before it end as overridden and are not sent again. Equal
//! commands are one: each call sends it again, and one acknowledgement answers all. An unacknowledged command that ends a flight
//! or disarms ends as overridden only when the vehicle takes the newer one: if that is refused, it is sent again.
//!
//! An acknowledgement names the command but not the transmission. Where transmissions of different commands with the same
//! number are unanswered, acknowledgements are held until as many came as were sent; they are the answers if all are the same.
//! Otherwise, or if one is missing, each command is sent again when no other acknowledgement can be under way any more, so that
//! its answer cannot be that of another: the acknowledgement of "arm" is never taken for that of "disarm".
//!
//! Source: <https://mavlink.io/en/services/command.html>.
use super::command::{
    Command, CommandCounters, CommandEnd, CommandEvent, CommandSettings, Key, Kind,
};
use crate::wire::mavlink::raw::CommandAck;
use std::collections::VecDeque;
use std::time::Duration;

/// MAV_RESULT_IN_PROGRESS.
const IN_PROGRESS: u8 = 5;
/// An equal command is not sent again before this time is over: a burst of calls is one.
const BURST: Duration = Duration::from_millis(20);
/// Calls that were answered without an acknowledgement are remembered for this time, for one that comes later.
const REMEMBERED: Duration = Duration::from_secs(120);
/// Limit of those, and of unanswered transmissions.
const MOST_REMEMBERED: usize = 64;
const MOST_SENT: usize = 512;

#[derive(Debug)]
struct Running<T> {
    command: Command,
    key: Key,
    /// Of each equal call, and when it is no longer waited for an answer.
    tokens: Vec<(T, Duration)>,
    id: u64,
    started: Duration,
    tries: u32,
    /// Transmissions; those of equal calls count as well, and do not change the schedule.
    sent: u32,
    last_sent: Duration,
    /// Transmissions by the schedule.
    rounds: u32,
    /// Time of the next of them, or of the timeout.
    next: Duration,
    in_progress: bool,
    /// It is sent again when no acknowledgement that could be another's is under way.
    waits: bool,
    /// A newer command of its kind that is not answered yet.
    overtaken_by: Option<u64>,
}

/// A transmission that can still be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The command that waits for the acknowledgement; none if it could be another's.
    id: Option<u64>,
    command: Command,
    at: Duration,
}

/// The commands of one sender to any number of vehicles; `T` is the token returned with each result.
#[derive(Debug)]
pub struct Commands<T> {
    settings: CommandSettings,
    system: u8,
    component: u8,
    running: Vec<Running<T>>,
    sent: Vec<Sent>,
    /// Acknowledgements that could be of several commands.
    held: Vec<(Key, CommandEnd)>,
    /// Commands whose calls were answered without an acknowledgement, and when they were last sent.
    given_up: VecDeque<(Command, Duration)>,
    events: VecDeque<CommandEvent<T>>,
    next_id: u64,
    counters: CommandCounters,
}

impl<T> Commands<T> {
    /// Creates the commands that `system` and `component` send.
    pub fn new(settings: CommandSettings, system: u8, component: u8) -> Self {
        Self {
            settings,
            system,
            component,
            running: Vec::new(),
            sent: Vec::new(),
            held: Vec::new(),
            given_up: VecDeque::new(),
            events: VecDeque::new(),
            next_id: 0,
            counters: CommandCounters::default(),
        }
    }

    /// Changes the sender's ids.
    pub fn set_sender(&mut self, system: u8, component: u8) {
        (self.system, self.component) = (system, component);
    }

    /// Sends a command. Older ones of its kind end as overridden. Returns the id for its progress reports; equal commands
    /// share it.
    pub fn start(&mut self, now: Duration, command: impl Into<Command>, token: T) -> u64 {
        self.begin(now, command.into(), self.settings.tries, token)
    }

    /// As [`start`](Self::start), but without retransmission: for callers that repeat the request themselves.
    pub fn start_once(&mut self, now: Duration, command: impl Into<Command>, token: T) -> u64 {
        self.begin(now, command.into(), 1, token)
    }

    fn begin(&mut self, now: Duration, command: Command, tries: u32, token: T) -> u64 {
        if command.key().system == 0 {
            let id = self.take_id();
            self.counters.started += 1;
            self.emit(id, &command);
            self.end(token, command.number(), CommandEnd::Broadcast);
            return id;
        }
        let key = command.key();
        // An acknowledgement that comes from now on may be of this one.
        (self.given_up).retain(|(other, _)| !other.key().overlaps(&key));
        let wait: u32 = (1..=tries).sum();
        let until = now.saturating_add(self.settings.first_wait * wait);
        let equal = (self.running.iter_mut()).find(|r| r.command.equals(&command));
        let equal = equal.map(|r| (r.id, r.overtaken_by.take().is_some()));
        let (id, was_overtaken) = equal.unwrap_or_else(|| (self.take_id(), false));
        if let Some(kind) = command.kind() {
            self.overtake_by(id, |r| {
                r.command.kind() == Some(kind) && r.key.system == key.system
            });
        }
        if let Some(running) = self.running.iter_mut().find(|r| r.id == id) {
            running.tokens.push((token, until));
            running.tries = running.tries.max(tries);
            // The wish is new: so is its schedule.
            if was_overtaken || now >= running.last_sent + BURST {
                running.rounds = 1;
                running.next = now.saturating_add(self.settings.first_wait);
                self.transmit(now, id);
            }
            self.limit();
            return id;
        }
        self.counters.started += 1;
        self.running.push(Running {
            command,
            key: command.key(),
            tokens: vec![(token, until)],
            id,
            started: now,
            tries,
            sent: 0,
            last_sent: now,
            rounds: 1,
            next: now.saturating_add(self.settings.first_wait),
            in_progress: false,
            waits: false,
            overtaken_by: None,
        });
        self.transmit(now, id);
        self.limit();
        id
    }

    /// Ends the commands of a kind as overridden, except those that `keep` wants.
    pub fn overtake(&mut self, kind: Kind, keep: impl Fn(&Command) -> bool) {
        self.override_where(|r| r.command.kind() == Some(kind) && !keep(&r.command));
    }

    /// Ends a command as accepted without its acknowledgement: the vehicle shows what it asks for.
    pub fn shown(&mut self, command: &Command) {
        let shown = self.running.iter().find(|r| r.command.equals(command));
        if let Some(id) = shown.map(|r| r.id) {
            let (result, result_param2) = (0, 0);
            self.finish(
                id,
                CommandEnd::Acked {
                    result,
                    result_param2,
                },
            );
        }
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
        self.forget(now);
        let open: Vec<Sent> = (self.sent.iter().copied())
            .filter(|sent| sent.command.key().overlaps(&from))
            .collect();
        let owner = open.iter().rev().find_map(|s| self.owner(s));
        let (Some(first), Some(id)) = (open.first(), owner) else {
            return self.unexpected(&from, ack);
        };
        let one = open.iter().all(|s| s.command.equals(&first.command));
        if ack.result == IN_PROGRESS {
            if one {
                self.progress(now, id, ack);
            }
            return;
        }
        let end = CommandEnd::Acked {
            result: ack.result,
            result_param2: ack.result_param2,
        };
        if one {
            self.held.retain(|(key, _)| !key.overlaps(&from));
            self.take_answer(&from);
            self.finish(id, end);
        } else {
            self.held.push((from, end));
            let held = self.held.iter().filter(|(key, _)| key.overlaps(&from));
            let (held, same) = held.fold((0, true), |(n, same), (_, e)| (n + 1, same && *e == end));
            if held == open.len() {
                self.settle(&from, same.then_some(end));
            }
        }
        self.give_turns(now);
    }

    /// Retransmits unacknowledged commands and ends those that timed out.
    pub fn tick(&mut self, now: Duration) {
        let due = self.running.iter().filter(|r| self.next(r) <= now);
        for id in due.map(|r| r.id).collect::<Vec<_>>() {
            let Some(running) = self.running.iter_mut().find(|r| r.id == id) else {
                continue;
            };
            if running.overtaken_by.is_some() {
                self.counters.overridden += 1;
                self.finish(id, CommandEnd::Overridden);
                continue;
            }
            if running.in_progress || running.waits || running.rounds >= running.tries {
                self.counters.timed_out += 1;
                let end = CommandEnd::TimedOut {
                    sent: running.sent,
                    in_progress: running.in_progress,
                };
                self.finish(id, end);
                continue;
            }
            running.rounds += 1;
            running.next = now.saturating_add(self.settings.first_wait * running.rounds);
            let key = running.key;
            if self.held.iter().any(|(from, _)| from.overlaps(&key)) {
                // One is missing, so none of those that came can be told.
                self.settle(&key, None);
            } else {
                // With others under way, those before are overdue: as many as are awaited must come.
                let wait = self.settings.first_wait;
                let alone =
                    (self.sent.iter()).all(|s| s.id == Some(id) || !s.command.key().overlaps(&key));
                (self.sent)
                    .retain(|s| alone || s.id != Some(id) || s.at.saturating_add(wait) > now);
                self.transmit(now, id);
            }
        }
        self.end_overdue(now);
        self.forget(now);
        self.give_turns(now);
    }

    /// Ends calls that have waited long enough, while newer equal ones go on.
    fn end_overdue(&mut self, now: Duration) {
        for running in self
            .running
            .iter_mut()
            .filter(|r| !r.in_progress && !r.waits)
        {
            if running.tokens.iter().all(|(_, until)| *until <= now) {
                continue; // the schedule ends it
            }
            let (over, left) = (running.tokens.drain(..)).partition(|(_, until)| *until <= now);
            running.tokens = left;
            let (sent, in_progress) = (running.sent, false);
            for (token, _) in over {
                let end = CommandEnd::TimedOut { sent, in_progress };
                self.events.push_back(CommandEvent::Ended {
                    token,
                    command: running.key.command,
                    end,
                });
            }
        }
    }

    /// Reports that a message of this command could not be sent.
    pub fn not_sent(&mut self, now: Duration, id: u64) {
        self.sent.retain(|sent| sent.id != Some(id));
        self.finish(id, CommandEnd::NotSent);
        self.give_turns(now);
    }

    /// Ends all commands, except those that make a vehicle safer: the link is lost.
    pub fn lose_link(&mut self, now: Duration) {
        let lost = self.running.iter().filter(|r| !r.command.is_safer());
        for id in lost.map(|r| r.id).collect::<Vec<_>>() {
            self.finish(id, CommandEnd::LinkLost);
        }
        self.give_turns(now);
    }

    /// Returns the next event, `None` if there is none.
    pub fn next_event(&mut self) -> Option<CommandEvent<T>> {
        self.events.pop_front()
    }

    /// When [`tick`](Self::tick) has work.
    pub fn deadline(&self) -> Option<Duration> {
        let overdue = (self.sent.iter())
            .filter(|sent| self.owner(sent).is_none())
            .map(|sent| sent.at.saturating_add(self.settings.first_wait));
        let waits = self.running.iter().any(|r| r.waits);
        let next = self.running.iter().map(|r| self.next(r));
        let newest = |r: &Running<T>| r.tokens.iter().map(|(_, until)| *until).max();
        // Of calls that newer equal ones outlive.
        let calls = self.running.iter().filter(|r| !r.in_progress && !r.waits);
        let calls = calls.flat_map(|r| {
            let last = newest(r);
            let until = r.tokens.iter().map(|(_, until)| *until);
            until.filter(move |until| Some(*until) != last)
        });
        next.chain(calls).chain(overdue.filter(|_| waits)).min()
    }

    /// Calls that wait for an answer.
    pub fn pending(&self) -> usize {
        self.running.iter().map(|r| r.tokens.len()).sum()
    }

    /// Counters so far.
    pub fn counters(&self) -> CommandCounters {
        self.counters
    }

    fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    fn emit(&mut self, id: u64, command: &Command) {
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

    /// Sends a running command.
    fn transmit(&mut self, now: Duration, id: u64) {
        let Some(running) = self.running.iter_mut().find(|r| r.id == id) else {
            return;
        };
        if running.sent > 0 {
            running.command.count_transmission();
            self.counters.retransmitted += 1;
        }
        running.sent = running.sent.saturating_add(1);
        (running.last_sent, running.in_progress) = (now, false);
        if std::mem::take(&mut running.waits) {
            running.next = now.saturating_add(self.settings.first_wait * running.rounds);
        }
        let command = running.command;
        if self.sent.len() >= MOST_SENT {
            self.sent.remove(0);
        }
        self.sent.push(Sent {
            id: Some(id),
            command,
            at: now,
        });
        self.emit(id, &command);
    }

    /// When a command is due: what waits for its turn is given up when it waited as long as a command may be in progress.
    fn next(&self, running: &Running<T>) -> Duration {
        if running.overtaken_by.is_some() {
            let until = running.tokens.iter().map(|(_, until)| *until);
            return until.max().unwrap_or(running.next);
        }
        match running.waits {
            true => running.started.saturating_add(self.settings.longest),
            false => running.next,
        }
    }

    /// Sends again what waits until no other acknowledgement is under way.
    fn give_turns(&mut self, now: Duration) {
        let mut waiting: Vec<_> = (self.running.iter())
            .filter(|r| r.waits)
            .map(|r| (r.last_sent, r.id, r.key))
            .collect();
        waiting.sort_by_key(|(last_sent, id, _)| (*last_sent, *id));
        for (_, id, key) in waiting {
            let other = |s: &Sent| s.command.key().overlaps(&key) && s.id != Some(id);
            if !self.sent.iter().any(other) {
                self.transmit(now, id);
            }
        }
    }

    /// The command that waits for the acknowledgement of this transmission.
    fn owner(&self, sent: &Sent) -> Option<u64> {
        let id = sent.id?;
        self.running.iter().any(|r| r.id == id).then_some(id)
    }

    /// Forgets transmissions whose acknowledgement is overdue.
    fn forget(&mut self, now: Duration) {
        let wait = self.settings.first_wait;
        let over = |s: &Sent| s.at.saturating_add(wait) <= now && self.owner(s).is_none();
        let (over, sent) = (self.sent.iter().copied()).partition::<Vec<_>, _>(over);
        self.sent = sent;
        for key in over.iter().map(|s| s.command.key()) {
            // An acknowledgement that is held may be its own, or that of one that is still awaited.
            if self.held.iter().any(|(from, _)| from.overlaps(&key)) {
                self.held.retain(|(from, _)| !from.overlaps(&key));
                self.settle(&key, None);
            }
        }
        while (self.given_up.front()).is_some_and(|(_, at)| *at + REMEMBERED <= now) {
            self.given_up.pop_front();
        }
    }

    /// Ends the commands that the held acknowledgements belong to, or has each sent again.
    fn settle(&mut self, from: &Key, end: Option<CommandEnd>) {
        let before = self.held.len();
        self.held.retain(|(key, _)| !key.overlaps(from));
        for _ in self.held.len()..before {
            self.take_answer(from);
        }
        let told = end.is_some();
        let owners = (self.running.iter())
            .filter(|r| r.key.overlaps(from) && r.overtaken_by.is_none() && !(told && r.waits));
        for id in owners.map(|r| r.id).collect::<Vec<_>>() {
            match end {
                Some(end) => self.finish(id, end),
                None => {
                    let owner = self.running.iter_mut().find(|r| r.id == id);
                    owner.into_iter().for_each(|r| r.waits = true);
                    let sent = self.sent.iter_mut().filter(|s| s.id == Some(id));
                    sent.for_each(|s| s.id = None);
                }
            }
        }
    }

    /// One acknowledgement has come for the oldest of these transmissions.
    fn take_answer(&mut self, from: &Key) {
        let open = |sent: &Sent| sent.command.key().overlaps(from);
        if let Some(at) = self.sent.iter().position(open) {
            self.sent.remove(at);
        }
    }

    fn unexpected(&mut self, from: &Key, ack: &CommandAck) {
        self.counters.unexpected += 1;
        if ack.result == IN_PROGRESS {
            return;
        }
        self.take_answer(from);
        let given_up = (self.given_up.iter()).position(|(command, _)| command.key().overlaps(from));
        if let Some((command, _)) = given_up.and_then(|at| self.given_up.remove(at)) {
            let result = ack.result;
            self.events
                .push_back(CommandEvent::Late { command, result });
        }
    }

    fn progress(&mut self, now: Duration, id: u64, ack: &CommandAck) {
        let Some(running) = self.running.iter_mut().find(|r| r.id == id) else {
            return;
        };
        running.in_progress = true;
        running.next = now
            .saturating_add(self.settings.progress_wait)
            .min(running.started.saturating_add(self.settings.longest));
        self.events.push_back(CommandEvent::Progress {
            command: ack.command,
            id,
            percent: (ack.progress <= 100).then_some(ack.progress),
        });
    }

    fn override_where(&mut self, overridden: impl Fn(&Running<T>) -> bool) {
        let ids = self.running.iter().filter(|r| overridden(r)).map(|r| r.id);
        for id in ids.collect::<Vec<_>>() {
            self.counters.overridden += 1;
            self.finish(id, CommandEnd::Overridden);
        }
    }

    /// Ends commands as overridden by a newer one; those that end a flight or disarm only wait for its answer.
    fn overtake_by(&mut self, newer: u64, overtaken: impl Fn(&Running<T>) -> bool) {
        let overtaken = |r: &Running<T>| r.id != newer && overtaken(r);
        let kept = (self.running.iter_mut()).filter(|r| overtaken(r) && r.command.is_kept());
        for running in kept {
            (running.overtaken_by, running.waits) = (Some(newer), false);
            disown(&mut self.sent, running);
        }
        self.override_where(|r| overtaken(r) && !r.command.is_kept());
    }

    /// Decides about the commands that one with this id overtook, when it has ended. The newest goes on if the vehicle refused it.
    fn release(&mut self, id: u64, end: CommandEnd) {
        let refused = matches!(end, CommandEnd::Acked { result, .. } if result != 0);
        let overtaken = self.running.iter().filter(|r| r.overtaken_by == Some(id));
        let mut overtaken: Vec<_> = overtaken.map(|r| (r.last_sent, r.id)).collect();
        overtaken.sort_unstable();
        let newest = overtaken.pop_if(|_| refused).map(|(_, newest)| newest);
        for (_, older) in overtaken {
            match self.running.iter_mut().find(|r| r.id == older) {
                Some(running) if newest.is_some() => running.overtaken_by = newest,
                _ => {
                    self.counters.overridden += 1;
                    self.finish(older, CommandEnd::Overridden);
                }
            }
        }
        if let Some(running) = (self.running.iter_mut()).find(|r| Some(r.id) == newest) {
            (running.overtaken_by, running.waits) = (None, true);
            // What was sent of it may be acknowledged as well. With others of its number under way, it waits for its turn.
            let (command, key) = (running.command, running.key);
            let mut sent = self
                .sent
                .iter_mut()
                .filter(|s| s.command.key().overlaps(&key));
            if sent.all(|s| s.command.equals(&command)) {
                let sent = self
                    .sent
                    .iter_mut()
                    .filter(|s| s.command.key().overlaps(&key));
                sent.for_each(|s| s.id = newest);
            }
        }
    }

    /// Ends the oldest call while too many wait.
    fn limit(&mut self) {
        while self.pending() > self.settings.most_waiting {
            let oldest = (self.running.iter()).position(|r| !r.command.is_safer());
            let Some(oldest) = self.running.get_mut(oldest.unwrap_or(0)) else {
                return;
            };
            let (id, number) = (oldest.id, oldest.command.number());
            self.counters.overridden += 1;
            if oldest.tokens.len() > 1 {
                let (token, _) = oldest.tokens.remove(0);
                self.end(token, number, CommandEnd::Overridden);
            } else {
                self.finish(id, CommandEnd::Overridden);
            }
        }
    }

    fn finish(&mut self, id: u64, end: CommandEnd) {
        let Some(at) = self.running.iter().position(|r| r.id == id) else {
            return;
        };
        let ended = self.running.remove(at);
        disown(&mut self.sent, &ended);
        if matches!(end, CommandEnd::TimedOut { .. } | CommandEnd::LinkLost) {
            if self.given_up.len() >= MOST_REMEMBERED {
                self.given_up.pop_front();
            }
            self.given_up.push_back((ended.command, ended.last_sent));
        }
        for (token, _) in ended.tokens {
            self.end(token, ended.key.command, end);
        }
        self.release(id, end);
    }
}

/// A command no longer waits for the acknowledgement of its transmissions; each of them can still be acknowledged.
fn disown<T>(sent: &mut [Sent], running: &Running<T>) {
    for sent in sent.iter_mut().filter(|s| s.id == Some(running.id)) {
        (sent.id, sent.at) = (None, running.last_sent);
    }
}
