//! Identity of a request, as RTPS sends it beside the payload: sequence number, GUIDs, and `related_sample_identity` in
//! the inline QoS (RTPS 2.5, 9.4.5; OMG DDS-RPC 1.0, 7.8.2). `rmw_fastrtps_cpp` matches responses by these.

/// An entity's GUID in network byte order.
pub(super) type Guid = [u8; 16];

/// One sample of one writer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct SampleIdentity {
    pub(super) writer: Guid,
    pub(super) sequence: i64,
}

/// `PID_RELATED_SAMPLE_IDENTITY` of DDS-RPC, and its older number in Fast DDS.
pub(super) const RELATED_SAMPLE_IDENTITY: [u16; 2] = [0x0083, 0x800f];
const SENTINEL: u16 = 1;
/// First bytes of GUIDs of Fast DDS.
pub(super) const FAST_DDS: [u8; 2] = [1, 15];
/// First bytes of GUIDs of Cyclone DDS.
pub(super) const CYCLONE: [u8; 2] = [1, 16];
const UNKNOWN: Guid = [0; 16];

impl SampleIdentity {
    pub(super) const BYTES: usize = 24;

    /// The value of the parameter in native byte order; the high half of the sequence number precedes the low half.
    pub(super) fn parameter(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (guid, halves) = bytes.split_at_mut(16);
        guid.copy_from_slice(&self.writer);
        let (high, low) = halves.split_at_mut(4);
        high.copy_from_slice(&((self.sequence >> 32) as u32).to_ne_bytes());
        low.copy_from_slice(&(self.sequence as u32).to_ne_bytes());
        bytes
    }
}

/// What the packet of a request contains beside the payload.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct RequestHead {
    /// Sequence number of the sample, from 1.
    pub(super) sequence: i64,
    /// GUID of the writer.
    pub(super) writer: Guid,
    /// GUID in `related_sample_identity`: `rmw_fastrtps_cpp` puts the reader of the response there.
    pub(super) related: Option<Guid>,
}

impl RequestHead {
    /// Length of [`Self::bytes`]; a multiple of 8, to keep the payload aligned.
    pub(super) const BYTES: usize = 40;

    /// The encoding that precedes the payload.
    pub(super) fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (sequence, guids) = bytes.split_at_mut(8);
        sequence.copy_from_slice(&self.sequence.to_ne_bytes());
        let (writer, related) = guids.split_at_mut(16);
        writer.copy_from_slice(&self.writer);
        related.copy_from_slice(&self.related.unwrap_or(UNKNOWN));
        bytes
    }

    /// Splits off the head.
    pub(super) fn split(sample: &[u8]) -> Option<(Self, &[u8])> {
        let (sequence, rest) = sample.split_first_chunk::<8>()?;
        let (writer, rest) = rest.split_first_chunk::<16>()?;
        let (related, payload) = rest.split_first_chunk::<16>()?;
        let head = Self {
            sequence: i64::from_ne_bytes(*sequence),
            writer: *writer,
            related: Some(*related).filter(|guid| *guid != UNKNOWN),
        };
        Some((head, payload))
    }

    /// Reads a packet up to the payload of its DATA or DATA_FRAG submessage at `submessage`, which Cyclone has validated.
    /// Cyclone has converted the fixed fields to native byte order; the parameters are as received.
    pub(super) fn read(packet: &[u8], submessage: usize) -> Option<Self> {
        let prefix = packet.get(8..20)?;
        let data = packet.get(submessage..)?;
        let number = |at: usize| -> Option<u32> {
            Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?))
        };
        let mut writer = UNKNOWN;
        let (own_prefix, own_entity) = writer.split_at_mut(12);
        own_prefix.copy_from_slice(prefix);
        own_entity.copy_from_slice(&number(12)?.to_be_bytes());
        let flags = *data.get(1)?;
        let to_parameters = u16::from_ne_bytes(data.get(6..8)?.try_into().ok()?);
        let parameters = data.get(8 + usize::from(to_parameters)..);
        Some(Self {
            sequence: i64::from(number(16)?) << 32 | i64::from(number(20)?),
            writer,
            related: parameters
                .filter(|_| flags & 2 != 0)
                .and_then(|list| related(list, flags & 1 != 0)),
        })
    }
}

/// The writer of `related_sample_identity` in a list of parameters.
fn related(mut list: &[u8], little_endian: bool) -> Option<Guid> {
    let number = if little_endian { u16::from_le_bytes } else { u16::from_be_bytes };
    loop {
        let (id, rest) = list.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, length) = (number(*id), usize::from(number(*length)));
        if id == SENTINEL {
            return None;
        }
        let (value, rest) = rest.split_at_checked(length)?;
        if RELATED_SAMPLE_IDENTITY.contains(&id) && length >= SampleIdentity::BYTES {
            let guid = *value.first_chunk::<16>()?;
            return Some(guid).filter(|guid| *guid != UNKNOWN);
        }
        list = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: Guid = [1, 15, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 21, 4];

    /// A request as Fast DDS 2.6 sends it: RTPS header, DATA with inline QoS, in native byte order where Cyclone
    /// converts, `extra` in front of the identity.
    fn packet(extra: &[u8], little_endian: bool) -> Vec<u8> {
        let number = if little_endian { u16::to_le_bytes } else { u16::to_be_bytes };
        let mut packet = b"RTPS\x02\x03\x01\x0f".to_vec();
        packet.extend(&READER[..12]);
        packet.extend([0x15, if little_endian { 7 } else { 6 }, 0, 0, 0, 0]);
        packet.extend(16u16.to_ne_bytes());
        packet.extend([0; 4]);
        packet.extend(0x1603u32.to_ne_bytes());
        packet.extend(2u32.to_ne_bytes());
        packet.extend(5u32.to_ne_bytes());
        packet.extend(extra);
        packet.extend([number(0x800f), number(24)].concat());
        packet.extend(READER);
        packet.extend([255, 255, 255, 255, 0, 0, 0, 0]);
        packet.extend([number(1), number(0)].concat());
        packet
    }

    #[test]
    fn sequence_number_writer_and_related_reader_are_found_in_both_byte_orders() {
        let mut writer = READER;
        writer[12..].copy_from_slice(&[0, 0, 0x16, 3]);
        for little_endian in [true, false] {
            let head = RequestHead { sequence: (2 << 32) | 5, writer, related: Some(READER) };
            let packet = packet(&[], little_endian);
            assert_eq!(RequestHead::read(&packet, 20), Some(head));
            let encoded = [&head.bytes()[..], b"payload"].concat();
            assert_eq!(RequestHead::split(&encoded), Some((head, &b"payload"[..])));
        }
    }

    #[test]
    fn other_parameters_are_skipped_and_truncated_lists_have_no_identity() {
        let whole = packet(&[0x71, 0, 4, 0, 0, 0, 0, 0], true);
        let related = |packet: &[u8]| RequestHead::read(packet, 20).and_then(|head| head.related);
        assert_eq!(related(&whole), Some(READER));
        for length in 0..whole.len() - 12 {
            assert_eq!(related(&whole[..length]), None, "{length}");
        }
        let beyond = packet(&[0x71, 0, 255, 255], true);
        assert_eq!(related(&beyond), None);
        assert_eq!(RequestHead::read(&whole, usize::from(u16::MAX)), None);
    }

    #[test]
    fn a_parameter_has_the_high_half_of_the_number_first() {
        let identity = SampleIdentity { writer: READER, sequence: (2 << 32) | 5 };
        let expected = [&READER[..], &2u32.to_ne_bytes(), &5u32.to_ne_bytes()].concat();
        assert_eq!(identity.parameter()[..], expected);
    }
}
