//! Orderly end on a signal, also while the program is blocked.
use crate::transport::EndSignals;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::{io, thread::JoinHandle, time::Duration};
use tokio::{runtime::Runtime, sync::oneshot};

/// How work ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<T> {
    /// Returned by itself.
    Done(T),
    /// Returned after a signal, within its grace period.
    Stopped(T),
    /// Still running after the grace period; runs until the process ends.
    Abandoned,
    /// Panicked; the log has the panic.
    Panicked,
}

/// Ctrl-C, SIGTERM and SIGHUP (unless ignored). After `listen` they no longer kill the process, so that work can end in order.
pub struct Signals {
    runtime: Runtime,
    signals: EndSignals,
}

impl Signals {
    /// Starts handling the signals. Errors: of the system.
    pub fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let signals = {
            let _guard = runtime.enter();
            EndSignals::listen()?
        };
        Ok(Self { runtime, signals })
    }

    /// Waits for a signal.
    pub fn wait(&mut self) {
        let signals = &mut self.signals;
        self.runtime.block_on(signals.any());
    }

    /// Waits for a signal; false on timeout.
    pub fn wait_for(&mut self, time: Duration) -> bool {
        let signals = &mut self.signals;
        let wait = async { tokio::time::timeout(time, signals.any()).await.is_ok() };
        self.runtime.block_on(wait)
    }

    /// Runs `work` on its own thread, so that a signal is handled even if it blocks on a file. A signal notifies `work`,
    /// which then has `grace` to end. Errors: of the system, if the thread cannot be started.
    pub fn during<T: Send + 'static>(
        &mut self,
        grace: Duration,
        work: impl FnOnce(oneshot::Receiver<()>) -> T + Send + 'static,
    ) -> io::Result<Ended<T>> {
        let (stop, stopped) = oneshot::channel();
        let (done, mut result) = oneshot::channel();
        let thread = std::thread::Builder::new().name("rfly-main".to_owned());
        // Fails after the grace period, when nobody waits for the result.
        let thread = thread.spawn(move || drop(done.send(work(stopped))))?;
        let signals = &mut self.signals;
        let ended = self.runtime.block_on(async {
            tokio::select! {
                result = &mut result => return result.map_or(Ended::Panicked, Ended::Done),
                () = signals.any() => {}
            }
            drop(stop);
            match tokio::time::timeout(grace, result).await {
                Ok(result) => result.map_or(Ended::Panicked, Ended::Stopped),
                Err(_elapsed) => Ended::Abandoned,
            }
        });
        if !matches!(ended, Ended::Abandoned) {
            finish(thread);
        }
        Ok(ended)
    }
}

/// Runs `work` on its own thread and waits up to `time`; false on timeout.
pub fn within(time: Duration, work: impl FnOnce() + Send + 'static) -> bool {
    let (done, end) = sync_channel::<()>(0);
    let thread = std::thread::Builder::new().name("rfly-end".to_owned());
    let spawned = thread.spawn(move || {
        work();
        drop(done);
    });
    let Ok(thread) = spawned else { return false };
    let ended = end.recv_timeout(time) == Err(RecvTimeoutError::Disconnected);
    if ended {
        finish(thread);
    }
    ended
}

/// Waits for the end of a thread whose work is done. Otherwise the destructors of its thread-local values, also those of C++
/// libraries, could run concurrently with global destructors when `main` returns.
fn finish(thread: JoinHandle<()>) {
    // A panic is in the log.
    let _panicked = thread.join();
}
