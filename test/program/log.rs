//! Nobody waits for whoever reads the log.
use rfly_bridge::program::OutputLog;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use tracing_subscriber::layer::SubscriberExt as _;

/// A pipe that takes as many writes as it is allowed to.
struct Pipe {
    allowed: Receiver<()>,
    read: Arc<Mutex<Vec<String>>>,
}

impl Pipe {
    fn new() -> (Self, Sender<()>, Arc<Mutex<Vec<String>>>) {
        let (allow, allowed) = channel();
        let read = Arc::<Mutex<Vec<String>>>::default();
        let pipe = Self { allowed, read: read.clone() };
        (pipe, allow, read)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.allowed.recv().is_err() {
            std::thread::park(); // for ever, as a terminal that was stopped
        }
        let line = String::from_utf8(bytes.to_vec()).unwrap();
        self.read.lock().unwrap().push(line);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log_lines(log: &OutputLog, count: usize) {
    let subscriber = tracing_subscriber::registry().with(log.layer(false));
    tracing::subscriber::with_default(subscriber, || {
        for n in 0..count {
            tracing::info!("line {n}");
        }
    });
}

#[test]
fn logging_to_a_pipe_that_nobody_reads_does_not_block_and_counts_what_is_lost() {
    let (pipe, allow, read) = Pipe::new();
    let log = OutputLog::new(pipe);
    log_lines(&log, 20_000); // would wait here for ever
    let lost = log.lost();
    assert!((18_000..20_000).contains(&lost), "{lost}");

    for _ in 0..2_000 {
        allow.send(()).unwrap();
    }
    drop(log); // writes what is left
    let read = read.lock().unwrap();
    let said = format!("{lost} log lines lost: output too slow or full\n");
    assert!(read.contains(&said), "{:?}", &read[..3]);
    let lines = read.iter().filter(|line| line.contains("INFO line "));
    assert_eq!(lines.count() as u64, 20_000 - lost);
}

/// With its queue full the library's guard would complain on stdout, which may be the same pipe.
#[test]
fn the_end_does_not_wait_for_whoever_does_not_read() {
    let (pipe, allow, _) = Pipe::new();
    let log = OutputLog::new(pipe);
    log_lines(&log, 5_000);
    drop(log);
    drop(allow);
}

#[test]
fn what_cannot_be_written_counts_as_lost() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let log = OutputLog::new(Full);
    log_lines(&log, 10);
    while log.lost() < 10 {
        std::thread::yield_now();
    }
}
