//! Tasks and threads that run as long as the bridge does: one that panics, or ends, is noticed and goes on.
use super::error::NodeError;
use super::stats::SourceStats;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// Time before what failed goes on: whatever fails at once does not fill the log.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What runs as long as the bridge does. Its state survives a panic: it is counts, sockets and buffers, which are valid
/// whatever they hold.
pub trait Endless: Send + 'static {
    /// What it is called in the log.
    fn name(&self) -> String;

    /// Counts that it has failed, beside the report of all panics in `/diagnostics`.
    fn failed(&mut self) {}

    /// Works; it fails if it panics, and also if it ends.
    fn work(&mut self) -> impl Future<Output = ()> + Send;
}

/// A task with an entry of its own in `/diagnostics`, which counts its failures.
pub(super) trait Source: Send + 'static {
    fn stats(&self) -> &SourceStats;

    /// Works, as [`Endless::work`].
    fn run(&mut self) -> impl Future<Output = ()> + Send;
}

impl<S: Source> Endless for S {
    fn name(&self) -> String {
        self.stats().name.clone()
    }

    fn failed(&mut self) {
        self.stats().lock().drop_one("task_failed");
    }

    async fn work(&mut self) {
        self.run().await;
    }
}

/// Runs a task for ever.
pub async fn keep_running(mut task: impl Endless) {
    loop {
        let how = match caught(task.work()).await {
            true => "panicked",
            false => "has ended",
        };
        task.failed();
        tracing::error!("the task of {} {how}; it goes on in {PAUSE:?}", task.name());
        tokio::time::sleep(PAUSE).await;
    }
}

/// Runs a future; true if it panicked.
async fn caught(future: impl Future<Output = ()>) -> bool {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.map_or(Poll::Ready(true), |poll| poll.map(|()| false))
    })
    .await
}

/// Makes a runtime for tasks that share one thread.
pub(super) fn runtime(what: &'static str) -> Result<Runtime, NodeError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|source| NodeError::Start { what, source })
}

/// Starts a task on a runtime.
pub(super) fn start(runtime: &Handle, task: impl Endless) {
    runtime.spawn(keep_running(task));
}

/// Returns whether `work` panicked.
pub(super) fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

/// Starts a thread that ends when `body` returns, and goes on when that panics.
pub(super) fn thread(
    name: &'static str,
    mut body: impl FnMut() + Send + 'static,
) -> Result<JoinHandle<()>, NodeError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    let thread = thread.spawn(move || {
        while panics(&mut body) {
            tracing::error!("the thread {name} panicked; it goes on in {PAUSE:?}");
            std::thread::sleep(PAUSE);
        }
    });
    thread.map_err(|source| NodeError::Start { what: name, source })
}
