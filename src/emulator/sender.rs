use crate::transport::send_segments;
use parking_lot::{Condvar, Mutex};
use socket2::SockRef;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, io::IoSlice, sync::Arc};

/// Delayed datagrams by due time and number, each with its socket and destination.
type Delayed = BTreeMap<(Instant, u64), (Arc<UdpSocket>, SocketAddr, Vec<u8>)>;

/// Queues the datagrams that faults delay, and sends them when they are due.
#[derive(Debug, Default)]
pub(super) struct DelayedSender {
    /// Delayed datagrams, and how many have been queued so far.
    queue: Mutex<(Delayed, u64)>,
    changed: Condvar,
}

impl DelayedSender {
    /// Limit of the queue; datagrams beyond it are dropped.
    const MAX: usize = 8192;

    fn push(&self, delay: Duration, socket: &Arc<UdpSocket>, to: SocketAddr, bytes: Vec<u8>) {
        let (queue, count) = &mut *self.queue.lock();
        if queue.len() < Self::MAX {
            *count += 1;
            queue.insert((Instant::now() + delay, *count), (Arc::clone(socket), to, bytes));
        }
        self.changed.notify_one();
    }

    /// Sends due datagrams until `stop` returns true; runs on its own thread.
    pub(super) fn run(&self, stop: impl Fn() -> bool) {
        const NAP: Duration = Duration::from_millis(50);
        let mut queue = self.queue.lock();
        while !stop() {
            let due = queue.0.first_key_value().map(|((due, _), _)| *due);
            let nap = due.map_or(NAP, |due| due.saturating_duration_since(Instant::now()));
            if !nap.is_zero() {
                self.changed.wait_for(&mut queue, nap.min(NAP));
            } else if let Some((_, (socket, to, bytes))) = queue.0.pop_first() {
                drop(queue);
                let _ = socket.send_to(&bytes, to); // the reader may be gone, as with any datagram
                queue = self.queue.lock();
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct SendCounts {
    pub(super) datagrams: u64,
    pub(super) errors: u64,
}

/// Sends the output of a [`FaultInjector`](super::faults::FaultInjector), now or delayed.
pub(super) struct Sender<'a> {
    socket: &'a Arc<UdpSocket>,
    delayed: &'a DelayedSender,
    to: SocketAddr,
    burst: Option<Burst>,
    pub(super) sent: SendCounts,
}

impl<'a> Sender<'a> {
    pub(super) fn new(
        socket: &'a Arc<UdpSocket>,
        delayed: &'a DelayedSender,
        to: SocketAddr,
    ) -> Self {
        Self { socket, delayed, to, burst: None, sent: SendCounts::default() }
    }

    /// Sends datagrams of equal length in one call, which the kernel segments; the caller must flush.
    pub(super) fn in_bursts(mut self) -> Self {
        self.burst = Some(Burst::default());
        self
    }

    pub(super) fn send(&mut self, delay: Duration, [head, tail]: [&[u8]; 2]) {
        self.sent.datagrams += 1;
        let len = head.len() + tail.len();
        if !delay.is_zero() {
            self.delayed.push(delay, self.socket, self.to, [head, tail].concat());
        } else if let Some(burst) = &mut self.burst {
            if !burst.has_room_for(len) {
                burst.send(self.socket, self.to, &mut self.sent);
            }
            burst.append(head, tail);
        } else {
            let parts = [IoSlice::new(head), IoSlice::new(tail)]; // without joining them first
            let sent = SockRef::from(self.socket).send_to_vectored(&parts, &self.to.into());
            self.sent.errors += u64::from(sent.is_err());
        }
    }

    /// Sends the datagrams of an incomplete burst.
    pub(super) fn flush(&mut self) {
        if let Some(burst) = &mut self.burst {
            burst.send(self.socket, self.to, &mut self.sent);
        }
    }
}

/// Datagrams that are sent by one call.
#[derive(Default)]
struct Burst {
    bytes: Vec<u8>,
    /// Length of each datagram; the last one may be shorter.
    segment: usize,
}

impl Burst {
    /// Limits of the kernel: bytes and datagrams of a burst.
    const BYTES: usize = 65_000;
    const DATAGRAMS: usize = 64;

    fn has_room_for(&self, len: usize) -> bool {
        let is_whole = self.segment == 0 || self.bytes.len().is_multiple_of(self.segment);
        let bytes = self.bytes.len() + len;
        self.bytes.is_empty()
            || (is_whole
                && len <= self.segment
                && bytes <= Self::BYTES
                && bytes <= Self::DATAGRAMS * self.segment)
    }

    fn append(&mut self, head: &[u8], tail: &[u8]) {
        if self.bytes.is_empty() {
            self.segment = head.len() + tail.len();
        }
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(tail);
    }

    fn send(&mut self, socket: &UdpSocket, to: SocketAddr, sent: &mut SendCounts) {
        let is_one = self.bytes.len() <= self.segment;
        if is_one || send_segments(socket, to, &self.bytes, self.segment).is_err() {
            // The kernel cannot segment datagrams above the path's MTU; sent one by one, they are fragmented.
            for datagram in self.bytes.chunks(self.segment.max(1)) {
                sent.errors += u64::from(socket.send_to(datagram, to).is_err());
            }
        }
        self.bytes.clear();
    }
}
