//! Tasks and threads that run as long as the bridge; the bridge reports and restarts those that panic or end.
use super::{error::NodeError, stats::SourceStats};
use crate::node::{cause::Cause, clock::host_now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{pin::pin, sync::Arc, task::Poll, thread::JoinHandle, time::Duration};
use tokio::runtime::{Builder, Handle, Runtime};

/// Pause before a restart, so that a task that fails at once does not flood the log.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// A task that runs as long as the bridge. Its state survives a panic: counts, sockets and buffers are valid with any
/// content.
pub trait Endless: Send + 'static {
    /// Name in the log.
    fn name(&self) -> String;

    /// Counts a failure, in addition to the report of all panics in `/diagnostics`.
    fn failed(&mut self) {}

    /// Runs; both a panic and a return are failures.
    fn work(&mut self) -> impl Future<Output = ()> + Send;
}

/// A task with its own entry in `/diagnostics`, which counts its failures.
pub(super) trait CountedTask: Send + 'static {
    /// Runs, as [`Endless::work`].
    fn run(&mut self) -> impl Future<Output = ()> + Send;
}

struct Counted<T> {
    task: T,
    stats: Arc<SourceStats>,
}

impl<T: CountedTask> Endless for Counted<T> {
    fn name(&self) -> String {
        self.stats.name().to_string()
    }

    fn failed(&mut self) {
        self.stats.lock().count(Cause::TaskFailed);
    }

    async fn work(&mut self) {
        self.task.run().await;
    }
}

/// Runs a task forever.
pub async fn keep_running(mut task: impl Endless) {
    loop {
        let how = if has_panicked(task.work()).await { "panicked" } else { "has ended" };
        task.failed();
        tracing::error!("the task of {} {how}; restarting in {PAUSE:?}", task.name());
        tokio::time::sleep(PAUSE).await;
    }
}

async fn has_panicked(future: impl Future<Output = ()>) -> bool {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.map_or(Poll::Ready(true), |poll| poll.map(|()| false))
    })
    .await
}

/// Returns the time to the next multiple of `period` on the host's clock. Tasks of one thread thus wake it together: a wake-up
/// costs more than most of their work.
pub(super) fn next_moment(period: Duration) -> Duration {
    let period = i64::try_from(period.as_nanos()).unwrap_or(i64::MAX).max(1);
    let passed = host_now().0.rem_euclid(period);
    Duration::from_nanos((period - passed).unsigned_abs())
}

/// Creates a runtime for tasks that share one thread.
pub fn runtime(what: &'static str) -> Result<Runtime, NodeError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|source| NodeError::Start { what, source })
}

pub(super) fn start(runtime: &Handle, task: impl Endless) {
    runtime.spawn(keep_running(task));
}

pub(super) fn start_counted(runtime: &Handle, stats: Arc<SourceStats>, task: impl CountedTask) {
    start(runtime, Counted { task, stats });
}

pub(super) fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

fn spawn(
    name: &'static str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, NodeError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(body).map_err(|source| NodeError::Start { what: name, source })
}

/// Starts a thread for work that ends by itself. The program waits for threads that hold the middleware
/// ([`crate::ros::Departure`]).
pub(super) fn spawn_once(
    name: &'static str,
    work: impl FnOnce() + Send + 'static,
) -> Result<(), NodeError> {
    let body = move || {
        if panics(work) {
            tracing::error!("the thread {name} panicked");
        }
    };
    spawn(name, body).map(drop)
}

/// Starts a thread that ends when `body` returns, and calls `body` again if it panics.
pub(super) fn spawn_restarting(
    name: &'static str,
    mut body: impl FnMut() + Send + 'static,
) -> Result<JoinHandle<()>, NodeError> {
    spawn(name, move || {
        while panics(&mut body) {
            tracing::error!("the thread {name} panicked; restarting in {PAUSE:?}");
            std::thread::sleep(PAUSE);
        }
    })
}
