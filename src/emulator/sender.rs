use super::faults::Waiting;
use socket2::SockRef;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A datagram with its socket and destination.
type Letter = (Arc<UdpSocket>, SocketAddr, Vec<u8>);

/// Sends delayed datagrams: the only queue of the emulator, used by delay faults.
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

    /// Sends due datagrams until `stop` returns true; runs on its own thread.
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

/// Counts of sent datagrams.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Sent {
    pub(super) datagrams: u64,
    pub(super) errors: u64,
}

/// Sends the output of a [`Way`](super::faults::Way), now or delayed.
pub(super) struct Sender<'a> {
    socket: &'a Arc<UdpSocket>,
    postman: &'a Postman,
    to: SocketAddr,
    pub(super) sent: Sent,
}

impl<'a> Sender<'a> {
    pub(super) fn new(socket: &'a Arc<UdpSocket>, postman: &'a Postman, to: SocketAddr) -> Self {
        Self {
            socket,
            postman,
            to,
            sent: Sent::default(),
        }
    }

    /// Sends a datagram in two parts.
    pub(super) fn send(&mut self, delay: Duration, [head, tail]: [&[u8]; 2]) {
        self.sent.datagrams += 1;
        if delay.is_zero() {
            let sent = send_two(self.socket, self.to, head, tail);
            self.sent.errors += u64::from(sent.is_err());
        } else {
            let bytes = [head, tail].concat();
            self.postman.post(delay, self.socket, self.to, bytes);
        }
    }
}

/// Sends header and payload as one datagram without joining them first.
fn send_two(socket: &UdpSocket, to: SocketAddr, header: &[u8], piece: &[u8]) -> io::Result<()> {
    let parts = [IoSlice::new(header), IoSlice::new(piece)];
    SockRef::from(socket).send_to_vectored(&parts, &to.into())?;
    Ok(())
}
