//! Work for clients that waits for services.
use crate::node::call::NoResponse;
use crate::node::tasks;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};

/// Runs each errand on a thread of its own, because a call looks through the graph, and only so many at once.
pub(super) struct Errands {
    at_once: usize,
    free: Arc<Semaphore>,
    /// Ends the calls that wait when it is dropped.
    lives: watch::Sender<()>,
}

/// What an errand waits with.
pub(super) struct Waiting {
    runtime: Runtime,
    lives: watch::Receiver<()>,
}

impl Errands {
    pub(super) fn new(at_once: usize) -> Self {
        Self {
            at_once,
            free: Arc::new(Semaphore::new(at_once)),
            lives: watch::Sender::new(()),
        }
    }

    /// Starts one, or says why it cannot.
    pub(super) fn run(
        &self,
        work: impl FnOnce(Result<Waiting, String>) + Send + 'static,
    ) -> Result<(), String> {
        let Ok(permit) = self.free.clone().try_acquire_owned() else {
            return Err(format!("{} requests wait already", self.at_once));
        };
        let lives = self.lives.subscribe();
        let errand = move || {
            let _permit = permit;
            let runtime = tasks::runtime("a call").map_err(|error| error.to_string());
            work(runtime.map(|runtime| Waiting { runtime, lives }));
        };
        tasks::errand("rfly-call", errand).map_err(|error| error.to_string())
    }
}

impl Waiting {
    /// The response of a call, unless the bridge ends before.
    pub(super) fn response(
        &self,
        call: impl Future<Output = Result<String, NoResponse>>,
    ) -> Result<String, String> {
        let mut lives = self.lives.clone();
        self.runtime.block_on(async {
            tokio::select! {
                response = call => response.map_err(|error| error.to_string()),
                _ = lives.changed() => Err("the bridge ends".to_owned()),
            }
        })
    }
}
