//! What the renderer shows with an object: labels, attachment to a carrier, inputs of its blueprint.
//!
//! Source: vendor SDK, golden `ue4_send`.
use super::{Packet, WireError, expect_tag};
use zerocopy::little_endian::{F32, F64, I32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Which text of a vehicle a label sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelRow {
    /// The row of the id; an empty text shows the id.
    Id,
    /// A row of the messages, 1 to 5; the renderer appends one where there are fewer.
    Message(u8),
    /// A new row below the others.
    Append,
}

/// `Ue4CopterMsg`, 152 bytes.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct LabelPacket {
    /// Check word 1234567899.
    pub checksum: I32,
    /// Vehicle id; 0 and below: all.
    pub copter_id: I32,
    /// Negative: append; 0: the row of the id; 1 to 5: a row of messages.
    pub row: I32,
    /// Red, green, blue, 0 to 255.
    pub colour: [I32; 3],
    /// Seconds to show; 0: for ever, negative: remove.
    pub duration: F32,
    /// Size of the font.
    pub font_size: F32,
    /// UTF-8, padded with zeros.
    pub text: [u8; 120],
}

impl LabelPacket {
    const TAG: i32 = 1_234_567_899;

    /// Creates the packet, or `None` where the text is longer than 120 bytes. `id` is `None` for all vehicles; `duration`
    /// is in s, 0 is for ever.
    pub fn new(
        id: Option<i32>,
        row: LabelRow,
        text: &str,
        (colour, font_size): ([u8; 3], f32),
        duration: f32,
    ) -> Option<Self> {
        let mut packet = Self {
            checksum: Self::TAG.into(),
            copter_id: id.unwrap_or(0).into(),
            row: match row {
                LabelRow::Id => I32::ZERO,
                LabelRow::Message(row) => i32::from(row).into(),
                LabelRow::Append => I32::new(-1),
            },
            colour: colour.map(|c| i32::from(c).into()),
            duration: duration.into(),
            font_size: font_size.into(),
            text: [0; 120],
        };
        packet.text.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(packet)
    }

    /// Creates the packet that removes all messages of a vehicle, or of all.
    pub fn clear(id: Option<i32>) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: id.unwrap_or(0).into(),
            row: I32::new(-1),
            duration: F32::new(-1.0),
            ..Self::new_zeroed()
        }
    }
}

impl Packet for LabelPacket {
    const NAME: &'static str = "label";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

/// How an object follows its carrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i32)]
pub enum Attachment {
    /// Not at all.
    None = 0,
    /// Its position alone.
    Position = 1,
    /// Position and yaw.
    PositionYaw = 2,
    /// Position and attitude.
    Pose = 3,
}

/// `VehicleAttatch25`, 304 bytes: up to 25 objects and their carriers.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct AttachPacket {
    /// Check word 1234567892.
    pub checksum: I32,
    /// The attached.
    pub copter_ids: [I32; 25],
    /// The carriers.
    pub carrier_ids: [I32; 25],
    /// See [`Attachment`].
    pub kinds: [I32; 25],
}

impl AttachPacket {
    const TAG: i32 = 1_234_567_892;
    /// Number of objects in one packet.
    pub const SIZE: usize = 25;

    /// Creates the packet of object, carrier and attachment each; `None` where there are more than 25.
    pub fn new(pairs: &[(i32, i32, Attachment)]) -> Option<Self> {
        if pairs.len() > Self::SIZE {
            return None;
        }
        let mut packet = Self::new_zeroed();
        packet.checksum = Self::TAG.into();
        for (i, (id, carrier, kind)) in pairs.iter().enumerate() {
            packet.copter_ids[i] = (*id).into();
            packet.carrier_ids[i] = (*carrier).into();
            packet.kinds[i] = (*kind as i32).into();
        }
        Some(packet)
    }
}

impl Packet for AttachPacket {
    const NAME: &'static str = "attachment";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}

/// `Ue4ExtMsg`, 144 bytes: inputs 9 to 24 of a model's blueprint.
#[derive(
    Clone, Copy, Debug, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ExtActuatorsPacket {
    /// Check word 1234567894.
    pub checksum: I32,
    /// Vehicle id.
    pub copter_id: I32,
    /// Seconds since the sender was created.
    pub time: F64,
    /// The inputs.
    pub values: [F64; 16],
}

impl ExtActuatorsPacket {
    const TAG: i32 = 1_234_567_894;

    /// Creates the packet.
    pub fn new(id: i32, time: f64, values: [f64; 16]) -> Self {
        Self {
            checksum: Self::TAG.into(),
            copter_id: id.into(),
            time: time.into(),
            values: values.map(F64::new),
        }
    }
}

impl Packet for ExtActuatorsPacket {
    const NAME: &'static str = "inputs of a blueprint";

    fn check(&self) -> Result<(), WireError> {
        expect_tag(Self::NAME, Self::TAG.into(), self.checksum.get().into())
    }
}
