use crate::wire::FragmentHeader;

/// Identifies the frame of a fragment.
///
/// It has the time because some senders never change the frame id, and the fragment count because the short header has
/// no frame id.
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

/// How a frame ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fate {
    Delivered,
    Dropped,
}

/// Finished frames remembered; a duplicate of an older one counts as a new frame.
const REMEMBERED: usize = 16;

/// The last finished frames, to tell their late fragments from new frames.
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
