//! Copies of received data, unchanged, for another part of this process: the recorder.
use super::Datagram;
use parking_lot::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, sync::Arc};

/// Receives copies of received datagrams and frames. It is called on the receiving thread and must not block.
pub trait PacketTap: Send + Sync {
    /// A datagram received at this port, in consecutive parts.
    fn datagram(&self, port: u16, datagram: &Datagram, parts: &[&[u8]]);

    /// A frame in the shared memory of this name, with its header, and the time in ns since 1970 when it was found.
    fn block(&self, name: &str, time: i64, bytes: &[u8]);
}

/// The tap that all receivers share, if there is one.
#[derive(Clone, Default)]
pub struct PacketTapSlot(Arc<SharedTap>);

#[derive(Default)]
struct SharedTap {
    /// Lets receivers skip the lock while there is no tap.
    is_tapped: AtomicBool,
    tap: RwLock<Option<Arc<dyn PacketTap>>>,
}

impl PacketTapSlot {
    /// Replaces the tap.
    pub fn set(&self, tap: Option<Arc<dyn PacketTap>>) {
        let mut current = self.0.tap.write();
        self.0.is_tapped.store(tap.is_some(), Ordering::Relaxed);
        *current = tap;
    }

    /// Whether there is a tap, which needs whole datagrams.
    pub fn is_tapped(&self) -> bool {
        self.0.is_tapped.load(Ordering::Relaxed)
    }

    /// Calls `call` with the tap, if there is one.
    pub fn with(&self, call: impl FnOnce(&dyn PacketTap)) {
        if self.is_tapped() {
            let tap = self.0.tap.read();
            if let Some(tap) = tap.as_deref() {
                call(tap);
            }
        }
    }
}

impl fmt::Debug for PacketTapSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PacketTapSlot {{ is_tapped: {} }}", self.is_tapped())
    }
}
