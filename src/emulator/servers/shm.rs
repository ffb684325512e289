//! Shared-memory transport: the renderer's side of the flag protocol.
use crate::emulator::cloud_format::CloudFormat;
use crate::transport::{SharedBlock, ShmError};
use crate::wire::{
    Packet as _, Payload, SENSORS_PER_GROUP, SHM_HEADER_LEN, SensorKind, SensorRequest,
    ShmDirectory, ShmFlag, points_of, shm_block_len, shm_name,
};
use std::time::{Duration, Instant};
use zerocopy::IntoBytes as _;

/// Maximum time that a frame waits for a reader that is copying.
const PATIENCE: Duration = Duration::from_millis(5);
/// After this time a copying reader counts as dead.
const DEAD: Duration = Duration::from_secs(1);

/// The block of one sensor; dropping it removes its name, as a closing renderer does.
pub(in crate::emulator) struct SensorBlock {
    block: SharedBlock,
    name: String,
    size: usize,
    reading_since: Option<Instant>,
}

impl SensorBlock {
    pub(in crate::emulator) fn create(
        request: &SensorRequest,
        clouds: CloudFormat,
    ) -> Result<Self, ShmError> {
        let (name, size) = (shm_name(request.seq_id), size(request, clouds));
        // Readers derive the form of clouds from the length; a crashed renderer may have left a block of another length.
        if SharedBlock::open_any(&name, 1..=size + 1).is_ok_and(|old| old.len() != size) {
            let _ = SharedBlock::remove(&name); // another process may have removed it first
        }
        let block =
            Self { block: SharedBlock::create(&name, size)?, name, size, reading_since: None };
        block.block.set_flag(ShmFlag::Empty as u8);
        register(request)?;
        Ok(block)
    }

    /// Whether a changed request can keep the block, which readers have mapped.
    pub(in crate::emulator) fn fits(&self, request: &SensorRequest, clouds: CloudFormat) -> bool {
        self.size == size(request, clouds)
    }

    /// Writes a frame; returns whether the block became free in time.
    pub(in crate::emulator) fn write(&mut self, sim_time: f64, payload: &[u8]) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let flag = self.block.flag();
            let is_dead = self.reading_since.is_some_and(|since| since.elapsed() > DEAD);
            // Compare and swap: a reader may start between the check and the write.
            if (flag != ShmFlag::Reading as u8 || is_dead)
                && self.block.swap_flag(flag, ShmFlag::Writing as u8)
            {
                break;
            }
            self.reading_since.get_or_insert_with(Instant::now);
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        self.reading_since = None;
        self.block.copy_in(1, &sim_time.to_le_bytes());
        self.block.copy_in(SHM_HEADER_LEN, payload);
        self.block.set_flag(ShmFlag::Ready as u8);
        true
    }
}

impl Drop for SensorBlock {
    fn drop(&mut self) {
        let _ = SharedBlock::remove(&self.name); // another process may have removed it first
    }
}

fn size(request: &SensorRequest, clouds: CloudFormat) -> usize {
    let SensorRequest { type_id, width, height, other_params: [_, max_objects, ..], .. } = *request;
    if let Some(kind) = SensorKind::from_type_id(type_id)
        && matches!(kind.row().payload, Payload::Points(_))
    {
        let form = clouds.of(request);
        let points = points_of(kind, width, height) * form.points().bytes();
        return SHM_HEADER_LEN + form.header_len() + points;
    }
    // `as` saturates: negative and huge numbers of objects become 0 and the maximum
    shm_block_len(type_id, width, height, max_objects as u32).unwrap_or(SHM_HEADER_LEN)
}

/// Adds a sensor to the directory shared by all sensors of a host.
fn register(request: &SensorRequest) -> Result<(), ShmError> {
    let block = SharedBlock::create(ShmDirectory::FILE_NAME, ShmDirectory::LEN)?;
    let mut bytes = [0; ShmDirectory::LEN];
    block.copy_out(0, &mut bytes);
    let group = request.seq_id / SENSORS_PER_GROUP;
    let found = ShmDirectory::parse(&bytes).ok().filter(|d| d.group() == i32::from(group)).copied();
    let mut directory = found.unwrap_or_else(|| ShmDirectory::new(group));
    directory.insert(request.seq_id, request.width, request.height);
    block.copy_in(0, directory.as_bytes());
    Ok(())
}
