use super::counters::{DropCause, ReassemblyCounters};
use super::finished_frames::{FinishedFrames, FrameEnd, FrameIdentity};
use super::frame_buffers::{BufferPosition, FrameBuffers};
use super::stream_order::{Continuity, StreamOrder, StreamPosition};
use super::{buffer_peak::BufferPeak, partial_frame::PartialFrame};
use crate::time::RosTime;
use crate::wire::{FragmentHeader, HeaderVariant, MAX_FRAGMENT_PAYLOAD};

/// Number of frames in flight: two, because fragments of consecutive frames may overlap.
const SLOTS: usize = 2;
/// Index of the buffer for datagrams without a predicted position.
const SCRATCH: usize = SLOTS;
/// Start of the scratch buffer.
const SCRATCH_START: BufferPosition = BufferPosition { buffer: SCRATCH, offset: 0 };
/// Largest payload of a UDP datagram after the shorter header.
const MAX_PAYLOAD: usize = 65_507 - HeaderVariant::A.len();
/// Upper limit of fragments per frame: 65,536 fragments of the vendor's size are 3.9 GB.
const MAX_FRAGMENTS: u32 = 65_536;
/// Size of lent memory beyond the frame: room for a datagram after a last fragment of full length.
pub const LOAN_SPARE: usize = MAX_FRAGMENT_PAYLOAD + MAX_PAYLOAD + 8;
/// From this number of consecutive repetitions on, a frame counts as new: the simulator's clock has stopped.
const STOPPED_CLOCK_REPEATS: u32 = 30;
/// An incomplete frame is dropped when a frame of a later time is complete, or this number of other frames.
const MAX_OVERTAKEN: u32 = 2;

/// Buffers for a scatter read of the next datagram: first `header`, then `payload`.
#[derive(Debug)]
pub struct DatagramBuffers<'a> {
    /// Buffer for the expected header, 24 or 32 bytes.
    pub header: &'a mut [u8],
    /// Buffer for the rest. If the next datagram is the expected one, this is the final position of its payload.
    pub payload: &'a mut [u8],
}

/// Description of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameInfo {
    /// Simulation time in s.
    pub sim_time: f64,
    /// Frame counter, if the sender has one.
    pub frame_id: Option<i32>,
    /// Payload length in bytes.
    pub len: usize,
    /// Number of its fragments.
    pub fragments: u32,
    /// Arrival of its first fragment, as given to [`Reassembler::commit`].
    pub arrival: RosTime,
}

/// A complete frame; its payload stays valid until the next datagram is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WholeFrame<'a> {
    /// Time, counter and length.
    pub info: FrameInfo,
    /// The payloads of all fragments in order.
    pub payload: &'a [u8],
    /// The payload is in lent memory, which [`Reassembler::take_loan`] returns until the next datagram is read.
    pub lent: bool,
}

/// Result of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReassemblyResult<'a> {
    /// Stored; its frame is not complete yet.
    Stored,
    /// Completed a frame.
    Complete(WholeFrame<'a>),
    /// Completed a frame whose payload was skipped on purpose ([`Reassembler::next_header_buffer`]).
    Counted(FrameInfo),
    /// Not stored.
    Dropped(DropCause),
}

/// Reassembles the fragments of one sensor's stream; does no I/O.
///
/// The caller reads each datagram into [`Self::next_buffers`] and reports its length. While datagrams arrive in order,
/// their payload is read directly to its final position and is not copied.
///
/// * Fragments may arrive in any order; two frames may overlap; duplicates are ignored.
/// * A frame is delivered complete, once, and not after a later one; otherwise it is counted by [`DropCause`].
/// * No single datagram is trusted: the form of the header is detected per datagram, and a time or frame id that contradicts
///   the stream is rejected until others confirm it ([`StreamOrder`]), as after a restart of the simulator. A sender may use
///   a constant frame id.
/// * Memory is bounded by twice the maximum frame length plus 256 KiB; steady state allocates nothing, and memory for an
///   unusually large frame is freed.
///
/// ```
/// use rfly_bridge::session::{Reassembler, ReassemblyResult};
/// use rfly_bridge::time::RosTime;
/// use rfly_bridge::wire::{HeaderVariant, fragments};
/// let mut reassembler = Reassembler::new(1 << 20);
/// let image = vec![7; 100_000];
/// for fragment in fragments(&image, 60_000, HeaderVariant::B, 1, 0.033) {
///     let buffers = reassembler.next_buffers(); // here a scatter read fills `buffers.header`, then `buffers.payload`
///     buffers.header.copy_from_slice(fragment.header.as_bytes());
///     buffers.payload[..fragment.payload.len()].copy_from_slice(fragment.payload);
///     match reassembler.commit(fragment.datagram_len(), RosTime::default()) {
///         ReassemblyResult::Complete(frame) => assert_eq!(frame.payload, image),
///         outcome => assert_eq!(outcome, ReassemblyResult::Stored),
///     }
/// }
/// ```
///
/// With lent memory ([`Self::next_buffers_in`], at least [`LOAN_SPARE`] larger than the frame), the payload is read into that
/// memory, and the caller takes the loan with the frame in it.
#[derive(Debug)]
pub struct Reassembler<L = Vec<u8>> {
    max_frame_len: usize,
    buffers: FrameBuffers<L, { SLOTS + 1 }>,
    /// Slot of the last delivered frame.
    delivered: usize,
    slots: [PartialFrame; SLOTS],
    finished: FinishedFrames,
    counters: ReassemblyCounters,
    order: StreamOrder,
    /// `order` before the last delivered frame.
    order_before: Option<StreamOrder>,
    peak: BufferPeak,
    header: [u8; 32],
    predicted: Prediction,
    variant: HeaderVariant,
    /// Slot and number of the last stored fragment.
    stored: Option<(usize, u32)>,
    /// Fragment length of the newest frame, which is the guess for the next.
    fragment_len: usize,
    /// A finished frame that repeats, and the number of consecutive repetitions.
    repeated: Option<(FrameIdentity, u32)>,
    /// Number of frames opened so far.
    opened: u64,
}

/// The predicted position of the next datagram.
#[derive(Clone, Copy, Debug)]
struct Prediction {
    position: BufferPosition,
    header_len: usize,
    /// False if only the header is read.
    is_full: bool,
}

impl Reassembler {
    /// Creates a reassembler for frames of at most `max_frame_len` bytes, without lent memory.
    pub fn new(max_frame_len: usize) -> Self {
        Self::for_loans(max_frame_len)
    }
}

impl<L: AsRef<[u8]> + AsMut<[u8]>> Reassembler<L> {
    /// Creates a reassembler for frames of at most `max_frame_len` bytes.
    pub fn for_loans(max_frame_len: usize) -> Self {
        Self {
            max_frame_len,
            buffers: FrameBuffers::new(),
            delivered: 0,
            slots: Default::default(),
            finished: FinishedFrames::default(),
            counters: ReassemblyCounters::default(),
            order: StreamOrder::default(),
            order_before: None,
            peak: BufferPeak::default(),
            header: [0; 32],
            predicted: Prediction {
                position: SCRATCH_START,
                header_len: HeaderVariant::B.len(),
                is_full: true,
            },
            variant: HeaderVariant::B,
            stored: None,
            fragment_len: MAX_FRAGMENT_PAYLOAD,
            repeated: None,
            opened: 0,
        }
    }

    /// Returns the buffers for the next datagram; call [`Self::commit`] afterwards.
    pub fn next_buffers(&mut self) -> DatagramBuffers<'_> {
        self.next_buffers_in(|| None)
    }

    /// Like [`Self::next_buffers`], but a new frame may use memory from `lend`.
    pub fn next_buffers_in(&mut self, lend: impl FnOnce() -> Option<L>) -> DatagramBuffers<'_> {
        let position = self.predict();
        if position.offset == 0 && position.buffer != SCRATCH {
            self.buffers.lend(position.buffer, lend);
        }
        self.predicted = Prediction { position, header_len: self.variant.len(), is_full: true };
        // 8 more bytes, because a payload may have to move by the difference of the header lengths.
        self.grow(position, MAX_PAYLOAD + 8);
        DatagramBuffers {
            header: &mut self.header[..self.predicted.header_len],
            payload: self.buffers.get_mut(position, MAX_PAYLOAD),
        }
    }

    /// Returns a buffer for only the header of the next datagram, for a stream without subscribers.
    ///
    /// The socket truncates the datagram; [`Self::commit`] still needs the full length.
    pub fn next_header_buffer(&mut self) -> &mut [u8] {
        self.predicted =
            Prediction { position: SCRATCH_START, header_len: self.header.len(), is_full: false };
        &mut self.header
    }

    /// Handles the datagram that was read into the buffers.
    ///
    /// `datagram_len` is the length on the wire, even if the socket truncated the datagram.
    pub fn commit(&mut self, datagram_len: usize, arrival: RosTime) -> ReassemblyResult<'_> {
        self.counters.datagrams += 1;
        self.counters.bytes =
            self.counters.bytes.saturating_add(u64::try_from(datagram_len).unwrap_or(u64::MAX));
        match self.store(datagram_len, arrival) {
            Err(cause) => ReassemblyResult::Dropped(cause),
            Ok(None) => ReassemblyResult::Stored,
            Ok(Some((info, None))) => ReassemblyResult::Counted(info),
            Ok(Some((info, Some(slot)))) => {
                let start = BufferPosition { buffer: slot, offset: 0 };
                self.delivered = slot;
                let payload = self.buffers.get(start, info.len);
                let lent = self.buffers.is_lent(slot);
                ReassemblyResult::Complete(WholeFrame { info, payload, lent })
            }
        }
    }

    /// Handles a datagram in other memory and copies its payload: for recordings and tests.
    pub fn push(&mut self, datagram: &[u8]) -> ReassemblyResult<'_> {
        self.push_at(datagram, RosTime::default())
    }

    /// Like [`Self::push`], with an arrival time.
    pub fn push_at(&mut self, datagram: &[u8], arrival: RosTime) -> ReassemblyResult<'_> {
        let buffers = self.next_buffers();
        let head = datagram.len().min(buffers.header.len());
        let (header, payload) = datagram.split_at(head);
        buffers.header[..head].copy_from_slice(header);
        let body = payload.len().min(buffers.payload.len());
        buffers.payload[..body].copy_from_slice(&payload[..body]);
        self.commit(datagram.len(), arrival)
    }

    /// Takes the lent memory with the last delivered frame, if the frame is in lent memory.
    pub fn take_loan(&mut self) -> Option<L> {
        self.buffers.take(self.delivered)
    }

    /// Reverts the stream order to that before the last delivered frame, because that frame is not from this sensor.
    pub fn revert_order(&mut self) {
        if let Some(before) = self.order_before.take() {
            self.order = before;
        }
    }

    /// Drops the frames in flight as incomplete, for example because the simulator ended.
    pub fn drop_incomplete(&mut self) {
        for slot in 0..SLOTS {
            self.drop_slot(slot, DropCause::Incomplete);
        }
    }

    /// Continues the counters of the previous reassembler.
    pub fn continue_counters(&mut self, before: &Self) {
        self.counters = before.counters;
        self.order.continue_lost(before.order.lost());
    }

    /// Returns the counters.
    pub fn counters(&self) -> &ReassemblyCounters {
        &self.counters
    }

    /// Returns the number of frames in flight.
    pub fn in_flight(&self) -> usize {
        self.slots.iter().filter(|slot| !slot.is_free()).count()
    }

    /// Returns the size of all buffers in bytes.
    pub fn memory(&self) -> usize {
        self.buffers.memory()
    }

    /// Returns the position of the next fragment if it follows the last one.
    ///
    /// The buffer is unused from there on, so an unexpected datagram overwrites nothing.
    fn predict(&self) -> BufferPosition {
        if let Some((slot, seq)) = self.stored
            && let Some(frame) = self.slots.get(slot)
            && let (Some(fragment_len), Some(header)) = (frame.fragment_len, frame.header())
            && seq + 1 < header.count
        {
            let offset = (seq as usize + 1) * fragment_len;
            let position = BufferPosition { buffer: slot, offset };
            return if offset >= frame.end { position } else { SCRATCH_START };
        }
        // The buffer of the last used slot is still in the processor's cache.
        let preferred = self.stored.map_or(0, |(slot, _)| slot);
        self.free_slot(preferred)
            .map_or(SCRATCH_START, |buffer| BufferPosition { buffer, offset: 0 })
    }

    /// Returns a free slot, if possible the preferred one.
    fn free_slot(&self, preferred: usize) -> Option<usize> {
        let is_free = |slot: &usize| self.slots.get(*slot).is_some_and(PartialFrame::is_free);
        Some(preferred).filter(is_free).or_else(|| (0..SLOTS).find(is_free))
    }

    fn store(
        &mut self,
        datagram_len: usize,
        arrival: RosTime,
    ) -> Result<Option<(FrameInfo, Option<usize>)>, DropCause> {
        let header = self.parse(datagram_len).inspect_err(|cause| self.counters.count(*cause))?;
        let identity = FrameIdentity::from(&header);
        let slot = match self.slots.iter().position(|slot| slot.has_identity(&identity)) {
            Some(slot) => slot,
            None => self.open(identity, header, arrival)?,
        };
        let len = datagram_len - header.variant.len();
        let frame = &mut self.slots[slot];
        let registered = frame.register(header.seq, len, self.fragment_len, self.max_frame_len);
        let fragment = registered.inspect_err(|cause| {
            if cause.counts_frames() {
                self.drop_slot(slot, *cause);
            } else {
                self.counters.count(*cause);
            }
        })?;
        self.variant = header.variant;
        self.stored = Some((slot, header.seq));
        self.fragment_len = self.slots[slot].fragment_len.unwrap_or(self.fragment_len);
        if self.predicted.is_full {
            let position = |offset| BufferPosition { buffer: slot, offset };
            if let Some((from, to, len)) = fragment.move_last {
                self.grow(position(to), len);
                self.buffers.copy(position(from), position(to), len);
            }
            let payload_at = self.payload_position(&header, len);
            self.grow(position(fragment.offset), len);
            self.buffers.copy(payload_at, position(fragment.offset), len);
        } else {
            self.slots[slot].is_headers_only = true;
        }
        Ok(self.slots[slot].complete_len().map(|len| self.finish(slot, len)))
    }

    /// Parses the header. If the shorter form was expected, the end of a longer header is in the payload buffer.
    fn parse(&mut self, datagram_len: usize) -> Result<FragmentHeader, DropCause> {
        let Prediction { position, header_len, is_full } = self.predicted;
        if is_full && datagram_len > header_len + MAX_PAYLOAD {
            return Err(DropCause::Malformed);
        }
        let available = datagram_len.min(self.header.len());
        if is_full && available > header_len {
            self.header[header_len..available]
                .copy_from_slice(self.buffers.get(position, available - header_len));
        }
        FragmentHeader::parse(&self.header[..available], datagram_len).or(Err(DropCause::Malformed))
    }

    /// Returns the position of the payload, after a move if the header is shorter than expected.
    fn payload_position(&mut self, header: &FragmentHeader, len: usize) -> BufferPosition {
        let Prediction { position, header_len, .. } = self.predicted;
        let offset_by = |count| BufferPosition { offset: position.offset + count, ..position };
        let actual = header.variant.len();
        if actual >= header_len {
            return offset_by(actual - header_len);
        }
        let in_header = (header_len - actual).min(len);
        self.buffers.copy(position, offset_by(in_header), len - in_header);
        let start = &self.header[actual..actual + in_header];
        self.buffers.get_mut(position, in_header).copy_from_slice(start);
        position
    }

    /// Opens a slot for a frame whose first fragment arrived, or returns the cause of its drop.
    fn open(
        &mut self,
        identity: FrameIdentity,
        header: FragmentHeader,
        arrival: RosTime,
    ) -> Result<usize, DropCause> {
        if let Some(end) = self.finished.end(&identity)
            && !self.count_repetition(&identity, &header)
        {
            let cause =
                if end == FrameEnd::Delivered { DropCause::Duplicate } else { DropCause::Late };
            self.counters.count(cause);
            return Err(cause);
        }
        if header.count > MAX_FRAGMENTS {
            self.drop_frame(identity, DropCause::Oversize);
            return Err(DropCause::Oversize);
        }
        let continuity = self.order.check(position_of(&header, arrival));
        self.counters.lost = self.order.lost();
        let cause = match continuity {
            // Copies of finished frames were already detected by their identity.
            Continuity::Next | Continuity::Same | Continuity::Restart => None,
            Continuity::Late | Continuity::Duplicate => Some(DropCause::Stale),
            Continuity::Unconfirmed => Some(DropCause::Unconfirmed),
        };
        if let Some(cause) = cause {
            self.drop_frame(identity, cause);
            return Err(cause);
        }
        if continuity == Continuity::Restart {
            self.drop_incomplete();
        }
        let slot = self.free_slot(self.predicted.position.buffer).unwrap_or_else(|| {
            let oldest = (0..SLOTS).min_by_key(|slot| self.slots[*slot].ordinal).unwrap_or(0);
            self.drop_slot(oldest, DropCause::Incomplete);
            oldest
        });
        if self.repeated.is_some_and(|(repeated, _)| repeated != identity) {
            self.repeated = None;
        }
        self.opened += 1;
        self.slots[slot].open(identity, header, self.opened, arrival);
        Ok(slot)
    }

    /// Counts a repetition of a finished frame; returns whether there are so many that the simulator's clock must have stopped.
    fn count_repetition(&mut self, identity: &FrameIdentity, header: &FragmentHeader) -> bool {
        let repeated = self.repeated.filter(|(repeated, _)| repeated == identity);
        let before = repeated.map_or(0, |(_, times)| times);
        let times = before.saturating_add(u32::from(header.seq == 0));
        self.repeated = Some((*identity, times));
        times >= STOPPED_CLOCK_REPEATS
    }

    /// Finishes the complete frame in `slot`; returns the slot unless payload was skipped.
    fn finish(&mut self, slot: usize, len: usize) -> (FrameInfo, Option<usize>) {
        let frame = &mut self.slots[slot];
        let (ordinal, is_headers_only, arrival) =
            (frame.ordinal, frame.is_headers_only, frame.arrival);
        let mut info = FrameInfo { sim_time: 0.0, frame_id: None, len, fragments: 0, arrival };
        if let Some((identity, header)) = frame.close() {
            info = FrameInfo {
                sim_time: header.sim_time,
                frame_id: header.frame_id,
                len,
                fragments: header.count,
                arrival,
            };
            self.order_before = Some(self.order);
            self.order.advance(position_of(&header, arrival));
            self.finished.add(identity, FrameEnd::Delivered);
        }
        self.counters.frames += 1;
        for other in 0..SLOTS {
            let frame = &mut self.slots[other];
            let Some(time) = frame.header().map(|header| header.sim_time) else { continue };
            let is_older =
                time < info.sim_time || (time == info.sim_time && frame.ordinal < ordinal);
            if is_older || frame.overtake() >= MAX_OVERTAKEN {
                self.drop_slot(other, DropCause::Incomplete);
            }
        }
        self.shrink_buffers(slot, len);
        (info, (!is_headers_only).then_some(slot))
    }

    /// Frees memory that only an unusually large frame needed. The frame in `slot` has not been read yet.
    fn shrink_buffers(&mut self, slot: usize, len: usize) {
        let capacity = (0..SLOTS).map(|slot| self.buffers.capacity(slot)).max();
        let Some(needed) = self.peak.note(len, capacity.unwrap_or(0)) else { return };
        for other in 0..SLOTS {
            if other == slot || self.slots[other].is_free() {
                self.buffers.shrink(other, needed + MAX_PAYLOAD + 8);
            }
        }
    }

    /// Frees a slot and drops its frame.
    fn drop_slot(&mut self, slot: usize, cause: DropCause) {
        if let Some((identity, _)) = self.slots[slot].close() {
            self.drop_frame(identity, cause);
        }
    }

    /// Counts a dropped frame; its remaining fragments will be counted as late.
    fn drop_frame(&mut self, identity: FrameIdentity, cause: DropCause) {
        self.counters.count(cause);
        self.finished.add(identity, FrameEnd::Dropped);
    }

    /// Makes room for `len` bytes at `position`.
    fn grow(&mut self, position: BufferPosition, len: usize) {
        // Grows to the planned length of the frame at once: growing with each fragment would copy repeatedly.
        let frame = self.slots.get(position.buffer);
        let planned = frame.map_or(0, PartialFrame::planned_len).min(self.max_frame_len);
        self.buffers.grow(position.buffer, (position.offset + len).max(planned + MAX_PAYLOAD + 8));
    }
}

fn position_of(header: &FragmentHeader, arrival: RosTime) -> StreamPosition {
    StreamPosition { id: header.frame_id, time: header.sim_time, arrival }
}
