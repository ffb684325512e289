//! Display of an object in the renderer: labels, attachment to a carrier, inputs of its blueprint.
//!
//! Source: vendor SDK, golden `ue4_send`.
use zerocopy::FromZeros;
use zerocopy::little_endian::{F32, F64, I32};

/// Which text of a vehicle a label sets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelRow {
    /// The row of the id; an empty text shows the id.
    Id,
    /// A row of messages, 1 to 5; the renderer appends a row if there are fewer.
    Message(u8),
    /// A new row below the others.
    Append,
}

packets! {
    /// `Ue4CopterMsg`, 152 bytes.
    LabelPacket("label", 1_234_567_899) {
        copter_id: I32 = "Vehicle id; 0 and below: all.",
        row: I32 = "Negative: append; 0: the row of the id; 1 to 5: a row of messages.",
        colour: [I32; 3] = "Red, green, blue, 0 to 255.",
        duration: F32 = "Seconds to show; 0: for ever, negative: remove.",
        font_size: F32 = "Size of the font.",
        text: [u8; 120] = "UTF-8, padded with zeros.",
    }
    /// `VehicleAttatch25`, 304 bytes: up to 25 objects and their carriers.
    AttachPacket("attachment", 1_234_567_892) {
        copter_ids: [I32; 25] = "Ids of the attached objects.",
        carrier_ids: [I32; 25] = "Ids of their carriers.",
        kinds: [I32; 25] = "See [`Attachment`].",
    }
    /// `Ue4ExtMsg`, 144 bytes: inputs 9 to 24 of a model's blueprint.
    ExtActuatorsPacket("inputs of a blueprint", 1_234_567_894, new) {
        copter_id: I32 = "Vehicle id.",
        time: F64 = "Seconds since the sender was created.",
        values: [F64; 16] = "The inputs.",
    }
}

impl LabelPacket {
    /// Creates the packet, or `None` if the text is longer than 120 bytes. `id` is `None` for all vehicles; `duration`
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

    /// Creates the packet that removes all messages of a vehicle, or of all vehicles.
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

impl AttachPacket {
    /// Number of objects in one packet.
    pub const SIZE: usize = 25;

    /// Creates the packet from ids of object and carrier with their attachment; `None` for more than 25.
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
