//! Work for a client that waits for services.
use crate::node::service_call::NoResponse;
use crate::node::tasks;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// Errands of one client that run although they should have ended: each has a thread, and ends when it looks.
const ENDING: usize = 8;

/// Threads of the errands of all clients.
const THREADS: usize = 256;
/// A request up to this length in bytes is never refused for its length: a command of the operator is shorter ...
const SHORT: usize = 4 << 10;
/// ... and all longer ones together have this many: read, they take up to a hundred times as much memory.
const LONG: usize = 2 << 20;

/// What the errands of all clients may take.
#[derive(Clone)]
pub(super) struct Capacity {
    threads: Arc<Semaphore>,
    /// A permit for each byte of the longer requests.
    bytes: Arc<Semaphore>,
}

impl Default for Capacity {
    fn default() -> Self {
        Self {
            threads: Arc::new(Semaphore::new(THREADS)),
            bytes: Arc::new(Semaphore::new(LONG)),
        }
    }
}

/// The errands of one client, each on a thread of its own, because a call looks through the graph. Of more than so many at once, the
/// oldest waits no longer; its request has left. Where many have still to end, a new one is refused.
pub(super) struct Errands {
    at_once: usize,
    /// Ends all when it changes or is dropped.
    lives: watch::Receiver<()>,
    /// Ends one; the oldest first.
    waiting: Mutex<VecDeque<watch::Sender<bool>>>,
    /// A permit for each thread of this client.
    threads: Arc<Semaphore>,
    all: Capacity,
}

/// What an errand waits with.
pub(super) struct Waiting {
    runtime: Runtime,
    lives: watch::Receiver<()>,
    ended: watch::Receiver<bool>,
}

impl Errands {
    pub(super) fn new(at_once: usize, lives: watch::Receiver<()>, all: Capacity) -> Self {
        Self {
            at_once,
            lives,
            waiting: Mutex::default(),
            threads: Arc::new(Semaphore::new(at_once + ENDING)),
            all,
        }
    }

    /// Starts one for a request of `len` bytes, or says why it cannot.
    pub(super) fn run(
        &self,
        len: usize,
        work: impl FnOnce(Result<Waiting, String>) + Send + 'static,
    ) -> Result<(), String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|other| !other.is_closed());
        while waiting.len() >= self.at_once
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.send_replace(true);
        }
        let own = self.threads.clone().try_acquire_owned();
        let of_all = self.all.threads.clone().try_acquire_owned();
        let (Ok(own), Ok(of_all)) = (own, of_all) else {
            return Err("calls come faster than they end".to_owned());
        };
        let charged = if len > SHORT { len as u32 } else { 0 };
        let bytes = self.all.bytes.clone().try_acquire_many_owned(charged);
        let bytes = bytes.map_err(|full| {
            format!(
                "{len} bytes: other long requests wait ({full}); try again when they have ended"
            )
        })?;
        let (end, ended) = watch::channel(false);
        let lives = self.lives.clone();
        let errand = move || {
            let _held = (own, of_all, bytes);
            let runtime = tasks::runtime("a call").map_err(|error| error.to_string());
            work(runtime.map(|runtime| Waiting {
                runtime,
                lives,
                ended,
            }));
        };
        tasks::spawn_once("rfly-call", errand).map_err(|error| error.to_string())?;
        waiting.push_back(end);
        Ok(())
    }
}

impl Waiting {
    /// The response of a call, unless newer errands or the end of the bridge come before.
    pub(super) fn response(
        &self,
        call: impl Future<Output = Result<String, NoResponse>>,
    ) -> Result<String, String> {
        let (mut lives, mut ended) = (self.lives.clone(), self.ended.clone());
        self.runtime.block_on(async {
            tokio::select! {
                response = call => response.map_err(|error| error.to_string()),
                Ok(_) = ended.wait_for(|ended| *ended) => {
                    Err("no longer waited for: this client has called too many services since".to_owned())
                }
                _ = lives.changed() => Err("the bridge ends".to_owned()),
            }
        })
    }
}
