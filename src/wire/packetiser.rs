use super::{FragmentHeaderA, FragmentHeaderB, HeaderVariant};
use zerocopy::IntoBytes;

/// Bytes of a fragment header of either form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FragmentHeaderBytes {
    bytes: [u8; 32],
    variant: HeaderVariant,
}

impl FragmentHeaderBytes {
    /// Returns the 24 or 32 bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.variant.len()]
    }
}

/// One datagram of a frame, as two parts for a gather write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Fragment<'a> {
    /// Header.
    pub header: FragmentHeaderBytes,
    /// Part of the frame's payload.
    pub payload: &'a [u8],
}

impl Fragment<'_> {
    /// Returns the length of the datagram in bytes.
    pub fn datagram_len(&self) -> usize {
        self.header.as_bytes().len() + self.payload.len()
    }
}

/// The datagrams of one frame, made by [`fragments`].
#[derive(Clone, Debug)]
pub struct Fragments<'a> {
    rest: &'a [u8],
    piece: usize,
    variant: HeaderVariant,
    frame_id: i32,
    sim_time: f64,
    seq: i32,
    count: i32,
}

/// Splits the payload of a frame into datagrams as the vendor's forwarder does; nothing is copied.
///
/// Returns `len / piece + 1` datagrams; if the length is a multiple of `piece`, the last one is empty. The vendor's `piece` is
/// [`super::MAX_FRAGMENT_PAYLOAD`] unless a request contains another; 0 counts as 1. Only [`HeaderVariant::B`] has `frame_id`.
///
/// Source: vendor SDK, golden `img_forward_send`.
///
/// ```
/// use rfly_bridge::wire::{HeaderVariant, fragments};
/// let lengths = fragments(&[0; 60_000], 60_000, HeaderVariant::A, 0, 12.5).map(|f| f.datagram_len());
/// assert_eq!(lengths.collect::<Vec<_>>(), [60_024, 24]);
/// ```
pub fn fragments(
    payload: &[u8],
    piece: usize,
    variant: HeaderVariant,
    frame_id: i32,
    sim_time: f64,
) -> Fragments<'_> {
    let piece = piece.max(1);
    let count = i32::try_from(payload.len() / piece + 1).unwrap_or(i32::MAX);
    Fragments { rest: payload, piece, variant, frame_id, sim_time, seq: 0, count }
}

impl<'a> Iterator for Fragments<'a> {
    type Item = Fragment<'a>;

    fn next(&mut self) -> Option<Fragment<'a>> {
        if self.seq >= self.count {
            return None;
        }
        let (payload, rest) = self.rest.split_at(self.rest.len().min(self.piece));
        let len = i32::try_from(self.variant.len() + payload.len()).unwrap_or(i32::MAX);
        let mut bytes = [0; 32];
        match self.variant {
            HeaderVariant::A => {
                let header = FragmentHeaderA::new(len, self.seq, self.count, self.sim_time);
                bytes[..24].copy_from_slice(header.as_bytes());
            }
            HeaderVariant::B => {
                let header =
                    FragmentHeaderB::new(len, self.seq, self.count, self.frame_id, self.sim_time);
                bytes.copy_from_slice(header.as_bytes());
            }
        }
        self.rest = rest;
        self.seq += 1;
        Some(Fragment { header: FragmentHeaderBytes { bytes, variant: self.variant }, payload })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count - self.seq).unwrap_or(0);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Fragments<'_> {}
