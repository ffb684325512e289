use crate::wire::FragmentHeader;

/// What makes two fragments parts of one frame.
///
/// The time belongs to it because some senders never change the frame id, the number of fragments because the short
/// header has no frame id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Identity {
    frame_id: Option<i32>,
    time_bits: u64,
    count: u32,
}

impl From<&FragmentHeader> for Identity {
    fn from(header: &FragmentHeader) -> Self {
        Self {
            frame_id: header.frame_id,
            time_bits: header.sim_time.to_bits(),
            count: header.count,
        }
    }
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    Delivered,
    Dropped,
}

/// How many finished frames are remembered; a duplicate that is later than that counts as a frame of its own.
const REMEMBERED: usize = 16;

/// The last finished frames, so that late fragments of them are told from new frames.
#[derive(Debug, Default)]
pub(super) struct History {
    finished: [Option<(Identity, Fate)>; REMEMBERED],
    next: usize,
}

impl History {
    pub(super) fn remember(&mut self, identity: Identity, fate: Fate) {
        if let Some(entry) = self.finished.get_mut(self.next) {
            *entry = Some((identity, fate));
        }
        self.next = (self.next + 1) % REMEMBERED;
    }

    pub(super) fn fate(&self, identity: &Identity) -> Option<Fate> {
        self.finished
            .iter()
            .flatten()
            .find(|(known, _)| known == identity)
            .map(|(_, fate)| *fate)
    }
}
