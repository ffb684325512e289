//! Waiting for many sockets at once.
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::UdpSocket;
use std::os::fd::AsFd as _;
use std::time::Duration;

/// Waits up to `most` (whole milliseconds) for one of the sockets to become readable; returns which are. A signal may
/// end the wait earlier.
pub fn wait_readable<'a>(
    sockets: impl IntoIterator<Item = &'a UdpSocket>,
    most: Duration,
) -> Vec<bool> {
    let new = |socket: &'a UdpSocket| PollFd::new(socket.as_fd(), PollFlags::POLLIN);
    let mut all: Vec<PollFd<'_>> = sockets.into_iter().map(new).collect();
    let most = u16::try_from(most.as_millis()).unwrap_or(u16::MAX);
    let polled = poll(&mut all, PollTimeout::from(most)).is_ok();
    let readable = |fd: &PollFd<'_>| polled && fd.any().unwrap_or(false);
    all.iter().map(readable).collect()
}
