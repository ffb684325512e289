//! A recording in place of the network. There is at most one in a process: what is played also tells what time it is.
use super::{Datagram, SharedBlock, ShmError};
use socket2::Socket;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

static PLAYER: OnceLock<Player> = OnceLock::new();

/// A thread that handles one datagram for longer than this is stuck.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks at a block's flag.
const LOOK: Duration = Duration::from_micros(50);
/// How often a block's flag is looked at, which takes 2 s or more; its reader looks for a new block five times a second.
const LOOKS: u32 = 40_000;

/// Time of what was played last, in ns since 1970; `None` unless this process plays a recording.
pub fn played_time() -> Option<i64> {
    PLAYER.get().map(|player| player.now.load(Ordering::Relaxed))
}

/// Whether this process plays a recording: nothing of the network reaches it, and it sends nothing.
pub(super) fn is_played() -> bool {
    PLAYER.get().is_some()
}

/// Hands recorded datagrams and frames to the receivers of this process, one at a time.
#[derive(Debug)]
pub struct Player {
    now: AtomicI64,
    socket: UdpSocket,
    lines: Mutex<BTreeMap<u16, Arc<Line>>>,
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    open: BTreeMap<String, SharedBlock>,
    unread: BTreeSet<String>,
}

/// A receiver that waits for what is played at its port. The bytes take the way through a socket of the loopback interface, where a
/// thread can wait for them; who sent them, and when, is told beside it.
#[derive(Debug)]
pub(super) struct Line {
    to: SocketAddrV4,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// What is recorded about the datagram that is on the way.
    sent: Option<Datagram>,
    /// The receiver has handled everything, and waits.
    waits: bool,
}

impl Player {
    /// Puts a recording that begins at `time` in place of the network of this process, before any receiver is opened.
    ///
    /// # Errors
    /// Of the system; or the process plays one already.
    pub fn install(time: i64) -> io::Result<&'static Self> {
        let player = Self {
            now: AtomicI64::new(time),
            socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
            lines: Mutex::default(),
            blocks: Mutex::default(),
        };
        let again = |_| io::Error::from(io::ErrorKind::AlreadyExists);
        PLAYER.set(player).map_err(again)?;
        PLAYER.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Hands a datagram to the receiver at `port` and waits until it is handled; false if nobody receives there.
    ///
    /// # Errors
    /// Of the system; or the receiver is stuck.
    pub fn datagram(&self, port: u16, datagram: Datagram, bytes: &[u8]) -> io::Result<bool> {
        let line = lock(&self.lines).get(&port).cloned();
        let Some(line) = line else {
            return Ok(false);
        };
        line.wait()?;
        self.set_time(datagram.kernel_time);
        {
            let mut state = lock(&line.state);
            state.waits = false;
            state.sent = Some(datagram);
        }
        self.socket.send_to(bytes, line.to)?;
        line.wait()?;
        Ok(true)
    }

    /// Writes a frame into the block `name` and waits until it is read; false if nobody reads it.
    ///
    /// # Errors
    /// The block cannot be created.
    pub fn block(&self, name: &str, time: i64, frame: &[u8], ready: u8) -> Result<bool, ShmError> {
        let mut blocks = lock(&self.blocks);
        if blocks.unread.contains(name) {
            return Ok(false);
        }
        let long_enough = |block: &SharedBlock| block.len() >= frame.len();
        if !blocks.open.get(name).is_some_and(long_enough) {
            let block = SharedBlock::create(name, frame.len())?;
            blocks.open.insert(name.to_owned(), block);
        }
        let Some(block) = blocks.open.get(name) else {
            return Ok(false);
        };
        self.set_time(Some(time));
        block.copy_in(1, frame.get(1..).unwrap_or_default());
        block.set_flag(ready);
        let mut looks = 0;
        // The reader sets it to one value while it reads and to another at the end.
        while block.flag() <= ready + 1 {
            looks += 1;
            if looks > LOOKS && block.flag() == ready {
                blocks.unread.insert(name.to_owned());
                return Ok(false);
            }
            std::thread::sleep(LOOK);
        }
        Ok(true)
    }

    fn set_time(&self, time: Option<i64>) {
        if let Some(time) = time {
            self.now.fetch_max(time, Ordering::Relaxed);
        }
    }

    /// Removes the blocks.
    pub fn end(&self) {
        for (name, _) in std::mem::take(&mut lock(&self.blocks).open) {
            let _removed_already = SharedBlock::remove(&name);
        }
    }
}

/// A socket for what is played at `port`; `None` unless this process plays a recording.
pub(super) fn line(port: u16, socket: &Socket) -> io::Result<Option<Arc<Line>>> {
    let Some(player) = PLAYER.get() else {
        return Ok(None);
    };
    socket.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into())?;
    let to = match socket.local_addr()?.as_socket() {
        Some(SocketAddr::V4(to)) => to,
        _ => return Err(io::ErrorKind::AddrNotAvailable.into()),
    };
    let line = Arc::new(Line { to, state: Mutex::default(), changed: Condvar::new() });
    lock(&player.lines).insert(port, line.clone());
    Ok(Some(line))
}

impl Line {
    /// The receiver asks for a datagram: what it received before is handled.
    pub(super) fn asks(&self) {
        let mut state = lock(&self.state);
        if state.sent.is_none() && !state.waits {
            state.waits = true;
            self.changed.notify_all();
        }
    }

    /// What was recorded about a datagram that was just received.
    pub(super) fn recorded(&self, received: Datagram) -> Datagram {
        lock(&self.state).sent.take().unwrap_or(received)
    }

    fn wait(&self) -> io::Result<()> {
        let state = lock(&self.state);
        let busy = |state: &mut State| !state.waits;
        let waited = self.changed.wait_timeout_while(state, PATIENCE, busy);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.waits {
            true => Ok(()),
            false => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// The name of a block: a recording's blocks are not those of a simulator on this host.
pub(in crate::transport) fn block_name(name: &str) -> String {
    match is_played() {
        true => format!("rfly_replay_{}_{name}", std::process::id()),
        false => name.to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
