use super::{Packet, WireError};
use zerocopy::little_endian::I32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Sensors of one group; a renderer host has one group.
pub const SENSORS_PER_GROUP: u16 = 32;

const FIRST_TAG: i32 = 1_234_567_890;
const MAX_GROUP: i32 = 1000;

/// Image size of one sensor; 0 by 0 for none.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    FromBytes,
    Immutable,
    IntoBytes,
    KnownLayout,
    PartialEq,
    Unaligned,
)]
#[repr(C)]
pub struct SensorSize {
    /// Width in px.
    pub width: I32,
    /// Height in px.
    pub height: I32,
}

/// `UE4CommMemData`, 264 bytes in shared memory: the sensors that the renderer accepted. Reading it is optional.
///
/// The check word carries the group: 1234567890 plus 0..=1000.
#[derive(
    Clone, Copy, Debug, Eq, FromBytes, Immutable, IntoBytes, KnownLayout, PartialEq, Unaligned,
)]
#[repr(C)]
pub struct ShmDirectory {
    /// Check word with the group.
    pub checksum: I32,
    /// Number of sensors.
    pub total: I32,
    /// Sizes by number within the group.
    pub sizes: [SensorSize; SENSORS_PER_GROUP as usize],
}

impl ShmDirectory {
    /// Name of the block.
    pub const FILE_NAME: &'static str = "UE4CommMemData";

    /// Creates the directory of `group` (0..=1000) without sensors.
    pub fn new(group: u16) -> Self {
        Self {
            checksum: (FIRST_TAG + i32::from(group).min(MAX_GROUP)).into(),
            total: I32::ZERO,
            sizes: [SensorSize::default(); SENSORS_PER_GROUP as usize],
        }
    }

    /// Returns the group; its sensors are numbered from 32 times this number.
    pub fn group(&self) -> i32 {
        self.checksum.get().wrapping_sub(FIRST_TAG)
    }

    /// Adds a sensor; returns whether it belongs to the group.
    pub fn insert(&mut self, seq_id: u16, width: u16, height: u16) -> bool {
        let Some((index, entry)) =
            self.index(seq_id).and_then(|i| Some((i, self.sizes.get_mut(i)?)))
        else {
            return false;
        };
        *entry = SensorSize { width: i32::from(width).into(), height: i32::from(height).into() };
        let count = i32::try_from(index).map_or(i32::MAX, |i| i + 1);
        self.total = self.total.get().max(count).into();
        true
    }

    /// Whether the renderer accepted a sensor with this size, by the vendor's rule.
    pub fn accepted(&self, seq_id: u16, width: u16, height: u16) -> bool {
        let Some(index) = self.index(seq_id) else {
            return false;
        };
        i32::try_from(index).is_ok_and(|i| i <= self.total.get())
            && self.sizes.get(index).is_some_and(|size| {
                size.width.get() == i32::from(width) && size.height.get() == i32::from(height)
            })
    }

    fn index(&self, seq_id: u16) -> Option<usize> {
        let first = self.group().checked_mul(i32::from(SENSORS_PER_GROUP))?;
        let index = usize::try_from(i32::from(seq_id).checked_sub(first)?).ok()?;
        (index < self.sizes.len()).then_some(index)
    }
}

impl Packet for ShmDirectory {
    const NAME: &'static str = "shared-memory directory";

    fn check(&self) -> Result<(), WireError> {
        let found = self.checksum.get();
        if (FIRST_TAG..=FIRST_TAG + MAX_GROUP).contains(&found) {
            Ok(())
        } else {
            Err(WireError::Tag {
                what: Self::NAME,
                expected: FIRST_TAG.into(),
                found: found.into(),
            })
        }
    }
}
