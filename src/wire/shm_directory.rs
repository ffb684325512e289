use super::{Packet, WireError, packet::expect_tag};
use zerocopy::FromZeros;
use zerocopy::little_endian::I32;

/// Sensors of one group; a renderer host has one group.
pub const SENSORS_PER_GROUP: u16 = 32;

const FIRST_TAG: i32 = 1_234_567_890;
const MAX_GROUP: i32 = 1000;

packets! {
    /// Image size of one sensor; 0 by 0 for none.
    SensorSize() { width: I32 = "Width in px.", height: I32 = "Height in px.", }
    /// `UE4CommMemData`, 264 bytes in shared memory: the sensors that the renderer accepted. Reading it is optional.
    ///
    /// The check word contains the group: 1234567890 plus 0..=1000.
    ShmDirectory() {
        checksum: I32 = "Check word with the group.",
        total: I32 = "Number of sensors.",
        sizes: [SensorSize; SENSORS_PER_GROUP as usize] = "Image sizes by sensor number within the group.",
    }
}

impl ShmDirectory {
    /// Name of the block.
    pub const FILE_NAME: &'static str = "UE4CommMemData";

    /// Creates the directory of `group` (0..=1000) without sensors.
    pub fn new(group: u16) -> Self {
        let checksum = (FIRST_TAG + i32::from(group).min(MAX_GROUP)).into();
        Self { checksum, ..Self::new_zeroed() }
    }

    /// Returns the group; its sensors are numbered from 32 times this number.
    pub fn group(&self) -> i32 {
        self.checksum.get().wrapping_sub(FIRST_TAG)
    }

    /// Adds a sensor; returns whether it belongs to the group.
    pub fn insert(&mut self, seq_id: u16, width: u16, height: u16) -> bool {
        let Some(index) = self.index(seq_id) else { return false };
        let [width, height] = [width, height].map(|pixels| i32::from(pixels).into());
        self.sizes[index] = SensorSize { width, height };
        let count = i32::try_from(index).map_or(i32::MAX, |i| i + 1);
        self.total = self.total.get().max(count).into();
        true
    }

    /// Whether the renderer accepted a sensor with this size, by the vendor's rule.
    pub fn accepted(&self, seq_id: u16, width: u16, height: u16) -> bool {
        let Some(index) = self.index(seq_id) else { return false };
        i32::try_from(index).is_ok_and(|i| i <= self.total.get())
            && self.sizes[index].width.get() == i32::from(width)
            && self.sizes[index].height.get() == i32::from(height)
    }

    /// Index of a sensor of this group in `sizes`.
    fn index(&self, seq_id: u16) -> Option<usize> {
        let first = self.group().checked_mul(i32::from(SENSORS_PER_GROUP))?;
        let index = usize::try_from(i32::from(seq_id).checked_sub(first)?).ok()?;
        (index < self.sizes.len()).then_some(index)
    }
}

impl Packet for ShmDirectory {
    const NAME: &'static str = "shared-memory directory";

    fn check(&self) -> Result<(), WireError> {
        match self.checksum.get() {
            found if (0..=MAX_GROUP).contains(&found.wrapping_sub(FIRST_TAG)) => Ok(()),
            found => expect_tag(Self::NAME, FIRST_TAG, found),
        }
    }
}
