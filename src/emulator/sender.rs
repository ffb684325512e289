use super::faults::{FaultCounts, Faults, Lane, Waiting};
use super::pacer::Pacer;
use crate::wire::{HeaderVariant, fragments};
use nix::sys::socket::{MsgFlags, SockaddrStorage, sendmsg};
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A datagram, who sends it and who gets it.
type Letter = (Arc<UdpSocket>, SocketAddr, Vec<u8>);

/// Sends datagrams late: the only queue of the emulator, used by delay faults.
#[derive(Debug)]
pub(super) struct Postman {
    waiting: Mutex<Waiting<Letter>>,
    changed: Condvar,
}

impl Postman {
    pub(super) fn new() -> Self {
        Self {
            waiting: Mutex::new(Waiting::new()),
            changed: Condvar::new(),
        }
    }

    fn post(&self, delay: Duration, socket: &Arc<UdpSocket>, to: SocketAddr, bytes: Vec<u8>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Instant::now() + delay, (Arc::clone(socket), to, bytes));
        self.changed.notify_one();
    }

    /// Sends what is due until `stop` says so; run by a thread of its own.
    pub(super) fn run(&self, stop: impl Fn() -> bool) {
        const NAP: Duration = Duration::from_millis(50);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while !stop() {
            let nap = waiting
                .next_due()
                .map_or(NAP, |due| due.saturating_duration_since(Instant::now()));
            if !nap.is_zero() {
                let woken = self.changed.wait_timeout(waiting, nap.min(NAP));
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            } else if let Some((socket, to, bytes)) = waiting.pop() {
                drop(waiting);
                let _ = socket.send_to(&bytes, to); // the reader may be gone, as with any datagram
                waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Sent {
    pub(super) datagrams: u64,
    pub(super) errors: u64,
    /// At least one datagram was lost or damaged.
    pub(super) harmed: bool,
}

/// The way of one stream to its reader.
pub(super) struct Sender {
    socket: Arc<UdpSocket>,
    postman: Arc<Postman>,
    stream: u64,
    seed: u64,
    lane: Lane,
    scratch: Vec<u8>,
}

impl Sender {
    /// Creates the way of stream number `stream`, which together with the seed decides what comes to harm.
    pub(super) fn new(socket: Arc<UdpSocket>, postman: Arc<Postman>, stream: u64) -> Self {
        Self {
            socket,
            postman,
            stream,
            seed: 0,
            lane: Lane::new(0, stream),
            scratch: Vec::new(),
        }
    }

    fn reseed(&mut self, seed: u64) {
        if self.seed != seed {
            self.seed = seed;
            let counts = self.lane.counts;
            self.lane = Lane::new(seed, self.stream);
            self.lane.counts = counts;
        }
    }

    pub(super) fn counts(&self) -> FaultCounts {
        self.lane.counts
    }

    /// Sends a frame in pieces as the vendor's forwarder cuts it: a length that is a multiple of the piece ends with
    /// an empty piece.
    pub(super) fn frame(
        &mut self,
        to: SocketAddr,
        variant: HeaderVariant,
        frame_id: i32,
        sim_time: f64,
        payload: &[u8],
        (faults, pacer): (&Faults, &mut Pacer),
    ) -> Sent {
        self.reseed(faults.seed);
        let mut sent = Sent::default();
        for fragment in fragments(payload, variant, frame_id, sim_time) {
            pacer.pass(fragment.datagram_len());
            self.piece(
                to,
                fragment.header.as_bytes(),
                fragment.payload,
                faults,
                &mut sent,
            );
        }
        sent
    }

    /// Sends one datagram that is not part of a frame.
    pub(super) fn datagram(&mut self, to: SocketAddr, bytes: &[u8], faults: &Faults) -> Sent {
        self.reseed(faults.seed);
        let mut sent = Sent::default();
        self.piece(to, bytes, &[], faults, &mut sent);
        sent
    }

    fn piece(
        &mut self,
        to: SocketAddr,
        header: &[u8],
        piece: &[u8],
        faults: &Faults,
        sent: &mut Sent,
    ) {
        if !faults.active() {
            sent.datagrams += 1;
            sent.errors += u64::from(send_two(&self.socket, to, header, piece).is_err());
            return;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(header);
        self.scratch.extend_from_slice(piece);
        let (socket, postman) = (&self.socket, &self.postman);
        sent.harmed |= self.lane.pass(faults, &self.scratch, |delay, bytes| {
            sent.datagrams += 1;
            if delay.is_zero() {
                sent.errors += u64::from(socket.send_to(&bytes, to).is_err());
            } else {
                postman.post(delay, socket, to, bytes);
            }
        });
    }
}

/// Sends header and piece as one datagram without joining them first.
fn send_two(socket: &UdpSocket, to: SocketAddr, header: &[u8], piece: &[u8]) -> io::Result<()> {
    let to = SockaddrStorage::from(to);
    sendmsg(
        socket.as_raw_fd(),
        &[IoSlice::new(header), IoSlice::new(piece)],
        &[],
        MsgFlags::empty(),
        Some(&to),
    )?;
    Ok(())
}
