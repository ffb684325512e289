//! A raw recording beside the programs that receive: copies of their datagrams, and shared memory that is only read.
use super::file::{Sink, Writing};
use super::raw::Raw;
use crate::node::binder::ReceiveEndpoints;
use crate::node::clock::host_now;
use crate::node::senders::Senders;
use crate::node::settings::Settings;
use crate::node::tasks;
use crate::transport::{Overheard, ShmError, WatchedBlock, Witness as _};
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the kernel may hold for the one socket that gets everything.
const BUFFER_BYTES: usize = 64 << 20;
/// Interval of looks at the blocks; the vendor's reader uses about 1 ms.
const POLL: Duration = Duration::from_micros(500);
/// Interval of looks for blocks that are missing: a first frame is there for longer.
const SEARCH: Duration = Duration::from_millis(10);
/// Interval of looks at whether blocks were created again; pause after an error.
const LOOK: Duration = Duration::from_millis(200);

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BesideError {
    /// The file cannot be created.
    #[error("{0}")]
    File(io::Error),
    /// The system does not show what others receive.
    #[error(
        "this user may not see what other programs receive: that needs the capability CAP_NET_RAW. Type `sudo setcap cap_net_raw+ep {0}` once, or run it with \
         sudo. Without another program the bridge itself records, and needs nothing: `-p record.raw:=NAME`"
    )]
    NotAllowed(String),
    /// Another error of the system.
    #[error(transparent)]
    System(io::Error),
}

/// A recording that is being made.
pub struct Beside {
    sink: Arc<Sink>,
    stop: Arc<AtomicBool>,
    counts: Arc<Counts>,
    threads: Vec<JoinHandle<()>>,
    writer: Writing,
}

#[derive(Default)]
struct Counts {
    /// Datagrams that the kernel could not hold.
    overflows: AtomicU64,
    /// Those of senders that are not accepted.
    refused: AtomicU64,
}

/// What a recording lacks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Missed {
    /// Datagrams and frames that the disk was too slow for.
    pub disk: u64,
    /// Datagrams that came faster than they were read.
    pub overflows: u64,
    /// Datagrams of senders that are not accepted.
    pub refused: u64,
    /// Why it ended by itself.
    pub error: Option<String>,
}

impl Beside {
    /// Records what is received where a bridge with these settings would receive it.
    ///
    /// # Errors
    /// It cannot begin.
    pub fn start(
        path: &Path,
        settings: &Settings,
        listens: ReceiveEndpoints,
    ) -> Result<Self, BesideError> {
        let overheard = Overheard::open(listens.ports, &listens.groups, BUFFER_BYTES);
        let overheard = overheard.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => {
                let program = std::env::current_exe().unwrap_or_default();
                BesideError::NotAllowed(program.display().to_string())
            }
            _ => BesideError::System(error),
        })?;
        let (sink, writer) = Sink::create(path, None).map_err(BesideError::File)?;
        let mut beside = Self {
            stop: Arc::default(),
            counts: Arc::default(),
            threads: Vec::new(),
            writer,
            sink: sink.clone(),
        };
        let raw = Arc::new(Raw::new(sink, settings));
        let senders = Senders::new(&settings.params);
        let ear = Ear {
            overheard,
            senders,
            raw: raw.clone(),
            counts: beside.counts.clone(),
            overflows: 0,
        };
        beside.run("rfly-overhear", ear, Ear::hear)?;
        if !listens.blocks.is_empty() {
            let blocks = listens.blocks.into_iter();
            let eye = Eye {
                blocks: blocks.map(|(name, lens)| Block::new(name, lens)).collect(),
                raw,
                next_look: Instant::now(),
            };
            beside.run("rfly-shm", eye, Eye::look)?;
        }
        Ok(beside)
    }

    fn run<W: Send + 'static>(
        &mut self,
        name: &'static str,
        mut work: W,
        once: fn(&mut W),
    ) -> Result<(), BesideError> {
        let stop = self.stop.clone();
        let thread = tasks::spawn_restarting(name, move || {
            while !stop.load(Ordering::Relaxed) {
                once(&mut work);
            }
        });
        let thread = thread.map_err(|error| BesideError::System(io::Error::other(error)))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Whether it has not ended by itself.
    pub fn runs(&self) -> bool {
        self.sink.is_open()
    }

    /// Ends it, when all is written.
    pub fn end(self) -> Missed {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let _panicked = thread.join();
        }
        self.sink.end();
        self.writer.join();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Missed {
            disk: read(&self.sink.figures.dropped),
            overflows: read(&self.counts.overflows),
            refused: read(&self.counts.refused),
            error: self.sink.figures.error(),
        }
    }
}

/// Hears datagrams.
struct Ear {
    overheard: Overheard,
    senders: Senders,
    raw: Arc<Raw>,
    counts: Arc<Counts>,
    /// The socket's loss counter at the last datagram.
    overflows: u32,
}

impl Ear {
    fn hear(&mut self) {
        match self.overheard.recv() {
            Ok(None) => {}
            Ok(Some((port, datagram, bytes))) => {
                let new = datagram.overflows.wrapping_sub(self.overflows);
                self.overflows = datagram.overflows;
                let overflows = &self.counts.overflows;
                overflows.fetch_add(new.into(), Ordering::Relaxed);
                match self.senders.takes(*datagram.from.ip()) {
                    true => self.raw.datagram(port, &datagram, &[bytes]),
                    false => drop(self.counts.refused.fetch_add(1, Ordering::Relaxed)),
                }
            }
            // So that a permanent error does not spin.
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Looks at blocks.
struct Eye {
    blocks: Vec<Block>,
    raw: Arc<Raw>,
    next_look: Instant,
}

struct Block {
    name: String,
    lens: RangeInclusive<usize>,
    open: Option<WatchedBlock>,
    /// Time of the frame that was seen last, as its bytes.
    seen: Option<[u8; TIME]>,
    /// It was not there at the last look.
    missing: bool,
}

/// Length of the time in a block's head.
const TIME: usize = SHM_HEADER_LEN - 1;

impl Eye {
    fn look(&mut self) {
        let now = Instant::now();
        if now >= self.next_look {
            self.blocks.iter_mut().for_each(Block::find);
            let missing = self.blocks.iter().any(|block| block.missing);
            self.next_look = now + if missing { SEARCH } else { LOOK };
        }
        for block in &mut self.blocks {
            if let Some(frame) = block.new_frame() {
                self.raw.block(&block.name, host_now().0, &frame);
            }
        }
        std::thread::sleep(POLL);
    }
}

impl Block {
    fn new(name: String, lens: RangeInclusive<usize>) -> Self {
        Self {
            name,
            lens,
            open: None,
            seen: None,
            missing: false,
        }
    }

    /// Opens the block when it is there. If it was there from the beginning, what is in it may be of a run long ago.
    fn find(&mut self) {
        if self.open.as_ref().is_some_and(WatchedBlock::is_current) {
            return;
        }
        let found: Result<_, ShmError> = WatchedBlock::open(&self.name, self.lens.clone());
        self.open = found.ok();
        self.seen = match self.missing {
            true => None,
            false => self.open.as_ref().and_then(time),
        };
        self.missing = self.open.is_none();
    }

    /// A frame that was not seen before, whether its reader has it already or not.
    fn new_frame(&mut self) -> Option<Vec<u8>> {
        let block = self.open.as_ref()?;
        let time_before = time(block)?;
        if self.seen == Some(time_before) {
            return None;
        }
        let mut frame = vec![0; block.len()];
        block.copy_out(0, &mut frame);
        // The renderer may have begun the next one meanwhile.
        if time(block) != Some(time_before) {
            return None;
        }
        self.seen = Some(time_before);
        if let Some(flag) = frame.first_mut() {
            *flag = ShmFlag::Ready as u8;
        }
        Some(frame)
    }
}

/// The time of the whole frame in a block; `None` while there is none.
fn time(block: &WatchedBlock) -> Option<[u8; TIME]> {
    let whole = [ShmFlag::Ready, ShmFlag::Reading, ShmFlag::Released];
    let flag = ShmFlag::try_from(block.flag()).ok()?;
    let mut time = [0; TIME];
    block.copy_out(SHM_HEADER_LEN - TIME, &mut time);
    whole.contains(&flag).then_some(time)
}
