//! Shared memory of the publishers of a node.
use super::failed;
use crate::ros::{RosError, block::Block};
use zenoh::{
    Wait as _,
    shm::{PosixShmProviderBackend, ShmProvider, ShmProviderBuilder},
};

/// Smaller samples are sent through sockets; Zenoh has the same threshold.
const MIN_BYTES: usize = 3072;

/// Memory that readers on this host map.
pub(super) struct SharedPool(ShmProvider<PosixShmProviderBackend>);

/// A block for a sample.
pub(super) enum Taken {
    Shared(Block),
    /// Readers hold all memory.
    Exhausted,
    /// The data are smaller than [`MIN_BYTES`].
    Small,
}

impl SharedPool {
    pub(super) fn new(bytes: usize) -> Result<Self, RosError> {
        let pool = ShmProviderBuilder::default_backend(bytes).wait();
        let subject = format!("{bytes} bytes of shared memory");
        pool.map(Self).map_err(|error| failed("allocate", &subject, &error))
    }

    /// Takes a block; never waits.
    pub(super) fn take(&self, head: usize, data: usize) -> Taken {
        if data < MIN_BYTES {
            return Taken::Small;
        }
        // Memory that readers have returned is reused first, while it is in the CPU's cache.
        self.0.garbage_collect();
        match self.0.alloc(Block::shared_size(head, data)).wait() {
            Ok(memory) => Taken::Shared(Block::shared(memory, head)),
            Err(_) => Taken::Exhausted,
        }
    }
}
