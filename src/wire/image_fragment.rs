use super::{Packet, WireError};
use zerocopy::FromBytes;
use zerocopy::little_endian::{F64, I32};

/// Payload bytes of a full fragment, unless the sensor's request contains another number.
pub const MAX_FRAGMENT_PAYLOAD: usize = 60_000;

/// The two header layouts in use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeaderVariant {
    /// 24 bytes, check word 1234567890, no frame id.
    A,
    /// 32 bytes, check word 1234567893, with frame id.
    B,
}

impl HeaderVariant {
    /// Returns the header length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a header is never empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::A => 24,
            Self::B => 32,
        }
    }
}

packets! {
    /// Header of one image fragment, short form.
    FragmentHeaderA("image fragment A", 1_234_567_890, new) {
        len: I32 = "Length of the whole datagram with this header.",
        seq: I32 = "Index of this fragment, from 0.",
        count: I32 = "Number of fragments of this frame.",
        sim_time: F64 = "Simulation time in s.",
    }
    /// Header of one image fragment, long form with frame id.
    FragmentHeaderB("image fragment B", 1_234_567_893) {
        len: I32 = "Length of the whole datagram with this header.",
        seq: I32 = "Index of this fragment, from 0.",
        count: I32 = "Number of fragments of this frame.",
        frame_id: I32 = "Frame counter.",
        reserved: I32 = "Reserved.",
        sim_time: F64 = "Simulation time in s.",
    }
}

impl FragmentHeaderB {
    /// Creates the header of fragment `seq` of `count` of frame `frame_id` for a datagram of `len` bytes.
    pub fn new(len: i32, seq: i32, count: i32, frame_id: i32, sim_time: f64) -> Self {
        Self {
            checksum: Self::TAG.into(),
            len: len.into(),
            seq: seq.into(),
            count: count.into(),
            frame_id: frame_id.into(),
            reserved: I32::ZERO,
            sim_time: sim_time.into(),
        }
    }
}

/// Contents of either header form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentHeader {
    /// The header form.
    pub variant: HeaderVariant,
    /// Index of this fragment, below `count`.
    pub seq: u32,
    /// Number of fragments of this frame, at least 1.
    pub count: u32,
    /// Frame counter, form B only.
    pub frame_id: Option<i32>,
    /// Simulation time in s.
    pub sim_time: f64,
}

impl FragmentHeader {
    /// Parses the header at the start of a datagram of `datagram_len` bytes; `head` may be only its first bytes.
    ///
    /// The form is detected per datagram, so a foreign datagram does not affect later ones.
    pub fn parse(head: &[u8], datagram_len: usize) -> Result<Self, WireError> {
        const WHAT: &str = "image fragment";
        let tag = I32::ref_from_prefix(head).map_err(|_cast| WireError::Length {
            what: WHAT,
            expected: HeaderVariant::A.len(),
            found: datagram_len,
        })?;
        let (variant, len, seq, count, frame_id, sim_time) = match tag.0.get() {
            FragmentHeaderA::TAG => {
                let (h, _) = FragmentHeaderA::parse_prefix(head)?;
                (HeaderVariant::A, h.len, h.seq, h.count, None, h.sim_time)
            }
            FragmentHeaderB::TAG => {
                let (h, _) = FragmentHeaderB::parse_prefix(head)?;
                (HeaderVariant::B, h.len, h.seq, h.count, Some(h.frame_id.get()), h.sim_time)
            }
            found => {
                return Err(WireError::Tag {
                    what: WHAT,
                    expected: FragmentHeaderA::TAG.into(),
                    found: found.into(),
                });
            }
        };
        let field =
            |field, found: I32| WireError::Field { what: WHAT, field, found: found.get().into() };
        if usize::try_from(len.get()) != Ok(datagram_len) {
            return Err(field("PackLen", len));
        }
        let count_value =
            u32::try_from(count.get()).ok().filter(|c| *c > 0).ok_or(field("PackNum", count))?;
        let seq_value = u32::try_from(seq.get())
            .ok()
            .filter(|s| *s < count_value)
            .ok_or(field("PackSeq", seq))?;
        let sim_time = sim_time.get();
        // Beyond wall-clock times of this century, or below any clock resolution: pixel data, not a time.
        if sim_time != 0.0 && !(1e-9..9e9).contains(&sim_time.abs()) {
            return Err(WireError::Field { what: WHAT, field: "timestamp", found: 0 });
        }
        Ok(Self { variant, seq: seq_value, count: count_value, frame_id, sim_time })
    }
}
