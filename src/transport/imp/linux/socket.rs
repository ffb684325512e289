//! UDP sockets: features missing in the portable interfaces.
use crate::transport::udp::{Datagram, HEAD, StreamReceiver};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg, SockaddrIn,
    SockaddrStorage, recvmmsg, recvmsg, sendmsg, setsockopt, sockopt,
};
use socket2::Socket;
use std::cell::RefCell;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd as _;

/// Lets several processes bind the port.
pub(in crate::transport) fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)
}

/// Sets the receive buffer beyond the system's limit; needs privileges.
pub(in crate::transport) fn force_buffer(socket: &Socket, bytes: usize) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::RcvBufForce, &bytes)?)
}

/// Returns the granted receive buffer in bytes: half of the reported number, which the kernel doubles.
pub(in crate::transport) fn buffer_bytes(socket: &Socket) -> usize {
    socket.recv_buffer_size().unwrap_or(0) / 2
}

/// Makes the kernel report the arrival time of each datagram (SO_TIMESTAMPNS) and the number lost before it (SO_RXQ_OVFL).
/// Emulation by qemu-user lacks both: callers then use the time of the receive call.
pub(in crate::transport) fn enable_timestamps_and_overflows(socket: &Socket) -> io::Result<()> {
    for set in [
        setsockopt(socket, sockopt::ReceiveTimestampns, &true),
        setsockopt(socket, sockopt::RxqOvfl, &1),
    ] {
        set.or_else(|error| if error == Errno::ENOPROTOOPT { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

/// Turns generic receive offload on or off: the kernel delivers consecutive datagrams of equal length as one.
pub(in crate::transport) fn coalesce(socket: &Socket, on: bool) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::UdpGroSegment, &on)?)
}

/// Receives one datagram, or some that the kernel coalesced, into `buffers`, in order.
pub(in crate::transport) fn receive(
    socket: &Socket,
    buffers: &mut [IoSliceMut<'_>],
) -> io::Result<Datagram> {
    let flags = MsgFlags::MSG_TRUNC;
    CONTROL.with_borrow_mut(|control| {
        let message = recvmsg(socket.as_raw_fd(), buffers, Some(control), flags)?;
        to_datagram(&message)
    })
}

/// Receives the queued datagrams in one system call, the first bytes of each; with `wait` blocks for the first one
/// as long as the socket's timeout.
pub(in crate::transport) fn receive_heads(
    socket: &Socket,
    wait: bool,
) -> io::Result<Vec<([u8; HEAD], Datagram)>> {
    const BATCH: usize = StreamReceiver::BATCH;
    let mut heads = [[0; HEAD]; BATCH];
    let mut found = [const { None }; BATCH];
    let mut ranges: Vec<_> = heads.iter_mut().map(|head| [IoSliceMut::new(head)]).collect();
    // Recreated each time: the kernel shrinks the control buffers to the used size.
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, Some(control_buffer()));
    let until_first = if wait { MsgFlags::MSG_WAITFORONE } else { MsgFlags::MSG_DONTWAIT };
    let flags = until_first | MsgFlags::MSG_TRUNC;
    let fd = socket.as_raw_fd();
    match recvmmsg(fd, &mut headers, ranges.iter_mut(), flags, None) {
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Vec::new()),
        received => {
            for (message, found) in received?.zip(&mut found) {
                *found = Some(to_datagram(&message)?);
            }
        }
    }
    Ok(heads.into_iter().zip(found.into_iter().flatten()).collect())
}

/// Sends bytes as datagrams of `segment` bytes, the last one perhaps shorter: the kernel splits them.
///
/// # Errors
/// Errors of the system; no datagram is sent then. The limits are 64 datagrams, 65507 bytes, and the MTU for each datagram.
pub fn send_segments(
    socket: &UdpSocket,
    to: SocketAddr,
    bytes: &[u8],
    segment: usize,
) -> io::Result<()> {
    let segment = u16::try_from(segment).map_err(io::Error::other)?;
    let control = [ControlMessage::UdpGsoSegments(&segment)];
    let (parts, to) = ([IoSlice::new(bytes)], SockaddrStorage::from(to));
    let flags = MsgFlags::empty();
    sendmsg(socket.as_raw_fd(), &parts, &control, flags, Some(&to))?;
    Ok(())
}

/// Receives a datagram if there is one, also from a blocking socket; `None` also after an ICMP error of an earlier send.
pub fn try_recv_from(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    let mut buffers = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut buffers, None, flags).ok()?;
    let source = message.address?;
    let v4 = source.as_sockaddr_in().map(|a| SocketAddr::V4((*a).into()));
    let v6 = || { source.as_sockaddr_in6() }.map(|a| SocketAddr::V6((*a).into()));
    Some((message.bytes, v4.or_else(v6)?))
}

thread_local! {
    /// Control buffer for the receive calls of a thread, which never overlap.
    static CONTROL: RefCell<Vec<u8>> = RefCell::new(control_buffer());
}

fn control_buffer() -> Vec<u8> {
    nix::cmsg_space!(nix::sys::time::TimeSpec, u32, i32)
}

fn to_datagram(message: &RecvMsg<'_, '_, SockaddrIn>) -> io::Result<Datagram> {
    let from = message.address.map_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0), |a| {
        SocketAddrV4::new(a.ip(), a.port())
    });
    let (mut kernel_time, mut overflows, mut segment) = (None, 0, None);
    for control in message.cmsgs()? {
        match control {
            ControlMessageOwned::ScmTimestampns(t) => {
                kernel_time = Some(t.tv_sec() * 1_000_000_000 + t.tv_nsec());
            }
            ControlMessageOwned::RxqOvfl(count) => overflows = count,
            ControlMessageOwned::UdpGroSegments(len) => segment = usize::try_from(len).ok(),
            _ => {}
        }
    }
    Ok(Datagram {
        len: message.bytes,
        segment: segment.filter(|len| (1..message.bytes).contains(len)),
        from,
        kernel_time,
        overflows,
    })
}
