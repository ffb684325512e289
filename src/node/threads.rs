//! The threads of a bridge: prepared during opening, then started together.
use super::{error::NodeError, tasks};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{sync::Arc, thread::JoinHandle};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;

/// The thread of TF and of small, frequent datagrams, which images must not delay.
pub(super) const PROMPT: &str = "rfly-prompt";
/// The thread of requests and reports.
pub(super) const REPORT: &str = "rfly-report";

/// Body of a thread; returns soon after the flag is set.
type ThreadBody = Box<dyn FnMut(&AtomicBool) + Send>;

#[derive(Default)]
pub(super) struct Threads {
    runtimes: Vec<(&'static str, Runtime)>,
    bodies: Vec<(&'static str, ThreadBody)>,
}

impl Threads {
    /// Returns the runtime of thread `name`; tasks can be started on it at once.
    pub(super) fn runtime(&mut self, name: &'static str) -> Result<Handle, NodeError> {
        let open = self.runtimes.iter().find(|(other, _)| *other == name);
        if let Some((_, runtime)) = open {
            return Ok(runtime.handle().clone());
        }
        let runtime = tasks::runtime(name)?;
        let handle = runtime.handle().clone();
        self.runtimes.push((name, runtime));
        Ok(handle)
    }

    /// Adds a thread that runs `body` instead of tasks.
    pub(super) fn add(
        &mut self,
        name: &'static str,
        body: impl FnMut(&AtomicBool) + Send + 'static,
    ) {
        self.bodies.push((name, Box::new(body)));
    }

    pub(super) fn start(self) -> Result<RunningThreads, NodeError> {
        let mut running = RunningThreads::default();
        for (name, runtime) in self.runtimes {
            let (quit, mut quitting) = oneshot::channel();
            running.quit.push(quit);
            running.threads.push(tasks::spawn_restarting(name, move || {
                // Dropping the runtime afterwards ends its tasks.
                let _quit_or_dropped = runtime.block_on(&mut quitting);
            })?);
        }
        for (name, mut body) in self.bodies {
            let stop = running.stop.clone();
            let thread = tasks::spawn_restarting(name, move || body(&stop))?;
            running.threads.push(thread);
        }
        Ok(running)
    }
}

/// Running threads; stop on drop.
#[derive(Default)]
pub(super) struct RunningThreads {
    stop: Arc<AtomicBool>,
    quit: Vec<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl RunningThreads {
    pub(super) fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The thread of a runtime ends when its sender is dropped.
        self.quit.clear();
    }

    pub(super) fn join(&mut self) {
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the bridge panicked");
            }
        }
    }
}

impl Drop for RunningThreads {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}
