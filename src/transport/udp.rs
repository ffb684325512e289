use super::Accept;
use super::heads::{self, HEAD};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrIn, recvmmsg, recvmsg,
    setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::time::Duration;
use tokio::{io::Interest, net::UdpSocket};

/// How a receiving socket is set up.
#[derive(Clone, Debug)]
pub struct BindOptions {
    /// Address to bind; 0.0.0.0 receives on every interface.
    pub address: Ipv4Addr,
    /// Port to bind; 0 lets the system choose.
    pub port: u16,
    /// Wanted receive buffer in bytes; the system may grant less, see [`UdpReceiver::buffer_bytes`].
    pub buffer_bytes: usize,
    /// Several processes may listen on the port.
    pub reuse: bool,
    /// Multicast groups to join on every interface that is up, loopback included.
    pub groups: Vec<Ipv4Addr>,
    /// Join the groups on the interface with this address only.
    pub join_at: Option<Ipv4Addr>,
    /// Who may send to the port.
    pub accept: Accept,
}

impl BindOptions {
    /// Binds `port` on every interface with a small buffer, for everybody.
    pub fn port(port: u16) -> Self {
        Self {
            address: Ipv4Addr::UNSPECIFIED,
            port,
            buffer_bytes: 1 << 18,
            reuse: false,
            groups: Vec::new(),
            join_at: None,
            accept: Accept::anybody(),
        }
    }
}

/// What is known about a received datagram besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Length on the wire, which may exceed the buffers' length.
    pub len: usize,
    /// Sender.
    pub from: SocketAddrV4,
    /// When the kernel received it, in ns since 1970, where the kernel tells.
    pub kernel_time: Option<i64>,
    /// Datagrams that the socket has lost so far because its receive buffer was full.
    pub overflows: u32,
}

/// What reading a socket gave.
#[derive(Clone, Copy, Debug)]
pub enum Received {
    /// A datagram, whose bytes are in the buffers.
    Datagram(Datagram),
    /// A datagram of somebody who is not accepted. What it left in the buffers is not to be looked at.
    Refused,
}

/// How long [`StreamReceiver`] waits for a datagram.
const WAIT: Duration = Duration::from_millis(250);

/// A UDP socket with a thread of its own, for streams of many large datagrams: one system call for each, and the kernel
/// wakes the thread that handles it. Otherwise as [`UdpReceiver`].
#[derive(Debug)]
pub struct StreamReceiver {
    socket: Socket,
    port: u16,
    accept: Accept,
    heads_only: bool,
}

impl StreamReceiver {
    /// Datagrams that [`Self::recv_heads`] receives at once.
    pub const BATCH: usize = 64;

    /// Binds a socket.
    pub fn bind(options: &BindOptions) -> io::Result<Self> {
        let socket = bind(options)?;
        socket.set_read_timeout(Some(WAIT))?;
        Ok(Self {
            port: port_of(&socket)?,
            socket,
            accept: options.accept.clone(),
            heads_only: false,
        })
    }

    /// Returns the receive buffer that the system granted, in bytes as asked for (the kernel counts double).
    pub fn buffer_bytes(&self) -> usize {
        buffer_bytes(&self.socket)
    }

    /// From now on the socket keeps only the first 32 bytes of what comes, if bytes 4 to 7 tell its length: hundreds of
    /// datagrams wait where a few did. To be read by [`Self::recv_heads`], also what still waits after
    /// [`Self::keep_all`]. Returns whether the system can do it.
    pub fn keep_heads(&mut self) -> bool {
        self.heads_only |= self.socket.attach_filter(&heads::filter()).is_ok();
        self.heads_only
    }

    /// From now on the socket keeps all of what comes.
    pub fn keep_all(&self) {
        let _was_none = self.socket.detach_filter();
    }

    /// Receives one datagram into `buffers`, in order; `None` if none came for a quarter of a second.
    pub fn recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Option<Received>> {
        self.recv_with(buffers, MsgFlags::empty())
    }

    /// Receives what is there in one system call: [`Self::BATCH`] datagrams at most, and of each the first 32 bytes. Waits
    /// for the first one for a quarter of a second, if it is to `wait`.
    pub fn recv_heads(&self, wait: bool) -> io::Result<Vec<([u8; HEAD], Received)>> {
        let mut heads = [[0; HEAD]; Self::BATCH];
        let mut found = [const { None }; Self::BATCH];
        let mut ranges: Vec<_> = heads
            .iter_mut()
            .map(|head| [IoSliceMut::new(head)])
            .collect();
        // Made anew each time: the kernel shortens the room for control messages to what it used.
        let mut headers =
            MultiHeaders::<SockaddrIn>::preallocate(Self::BATCH, Some(control_room()));
        let flags = match wait {
            true => MsgFlags::MSG_WAITFORONE,
            false => MsgFlags::MSG_DONTWAIT,
        } | MsgFlags::MSG_TRUNC;
        let fd = self.socket.as_raw_fd();
        match recvmmsg(fd, &mut headers, ranges.iter_mut(), flags, None) {
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Vec::new()),
            received => {
                for (message, found) in received?.zip(&mut found) {
                    *found = Some(datagram(&message)?);
                }
            }
        }
        let received = heads.into_iter().zip(found.into_iter().flatten());
        Ok(received
            .map(|(head, mut datagram)| {
                if self.heads_only {
                    datagram.len = heads::length(&head, datagram.len);
                }
                (head, judge(&self.accept, self.port, datagram))
            })
            .collect())
    }

    fn recv_with(
        &self,
        buffers: &mut [IoSliceMut<'_>],
        flags: MsgFlags,
    ) -> io::Result<Option<Received>> {
        match receive(self.socket.as_raw_fd(), buffers, flags) {
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(None)
            }
            result => result.map(|datagram| Some(judge(&self.accept, self.port, datagram))),
        }
    }
}

/// A non-blocking UDP socket that scatters datagrams into buffers, knows when they arrived, and refuses strangers.
#[derive(Debug)]
pub struct UdpReceiver {
    socket: UdpSocket,
    port: u16,
    accept: Accept,
}

impl UdpReceiver {
    /// Binds a socket. Must be called within the tokio runtime that will poll it.
    pub fn bind(options: &BindOptions) -> io::Result<Self> {
        let socket = bind(options)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            port: port_of(&socket)?,
            socket: UdpSocket::from_std(socket.into())?,
            accept: options.accept.clone(),
        })
    }

    /// Returns the bound port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the receive buffer that the system granted, in bytes as asked for (the kernel counts double).
    pub fn buffer_bytes(&self) -> usize {
        buffer_bytes(&socket2::SockRef::from(&self.socket))
    }

    /// Waits until a datagram can be read.
    pub async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Receives one datagram into `buffers`, in order; `None` when there is none, after which [`Self::readable`] waits.
    pub fn try_recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Option<Received>> {
        let fd = self.socket.as_raw_fd();
        // `try_io` forgets the readiness when there was nothing, so that `readable` sleeps and does not spin.
        match self.socket.try_io(Interest::READABLE, || {
            receive(fd, buffers, MsgFlags::empty())
        }) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            result => result.map(|datagram| Some(judge(&self.accept, self.port, datagram))),
        }
    }

    /// Waits for one datagram.
    pub async fn recv(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<Received> {
        let fd = self.socket.as_raw_fd();
        let datagram = self
            .socket
            .async_io(Interest::READABLE, || {
                receive(fd, buffers, MsgFlags::empty())
            })
            .await?;
        Ok(judge(&self.accept, self.port, datagram))
    }

    /// Sends a datagram from this socket, so that answers to its source come back here.
    pub fn send_to(&self, bytes: &[u8], to: SocketAddrV4) -> io::Result<usize> {
        socket2::SockRef::from(&self.socket).send_to(bytes, &to.into())
    }
}

fn bind(options: &BindOptions) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    if options.reuse {
        socket.set_reuse_address(true)?;
    }
    socket.set_recv_buffer_size(options.buffer_bytes)?;
    if buffer_bytes(&socket) < options.buffer_bytes {
        // Beyond net.core.rmem_max only a privileged process gets more; the caller sees what was granted.
        let _not_privileged = setsockopt(&socket, sockopt::RcvBufForce, &options.buffer_bytes);
    }
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(&socket, sockopt::RxqOvfl, &1)?;
    socket.bind(&SocketAddrV4::new(options.address, options.port).into())?;
    for group in &options.groups {
        match options.join_at {
            Some(interface) => socket.join_multicast_v4(group, &interface)?,
            None => join_everywhere(&socket, *group)?,
        }
    }
    Ok(socket)
}

fn port_of(socket: &Socket) -> io::Result<u16> {
    let address = socket.local_addr()?;
    Ok(address.as_socket_ipv4().map_or(0, |address| address.port()))
}

/// Every datagram that was read goes through here.
fn judge(accept: &Accept, port: u16, datagram: Datagram) -> Received {
    if accept.check(*datagram.from.ip(), port) {
        Received::Datagram(datagram)
    } else {
        Received::Refused
    }
}

fn receive(fd: i32, buffers: &mut [IoSliceMut<'_>], flags: MsgFlags) -> io::Result<Datagram> {
    let mut control = control_room();
    let flags = flags | MsgFlags::MSG_TRUNC;
    datagram(&recvmsg(fd, buffers, Some(&mut control), flags)?)
}

fn control_room() -> Vec<u8> {
    nix::cmsg_space!(nix::sys::time::TimeSpec, u32)
}

fn datagram(message: &RecvMsg<'_, '_, SockaddrIn>) -> io::Result<Datagram> {
    let from = message
        .address
        .map_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), |a| {
            SocketAddrV4::new(a.ip(), a.port())
        });
    let (mut kernel_time, mut overflows) = (None, 0);
    for control in message.cmsgs()? {
        match control {
            ControlMessageOwned::ScmTimestampns(t) => {
                kernel_time = Some(t.tv_sec() * 1_000_000_000 + t.tv_nsec());
            }
            ControlMessageOwned::RxqOvfl(count) => overflows = count,
            _ => {}
        }
    }
    Ok(Datagram {
        len: message.bytes,
        from,
        kernel_time,
        overflows,
    })
}

fn buffer_bytes(socket: &Socket) -> usize {
    socket.recv_buffer_size().unwrap_or(0) / 2
}

fn join_everywhere(socket: &Socket, group: Ipv4Addr) -> io::Result<()> {
    let interfaces = nix::ifaddrs::getifaddrs()?;
    let mut joined = 0;
    let mut last = None;
    for interface in interfaces {
        let Some(address) = interface.address.as_ref().and_then(|a| a.as_sockaddr_in()) else {
            continue;
        };
        match socket.join_multicast_v4(&group, &address.ip()) {
            Ok(()) => joined += 1,
            Err(e) => last = Some(e),
        }
    }
    match last {
        Some(e) if joined == 0 => Err(e),
        _ => Ok(()),
    }
}
