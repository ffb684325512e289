use super::{
    BoxEntry, CloudHeader, MID360_POINTS, OdometryCloudHeader, Optics, Packet, Payload, PointForm,
    RangeRecord, SensorKind, TargetEntry,
};
use std::ops::RangeInclusive;
use zerocopy::TryFromBytes;
use zerocopy::little_endian::F64;

/// Bytes before the payload: flag u8 at 0, simulation time f64 at 1 (unaligned).
pub const SHM_HEADER_LEN: usize = 9;

/// Value of the flag byte of a shared-memory block.
///
/// The renderer writes [`Self::Ready`]; a reader sets [`Self::Reading`], copies, and sets [`Self::Released`]. The
/// meaning of 0 and 1 is inferred (docs/wire/shared_memory.md).
#[derive(Clone, Copy, Debug, Eq, PartialEq, zerocopy::TryFromBytes)]
#[repr(u8)]
pub enum ShmFlag {
    /// Nothing written yet.
    Empty = 0,
    /// The renderer is writing.
    Writing = 1,
    /// A frame is complete.
    Ready = 2,
    /// A reader is copying.
    Reading = 3,
    /// The reader has finished; the renderer may write.
    Released = 4,
}

impl TryFrom<u8> for ShmFlag {
    type Error = u8;

    /// Fails with the byte itself if it is no known flag.
    fn try_from(byte: u8) -> Result<Self, u8> {
        Self::try_read_from_bytes(&[byte]).map_err(|_unknown| byte)
    }
}

packets! {
    /// Start of a shared-memory block, 9 bytes; the time is not aligned.
    ///
    /// A view of a *copy*: the live flag is read and written with atomic operations by the transport.
    ShmHeader("shared-memory header") {
        flag: u8 = "State of the block, see [`ShmFlag`].",
        sim_time: F64 = "Simulation time in s.",
    }
}

impl ShmHeader {
    /// Creates a header.
    pub fn new(flag: ShmFlag, sim_time: f64) -> Self {
        Self { flag: flag as u8, sim_time: sim_time.into() }
    }
}

/// Returns the name of the block of a sensor below `/dev/shm`.
pub fn shm_name(seq_id: u16) -> String {
    format!("RflySim3DImg_{seq_id}")
}

/// Returns the size of the block of a sensor, or `None` for an unknown type or too many objects. A cloud has the format of
/// the oldest simulators.
///
/// `max_objects` is `otherParams[1]` of types 30 and 31; other types ignore it.
pub fn shm_block_len(type_id: u16, width: u16, height: u16, max_objects: u32) -> Option<usize> {
    let kind = SensorKind::from_type_id(type_id)?;
    let points = points_of(kind, width, height);
    let objects = usize::try_from(max_objects).ok()?;
    let payload = match kind.row().payload {
        Payload::Bgr8 => points * 3,
        Payload::Grey16 => points * 2,
        Payload::Grey8 => points,
        Payload::Range => RangeRecord::LEN,
        Payload::Points(oldest) => CloudHeader::LEN + points * oldest.bytes(),
        Payload::Boxes => 4 + objects.checked_mul(BoxEntry::LEN)?,
        Payload::Targets => 4 + objects.checked_mul(TargetEntry::LEN)?,
    };
    Some(SHM_HEADER_LEN + payload)
}

/// Returns the sizes that the block of a sensor can have, from the smallest to the largest: a cloud may have three i16
/// numbers a point, or four f32 after the longer header.
pub fn shm_block_lens(
    type_id: u16,
    width: u16,
    height: u16,
    max_objects: u32,
) -> Option<RangeInclusive<usize>> {
    let len = shm_block_len(type_id, width, height, max_objects)?;
    let kind = SensorKind::from_type_id(type_id)?;
    let cloud = |head: usize, form: PointForm| {
        SHM_HEADER_LEN + head + form.bytes() * points_of(kind, width, height)
    };
    Some(match kind.row().payload {
        Payload::Points(_) => {
            cloud(CloudHeader::LEN, PointForm::I16x3)
                ..=cloud(OdometryCloudHeader::LEN, PointForm::F32x4)
        }
        _ => len..=len,
    })
}

/// Returns the number of pixels or points in a whole frame of a sensor.
pub fn points_of(kind: SensorKind, width: u16, height: u16) -> usize {
    match kind.row().optics {
        Optics::Mid360 => MID360_POINTS,
        _ => usize::from(width) * usize::from(height),
    }
}
