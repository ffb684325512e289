//! Assigns acknowledgements to commands, and resolves ambiguous ones.
use super::{CommandClient, CommandEnd, CommandEvent, CommandKey, IN_PROGRESS, PendingCommand};
use crate::session::command::MavCommand;
use crate::wire::mavlink::raw::CommandAck;
use std::time::Duration;

/// How long a command without acknowledgement is remembered, to recognise a late acknowledgement.
const LATE_ACK_PERIOD: Duration = Duration::from_secs(120);

/// A transmission that can still be acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    /// Id of the command that its acknowledgement will answer; `None` if it answers none.
    pub(super) id: Option<u64>,
    pub(super) command: MavCommand,
    pub(super) at: Duration,
}

impl<T> CommandClient<T> {
    /// Sends deferred commands again once no other acknowledgement with their number is under way.
    pub(super) fn send_deferred(&mut self, now: Duration) {
        let mut waiting: Vec<_> = (self.pending.iter())
            .filter(|p| p.is_deferred)
            .map(|p| (p.last_sent, p.id, p.key))
            .collect();
        waiting.sort_by_key(|(last_sent, id, _)| (*last_sent, *id));
        for (_, id, key) in waiting {
            let is_other = |s: &Transmission| s.command.key().overlaps(&key) && s.id != Some(id);
            if !self.transmissions.iter().any(is_other) {
                self.transmit(now, id);
            }
        }
    }

    /// Returns the id of the pending command that the acknowledgement of this transmission will answer.
    pub(super) fn owner(&self, sent: &Transmission) -> Option<u64> {
        let id = sent.id?;
        self.pending.iter().any(|p| p.id == id).then_some(id)
    }

    /// Forgets transmissions whose acknowledgement is overdue and would answer no command, and old unacknowledged commands.
    pub(super) fn forget_overdue(&mut self, now: Duration) {
        let wait = self.settings.first_wait;
        let over = |s: &Transmission| s.at.saturating_add(wait) <= now && self.owner(s).is_none();
        let (overdue, sent) = (self.transmissions.iter().copied()).partition::<Vec<_>, _>(over);
        self.transmissions = sent;
        for key in overdue.iter().map(|s| s.command.key()) {
            // An ambiguous acknowledgement may answer this transmission, or one whose acknowledgement can still arrive.
            if self.ambiguous.iter().any(|(from, _)| from.overlaps(&key)) {
                self.ambiguous.retain(|(from, _)| !from.overlaps(&key));
                self.resolve_ambiguous(&key, None);
            }
        }
        while (self.unacknowledged.front()).is_some_and(|(_, at)| *at + LATE_ACK_PERIOD <= now) {
            self.unacknowledged.pop_front();
        }
    }

    /// Drops the ambiguous acknowledgements. Ends their commands if `end` is given, otherwise defers each of them.
    pub(super) fn resolve_ambiguous(&mut self, from: &CommandKey, end: Option<CommandEnd>) {
        let before = self.ambiguous.len();
        self.ambiguous.retain(|(key, _)| !key.overlaps(from));
        for _ in self.ambiguous.len()..before {
            self.remove_oldest_transmission(from);
        }
        let is_resolved = end.is_some();
        let owners = (self.pending.iter()).filter(|p| {
            p.key.overlaps(from) && p.superseded_by.is_none() && !(is_resolved && p.is_deferred)
        });
        for id in owners.map(|p| p.id).collect::<Vec<_>>() {
            match end {
                Some(end) => self.finish(id, end),
                None => {
                    let owner = self.pending.iter_mut().find(|p| p.id == id);
                    owner.into_iter().for_each(|p| p.is_deferred = true);
                    let sent = self.transmissions.iter_mut().filter(|s| s.id == Some(id));
                    sent.for_each(|s| s.id = None);
                }
            }
        }
    }

    /// Removes the oldest transmission with this key, because an acknowledgement arrived.
    pub(super) fn remove_oldest_transmission(&mut self, from: &CommandKey) {
        let is_open = |sent: &Transmission| sent.command.key().overlaps(from);
        if let Some(at) = self.transmissions.iter().position(is_open) {
            self.transmissions.remove(at);
        }
    }

    pub(super) fn handle_unexpected(&mut self, from: &CommandKey, ack: &CommandAck) {
        self.counters.unexpected += 1;
        if ack.result == IN_PROGRESS {
            return;
        }
        self.remove_oldest_transmission(from);
        let unacknowledged =
            (self.unacknowledged.iter()).position(|(command, _)| command.key().overlaps(from));
        if let Some((command, _)) = unacknowledged.and_then(|at| self.unacknowledged.remove(at)) {
            let result = ack.result;
            self.events.push_back(CommandEvent::Late { command, result });
        }
    }
}

/// Detaches the transmissions of a command: their acknowledgements can still arrive, but no longer answer the command.
pub(super) fn detach<T>(sent: &mut [Transmission], pending: &PendingCommand<T>) {
    for sent in sent.iter_mut().filter(|s| s.id == Some(pending.id)) {
        (sent.id, sent.at) = (None, pending.last_sent);
    }
}
