//! UDP sockets that check senders, add kernel time stamps, and pass datagrams to a tap.
use super::imp::socket::{
    buffer_bytes, coalesce, enable_timestamps_and_overflows, force_buffer, receive, receive_heads,
    share_port,
};
use super::imp::{heads, interfaces, poll};
use super::played::{self, PlayedPort, is_played};
use super::{Accept, PacketTapSlot};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::{sync::Arc, time::Duration};
use tokio::{io::Interest, net::UdpSocket};

/// Options of a receiving socket.
#[derive(Clone, Debug)]
pub struct BindOptions {
    /// Address to bind; 0.0.0.0 receives on every interface.
    pub address: Ipv4Addr,
    /// Port to bind; 0 lets the system choose.
    pub port: u16,
    /// Requested receive buffer in bytes; the system may grant less, see [`UdpReceiver::buffer_bytes`].
    pub buffer_bytes: usize,
    /// Several processes may bind the port.
    pub reuse: bool,
    /// Multicast groups to join on every active interface, loopback included.
    pub groups: Vec<Ipv4Addr>,
    /// Join the groups on the interface with this address only.
    pub join_at: Option<Ipv4Addr>,
    /// Accepted senders.
    pub accept: Accept,
    /// Receives all accepted datagrams.
    pub packet_tap: PacketTapSlot,
    /// [`UdpReceiver`] also sends each accepted datagram to the same port of this address.
    pub copy_to: Option<Ipv4Addr>,
}

impl BindOptions {
    /// Returns options for `port` on every interface, with a small buffer, for all senders.
    pub fn port(port: u16) -> Self {
        Self {
            address: Ipv4Addr::UNSPECIFIED,
            port,
            buffer_bytes: 1 << 18,
            reuse: false,
            groups: Vec::new(),
            join_at: None,
            accept: Accept::anybody(),
            packet_tap: PacketTapSlot::default(),
            copy_to: None,
        }
    }
}

/// Metadata of a received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Length on the wire, which may exceed the buffers' length.
    pub len: usize,
    /// Length of each datagram that the kernel coalesced (UDP GRO); the last may be shorter. `None`: one datagram.
    pub segment: Option<usize>,
    /// Sender.
    pub from: SocketAddrV4,
    /// Arrival time in the kernel, in ns since 1970, if available.
    pub kernel_time: Option<i64>,
    /// Datagrams lost so far because the socket's receive buffer was full.
    pub overflows: u32,
}

impl Datagram {
    /// Returns the metadata of one of the coalesced datagrams, of `len` bytes.
    pub fn coalesced_part(&self, len: usize) -> Self {
        Self { len, segment: None, ..*self }
    }
}

/// Result of a read.
#[derive(Clone, Copy, Debug)]
pub enum Received {
    /// A datagram; its bytes are in the buffers.
    Datagram(Datagram),
    /// A datagram from a sender that is not accepted; ignore the contents of the buffers.
    Refused,
}

/// Bytes of each datagram that [`StreamReceiver::recv_heads`] receives.
pub(super) const HEAD: usize = 32;
/// Timeout of [`StreamReceiver`] and [`CaptureSocket`](super::CaptureSocket).
pub(super) const WAIT: Duration = Duration::from_millis(250);

/// A blocking UDP socket for a thread that serves only one stream of large datagrams: one system call per datagram, and the
/// kernel wakes this thread directly. Otherwise like [`UdpReceiver`].
#[derive(Debug)]
pub struct StreamReceiver {
    socket: Socket,
    port: ReceivingPort,
    keeps_heads: bool,
}

impl StreamReceiver {
    /// Maximum datagrams per [`Self::recv_heads`].
    pub const BATCH: usize = 64;

    /// Binds a socket.
    pub fn bind(options: &BindOptions) -> io::Result<Self> {
        let (socket, port) = bind(options)?;
        socket.set_read_timeout(Some(WAIT))?;
        let receiver = Self { socket, port, keeps_heads: false };
        receiver.coalesce(true);
        Ok(receiver)
    }

    /// Returns the granted receive buffer in bytes: half of the reported number, which the kernel doubles.
    pub fn buffer_bytes(&self) -> usize {
        buffer_bytes(&self.socket)
    }

    /// Turns UDP GRO on or off: the kernel coalesces datagrams of equal length, and small ones take far less time to receive.
    pub fn coalesce(&self, on: bool) {
        let _old_kernels_cannot = coalesce(&self.socket, on && self.port.played.is_none());
    }

    /// Keeps only the first 32 bytes of each datagram whose bytes 4 to 7 contain its length: the buffer holds hundreds of
    /// datagrams instead of a few. Read them with [`Self::recv_heads`], also those still queued after
    /// [`Self::keep_all`]. Returns whether the system supports it. Turn UDP GRO off: of coalesced datagrams, only the
    /// first would keep its head.
    pub fn keep_heads(&mut self) -> bool {
        self.keeps_heads |= heads::keep(&self.socket).is_ok();
        self.keeps_heads
    }

    /// Keeps whole datagrams again.
    pub fn keep_all(&self) {
        let _keeps_all_if_not_supported = heads::keep_all(&self.socket);
    }

    /// Waits for a datagram, at most the shorter of `timeout` and 250 ms; returns whether one can be read.
    pub fn wait(&self, timeout: Duration) -> io::Result<bool> {
        self.port.ask_player();
        poll::readable_within(&self.socket, timeout.min(WAIT))
    }

    /// Receives one datagram, or some coalesced ones, into `buffers`, in order; `None` after a quarter of a second without one.
    pub fn recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Option<Received>> {
        self.port.ask_player();
        let datagram = none_if_empty(receive(&self.socket, buffers))?;
        Ok(datagram.map(|datagram| self.port.check_and_tap(datagram, buffers)))
    }

    /// Whether whole datagrams are needed even without subscribers: a tap records them, or a recording is played.
    pub fn needs_whole_datagrams(&self) -> bool {
        self.port.packet_tap.is_tapped() || self.port.played.is_some()
    }

    /// Receives the queued datagrams in one system call: at most [`Self::BATCH`], the first 32 bytes of each. With `wait`
    /// blocks for the first one up to a quarter of a second.
    pub fn recv_heads(&self, wait: bool) -> io::Result<Vec<([u8; HEAD], Received)>> {
        let received = receive_heads(&self.socket, wait)?.into_iter();
        let check = |(head, mut datagram): ([u8; HEAD], Datagram)| {
            if self.keeps_heads {
                datagram.len = heads::length(&head, datagram.len);
            }
            (head, self.port.check(datagram))
        };
        Ok(received.map(check).collect())
    }
}

/// A non-blocking UDP socket that scatters datagrams into buffers, timestamps them, and refuses senders that are not accepted.
#[derive(Debug)]
pub struct UdpReceiver {
    reader: UdpReader,
    /// The same socket registered with the runtime, which wakes the thread for every datagram.
    watched: Option<UdpSocket>,
}

/// Reads what is queued in the socket of a [`UdpReceiver`]; for other threads.
#[derive(Clone, Debug)]
pub struct UdpReader {
    socket: Arc<Socket>,
    port: ReceivingPort,
    copy_to: Option<Ipv4Addr>,
}

impl UdpReceiver {
    /// Binds a socket.
    pub fn bind(options: &BindOptions) -> io::Result<Self> {
        let (socket, port) = bind(options)?;
        socket.set_nonblocking(true)?;
        let reader = UdpReader { socket: Arc::new(socket), port, copy_to: options.copy_to };
        Ok(Self { reader, watched: None })
    }

    /// Returns the bound port.
    pub fn port(&self) -> u16 {
        self.reader.port.number
    }

    /// Returns the granted receive buffer in bytes: half of the reported number, which the kernel doubles.
    pub fn buffer_bytes(&self) -> usize {
        buffer_bytes(&self.reader.socket)
    }

    /// Whether each datagram is sent on to the same port of another address.
    pub fn is_copied(&self) -> bool {
        self.reader.copy_to.is_some()
    }

    /// Returns a reader of the same queue.
    pub fn reader(&self) -> UdpReader {
        self.reader.clone()
    }

    /// Waits until a datagram can be read.
    pub async fn readable(&mut self) -> io::Result<()> {
        self.reader.port.ask_player();
        let watched = match &mut self.watched {
            Some(watched) => watched,
            none => none.insert(UdpSocket::from_std(self.reader.socket.try_clone()?.into())?),
        };
        watched.readable().await
    }

    /// Waits for `time`, during which datagrams only queue in the socket: the thread does not wake for each.
    pub async fn rest(&mut self, time: Duration) {
        if self.reader.port.played.is_some() {
            // The player of a recording waits for each datagram.
            let _readable = tokio::time::timeout(time, self.readable()).await;
            return;
        }
        self.watched = None;
        tokio::time::sleep(time).await;
    }

    /// Receives one datagram into `buffers`, in order; `None` if none is queued, and [`Self::readable`] waits again.
    pub fn try_recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Option<Received>> {
        let Some(watched) = &self.watched else { return self.reader.try_recv(buffers) };
        // Clears the readiness if nothing was queued, so that `readable` sleeps instead of spinning.
        let received = watched.try_io(Interest::READABLE, || receive(&self.reader.socket, buffers));
        self.reader.take(received, buffers)
    }

    /// Waits for one datagram.
    pub async fn recv(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Received> {
        loop {
            self.readable().await?;
            if let Some(received) = self.try_recv(buffers)? {
                return Ok(received);
            }
        }
    }

    /// Sends from this socket, so that replies to its source arrive here.
    pub fn sender(&self) -> UdpSender {
        UdpSender(self.reader.socket.clone())
    }
}

impl UdpReader {
    /// Receives one datagram into `buffers`, in order; `None` if none is queued.
    pub fn try_recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Option<Received>> {
        self.take(receive(&self.socket, buffers), buffers)
    }

    fn take(
        &self,
        received: io::Result<Datagram>,
        buffers: &[IoSliceMut<'_>],
    ) -> io::Result<Option<Received>> {
        let Some(datagram) = none_if_empty(received)? else { return Ok(None) };
        let received = self.port.check_and_tap(datagram, buffers);
        self.copy(&received, buffers);
        Ok(Some(received))
    }

    /// Sends a datagram on to `copy_to`, unless it is such a copy itself. A closed destination port is not an error.
    fn copy(&self, received: &Received, buffers: &[IoSliceMut<'_>]) {
        let (Some(to), Received::Datagram(datagram)) = (self.copy_to, received) else { return };
        if datagram.from.port() == self.port.number {
            return;
        }
        let (to, bytes) =
            (SocketAddrV4::new(to, self.port.number), parts(datagram, buffers).concat());
        if let Err(error) = UdpSender(self.socket.clone()).send_to(&bytes, to) {
            tracing::debug!("no copy to {to}: {error}");
        }
    }
}

/// Sends datagrams, without waiting.
#[derive(Clone, Debug)]
pub struct UdpSender(Arc<Socket>);

impl UdpSender {
    /// Opens a socket that only sends.
    pub fn open() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0).into())?;
        socket.set_nonblocking(true)?;
        Ok(Self(Arc::new(socket)))
    }

    /// Sends a datagram; none while a recording is played.
    pub fn send_to(&self, bytes: &[u8], to: SocketAddrV4) -> io::Result<usize> {
        if is_played() {
            return Ok(bytes.len());
        }
        self.0.send_to(bytes, &to.into())
    }
}

/// Checks the senders of a port and taps its datagrams, for both receivers.
#[derive(Clone, Debug)]
struct ReceivingPort {
    number: u16,
    accept: Accept,
    packet_tap: PacketTapSlot,
    /// Set while this process plays a recording.
    played: Option<Arc<PlayedPort>>,
}

impl ReceivingPort {
    fn new(number: u16, options: &BindOptions, played: Option<Arc<PlayedPort>>) -> Self {
        let (accept, packet_tap) = (options.accept.clone(), options.packet_tap.clone());
        Self { number, accept, packet_tap, played }
    }

    fn ask_player(&self) {
        if let Some(played) = &self.played {
            played.ask();
        }
    }

    /// Checks the sender; a recorded datagram was accepted when it was recorded.
    fn check(&self, datagram: Datagram) -> Received {
        if let Some(played) = &self.played {
            Received::Datagram(played.recorded(datagram))
        } else if self.accept.take_or_count(*datagram.from.ip(), self.number) {
            Received::Datagram(datagram)
        } else {
            Received::Refused
        }
    }

    /// Checks the sender and passes an accepted datagram to the tap.
    fn check_and_tap(&self, datagram: Datagram, buffers: &[IoSliceMut<'_>]) -> Received {
        let received = self.check(datagram);
        if let Received::Datagram(datagram) = &received {
            self.packet_tap.with(|tap| {
                let parts = parts(datagram, buffers);
                let Some(segment) = datagram.segment else {
                    return tap.datagram(self.number, datagram, &parts);
                };
                for bytes in parts.concat().chunks(segment) {
                    tap.datagram(self.number, &datagram.coalesced_part(bytes.len()), &[bytes]);
                }
            });
        }
        received
    }
}

fn bind(options: &BindOptions) -> io::Result<(Socket, ReceivingPort)> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(options.buffer_bytes)?;
    if buffer_bytes(&socket) < options.buffer_bytes {
        // Only a privileged process can exceed net.core.rmem_max; the caller checks the granted size.
        let _not_privileged = force_buffer(&socket, options.buffer_bytes);
    }
    if let Some(played) = played::open_port(options.port, &socket)? {
        return Ok((socket, ReceivingPort::new(options.port, options, Some(played))));
    }
    if options.reuse {
        share_port(&socket)?;
    }
    enable_timestamps_and_overflows(&socket)?;
    socket.bind(&SocketAddrV4::new(options.address, options.port).into())?;
    for group in &options.groups {
        match options.join_at {
            Some(interface) => socket.join_multicast_v4(group, &interface)?,
            None => join_everywhere(&socket, *group)?,
        }
    }
    let address = socket.local_addr()?.as_socket_ipv4();
    let port = address.map_or(0, |address| address.port());
    Ok((socket, ReceivingPort::new(port, options, None)))
}

/// `None` if no datagram was queued.
pub(super) fn none_if_empty(received: io::Result<Datagram>) -> io::Result<Option<Datagram>> {
    match received {
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        received => received.map(Some),
    }
}

/// The bytes of a datagram in each buffer.
fn parts<'a>(datagram: &Datagram, buffers: &'a [IoSliceMut<'_>]) -> Vec<&'a [u8]> {
    let mut remaining = datagram.len;
    let part = |buffer: &'a IoSliceMut<'_>| {
        let len = remaining.min(buffer.len());
        remaining -= len;
        &buffer[..len]
    };
    buffers.iter().map(part).collect()
}

pub(super) fn join_everywhere(socket: &Socket, group: Ipv4Addr) -> io::Result<()> {
    let (mut joined, mut last) = (0, None);
    for address in interfaces::addresses()? {
        match socket.join_multicast_v4(&group, &address) {
            Ok(()) => joined += 1,
            Err(e) => last = Some(e),
        }
    }
    match last {
        Some(e) if joined == 0 => Err(e),
        _ => Ok(()),
    }
}
