//! The listening side: one thread polls every socket and hands each datagram to who it is for.
pub(super) mod autopilot;
pub(super) mod coptersim;
pub(super) mod report;
pub(super) mod shm;
pub(super) mod window;

use super::control;
use super::shared::Shared;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, SockaddrStorage, recvmsg};
use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::Arc;

/// What a socket listens for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// Renderer window, by index.
    Window(usize),
    /// Multicast to all renderers, which means window 0 here.
    Group,
    /// `CopterSim` of a vehicle, by id.
    CopterSim(u16),
    /// Autopilot of a vehicle, by id.
    Autopilot(u16),
    /// Requests to any `CopterSim` of the network.
    Requests,
    /// Commands to the emulator itself.
    Control,
}

/// Serves all sockets until the emulator stops.
pub(super) fn run(shared: &Shared, sockets: &[(Role, Arc<UdpSocket>)]) {
    /// Datagrams taken from one socket before the next has its turn.
    const BATCH: usize = 64;
    let mut buffer = [0u8; 2048];
    while !shared.stopped() {
        let mut fds: Vec<PollFd<'_>> = sockets
            .iter()
            .map(|(_, s)| PollFd::new(s.as_fd(), PollFlags::POLLIN))
            .collect();
        if poll(&mut fds, PollTimeout::from(50u8)).is_err() {
            continue; // interrupted by a signal
        }
        for (fd, (role, socket)) in fds.iter().zip(sockets) {
            if !fd.any().unwrap_or(false) {
                continue;
            }
            // Bounded, so that a flood on one port does not silence the others.
            for _ in 0..BATCH {
                let Some((len, source)) = receive(socket, &mut buffer) else {
                    break;
                };
                let bytes = &buffer[..len];
                match role {
                    Role::Window(window) => window::accept(shared, socket, *window, bytes, source),
                    Role::Group => window::accept(shared, socket, 0, bytes, source),
                    Role::CopterSim(id) => coptersim::accept(shared, socket, *id, bytes, source),
                    Role::Requests => {
                        if !coptersim::request(shared, socket, bytes, source) {
                            shared.stats().refused += 1;
                        }
                    }
                    Role::Autopilot(_) => {} // has a thread of its own
                    Role::Control => {
                        let answer = control::obey(shared, &String::from_utf8_lossy(bytes));
                        let _ = socket.send_to(answer.as_bytes(), source); // the asker may be gone
                    }
                }
            }
        }
    }
}

/// Takes a datagram if there is one. The socket itself blocks, for the sake of those who send with it.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
    let mut buffers = [IoSliceMut::new(buffer)];
    // An error means that there is no more, or that a reader has gone.
    let got = recvmsg::<SockaddrStorage>(
        socket.as_raw_fd(),
        &mut buffers,
        None,
        MsgFlags::MSG_DONTWAIT,
    )
    .ok()?;
    let source = got.address?;
    let v4 = source.as_sockaddr_in().map(|a| SocketAddr::V4((*a).into()));
    Some((
        got.bytes,
        v4.or_else(|| {
            source
                .as_sockaddr_in6()
                .map(|a| SocketAddr::V6((*a).into()))
        })?,
    ))
}
