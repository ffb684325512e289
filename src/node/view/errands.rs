//! Work for a client that waits for services.
use crate::node::call::NoResponse;
use crate::node::tasks;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// Errands of one client that run although they should have ended: each has a thread, and ends when it looks.
const ENDING: usize = 8;

/// The errands of one client, each on a thread of its own, because a call looks through the graph. Of more than so many at once, the
/// oldest waits no longer; its request has left. Where many have still to end, a new one is refused.
pub(super) struct Errands {
    at_once: usize,
    /// Ends all when it changes or is dropped.
    lives: watch::Receiver<()>,
    /// Ends one; the oldest first.
    waiting: Mutex<VecDeque<watch::Sender<bool>>>,
    /// One for each thread of this client, and of all.
    running: [Arc<Semaphore>; 2],
}

/// What an errand waits with.
pub(super) struct Waiting {
    runtime: Runtime,
    lives: watch::Receiver<()>,
    ended: watch::Receiver<bool>,
}

impl Errands {
    /// `all` has a permit for each thread of all clients.
    pub(super) fn new(at_once: usize, lives: watch::Receiver<()>, all: Arc<Semaphore>) -> Self {
        Self {
            at_once,
            lives,
            waiting: Mutex::default(),
            running: [Arc::new(Semaphore::new(at_once + ENDING)), all],
        }
    }

    /// Starts one, or says why it cannot.
    pub(super) fn run(
        &self,
        work: impl FnOnce(Result<Waiting, String>) + Send + 'static,
    ) -> Result<(), String> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|other| !other.is_closed());
        while waiting.len() >= self.at_once
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.send_replace(true);
        }
        let [own, all] = self
            .running
            .each_ref()
            .map(|places| places.clone().try_acquire_owned());
        let (Ok(own), Ok(all)) = (own, all) else {
            return Err("calls come faster than they end".to_owned());
        };
        let (end, ended) = watch::channel(false);
        let lives = self.lives.clone();
        let errand = move || {
            let _thread = (own, all);
            let runtime = tasks::runtime("a call").map_err(|error| error.to_string());
            work(runtime.map(|runtime| Waiting {
                runtime,
                lives,
                ended,
            }));
        };
        tasks::errand("rfly-call", errand).map_err(|error| error.to_string())?;
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
