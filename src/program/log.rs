//! Lines for a terminal, a pipe or a file that may not take them: they wait in a bounded queue, and what finds no room is
//! counted.
use super::line::OneLineFields;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tracing::Subscriber;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// Lines that wait; with [`super::LONGEST_MESSAGE`] the bound of their memory, 4 MB.
const WAITING: usize = 1024;
/// How long the last lines may take when the program ends.
const PATIENCE: Duration = Duration::from_millis(1500);

/// What the log of this process counts as lost.
static LOST: OnceLock<Lost> = OnceLock::new();

/// Returns how many lines of the log nobody took, since this process began.
pub fn lost_lines() -> u64 {
    LOST.get().map_or(0, Lost::count)
}

#[derive(Clone, Default)]
struct Lost {
    /// Lines for which there was no room.
    unread: Arc<OnceLock<ErrorCounter>>,
    /// Lines that could not be written: the disk is full, the reader is gone.
    failed: Arc<AtomicUsize>,
}

impl Lost {
    fn count(&self) -> u64 {
        let unread = self.unread.get().map_or(0, ErrorCounter::dropped_lines);
        (unread + self.failed.load(Ordering::Relaxed)) as u64
    }
}

/// Writes lines from a thread of its own; nobody waits for whoever reads them. When it is dropped it writes what is left,
/// for a moment at most.
pub struct OutputLog {
    writer: NonBlocking,
    guard: Option<WorkerGuard>,
    lost: Lost,
}

impl OutputLog {
    /// A log on `out`.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let lost = Lost::default();
        let sink = Sink {
            out,
            lost: lost.clone(),
            told: 0,
        };
        let (writer, guard) = NonBlockingBuilder::default()
            .lossy(true)
            .buffered_lines_limit(WAITING)
            .thread_name("rfly-log")
            .finish(sink);
        // Nobody else sets it.
        let _first = lost.unread.set(writer.error_counter());
        Self {
            writer,
            guard: Some(guard),
            lost,
        }
    }

    /// The log of this process: what it loses is what [`lost_lines`] returns.
    pub fn of_process(out: impl Write + Send + 'static) -> Self {
        let log = Self::new(out);
        let _first = LOST.set(log.lost.clone());
        log
    }

    /// Returns the layer that writes here what is logged.
    pub fn layer<S>(&self, colours: bool) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_subscriber::fmt::layer()
            .with_target(false)
            .with_ansi(colours)
            .fmt_fields(OneLineFields)
            .with_writer(self.writer.clone())
    }

    /// Writes a text as it is, behind what was logged before.
    pub fn say(&self, text: &str) {
        // What finds no room is counted.
        let _counted = self
            .writer
            .clone()
            .write_all(format!("{text}\n").as_bytes());
    }

    /// Returns how many lines nobody took.
    pub fn lost(&self) -> u64 {
        self.lost.count()
    }
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            // With its queue full the guard complains on stdout, which may be what is blocked.
            super::within(PATIENCE, move || drop(guard));
        }
    }
}

/// What the thread writes to.
struct Sink<W> {
    out: W,
    lost: Lost,
    /// Lost lines that it says are missing.
    told: u64,
}

impl<W: Write> Write for Sink<W> {
    /// Takes one line.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.put(line);
        let lost = self.lost.count();
        if lost > self.told {
            let new = lost - std::mem::replace(&mut self.told, lost);
            self.put(
                format!("{new} lines of the log were lost: nobody took them in time\n").as_bytes(),
            );
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Sink<W> {
    fn put(&mut self, line: &[u8]) {
        if self.out.write_all(line).is_err() {
            self.lost.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
