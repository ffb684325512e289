//! A recording in place of the network. A process plays at most one, because the recording also determines the time.
use super::{Datagram, SharedBlock, ShmError};
use parking_lot::{Condvar, Mutex};
use socket2::Socket;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::{io, time::Duration};

static PLAYER: OnceLock<Player> = OnceLock::new();

/// A receiver that handles one datagram for longer than this is stuck.
const RECEIVER_TIMEOUT: Duration = Duration::from_secs(60);
/// Time between two reads of a block's flag.
const FLAG_PERIOD: Duration = Duration::from_micros(50);
/// Maximum number of these reads until a reader begins: at least 2 s in total. A reader opens a new block within 0.2 s.
const MAX_FLAG_READS: u32 = 40_000;
/// Maximum number of these reads until a reader ends: at least 60 s in total.
const MAX_READING: u32 = 1_200_000;

/// Time of the last played datagram or frame, in ns since 1970; `None` unless this process plays a recording.
pub fn played_time() -> Option<i64> {
    PLAYER.get().map(|player| player.now.load(Ordering::Relaxed))
}

/// Whether this process plays a recording: it receives nothing from the network and sends nothing.
pub(super) fn is_played() -> bool {
    PLAYER.get().is_some()
}

/// Hands recorded datagrams and frames to the receivers of this process, one at a time.
#[derive(Debug)]
pub struct Player {
    now: AtomicI64,
    socket: UdpSocket,
    ports: Mutex<BTreeMap<u16, Arc<PlayedPort>>>,
    blocks: Mutex<PlayedBlocks>,
}

#[derive(Debug, Default)]
struct PlayedBlocks {
    open: BTreeMap<String, SharedBlock>,
    unread: BTreeSet<String>,
}

/// A receiver of played datagrams. Their bytes pass through a socket of the loopback interface, on which a thread can wait;
/// `state` contains their recorded sender and time.
#[derive(Debug)]
pub(super) struct PlayedPort {
    address: SocketAddrV4,
    state: Mutex<PortState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct PortState {
    /// Recorded sender and time of the datagram in the socket.
    sent: Option<Datagram>,
    /// The receiver has handled everything, and waits.
    is_waiting: bool,
}

impl Player {
    /// Replaces the network of this process by a recording that begins at `time`. Call it before any receiver is opened.
    ///
    /// # Errors
    /// Errors of the system; or the process already plays a recording.
    pub fn install(time: i64) -> io::Result<&'static Self> {
        let player = Self {
            now: AtomicI64::new(time),
            socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            ports: Mutex::default(),
            blocks: Mutex::default(),
        };
        let already_installed = |_| io::Error::from(io::ErrorKind::AlreadyExists);
        PLAYER.set(player).map_err(already_installed)?;
        PLAYER.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Sends a datagram to the receiver at `port` and waits until it is handled; false if there is no receiver.
    ///
    /// # Errors
    /// Errors of the system; or the receiver is stuck.
    pub fn datagram(&self, port: u16, datagram: Datagram, bytes: &[u8]) -> io::Result<bool> {
        let Some(port) = self.ports.lock().get(&port).cloned() else { return Ok(false) };
        port.wait()?;
        self.set_time(datagram.kernel_time);
        *port.state.lock() = PortState { sent: Some(datagram), is_waiting: false };
        self.socket.send_to(bytes, port.address)?;
        port.wait()?;
        Ok(true)
    }

    /// Writes a frame into the block `name` and waits until it is read; false if there is no reader.
    ///
    /// # Errors
    /// The block cannot be created; or its reader is stuck.
    pub fn block(&self, name: &str, time: i64, frame: &[u8], ready: u8) -> Result<bool, ShmError> {
        let mut blocks = self.blocks.lock();
        if blocks.unread.contains(name) {
            return Ok(false);
        }
        let is_long_enough = |block: &SharedBlock| block.len() >= frame.len();
        if !blocks.open.get(name).is_some_and(is_long_enough) {
            let block = SharedBlock::create(name, frame.len())?;
            blocks.open.insert(name.to_owned(), block);
        }
        let Some(block) = blocks.open.get(name) else { return Ok(false) };
        self.set_time(Some(time));
        block.copy_in(1, frame.get(1..).unwrap_or_default());
        block.set_flag(ready);
        match wait_for_reader(ready, || block.flag(), || std::thread::sleep(FLAG_PERIOD)) {
            BlockReader::Done => Ok(true),
            BlockReader::Absent => {
                blocks.unread.insert(name.to_owned());
                Ok(false)
            }
            BlockReader::Stuck => {
                blocks.unread.insert(name.to_owned());
                Err(ShmError::io(Path::new(name), io::ErrorKind::TimedOut.into()))
            }
        }
    }

    fn set_time(&self, time: Option<i64>) {
        if let Some(time) = time {
            self.now.fetch_max(time, Ordering::Relaxed);
        }
    }

    /// Removes the blocks.
    pub fn end(&self) {
        for (name, _) in std::mem::take(&mut self.blocks.lock().open) {
            let _removed_already = SharedBlock::remove(&name);
        }
    }
}

/// What became of a frame in a block.
#[derive(Debug, Eq, PartialEq)]
enum BlockReader {
    Done,
    Absent,
    /// It began to read, and did not end.
    Stuck,
}

/// Waits until a frame with the flag `ready` is read. The reader sets the flag to `ready + 1` while it reads, and to a larger
/// value at the end.
fn wait_for_reader(ready: u8, flag: impl Fn() -> u8, mut rest: impl FnMut()) -> BlockReader {
    for reads in 0..MAX_READING {
        match flag() {
            now if now > ready + 1 => return BlockReader::Done,
            now if now == ready && reads > MAX_FLAG_READS => return BlockReader::Absent,
            _ => rest(),
        }
    }
    BlockReader::Stuck
}

/// Binds the socket of a receiver of datagrams that are played at `port`; `None` unless this process plays a recording.
pub(super) fn open_port(port: u16, socket: &Socket) -> io::Result<Option<Arc<PlayedPort>>> {
    let Some(player) = PLAYER.get() else { return Ok(None) };
    socket.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into())?;
    let address = socket.local_addr()?.as_socket_ipv4().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let played = Arc::new(PlayedPort { address, state: Mutex::default(), changed: Condvar::new() });
    player.ports.lock().insert(port, played.clone());
    Ok(Some(played))
}

impl PlayedPort {
    /// Requests a datagram: the receiver has handled the previous one.
    pub(super) fn ask(&self) {
        let mut state = self.state.lock();
        if state.sent.is_none() && !state.is_waiting {
            state.is_waiting = true;
            self.changed.notify_all();
        }
    }

    /// Returns a received datagram with its recorded sender and time.
    pub(super) fn recorded(&self, received: Datagram) -> Datagram {
        self.state.lock().sent.take().unwrap_or(received)
    }

    fn wait(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let is_busy = |state: &mut PortState| !state.is_waiting;
        self.changed.wait_while_for(&mut state, is_busy, RECEIVER_TIMEOUT);
        if state.is_waiting { Ok(()) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

/// Returns the name of a block's file. A played recording has its own files, apart from those of a simulator on this host.
pub(in crate::transport) fn block_name(name: &str) -> String {
    if !is_played() {
        return name.to_owned();
    }
    format!("rfly_replay_{}_{name}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Calls [`wait_for_reader`] with flag 2; `flags` returns the flag after a number of rests. Returns that number, too.
    fn wait(flags: impl Fn(u32) -> u8) -> (BlockReader, u32) {
        let rests = Cell::new(0);
        let reader = wait_for_reader(2, || flags(rests.get()), || rests.set(rests.get() + 1));
        (reader, rests.get())
    }

    #[test]
    fn a_reader_that_never_begins_or_never_ends_does_not_hold_up_a_replay() {
        // Ready, reading, released.
        assert_eq!(wait(|rests| 2 + rests.min(10) as u8 / 5), (BlockReader::Done, 10));
        let (reader, rests) = wait(|_| 2);
        assert_eq!(reader, BlockReader::Absent);
        assert!(rests >= 40_000, "at least 2 s: {rests}");
        let (reader, rests) = wait(|rests| if rests < 10 { 2 } else { 3 });
        assert_eq!(reader, BlockReader::Stuck);
        assert!(rests >= 1_200_000, "at least 60 s: {rests}");
    }
}
