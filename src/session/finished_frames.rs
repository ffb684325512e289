use crate::wire::FragmentHeader;

/// Identifies the frame of a fragment: by its time, because some senders never change the frame id; and by its fragment count,
/// because the short header has no frame id.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FrameIdentity {
    frame_id: Option<i32>,
    time_bits: u64,
    count: u32,
}

impl From<&FragmentHeader> for FrameIdentity {
    fn from(header: &FragmentHeader) -> Self {
        let time_bits = header.sim_time.to_bits();
        Self { frame_id: header.frame_id, time_bits, count: header.count }
    }
}

/// How a frame ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FrameEnd {
    Delivered,
    Dropped,
}

/// Number of stored frames; a duplicate of an older frame counts as a stale or unconfirmed frame.
const CAPACITY: usize = 16;

/// The last finished frames, to distinguish their late fragments from new frames.
#[derive(Debug, Default)]
pub(super) struct FinishedFrames {
    finished: [Option<(FrameIdentity, FrameEnd)>; CAPACITY],
    next: usize,
}

impl FinishedFrames {
    pub(super) fn add(&mut self, identity: FrameIdentity, end: FrameEnd) {
        if let Some(entry) = self.finished.get_mut(self.next) {
            *entry = Some((identity, end));
        }
        self.next = (self.next + 1) % CAPACITY;
    }

    pub(super) fn end(&self, identity: &FrameIdentity) -> Option<FrameEnd> {
        self.finished.iter().flatten().find(|(known, _)| known == identity).map(|(_, end)| *end)
    }
}
