//! Threads for the service calls of clients, with limits.
use crate::node::service_call::CommandError;
use crate::node::tasks;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// Maximum number of cancelled calls of one client whose threads still run.
const MAX_CANCELLED: usize = 8;
/// Maximum number of threads for the calls of all clients.
const MAX_THREADS: usize = 256;
/// Requests up to this length in bytes do not count towards [`MAX_LONG_BYTES`]: commands of an operator are shorter.
const SHORT_REQUEST: usize = 4 << 10;
/// Maximum total length of all longer requests in bytes: a decoded request takes up to a hundred times its length in memory.
const MAX_LONG_BYTES: usize = 2 << 20;

/// Limits that all clients share.
#[derive(Clone)]
pub(super) struct CallCapacity {
    threads: Arc<Semaphore>,
    /// One permit per byte of the longer requests.
    bytes: Arc<Semaphore>,
}

impl Default for CallCapacity {
    fn default() -> Self {
        Self {
            threads: Arc::new(Semaphore::new(MAX_THREADS)),
            bytes: Arc::new(Semaphore::new(MAX_LONG_BYTES)),
        }
    }
}

/// The calls of one client. Each has a thread, because the search for the service polls the graph and blocks. A call beyond
/// `max_pending` cancels the oldest call, whose request may be sent already. A new call is refused while too many threads run.
pub(super) struct CallThreads {
    max_pending: usize,
    /// Cancels all calls when it changes or its sender is dropped.
    shutdown: watch::Receiver<()>,
    /// One sender per call, which cancels it; the oldest call first.
    pending: Mutex<VecDeque<watch::Sender<bool>>>,
    threads: Arc<Semaphore>,
    capacity: CallCapacity,
}

/// Waits for responses on the thread of a call, until the call is cancelled.
pub(super) struct CallWaiter {
    runtime: Runtime,
    shutdown: watch::Receiver<()>,
    cancelled: watch::Receiver<bool>,
}

impl CallThreads {
    pub(super) fn new(
        max_pending: usize,
        shutdown: watch::Receiver<()>,
        capacity: CallCapacity,
    ) -> Self {
        Self {
            max_pending,
            shutdown,
            pending: Mutex::default(),
            threads: Arc::new(Semaphore::new(max_pending + MAX_CANCELLED)),
            capacity,
        }
    }

    /// Runs `work` for a request of `len` bytes on a new thread.
    pub(super) fn start(
        &self,
        len: usize,
        work: impl FnOnce(Result<CallWaiter, String>) + Send + 'static,
    ) -> Result<(), String> {
        let mut pending = self.pending.lock();
        pending.retain(|call| !call.is_closed());
        while pending.len() >= self.max_pending
            && let Some(oldest) = pending.pop_front()
        {
            oldest.send_replace(true);
        }
        let client_permit = self.threads.clone().try_acquire_owned();
        let shared_permit = self.capacity.threads.clone().try_acquire_owned();
        let (Ok(client_permit), Ok(shared_permit)) = (client_permit, shared_permit) else {
            return Err("too many calls are pending; try again when some have ended".to_owned());
        };
        let charged = if len > SHORT_REQUEST { len as u32 } else { 0 };
        let bytes = self.capacity.bytes.clone();
        let bytes = bytes.try_acquire_many_owned(charged).map_err(|full| {
            format!("a request of {len} bytes is refused: other long requests are pending ({full}); try again when they have ended")
        })?;
        let (cancel, cancelled) = watch::channel(false);
        let shutdown = self.shutdown.clone();
        let body = move || {
            let _permits = (client_permit, shared_permit, bytes);
            let runtime = tasks::runtime("a call").map_err(|error| error.to_string());
            work(runtime.map(|runtime| CallWaiter { runtime, shutdown, cancelled }));
        };
        tasks::spawn_once("rfly-call", body).map_err(|error| error.to_string())?;
        pending.push_back(cancel);
        Ok(())
    }
}

impl CallWaiter {
    /// The response of a call, unless it is cancelled by newer calls or the end of the bridge.
    pub(super) fn response(
        &self,
        call: impl Future<Output = Result<String, CommandError>>,
    ) -> Result<String, String> {
        let (mut shutdown, mut cancelled) = (self.shutdown.clone(), self.cancelled.clone());
        self.runtime.block_on(async {
            tokio::select! {
                response = call => response.map_err(|error| error.to_string()),
                Ok(_) = cancelled.wait_for(|cancelled| *cancelled) => {
                    Err("cancelled: this client has made too many newer calls; the service may still handle the request".to_owned())
                }
                _ = shutdown.changed() => Err("the bridge is shutting down".to_owned()),
            }
        })
    }
}
