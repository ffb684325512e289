//! Makes a raw recording of the data that another program receives: datagrams from a raw socket, shared memory mapped read-only.
use super::mcap_file::{McapSink, WriterThread};
use super::raw::RawRecorder;
use crate::node::{
    binder::ReceiveEndpoints, clock::host_now, senders::Senders, settings::Settings, tasks,
};
use crate::transport::{CaptureSocket, PacketTap as _, WatchedBlock};
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{io, ops::RangeInclusive, path::Path, sync::Arc, thread::JoinHandle};

/// Receive buffer of the raw socket, which gets the datagrams of all ports.
const BUFFER_BYTES: usize = 64 << 20;
/// Period of polls of the blocks; the vendor's reader polls about every 1 ms.
const POLL_PERIOD: Duration = Duration::from_micros(500);
/// Period of the search for missing blocks: shorter than the time for which the first frame of a block stays in it.
const SEARCH_PERIOD: Duration = Duration::from_millis(10);
/// Period of checks whether a block was created again. Also the pause after a receive error.
const CHECK_PERIOD: Duration = Duration::from_millis(200);

/// Why a recording cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassiveRecordError {
    /// The file cannot be created.
    #[error("{0}")]
    File(io::Error),
    /// The user has no permission to open a raw socket.
    #[error(
        "recording the datagrams of another program needs the capability CAP_NET_RAW: run `sudo setcap cap_net_raw+ep {0}` once, or run this command with \
         sudo. If no other program receives, the bridge records without it: `-p record.raw:=NAME`"
    )]
    NotAllowed(String),
    /// Another system error.
    #[error(transparent)]
    System(io::Error),
}

/// A running recording.
pub struct PassiveRecorder {
    sink: Arc<McapSink>,
    stop: Arc<AtomicBool>,
    counts: Arc<CaptureCounts>,
    threads: Vec<JoinHandle<()>>,
    writer: WriterThread,
}

#[derive(Default)]
struct CaptureCounts {
    /// Datagrams that did not fit into the receive buffer.
    overflows: AtomicU64,
    /// Datagrams of senders that are not accepted.
    refused: AtomicU64,
}

/// Losses of a recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordingLosses {
    /// Datagrams and frames dropped because the disk was too slow.
    pub disk: u64,
    /// Datagrams lost in the receive buffer.
    pub overflows: u64,
    /// Datagrams of senders that are not accepted.
    pub refused: u64,
    /// The error that has ended the recording.
    pub error: Option<String>,
}

impl PassiveRecorder {
    /// Records the ports and blocks that a bridge with these settings would open.
    /// Errors: the raw socket or the file cannot be opened.
    pub fn start(
        path: &Path,
        settings: &Settings,
        endpoints: ReceiveEndpoints,
    ) -> Result<Self, PassiveRecordError> {
        let socket = CaptureSocket::open(endpoints.ports, &endpoints.groups, BUFFER_BYTES);
        let socket = socket.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let program = std::env::current_exe().unwrap_or_default();
                PassiveRecordError::NotAllowed(program.display().to_string())
            }
            _ => PassiveRecordError::System(error),
        })?;
        let compression = settings.params.record.compression;
        let (sink, writer) =
            McapSink::create(path, None, compression).map_err(PassiveRecordError::File)?;
        let (stop, counts) = (Arc::default(), Arc::default());
        let mut recorder = Self { stop, counts, threads: Vec::new(), writer, sink: sink.clone() };
        let raw = Arc::new(RawRecorder::new(sink, settings));
        let (senders, counts) = (Senders::new(&settings.params), recorder.counts.clone());
        let capture = DatagramCapture { socket, senders, raw: raw.clone(), counts, overflows: 0 };
        recorder.run("rfly-capture", capture, DatagramCapture::receive)?;
        if !endpoints.blocks.is_empty() {
            let blocks = endpoints.blocks.into_iter().map(PolledBlock::new).collect();
            let poller = BlockPoller { blocks, raw, next_check: Instant::now() };
            recorder.run("rfly-shm", poller, BlockPoller::poll)?;
        }
        Ok(recorder)
    }

    /// Starts a thread that calls `step` until the recording ends.
    fn run<W: Send + 'static>(
        &mut self,
        name: &'static str,
        mut worker: W,
        step: fn(&mut W),
    ) -> Result<(), PassiveRecordError> {
        let stop = self.stop.clone();
        let thread = tasks::spawn_restarting(name, move || {
            while !stop.load(Ordering::Relaxed) {
                step(&mut worker);
            }
        });
        let thread = thread.map_err(|error| PassiveRecordError::System(io::Error::other(error)))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Whether the recording still runs: no error has ended it.
    pub fn is_running(&self) -> bool {
        self.sink.is_open()
    }

    /// Ends the recording after everything queued is written.
    pub fn end(self) -> RecordingLosses {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let _panicked = thread.join();
        }
        self.sink.end();
        self.writer.join();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        RecordingLosses {
            disk: read(&self.sink.figures.dropped),
            overflows: read(&self.counts.overflows),
            refused: read(&self.counts.refused),
            error: self.sink.figures.error(),
        }
    }
}

struct DatagramCapture {
    socket: CaptureSocket,
    senders: Senders,
    raw: Arc<RawRecorder>,
    counts: Arc<CaptureCounts>,
    /// The socket's loss counter at the last datagram.
    overflows: u32,
}

impl DatagramCapture {
    fn receive(&mut self) {
        match self.socket.recv() {
            Ok(None) => {}
            Ok(Some((port, datagram, bytes))) => {
                let new = datagram.overflows.wrapping_sub(self.overflows);
                self.overflows = datagram.overflows;
                let overflows = &self.counts.overflows;
                overflows.fetch_add(new.into(), Ordering::Relaxed);
                if self.senders.accepts(*datagram.from.ip()) {
                    self.raw.datagram(port, &datagram, &[bytes]);
                } else {
                    self.counts.refused.fetch_add(1, Ordering::Relaxed);
                }
            }
            // The pause keeps a permanent error from spinning.
            Err(_) => std::thread::sleep(CHECK_PERIOD),
        }
    }
}

struct BlockPoller {
    blocks: Vec<PolledBlock>,
    raw: Arc<RawRecorder>,
    next_check: Instant,
}

struct PolledBlock {
    name: String,
    /// Valid lengths.
    lens: RangeInclusive<usize>,
    block: Option<WatchedBlock>,
    last_time: Option<[u8; TIME_LEN]>,
    /// The block did not exist at the last check.
    is_missing: bool,
}

/// Length of the time stamp in a block's header.
const TIME_LEN: usize = SHM_HEADER_LEN - 1;

impl BlockPoller {
    fn poll(&mut self) {
        let now = Instant::now();
        if now >= self.next_check {
            self.blocks.iter_mut().for_each(PolledBlock::reopen);
            let has_missing = self.blocks.iter().any(|block| block.is_missing);
            self.next_check = now + if has_missing { SEARCH_PERIOD } else { CHECK_PERIOD };
        }
        for block in &mut self.blocks {
            if let Some(frame) = block.new_frame() {
                self.raw.block(&block.name, host_now().0, &frame);
            }
        }
        std::thread::sleep(POLL_PERIOD);
    }
}

impl PolledBlock {
    fn new((name, lens): (String, RangeInclusive<usize>)) -> Self {
        Self { name, lens, block: None, last_time: None, is_missing: false }
    }

    /// Opens the block if it is new. Skips the frame in it, which may be of an earlier run, unless the block was missing before.
    fn reopen(&mut self) {
        if self.block.as_ref().is_some_and(WatchedBlock::is_current) {
            return;
        }
        self.block = WatchedBlock::open(&self.name, self.lens.clone()).ok();
        let existing = self.block.as_ref().filter(|_| !self.is_missing);
        self.last_time = existing.and_then(frame_time);
        self.is_missing = self.block.is_none();
    }

    /// A new frame, whether or not the other program has read it.
    fn new_frame(&mut self) -> Option<Vec<u8>> {
        let block = self.block.as_ref()?;
        let time = frame_time(block)?;
        if self.last_time == Some(time) {
            return None;
        }
        let mut frame = vec![0; block.len()];
        block.copy_out(0, &mut frame);
        // The renderer may have started the next frame during the copy.
        if frame_time(block) != Some(time) {
            return None;
        }
        self.last_time = Some(time);
        if let Some(flag) = frame.first_mut() {
            *flag = ShmFlag::Ready as u8;
        }
        Some(frame)
    }
}

/// The time stamp of the complete frame in a block; `None` if there is none.
fn frame_time(block: &WatchedBlock) -> Option<[u8; TIME_LEN]> {
    let complete = [ShmFlag::Ready, ShmFlag::Reading, ShmFlag::Released];
    let flag = ShmFlag::try_from(block.flag()).ok()?;
    let mut time = [0; TIME_LEN];
    block.copy_out(SHM_HEADER_LEN - TIME_LEN, &mut time);
    complete.contains(&flag).then_some(time)
}
