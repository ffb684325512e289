//! Which of the other bridges of a fleet are heard.
use std::collections::BTreeMap;
use std::time::Duration;

/// Tells silent peers from those that are heard. Times are those of one monotonic clock.
#[derive(Clone, Debug)]
pub struct PeerWatch {
    limit: Duration,
    start: Duration,
    peers: BTreeMap<String, Heard>,
}

#[derive(Clone, Debug, Default)]
struct Heard {
    last: Option<Duration>,
    is_lost: bool,
}

/// What became of a peer since the last check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PeerNews {
    /// Silent for longer than the limit.
    Lost(String),
    /// Heard again, or for the first time, after it was lost.
    Returned(String),
}

/// A peer at the time of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PeerState {
    /// Its name.
    pub name: String,
    /// Whether it was ever heard.
    pub was_heard: bool,
    /// Time since it was last heard; since the start, if never.
    pub silence: Duration,
    /// The silence is longer than the limit.
    pub is_lost: bool,
}

impl PeerWatch {
    /// Watches these peers from now on. `limit`: silence after which a peer is lost.
    pub fn new(names: impl IntoIterator<Item = String>, limit: Duration, now: Duration) -> Self {
        let peers = names.into_iter().map(|name| (name, Heard::default())).collect();
        Self { limit, start: now, peers }
    }

    /// Notes a message of a peer; that of a stranger is ignored.
    pub fn hear(&mut self, name: &str, now: Duration) {
        if let Some(peer) = self.peers.get_mut(name) {
            peer.last = Some(now);
        }
    }

    /// Returns the state of each peer, and what is new.
    pub fn check(&mut self, now: Duration) -> (Vec<PeerState>, Vec<PeerNews>) {
        let (limit, start) = (self.limit, self.start);
        let mut news = Vec::new();
        let check = |(name, peer): (&String, &mut Heard)| {
            let silence = now.saturating_sub(peer.last.unwrap_or(start));
            let is_lost = silence > limit;
            match (peer.is_lost, is_lost) {
                (false, true) => news.push(PeerNews::Lost(name.clone())),
                (true, false) => news.push(PeerNews::Returned(name.clone())),
                _ => {}
            }
            peer.is_lost = is_lost;
            PeerState { name: name.clone(), was_heard: peer.last.is_some(), silence, is_lost }
        };
        (self.peers.iter_mut().map(check).collect(), news)
    }
}
