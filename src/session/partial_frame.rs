use super::counters::DropCause;
use super::fragment_history::Identity;
use crate::time::RosTime;
use crate::wire::FragmentHeader;

/// Bookkeeping of one frame in flight; the bytes are in the reassembler's buffer of the same slot.
///
/// Fragment `i` starts at `i * unit`, where `unit` is the length of every fragment but the last.
#[derive(Debug, Default)]
pub(super) struct PartialFrame {
    header: Option<(Identity, FragmentHeader)>,
    unit: Option<usize>,
    tail: Option<Tail>,
    received: u32,
    seen: Vec<u64>,
    end: usize,
    hollow: bool,
    opened: u64,
    overtaken: u32,
    arrival: RosTime,
}

/// The last fragment; `offset` is a guess until `unit` is known.
#[derive(Clone, Copy, Debug)]
struct Tail {
    offset: usize,
    len: usize,
}

/// Position of a fragment in the frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) offset: usize,
    /// The last fragment arrived first and was placed by guess: `(from, to, length)` to move before anything else.
    pub(super) move_tail: Option<(usize, usize, usize)>,
}

impl PartialFrame {
    /// Starts a new frame in this slot.
    pub(super) fn open(
        &mut self,
        identity: Identity,
        header: FragmentHeader,
        opened: u64,
        arrival: RosTime,
    ) {
        let words = usize::try_from(header.count / 64 + 1).unwrap_or(usize::MAX);
        self.seen.clear();
        self.seen.resize(words, 0);
        self.header = Some((identity, header));
        self.unit = None;
        self.tail = None;
        self.received = 0;
        self.end = 0;
        self.hollow = false;
        self.opened = opened;
        self.overtaken = 0;
        self.arrival = arrival;
    }

    /// Frees the slot and returns the frame that was in it.
    pub(super) fn close(&mut self) -> Option<(Identity, FragmentHeader)> {
        self.header.take()
    }

    pub(super) fn is_free(&self) -> bool {
        self.header.is_none()
    }

    pub(super) fn is(&self, identity: &Identity) -> bool {
        self.header.as_ref().is_some_and(|(own, _)| own == identity)
    }

    /// Arrival of its first fragment.
    pub(super) fn arrival(&self) -> RosTime {
        self.arrival
    }

    pub(super) fn opened(&self) -> u64 {
        self.opened
    }

    pub(super) fn header(&self) -> Option<&FragmentHeader> {
        self.header.as_ref().map(|(_, header)| header)
    }

    /// Whether payload was skipped because only headers were read.
    pub(super) fn is_hollow(&self) -> bool {
        self.hollow
    }

    pub(super) fn mark_hollow(&mut self) {
        self.hollow = true;
    }

    /// Length of the fragments, once one other than the last has arrived.
    pub(super) fn unit(&self) -> Option<usize> {
        self.unit
    }

    /// Upper bound of the frame's length as far as known.
    pub(super) fn planned_len(&self) -> usize {
        let count = self.header().map_or(0, |header| {
            usize::try_from(header.count).unwrap_or(usize::MAX)
        });
        self.unit
            .map_or(self.end, |unit| unit.saturating_mul(count))
    }

    /// First byte after all stored bytes.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Counts a frame that was completed while this one was in flight; returns the count.
    pub(super) fn overtake(&mut self) -> u32 {
        self.overtaken += 1;
        self.overtaken
    }

    /// Length of the whole frame once every fragment has arrived.
    pub(super) fn complete_len(&self) -> Option<usize> {
        let (_, header) = self.header.as_ref()?;
        let tail = self.tail.filter(|_| self.received == header.count)?;
        Some(tail.offset + tail.len)
    }

    /// Registers fragment `seq` of `len` bytes and returns its position.
    pub(super) fn place(
        &mut self,
        seq: u32,
        len: usize,
        unit_guess: usize,
        max_len: usize,
    ) -> Result<Place, DropCause> {
        let Some((_, header)) = &self.header else {
            return Err(DropCause::Malformed);
        };
        let last = header.count.saturating_sub(1);
        let index = usize::try_from(seq).unwrap_or(usize::MAX);
        let last_index = usize::try_from(last).unwrap_or(usize::MAX);
        let bit = 1_u64 << (seq % 64);
        let word = index / 64;
        if self.seen.get(word).is_none_or(|seen| seen & bit != 0) {
            return Err(DropCause::Duplicate);
        }
        let mut place = Place {
            offset: 0,
            move_tail: None,
        };
        if seq == last {
            place.offset = match self.unit {
                Some(unit) if len > unit => return Err(DropCause::Inconsistent),
                Some(unit) => last_index * unit, // cannot overflow: checked when `unit` was set
                None => last_index.saturating_mul(unit_guess).min(max_len),
            };
            let known = self.unit.is_some() || last == 0;
            if len > max_len || (known && place.offset.saturating_add(len) > max_len) {
                return Err(DropCause::Oversize);
            }
            self.tail = Some(Tail {
                offset: place.offset,
                len,
            });
        } else {
            match self.unit {
                Some(unit) if unit != len => return Err(DropCause::Inconsistent),
                Some(_) => {}
                None => place.move_tail = self.learn_unit(len, last_index, max_len)?,
            }
            place.offset = index * len;
        }
        if let Some(seen) = self.seen.get_mut(word) {
            *seen |= bit;
        }
        self.received += 1;
        self.end = self.end.max(place.offset + len);
        Ok(place)
    }

    /// Takes the length of the first fragment other than the last as the length of all.
    fn learn_unit(
        &mut self,
        len: usize,
        last_index: usize,
        max_len: usize,
    ) -> Result<Option<(usize, usize, usize)>, DropCause> {
        let tail_len = self.tail.map_or(0, |tail| tail.len);
        if len == 0 || tail_len > len {
            return Err(DropCause::Inconsistent);
        }
        let tail_offset = len.checked_mul(last_index).ok_or(DropCause::Oversize)?;
        if tail_offset.saturating_add(tail_len) > max_len {
            return Err(DropCause::Oversize);
        }
        self.unit = Some(len);
        let Some(tail) = &mut self.tail else {
            return Ok(None);
        };
        let from = tail.offset;
        tail.offset = tail_offset;
        self.end = tail_offset + tail_len;
        Ok((from != tail_offset).then_some((from, tail_offset, tail_len)))
    }
}
