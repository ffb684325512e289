//! Client of the MAVLink command protocol: sends each command at once and retransmits it until it is acknowledged.
//!
//! The newest command of a [`CommandGroup`] overrides the older ones: they end as overridden and are not sent again. An older
//! command that ends a flight or disarms is only superseded: it is sent again if the vehicle refuses the newer command; it ends
//! with any other end of the newer command, or at its own timeout. Equal commands are one command: each call sends it again, and
//! one acknowledgement answers all calls.
//!
//! An acknowledgement identifies the command by its number, not the transmission. If transmissions of different commands with
//! the same number are unanswered, their acknowledgements are ambiguous. They are held until there is one per transmission.
//! If all are equal, they answer all commands. If they differ or one is missing, each command is deferred: it is sent again when
//! no other acknowledgement with its number can still arrive. So the acknowledgement of "arm" never ends "disarm".
//!
//! Source: <https://mavlink.io/en/services/command.html>.
mod acknowledgements;

use super::command::{
    CommandCounters, CommandEnd, CommandEvent, CommandGroup, CommandKey, CommandSettings,
    MavCommand,
};
use crate::{wire::mavlink::dialect::MavResult, wire::mavlink::raw::CommandAck};
use acknowledgements::{Transmission, detach};
use std::collections::VecDeque;
use std::time::Duration;

const IN_PROGRESS: u8 = MavResult::MAV_RESULT_IN_PROGRESS as u8;
const ACCEPTED: CommandEnd =
    CommandEnd::Acked { result: MavResult::MAV_RESULT_ACCEPTED as u8, result_param2: 0 };
/// Equal calls within this time share one transmission.
const BURST: Duration = Duration::from_millis(20);
/// Maximum number of stored commands that ended without acknowledgement.
const MAX_UNACKNOWLEDGED: usize = 64;
/// Maximum number of stored transmissions that can still be acknowledged.
const MAX_TRANSMISSIONS: usize = 512;

#[derive(Debug)]
struct PendingCommand<T> {
    command: MavCommand,
    key: CommandKey,
    /// Token and timeout of each equal call.
    tokens: Vec<(T, Duration)>,
    id: u64,
    started: Duration,
    tries: u32,
    /// Number of all transmissions.
    sent: u32,
    last_sent: Duration,
    /// Number of transmissions by the schedule, which a new equal call restarts.
    rounds: u32,
    /// Time of the next transmission by the schedule, or of the timeout.
    next: Duration,
    in_progress: bool,
    /// Whether it waits until no ambiguous acknowledgement can arrive, to be sent again then.
    is_deferred: bool,
    /// Id of the unanswered newer command that supersedes it.
    superseded_by: Option<u64>,
}

/// The commands of one sender to any number of vehicles; `T` is the token returned with each result.
#[derive(Debug)]
pub struct CommandClient<T> {
    settings: CommandSettings,
    system: u8,
    component: u8,
    pending: Vec<PendingCommand<T>>,
    transmissions: Vec<Transmission>,
    /// Acknowledgements that could answer several commands.
    ambiguous: Vec<(CommandKey, CommandEnd)>,
    /// Commands that ended without an acknowledgement, and the time of their last transmission.
    unacknowledged: VecDeque<(MavCommand, Duration)>,
    events: VecDeque<CommandEvent<T>>,
    next_id: u64,
    counters: CommandCounters,
}

impl<T> CommandClient<T> {
    /// Creates a client with the sender's ids `system` and `component`.
    pub fn new(settings: CommandSettings, system: u8, component: u8) -> Self {
        Self {
            settings,
            system,
            component,
            pending: Vec::new(),
            transmissions: Vec::new(),
            ambiguous: Vec::new(),
            unacknowledged: VecDeque::new(),
            events: VecDeque::new(),
            next_id: 0,
            counters: CommandCounters::default(),
        }
    }

    /// Changes the sender's ids.
    pub fn set_sender(&mut self, system: u8, component: u8) {
        (self.system, self.component) = (system, component);
    }

    /// Sends a command. Older commands of its group are overridden or superseded. Returns the id for its progress reports, which
    /// equal commands share.
    pub fn start(&mut self, now: Duration, command: impl Into<MavCommand>, token: T) -> u64 {
        self.begin(now, command.into(), self.settings.tries, token)
    }

    /// Like [`start`](Self::start), but without retransmission: for callers that repeat the request themselves.
    pub fn start_once(&mut self, now: Duration, command: impl Into<MavCommand>, token: T) -> u64 {
        self.begin(now, command.into(), 1, token)
    }

    fn begin(&mut self, now: Duration, command: MavCommand, tries: u32, token: T) -> u64 {
        let key = command.key();
        if key.system == 0 {
            let id = self.take_id();
            self.counters.started += 1;
            self.emit(id, &command);
            self.report_end(token, command.number(), CommandEnd::Broadcast);
            return id;
        }
        // From now on, an acknowledgement may answer the new command.
        (self.unacknowledged).retain(|(other, _)| !other.key().overlaps(&key));
        let wait: u32 = (1..=tries).sum();
        let until = now.saturating_add(self.settings.first_wait * wait);
        let equal = (self.pending.iter_mut()).find(|p| p.command.equals(&command));
        let equal = equal.map(|p| (p.id, p.superseded_by.take().is_some()));
        let (id, was_superseded) = equal.unwrap_or_else(|| (self.take_id(), false));
        if let Some(group) = command.group() {
            self.supersede(id, |p| p.command.group() == Some(group) && p.key.system == key.system);
        }
        if let Some(pending) = self.pending.iter_mut().find(|p| p.id == id) {
            pending.tokens.push((token, until));
            pending.tries = pending.tries.max(tries);
            // The new call restarts the schedule.
            if was_superseded || now >= pending.last_sent + BURST {
                pending.rounds = 1;
                pending.next = now.saturating_add(self.settings.first_wait);
                self.transmit(now, id);
            }
            self.enforce_limit();
            return id;
        }
        self.counters.started += 1;
        self.pending.push(PendingCommand {
            command,
            key,
            tokens: vec![(token, until)],
            id,
            started: now,
            tries,
            sent: 0,
            last_sent: now,
            rounds: 1,
            next: now.saturating_add(self.settings.first_wait),
            in_progress: false,
            is_deferred: false,
            superseded_by: None,
        });
        self.transmit(now, id);
        self.enforce_limit();
        id
    }

    /// Ends the commands of a group as overridden, except those for which `keep` returns true.
    pub fn override_group(&mut self, group: CommandGroup, keep: impl Fn(&MavCommand) -> bool) {
        self.override_where(|p| p.command.group() == Some(group) && !keep(&p.command));
    }

    /// Ends a command as accepted without an acknowledgement, because the state of the vehicle shows its effect.
    pub fn confirm(&mut self, command: &MavCommand) {
        let confirmed = self.pending.iter().find(|p| p.command.equals(command));
        if let Some(id) = confirmed.map(|p| p.id) {
            self.finish(id, ACCEPTED);
        }
    }

    /// Handles an acknowledgement from `system` and `component`.
    pub fn acknowledge(&mut self, now: Duration, system: u8, component: u8, ack: &CommandAck) {
        let is_ours = (ack.target_system == 0 || ack.target_system == self.system)
            && (ack.target_component == 0 || ack.target_component == self.component);
        if !is_ours {
            self.counters.foreign += 1;
            return;
        }
        let from = CommandKey { command: ack.command, system, component };
        self.forget_overdue(now);
        let open: Vec<Transmission> = (self.transmissions.iter().copied())
            .filter(|sent| sent.command.key().overlaps(&from))
            .collect();
        let owner = open.iter().rev().find_map(|s| self.owner(s));
        let (Some(first), Some(id)) = (open.first(), owner) else {
            return self.handle_unexpected(&from, ack);
        };
        let is_unambiguous = open.iter().all(|s| s.command.equals(&first.command));
        if ack.result == IN_PROGRESS {
            if is_unambiguous {
                self.report_progress(now, id, ack);
            }
            return;
        }
        let end = CommandEnd::Acked { result: ack.result, result_param2: ack.result_param2 };
        if is_unambiguous {
            self.ambiguous.retain(|(key, _)| !key.overlaps(&from));
            self.remove_oldest_transmission(&from);
            self.finish(id, end);
        } else {
            self.ambiguous.push((from, end));
            let acks = self.ambiguous.iter().filter(|(key, _)| key.overlaps(&from));
            let (acks, same) = acks.fold((0, true), |(n, same), (_, e)| (n + 1, same && *e == end));
            if acks == open.len() {
                self.resolve_ambiguous(&from, same.then_some(end));
            }
        }
        self.send_deferred(now);
    }

    /// Retransmits unacknowledged commands and ends those that timed out.
    pub fn tick(&mut self, now: Duration) {
        let due = self.pending.iter().filter(|p| self.due(p) <= now);
        for id in due.map(|p| p.id).collect::<Vec<_>>() {
            let Some(pending) = self.pending.iter_mut().find(|p| p.id == id) else { continue };
            if pending.superseded_by.is_some() {
                self.counters.overridden += 1;
                self.finish(id, CommandEnd::Overridden);
                continue;
            }
            if pending.in_progress || pending.is_deferred || pending.rounds >= pending.tries {
                self.counters.timed_out += 1;
                let end =
                    CommandEnd::TimedOut { sent: pending.sent, in_progress: pending.in_progress };
                self.finish(id, end);
                continue;
            }
            pending.rounds += 1;
            pending.next = now.saturating_add(self.settings.first_wait * pending.rounds);
            let key = pending.key;
            if self.ambiguous.iter().any(|(from, _)| from.overlaps(&key)) {
                // An acknowledgement is missing, so those that arrived remain ambiguous.
                self.resolve_ambiguous(&key, None);
            } else {
                // If other commands with its number are open, acknowledgements of overdue transmissions are no longer expected.
                let wait = self.settings.first_wait;
                let is_alone = (self.transmissions.iter())
                    .all(|s| s.id == Some(id) || !s.command.key().overlaps(&key));
                (self.transmissions)
                    .retain(|s| is_alone || s.id != Some(id) || s.at.saturating_add(wait) > now);
                self.transmit(now, id);
            }
        }
        self.end_overdue_calls(now);
        self.forget_overdue(now);
        self.send_deferred(now);
    }

    /// Ends calls that timed out while newer equal calls continue.
    fn end_overdue_calls(&mut self, now: Duration) {
        for pending in &mut self.pending {
            // If all calls timed out, the schedule ends them.
            let all_timed_out = pending.tokens.iter().all(|(_, until)| *until <= now);
            if pending.in_progress || pending.is_deferred || all_timed_out {
                continue;
            }
            let (over, left) = (pending.tokens.drain(..)).partition(|(_, until)| *until <= now);
            pending.tokens = left;
            let end = CommandEnd::TimedOut { sent: pending.sent, in_progress: false };
            let command = pending.key.command;
            for (token, _) in over {
                self.events.push_back(CommandEvent::Ended { token, command, end });
            }
        }
    }

    /// Ends a command because the link failed to send it.
    pub fn not_sent(&mut self, now: Duration, id: u64) {
        self.transmissions.retain(|sent| sent.id != Some(id));
        self.finish(id, CommandEnd::NotSent);
        self.send_deferred(now);
    }

    /// Ends all commands because the link is lost, except those that make a vehicle safer.
    pub fn lose_link(&mut self, now: Duration) {
        let lost = self.pending.iter().filter(|p| !p.command.is_safer());
        for id in lost.map(|p| p.id).collect::<Vec<_>>() {
            self.finish(id, CommandEnd::LinkLost);
        }
        self.send_deferred(now);
    }

    /// Returns the next event, `None` if there is none.
    pub fn next_event(&mut self) -> Option<CommandEvent<T>> {
        self.events.pop_front()
    }

    /// Returns the time at which [`tick`](Self::tick) next has work.
    pub fn deadline(&self) -> Option<Duration> {
        let overdue = (self.transmissions.iter())
            .filter(|sent| self.owner(sent).is_none())
            .map(|sent| sent.at.saturating_add(self.settings.first_wait));
        let has_deferred = self.pending.iter().any(|p| p.is_deferred);
        let next = self.pending.iter().map(|p| self.due(p));
        let newest = |p: &PendingCommand<T>| p.tokens.iter().map(|(_, until)| *until).max();
        // Timeouts of calls before the newest equal call.
        let calls = (self.pending.iter()).filter(|p| !p.in_progress && !p.is_deferred);
        let calls = calls.flat_map(|p| {
            let last = newest(p);
            let until = p.tokens.iter().map(|(_, until)| *until);
            until.filter(move |until| Some(*until) != last)
        });
        next.chain(calls).chain(overdue.filter(|_| has_deferred)).min()
    }

    /// Number of pending calls.
    pub fn pending(&self) -> usize {
        self.pending.iter().map(|p| p.tokens.len()).sum()
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

    fn emit(&mut self, id: u64, command: &MavCommand) {
        let message = command.message();
        self.events.push_back(CommandEvent::Send { id, message });
    }

    fn report_end(&mut self, token: T, command: u16, end: CommandEnd) {
        self.events.push_back(CommandEvent::Ended { token, command, end });
    }

    fn transmit(&mut self, now: Duration, id: u64) {
        let Some(pending) = self.pending.iter_mut().find(|p| p.id == id) else { return };
        if pending.sent > 0 {
            pending.command.count_transmission();
            self.counters.retransmitted += 1;
        }
        pending.sent = pending.sent.saturating_add(1);
        (pending.last_sent, pending.in_progress) = (now, false);
        if std::mem::take(&mut pending.is_deferred) {
            pending.next = now.saturating_add(self.settings.first_wait * pending.rounds);
        }
        let command = pending.command;
        if self.transmissions.len() >= MAX_TRANSMISSIONS {
            self.transmissions.remove(0);
        }
        self.transmissions.push(Transmission { id: Some(id), command, at: now });
        self.emit(id, &command);
    }

    /// Returns when a command is due; for a superseded or deferred one, that is its timeout.
    fn due(&self, pending: &PendingCommand<T>) -> Duration {
        if pending.superseded_by.is_some() {
            let until = pending.tokens.iter().map(|(_, until)| *until);
            return until.max().unwrap_or(pending.next);
        }
        if pending.is_deferred {
            pending.started.saturating_add(self.settings.max_duration)
        } else {
            pending.next
        }
    }

    fn report_progress(&mut self, now: Duration, id: u64, ack: &CommandAck) {
        let Some(pending) = self.pending.iter_mut().find(|p| p.id == id) else { return };
        pending.in_progress = true;
        pending.next = now
            .saturating_add(self.settings.progress_wait)
            .min(pending.started.saturating_add(self.settings.max_duration));
        self.events.push_back(CommandEvent::Progress {
            command: ack.command,
            id,
            percent: (ack.progress <= 100).then_some(ack.progress),
        });
    }

    fn override_where(&mut self, is_overridden: impl Fn(&PendingCommand<T>) -> bool) {
        let ids = self.pending.iter().filter(|p| is_overridden(p)).map(|p| p.id);
        for id in ids.collect::<Vec<_>>() {
            self.counters.overridden += 1;
            self.finish(id, CommandEnd::Overridden);
        }
    }

    /// Ends the older commands of a group as overridden, but supersedes those that end a flight or disarm.
    fn supersede(&mut self, newer: u64, is_in_group: impl Fn(&PendingCommand<T>) -> bool) {
        let is_superseded = |p: &PendingCommand<T>| p.id != newer && is_in_group(p);
        let waiting =
            (self.pending.iter_mut()).filter(|p| is_superseded(p) && p.command.waits_for_newer());
        for pending in waiting {
            (pending.superseded_by, pending.is_deferred) = (Some(newer), false);
            detach(&mut self.transmissions, pending);
        }
        self.override_where(|p| is_superseded(p) && !p.command.waits_for_newer());
    }

    /// Resolves the commands that an ended command had superseded: if the vehicle refused it, the newest of them continues.
    fn resolve_superseded(&mut self, id: u64, end: CommandEnd) {
        let is_refused = matches!(end, CommandEnd::Acked { result, .. } if result != 0);
        let superseded = self.pending.iter().filter(|p| p.superseded_by == Some(id));
        let mut superseded: Vec<_> = superseded.map(|p| (p.last_sent, p.id)).collect();
        superseded.sort_unstable();
        let newest = superseded.pop_if(|_| is_refused).map(|(_, newest)| newest);
        for (_, older) in superseded {
            match self.pending.iter_mut().find(|p| p.id == older) {
                Some(pending) if newest.is_some() => pending.superseded_by = newest,
                _ => {
                    self.counters.overridden += 1;
                    self.finish(older, CommandEnd::Overridden);
                }
            }
        }
        if let Some(pending) = (self.pending.iter_mut()).find(|p| Some(p.id) == newest) {
            (pending.superseded_by, pending.is_deferred) = (None, true);
            // Acknowledgements of its earlier transmissions answer it, unless other commands with its number are under way.
            let (command, key) = (pending.command, pending.key);
            let with_key = |s: &&mut Transmission| s.command.key().overlaps(&key);
            let mut sent = self.transmissions.iter_mut().filter(with_key);
            if sent.all(|s| s.command.equals(&command)) {
                let sent = self.transmissions.iter_mut().filter(with_key);
                sent.for_each(|s| s.id = newest);
            }
        }
    }

    /// Ends calls beyond the limit: the oldest ones, but those that make a vehicle safer last.
    fn enforce_limit(&mut self) {
        while self.pending() > self.settings.max_pending {
            let oldest = (self.pending.iter()).position(|p| !p.command.is_safer());
            let Some(oldest) = self.pending.get_mut(oldest.unwrap_or(0)) else { return };
            let (id, number) = (oldest.id, oldest.command.number());
            self.counters.overridden += 1;
            if oldest.tokens.len() > 1 {
                let (token, _) = oldest.tokens.remove(0);
                self.report_end(token, number, CommandEnd::Overridden);
            } else {
                self.finish(id, CommandEnd::Overridden);
            }
        }
    }

    fn finish(&mut self, id: u64, end: CommandEnd) {
        let Some(at) = self.pending.iter().position(|p| p.id == id) else { return };
        let ended = self.pending.remove(at);
        detach(&mut self.transmissions, &ended);
        if matches!(end, CommandEnd::TimedOut { .. } | CommandEnd::LinkLost) {
            if self.unacknowledged.len() >= MAX_UNACKNOWLEDGED {
                self.unacknowledged.pop_front();
            }
            self.unacknowledged.push_back((ended.command, ended.last_sent));
        }
        for (token, _) in ended.tokens {
            self.report_end(token, ended.key.command, end);
        }
        self.resolve_superseded(id, end);
    }
}
