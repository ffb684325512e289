use super::{counters::DropCause, finished_frames::FrameIdentity};
use crate::{time::RosTime, wire::FragmentHeader};

/// Bookkeeping of one frame in flight; the bytes are in the reassembler's buffer of the same slot.
///
/// Fragment `i` starts at `i * fragment_len`, where `fragment_len` is the length of every fragment but the last.
#[derive(Debug, Default)]
pub(super) struct PartialFrame {
    header: Option<(FrameIdentity, FragmentHeader)>,
    /// Length of every fragment but the last, once one of them has arrived.
    pub(super) fragment_len: Option<usize>,
    last_fragment: Option<LastFragment>,
    received: u32,
    arrived_bits: Vec<u64>,
    /// First byte after all stored bytes.
    pub(super) end: usize,
    /// Whether payload was skipped, because only headers were read.
    pub(super) is_headers_only: bool,
    /// Rank among all frames by the arrival of their first fragment.
    pub(super) ordinal: u64,
    /// Number of frames that were completed while this one was in flight.
    overtaken: u32,
    /// Arrival of its first fragment.
    pub(super) arrival: RosTime,
}

/// The last fragment; `offset` is a guess until `fragment_len` is known.
#[derive(Clone, Copy, Debug)]
struct LastFragment {
    offset: usize,
    len: usize,
}

/// Position of a fragment in the frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FragmentPosition {
    pub(super) offset: usize,
    /// The last fragment arrived first and was stored at a guessed offset: `(from, to, length)` of the move that corrects it.
    pub(super) move_last: Option<(usize, usize, usize)>,
}

impl PartialFrame {
    /// Starts a new frame in this slot.
    pub(super) fn open(
        &mut self,
        identity: FrameIdentity,
        header: FragmentHeader,
        ordinal: u64,
        arrival: RosTime,
    ) {
        let words = usize::try_from(header.count / 64 + 1).unwrap_or(usize::MAX);
        let mut arrived_bits = std::mem::take(&mut self.arrived_bits);
        arrived_bits.clear();
        arrived_bits.resize(words, 0);
        let header = Some((identity, header));
        *self = Self { header, arrived_bits, ordinal, arrival, ..Self::default() };
    }

    /// Frees the slot and returns the frame that was in it.
    pub(super) fn close(&mut self) -> Option<(FrameIdentity, FragmentHeader)> {
        self.header.take()
    }

    pub(super) fn is_free(&self) -> bool {
        self.header.is_none()
    }

    pub(super) fn has_identity(&self, identity: &FrameIdentity) -> bool {
        self.header.as_ref().is_some_and(|(current, _)| current == identity)
    }

    pub(super) fn header(&self) -> Option<&FragmentHeader> {
        self.header.as_ref().map(|(_, header)| header)
    }

    /// Upper bound of the frame's length; the end of the stored bytes until `fragment_len` is known.
    pub(super) fn planned_len(&self) -> usize {
        let count =
            self.header().map_or(0, |header| usize::try_from(header.count).unwrap_or(usize::MAX));
        self.fragment_len.map_or(self.end, |fragment_len| fragment_len.saturating_mul(count))
    }

    /// Counts a frame that was completed while this one was in flight; returns the count.
    pub(super) fn overtake(&mut self) -> u32 {
        self.overtaken += 1;
        self.overtaken
    }

    /// Length of the whole frame once every fragment has arrived.
    pub(super) fn complete_len(&self) -> Option<usize> {
        let (_, header) = self.header.as_ref()?;
        let last_fragment = self.last_fragment.filter(|_| self.received == header.count)?;
        Some(last_fragment.offset + last_fragment.len)
    }

    /// Registers fragment `seq` of `len` bytes and returns its position.
    pub(super) fn register(
        &mut self,
        seq: u32,
        len: usize,
        guessed_fragment_len: usize,
        max_len: usize,
    ) -> Result<FragmentPosition, DropCause> {
        let Some((_, header)) = &self.header else { return Err(DropCause::Malformed) };
        let last = header.count.saturating_sub(1);
        let index = usize::try_from(seq).unwrap_or(usize::MAX);
        let last_index = usize::try_from(last).unwrap_or(usize::MAX);
        let bit = 1_u64 << (seq % 64);
        let word = index / 64;
        if self.arrived_bits.get(word).is_none_or(|bits| bits & bit != 0) {
            return Err(DropCause::Duplicate);
        }
        let mut position = FragmentPosition { offset: 0, move_last: None };
        if seq == last {
            position.offset = match self.fragment_len {
                Some(fragment_len) if len > fragment_len => return Err(DropCause::Inconsistent),
                Some(fragment_len) => last_index * fragment_len, // cannot overflow: checked when `fragment_len` was set
                None => last_index.saturating_mul(guessed_fragment_len).min(max_len),
            };
            let is_fixed = self.fragment_len.is_some() || last == 0;
            if len > max_len || (is_fixed && position.offset.saturating_add(len) > max_len) {
                return Err(DropCause::Oversize);
            }
            self.last_fragment = Some(LastFragment { offset: position.offset, len });
        } else {
            match self.fragment_len {
                Some(fragment_len) if fragment_len != len => return Err(DropCause::Inconsistent),
                Some(_) => {}
                None => position.move_last = self.set_fragment_len(len, last_index, max_len)?,
            }
            position.offset = index * len;
        }
        if let Some(bits) = self.arrived_bits.get_mut(word) {
            *bits |= bit;
        }
        self.received += 1;
        self.end = self.end.max(position.offset + len);
        Ok(position)
    }

    /// Sets the length of every fragment but the last, when the first of them arrives.
    fn set_fragment_len(
        &mut self,
        len: usize,
        last_index: usize,
        max_len: usize,
    ) -> Result<Option<(usize, usize, usize)>, DropCause> {
        let last_len = self.last_fragment.map_or(0, |last_fragment| last_fragment.len);
        if len == 0 || last_len > len {
            return Err(DropCause::Inconsistent);
        }
        let last_offset = len.checked_mul(last_index).ok_or(DropCause::Oversize)?;
        if last_offset.saturating_add(last_len) > max_len {
            return Err(DropCause::Oversize);
        }
        self.fragment_len = Some(len);
        let Some(last_fragment) = &mut self.last_fragment else { return Ok(None) };
        let from = last_fragment.offset;
        last_fragment.offset = last_offset;
        self.end = last_offset + last_len;
        Ok((from != last_offset).then_some((from, last_offset, last_len)))
    }
}
