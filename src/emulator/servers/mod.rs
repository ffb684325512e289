//! The listening side: one thread polls every socket and hands each datagram to who it is for.
pub(super) mod coptersim;
pub(super) mod shm;
pub(super) mod window;

use super::control;
use super::shared::Shared;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::UdpSocket;
use std::os::fd::AsFd;
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
    /// Commands to the emulator itself.
    Control,
}

/// Serves all sockets until the emulator stops.
pub(super) fn run(shared: &Shared, sockets: &[(Role, Arc<UdpSocket>)]) {
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
            // Non-blocking sockets: an error means that there is no more, or that a reader has gone.
            while let Ok((len, source)) = socket.recv_from(&mut buffer) {
                let bytes = &buffer[..len];
                match role {
                    Role::Window(window) => window::accept(shared, socket, *window, bytes, source),
                    Role::Group => window::accept(shared, socket, 0, bytes, source),
                    Role::CopterSim(id) => coptersim::accept(shared, socket, *id, bytes, source),
                    Role::Control => {
                        let answer = control::obey(shared, &String::from_utf8_lossy(bytes));
                        let _ = socket.send_to(answer.as_bytes(), source); // the asker may be gone
                    }
                }
            }
        }
    }
}
