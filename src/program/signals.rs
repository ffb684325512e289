//! Ends in order, whatever the program is doing.
use crate::transport::EndSignals;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// How work has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<T> {
    /// By itself.
    Done(T),
    /// After a signal, within its grace.
    Stopped(T),
    /// Not within its grace: it goes on until the process ends.
    Abandoned,
    /// It panicked, which is in the log.
    Panicked,
}

/// Ctrl-C, SIGTERM and SIGHUP. From `listen` on they end nothing by themselves, so that what they interrupt still ends in
/// order.
pub struct Signals {
    runtime: Runtime,
    signals: EndSignals,
}

impl Signals {
    /// Takes the signals.
    ///
    /// # Errors
    /// The system's, if it refuses.
    pub fn listen() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
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

    /// Waits for a signal; false if none came for so long.
    pub fn wait_for(&mut self, time: Duration) -> bool {
        let signals = &mut self.signals;
        let wait = async { tokio::time::timeout(time, signals.any()).await.is_ok() };
        self.runtime.block_on(wait)
    }

    /// Does `work` on a thread of its own: a signal is noticed even where that waits for a file. It is told of the signal,
    /// and has `grace` to end then.
    ///
    /// # Errors
    /// The system's, if there is no thread.
    pub fn during<T: Send + 'static>(
        &mut self,
        grace: Duration,
        work: impl FnOnce(oneshot::Receiver<()>) -> T + Send + 'static,
    ) -> io::Result<Ended<T>> {
        let (stop, stopped) = oneshot::channel();
        let (done, mut result) = oneshot::channel();
        let thread = std::thread::Builder::new().name("rfly-main".to_owned());
        // It ends when `work` does; if nobody waits for that any more, nobody wants the result.
        thread.spawn(move || drop(done.send(work(stopped))))?;
        let signals = &mut self.signals;
        Ok(self.runtime.block_on(async {
            tokio::select! {
                result = &mut result => return result.map_or(Ended::Panicked, Ended::Done),
                () = signals.any() => {}
            }
            drop(stop);
            match tokio::time::timeout(grace, result).await {
                Ok(result) => result.map_or(Ended::Panicked, Ended::Stopped),
                Err(_elapsed) => Ended::Abandoned,
            }
        }))
    }
}

/// Does `work` on a thread of its own and waits for so long; false if it has not ended then.
pub fn within(time: Duration, work: impl FnOnce() + Send + 'static) -> bool {
    let (done, end) = sync_channel::<()>(0);
    let thread = std::thread::Builder::new().name("rfly-end".to_owned());
    let spawned = thread.spawn(move || {
        work();
        drop(done);
    });
    spawned.is_ok() && end.recv_timeout(time) == Err(RecvTimeoutError::Disconnected)
}
