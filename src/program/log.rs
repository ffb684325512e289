//! Log output to a terminal, pipe or file that may block: a bounded queue holds the lines; a full queue drops and counts them.
use super::one_line::OneLineFields;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tracing::Subscriber;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{Layer, registry::LookupSpan};

/// Queue length; with [`super::LONGEST_MESSAGE`] it bounds the memory to 4 MB.
const QUEUE: usize = 1024;
/// Time limit for the last lines when the program ends.
const END_TIMEOUT: Duration = Duration::from_millis(1500);

static LOST: OnceLock<LostLines> = OnceLock::new();

/// Returns the number of log lines lost since this process started.
pub fn lost_lines() -> u64 {
    LOST.get().map_or(0, LostLines::count)
}

#[derive(Clone, Default)]
struct LostLines {
    /// Lines dropped by the full queue.
    dropped: Arc<OnceLock<ErrorCounter>>,
    /// Lines that failed to be written: the disk is full, the reader is gone.
    failed: Arc<AtomicUsize>,
}

impl LostLines {
    fn count(&self) -> u64 {
        let dropped = self.dropped.get().map_or(0, ErrorCounter::dropped_lines);
        (dropped + self.failed.load(Ordering::Relaxed)) as u64
    }
}

/// Writes lines from its own thread; callers never block on the reader. On drop it writes the remaining lines,
/// with a time limit.
pub struct OutputLog {
    writer: NonBlocking,
    guard: Option<WorkerGuard>,
    lost: LostLines,
}

impl OutputLog {
    /// Creates a log on `out`.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let lost = LostLines::default();
        let sink = LogSink { out, lost: lost.clone(), reported: 0 };
        let (writer, guard) = NonBlockingBuilder::default()
            .lossy(true)
            .buffered_lines_limit(QUEUE)
            .thread_name("rfly-log")
            .finish(sink);
        // Fails only for a second value.
        let _is_set = lost.dropped.set(writer.error_counter());
        Self { writer, guard: Some(guard), lost }
    }

    /// Creates the log of this process, whose lost lines [`lost_lines`] returns.
    pub fn of_process(out: impl Write + Send + 'static) -> Self {
        let log = Self::new(out);
        let _is_set = LOST.set(log.lost.clone()); // fails only for a second log
        log
    }

    /// Returns the layer that writes log events to this output.
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

    /// Writes a text without time and level, after the lines logged before.
    pub fn say(&self, text: &str) {
        // Lines dropped by the full queue are counted.
        let _counted = self.writer.clone().write_all(format!("{text}\n").as_bytes());
    }

    /// Returns the number of lost lines.
    pub fn lost(&self) -> u64 {
        self.lost.count()
    }
}

impl Drop for OutputLog {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            // If the queue is full, the guard prints to stdout, which may be the blocked output.
            super::within(END_TIMEOUT, move || drop(guard));
        }
    }
}

struct LogSink<W> {
    out: W,
    lost: LostLines,
    /// Number of lost lines that the output already reports.
    reported: u64,
}

impl<W: Write> Write for LogSink<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.write_line(line);
        let lost = self.lost.count();
        if lost > self.reported {
            let new = lost - std::mem::replace(&mut self.reported, lost);
            self.write_line(format!("{new} log lines lost: output too slow or full\n").as_bytes());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> LogSink<W> {
    fn write_line(&mut self, line: &[u8]) {
        if self.out.write_all(line).is_err() {
            self.lost.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
