use super::counters::{DropCause, ReassemblyCounters};
use super::fragment_history::{Fate, History, Identity};
use super::frame_buffers::{FrameBuffers, Spot};
use super::order::{Mark, Order, Verdict};
use super::partial_frame::PartialFrame;
use super::peak::Peak;
use crate::time::RosTime;
use crate::wire::{FragmentHeader, HeaderVariant, MAX_FRAGMENT_PAYLOAD};

/// Frames in flight at once: two, because neighbours may overlap on the way.
const SLOTS: usize = 2;
/// Index of the buffer for datagrams without a predicted place.
const SCRATCH: usize = SLOTS;
/// Start of the scratch buffer.
const NOWHERE: Spot = Spot {
    buffer: SCRATCH,
    offset: 0,
};
/// Largest payload of a UDP datagram after the shorter header.
const ROOM: usize = 65_507 - HeaderVariant::A.len();
/// Upper limit of fragments per frame: 65,536 fragments of the vendor's size are 3.9 GB.
const MAX_FRAGMENTS: u32 = 65_536;
/// Spare size of lent memory beyond the frame: room for a datagram after a last fragment of full length.
pub const LOAN_SPARE: usize = MAX_FRAGMENT_PAYLOAD + ROOM + 8;
/// Repetitions of one frame in a row after which they are new frames of a simulator whose clock stands still.
const STANDING_CLOCK_REPEATS: u32 = 30;
/// An incomplete frame is given up at the latest after so many later ones were completed.
const MAX_OVERTAKEN: u32 = 2;

/// Where to read the next datagram: `header` is filled first, then `payload` (scatter read).
#[derive(Debug)]
pub struct Landing<'a> {
    /// For the first 24 or 32 bytes, the expected header.
    pub header: &'a mut [u8],
    /// For the rest; the final place if the next datagram is the expected one.
    pub payload: &'a mut [u8],
}

/// A frame without its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameInfo {
    /// Simulation time in s.
    pub sim_time: f64,
    /// Frame counter, if the sender has one.
    pub frame_id: Option<i32>,
    /// Payload length in bytes.
    pub len: usize,
    /// Number of its datagrams.
    pub fragments: u32,
    /// Arrival of the first of them, as given to [`Reassembler::commit`].
    pub arrival: RosTime,
}

/// A frame with all its bytes; they stay valid until the next datagram is read.
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
pub enum Outcome<'a> {
    /// Stored; its frame is not complete yet.
    Stored,
    /// Completed a frame.
    Complete(WholeFrame<'a>),
    /// Completed a frame of which payload was skipped on purpose ([`Reassembler::landing_for_header`]).
    Counted(FrameInfo),
    /// Not stored.
    Dropped(DropCause),
}

/// Reassembles the fragments of one sensor's stream; does no I/O.
///
/// The caller reads each datagram into [`Self::landing`] and reports its length. While datagrams arrive in order,
/// payload lands at its final place and is never copied.
///
/// * Fragments come in any order, frames may overlap (two in flight), duplicates are ignored.
/// * A frame is delivered whole, once, and not after a later one; or it is counted by [`DropCause`].
/// * No single datagram is trusted: the header form is detected per datagram, and a time or frame id that does not
///   continue the stream is rejected until others follow it ([`Order`]), as after a restart of the simulator. A constant
///   frame id does no harm.
/// * Memory is bounded by twice the maximum frame length plus 256 KiB; steady state allocates nothing, and memory for an
///   unusually large frame is freed.
///
/// ```
/// use rfly_bridge::session::{Outcome, Reassembler};
/// use rfly_bridge::time::RosTime;
/// use rfly_bridge::wire::{HeaderVariant, fragments};
/// let mut reassembler = Reassembler::new(1 << 20);
/// let image = vec![7; 100_000];
/// for fragment in fragments(&image, 60_000, HeaderVariant::B, 1, 0.033) {
///     let landing = reassembler.landing(); // here a scatter read fills `landing.header`, then `landing.payload`
///     landing.header.copy_from_slice(fragment.header.as_bytes());
///     landing.payload[..fragment.payload.len()].copy_from_slice(fragment.payload);
///     match reassembler.commit(fragment.datagram_len(), RosTime::default()) {
///         Outcome::Complete(frame) => assert_eq!(frame.payload, image),
///         outcome => assert_eq!(outcome, Outcome::Stored),
///     }
/// }
/// ```
///
/// With lent memory for the frame ([`Self::landing_in`], at least [`LOAN_SPARE`] larger than the frame), payload lands
/// there, and the caller takes the loan with the frame in it.
#[derive(Debug)]
pub struct Reassembler<L = Vec<u8>> {
    max_frame_len: usize,
    buffers: FrameBuffers<L, { SLOTS + 1 }>,
    /// Slot of the last delivered frame.
    delivered: usize,
    slots: [PartialFrame; SLOTS],
    history: History,
    counters: ReassemblyCounters,
    order: Order,
    /// The order before the last delivered frame.
    before: Option<Order>,
    peak: Peak,
    header: [u8; 32],
    aim: Aim,
    last: Last,
}

/// Where the next datagram lands.
#[derive(Clone, Copy, Debug)]
struct Aim {
    spot: Spot,
    header_len: usize,
    /// False: only the header is read.
    payload: bool,
}

/// State of the prediction and of the check for a standing clock.
#[derive(Debug)]
struct Last {
    variant: HeaderVariant,
    /// Slot and number of the last stored fragment.
    stored: Option<(usize, u32)>,
    unit: usize,
    /// A finished frame that repeats, and how often in a row.
    repeated: Option<(Identity, u32)>,
    opened: u64,
}

impl Reassembler {
    /// Creates a reassembler for frames of at most `max_frame_len` bytes, in memory of its own.
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
            history: History::default(),
            counters: ReassemblyCounters::default(),
            order: Order::default(),
            before: None,
            peak: Peak::default(),
            header: [0; 32],
            aim: Aim {
                spot: NOWHERE,
                header_len: HeaderVariant::B.len(),
                payload: true,
            },
            last: Last {
                variant: HeaderVariant::B,
                stored: None,
                unit: MAX_FRAGMENT_PAYLOAD,
                repeated: None,
                opened: 0,
            },
        }
    }

    /// Returns where to read the next datagram; call [`Self::commit`] afterwards.
    pub fn landing(&mut self) -> Landing<'_> {
        self.landing_in(|| None)
    }

    /// The same; a new frame may land in memory from `lend`.
    pub fn landing_in(&mut self, lend: impl FnOnce() -> Option<L>) -> Landing<'_> {
        let spot = self.predict();
        if spot.offset == 0 && spot.buffer != SCRATCH {
            self.buffers.lend(spot.buffer, lend);
        }
        self.aim = Aim {
            spot,
            header_len: self.last.variant.len(),
            payload: true,
        };
        // 8 spare bytes, for a payload that must move back by the difference of the header lengths.
        self.grow(spot, ROOM + 8);
        Landing {
            header: &mut self.header[..self.aim.header_len],
            payload: self.buffers.get_mut(spot, ROOM),
        }
    }

    /// Returns where to read the next datagram's header when its payload is not wanted (nobody subscribes).
    ///
    /// The socket truncates the datagram; [`Self::commit`] still needs the full length.
    pub fn landing_for_header(&mut self) -> &mut [u8] {
        self.aim = Aim {
            spot: NOWHERE,
            header_len: self.header.len(),
            payload: false,
        };
        &mut self.header
    }

    /// Handles the datagram of `datagram_len` bytes that was read into the last landing.
    ///
    /// `datagram_len` is the length on the wire, also if the socket truncated the datagram.
    pub fn commit(&mut self, datagram_len: usize, arrival: RosTime) -> Outcome<'_> {
        self.counters.datagrams += 1;
        self.counters.bytes = self
            .counters
            .bytes
            .saturating_add(u64::try_from(datagram_len).unwrap_or(u64::MAX));
        match self.take(datagram_len, arrival) {
            Err(cause) => Outcome::Dropped(cause),
            Ok(None) => Outcome::Stored,
            Ok(Some((info, None))) => Outcome::Counted(info),
            Ok(Some((info, Some(slot)))) => {
                let start = Spot {
                    buffer: slot,
                    offset: 0,
                };
                self.delivered = slot;
                let payload = self.buffers.get(start, info.len);
                let lent = self.buffers.is_lent(slot);
                Outcome::Complete(WholeFrame {
                    info,
                    payload,
                    lent,
                })
            }
        }
    }

    /// Handles a datagram in other memory, for recordings and tests; copies the payload.
    pub fn push(&mut self, datagram: &[u8]) -> Outcome<'_> {
        self.push_at(datagram, RosTime::default())
    }

    /// The same with an arrival time.
    pub fn push_at(&mut self, datagram: &[u8], arrival: RosTime) -> Outcome<'_> {
        let landing = self.landing();
        let head = datagram.len().min(landing.header.len());
        let (header, payload) = datagram.split_at(head);
        landing.header[..head].copy_from_slice(header);
        let body = payload.len().min(landing.payload.len());
        landing.payload[..body].copy_from_slice(&payload[..body]);
        self.commit(datagram.len(), arrival)
    }

    /// Returns the lent memory with the last delivered frame, if the frame is in lent memory.
    pub fn take_loan(&mut self) -> Option<L> {
        self.buffers.take(self.delivered)
    }

    /// Reverts the order: the last frame was not of this sensor, so its number and time do not count.
    pub fn disown(&mut self) {
        if let Some(before) = self.before.take() {
            self.order = before;
        }
    }

    /// Gives up the frames in flight, for example when the simulator is gone, and counts them as incomplete.
    pub fn abandon(&mut self) {
        for slot in 0..SLOTS {
            self.give_up(slot, DropCause::Incomplete);
        }
    }

    /// Counts on from the counters of the reassembler before it.
    pub fn count_on(&mut self, before: &Self) {
        self.counters = before.counters;
    }

    /// Returns the counters.
    pub fn counters(&self) -> &ReassemblyCounters {
        &self.counters
    }

    /// Returns how many frames are in flight.
    pub fn in_flight(&self) -> usize {
        self.slots.iter().filter(|slot| !slot.is_free()).count()
    }

    /// Returns the bytes held in buffers.
    pub fn memory(&self) -> usize {
        self.buffers.memory()
    }

    /// Returns buffer and offset of the next fragment if it follows the last one.
    ///
    /// The rest of that buffer is unused, so that an unexpected datagram does no harm.
    fn predict(&self) -> Spot {
        if let Some((slot, seq)) = self.last.stored
            && let Some(frame) = self.slots.get(slot)
            && let (Some(unit), Some(header)) = (frame.unit(), frame.header())
            && seq + 1 < header.count
        {
            let offset = (seq as usize + 1) * unit;
            let spot = Spot {
                buffer: slot,
                offset,
            };
            return if offset >= frame.end() { spot } else { NOWHERE };
        }
        // The last used slot is still in the processor's cache.
        let favourite = self.last.stored.map_or(0, |(slot, _)| slot);
        self.free_slot(favourite)
            .map_or(NOWHERE, |buffer| Spot { buffer, offset: 0 })
    }

    /// Returns a free slot, preferably the favourite.
    fn free_slot(&self, favourite: usize) -> Option<usize> {
        let free = |slot: &usize| self.slots.get(*slot).is_some_and(PartialFrame::is_free);
        Some(favourite)
            .filter(free)
            .or_else(|| (0..SLOTS).find(free))
    }

    fn take(
        &mut self,
        datagram_len: usize,
        arrival: RosTime,
    ) -> Result<Option<(FrameInfo, Option<usize>)>, DropCause> {
        let header = self
            .parse(datagram_len)
            .inspect_err(|cause| self.counters.count(*cause))?;
        let identity = Identity::from(&header);
        let slot = match self.slots.iter().position(|slot| slot.is(&identity)) {
            Some(slot) => slot,
            None => self.open(identity, header, arrival)?,
        };
        let len = datagram_len - header.variant.len();
        let place =
            match self.slots[slot].place(header.seq, len, self.last.unit, self.max_frame_len) {
                Ok(place) => place,
                Err(cause) if cause.counts_frames() => {
                    self.give_up(slot, cause);
                    return Err(cause);
                }
                Err(cause) => {
                    self.counters.count(cause);
                    return Err(cause);
                }
            };
        self.last.variant = header.variant;
        self.last.stored = Some((slot, header.seq));
        self.last.unit = self.slots[slot].unit().unwrap_or(self.last.unit);
        if self.aim.payload {
            let spot = |offset| Spot {
                buffer: slot,
                offset,
            };
            if let Some((from, to, len)) = place.move_tail {
                self.grow(spot(to), len);
                self.buffers.copy(spot(from), spot(to), len);
            }
            let landed = self.landed(&header, len);
            self.grow(spot(place.offset), len);
            self.buffers.copy(landed, spot(place.offset), len);
        } else {
            self.slots[slot].mark_hollow();
        }
        Ok(self.slots[slot]
            .complete_len()
            .map(|len| self.finish(slot, len)))
    }

    /// Parses the header, part of which may be in the payload if the shorter form was expected.
    fn parse(&mut self, datagram_len: usize) -> Result<FragmentHeader, DropCause> {
        let Aim {
            spot,
            header_len,
            payload,
        } = self.aim;
        if payload && datagram_len > header_len + ROOM {
            return Err(DropCause::Malformed);
        }
        let have = datagram_len.min(self.header.len());
        if payload && have > header_len {
            self.header[header_len..have]
                .copy_from_slice(self.buffers.get(spot, have - header_len));
        }
        FragmentHeader::parse(&self.header[..have], datagram_len).or(Err(DropCause::Malformed))
    }

    /// Returns where the payload is, after moving it if the header's length differs from the expected one.
    fn landed(&mut self, header: &FragmentHeader, len: usize) -> Spot {
        let Aim {
            spot, header_len, ..
        } = self.aim;
        let behind = |count| Spot {
            offset: spot.offset + count,
            ..spot
        };
        let actual = header.variant.len();
        if actual >= header_len {
            return behind(actual - header_len);
        }
        let lost = (header_len - actual).min(len);
        self.buffers.copy(spot, behind(lost), len - lost);
        self.buffers
            .get_mut(spot, lost)
            .copy_from_slice(&self.header[actual..actual + lost]);
        spot
    }

    /// Returns a slot for a frame whose first fragment arrived, or the cause of its drop.
    fn open(
        &mut self,
        identity: Identity,
        header: FragmentHeader,
        arrival: RosTime,
    ) -> Result<usize, DropCause> {
        if let Some(fate) = self.history.fate(&identity)
            && !self.clock_stands(&identity, &header)
        {
            let cause = if fate == Fate::Delivered {
                DropCause::Duplicate
            } else {
                DropCause::Late
            };
            self.counters.count(cause);
            return Err(cause);
        }
        if header.count > MAX_FRAGMENTS {
            self.refuse(identity, DropCause::Oversize);
            return Err(DropCause::Oversize);
        }
        let verdict = self.order.judge(mark_of(&header, arrival));
        self.counters.lost = self.order.lost();
        let cause = match verdict {
            // A copy of a finished frame was detected by its identity.
            Verdict::Next | Verdict::Same => None,
            Verdict::Restart => {
                self.abandon();
                None
            }
            Verdict::Late | Verdict::Duplicate => Some(DropCause::Stale),
            Verdict::Unconfirmed => Some(DropCause::Unconfirmed),
        };
        if let Some(cause) = cause {
            self.refuse(identity, cause);
            return Err(cause);
        }
        let slot = match self.free_slot(self.aim.spot.buffer) {
            Some(slot) => slot,
            None => {
                let oldest = (0..SLOTS)
                    .min_by_key(|slot| self.slots[*slot].opened())
                    .unwrap_or(0);
                self.give_up(oldest, DropCause::Incomplete);
                oldest
            }
        };
        if self
            .last
            .repeated
            .is_some_and(|(repeated, _)| repeated != identity)
        {
            self.last.repeated = None;
        }
        self.last.opened += 1;
        self.slots[slot].open(identity, header, self.last.opened, arrival);
        Ok(slot)
    }

    /// Whether a finished frame repeats so often that the simulator must be sending new ones with a standing clock.
    fn clock_stands(&mut self, identity: &Identity, header: &FragmentHeader) -> bool {
        let before = self
            .last
            .repeated
            .filter(|(repeated, _)| repeated == identity)
            .map_or(0, |(_, times)| times);
        let times = before.saturating_add(u32::from(header.seq == 0));
        self.last.repeated = Some((*identity, times));
        times >= STANDING_CLOCK_REPEATS
    }

    /// Ends the complete frame in `slot`; returns the slot if it has all its bytes.
    fn finish(&mut self, slot: usize, len: usize) -> (FrameInfo, Option<usize>) {
        let frame = &mut self.slots[slot];
        let (opened, hollow, arrival) = (frame.opened(), frame.is_hollow(), frame.arrival());
        let mut info = FrameInfo {
            sim_time: 0.0,
            frame_id: None,
            len,
            fragments: 0,
            arrival,
        };
        if let Some((identity, header)) = frame.close() {
            info = FrameInfo {
                sim_time: header.sim_time,
                frame_id: header.frame_id,
                len,
                fragments: header.count,
                arrival,
            };
            self.before = Some(self.order);
            self.order.advance(mark_of(&header, arrival));
            self.history.remember(identity, Fate::Delivered);
        }
        self.counters.frames += 1;
        for other in 0..SLOTS {
            let frame = &mut self.slots[other];
            let Some(time) = frame.header().map(|header| header.sim_time) else {
                continue;
            };
            let older = time < info.sim_time || (time == info.sim_time && frame.opened() < opened);
            if older || frame.overtake() >= MAX_OVERTAKEN {
                self.give_up(other, DropCause::Incomplete);
            }
        }
        self.give_back(slot, len);
        (info, (!hollow).then_some(slot))
    }

    /// Frees memory that only an unusually large frame needed; the frame in `slot` is still to be read.
    fn give_back(&mut self, slot: usize, len: usize) {
        let held = (0..SLOTS).map(|slot| self.buffers.held(slot)).max();
        let Some(needed) = self.peak.note(len, held.unwrap_or(0)) else {
            return;
        };
        for other in 0..SLOTS {
            if other == slot || self.slots[other].is_free() {
                self.buffers.shrink(other, needed + ROOM + 8);
            }
        }
    }

    /// Frees a slot whose frame will not be delivered.
    fn give_up(&mut self, slot: usize, cause: DropCause) {
        if let Some((identity, _)) = self.slots[slot].close() {
            self.refuse(identity, cause);
        }
    }

    /// Counts a frame that will not be delivered; its remaining fragments are late.
    fn refuse(&mut self, identity: Identity, cause: DropCause) {
        self.counters.count(cause);
        self.history.remember(identity, Fate::Dropped);
    }

    /// Makes room for `len` bytes at `spot`.
    fn grow(&mut self, spot: Spot, len: usize) {
        // Grows to the planned length of the frame at once: growth per fragment would copy repeatedly.
        let frame = self.slots.get(spot.buffer);
        let planned = frame
            .map_or(0, PartialFrame::planned_len)
            .min(self.max_frame_len);
        self.buffers
            .grow(spot.buffer, (spot.offset + len).max(planned + ROOM + 8));
    }
}

fn mark_of(header: &FragmentHeader, arrival: RosTime) -> Mark {
    Mark {
        id: header.frame_id,
        time: header.sim_time,
        arrival,
    }
}
