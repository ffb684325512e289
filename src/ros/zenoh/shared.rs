//! Shared memory of the publishers of a node.
use super::failed;
use crate::ros::{RosError, block::Block};
use zenoh::{
    Wait as _,
    shm::{PosixShmProviderBackend, ShmProvider, ShmProviderBuilder},
};

/// Smaller samples are sent by the socket: Zenoh's own threshold.
const MIN_BYTES: usize = 3072;

/// Memory that readers on this host map.
pub(super) struct SharedPool(ShmProvider<PosixShmProviderBackend>);

/// A block for a sample.
pub(super) enum Taken {
    Shared(Block),
    /// All memory is with readers.
    Exhausted,
    /// Too small to be worth it.
    Small,
}

impl SharedPool {
    pub(super) fn new(bytes: usize) -> Result<Self, RosError> {
        let pool = ShmProviderBuilder::default_backend(bytes).wait();
        let subject = format!("{bytes} bytes of shared memory");
        pool.map(Self).map_err(|error| failed("allocate", &subject, &error))
    }

    /// Never waits.
    pub(super) fn take(&self, head: usize, data: usize) -> Taken {
        if data < MIN_BYTES {
            return Taken::Small;
        }
        // What readers have returned is used again first, while it is in the cache.
        self.0.garbage_collect();
        match self.0.alloc(Block::shared_size(head, data)).wait() {
            Ok(memory) => Taken::Shared(Block::shared(memory, head)),
            Err(_) => Taken::Exhausted,
        }
    }
}
