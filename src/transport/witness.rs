//! Programs in this process that see what is received, as it was received.
use super::Datagram;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Sees what sockets and blocks receive. It is called on the receiving thread and must not wait.
pub trait Witness: Send + Sync {
    /// A datagram that was received at this port, in consecutive parts.
    fn datagram(&self, port: u16, datagram: &Datagram, parts: &[&[u8]]);

    /// A frame in the shared memory of this name, with its head, and when it was found there in ns since 1970.
    fn block(&self, name: &str, time: i64, bytes: &[u8]);
}

/// The place of a witness, which all receivers share.
#[derive(Clone, Default)]
pub struct Stand(Arc<Place>);

#[derive(Default)]
struct Place {
    /// So that without a witness no lock is taken.
    taken: AtomicBool,
    witness: RwLock<Option<Arc<dyn Witness>>>,
}

impl Stand {
    /// Replaces the witness.
    pub fn set(&self, witness: Option<Arc<dyn Witness>>) {
        let mut place = self
            .0
            .witness
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        self.0.taken.store(witness.is_some(), Ordering::Relaxed);
        *place = witness;
    }

    /// Whether there is a witness, who wants whole datagrams.
    pub fn is_taken(&self) -> bool {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Calls `show` with the witness, if there is one.
    pub fn show(&self, show: impl FnOnce(&dyn Witness)) {
        if self.is_taken() {
            let place = self
                .0
                .witness
                .read()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(witness) = place.as_deref() {
                show(witness);
            }
        }
    }
}

impl fmt::Debug for Stand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stand {{ taken: {} }}", self.is_taken())
    }
}
