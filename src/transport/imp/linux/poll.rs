//! Waiting for many sockets at once.
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{io, net::UdpSocket, os::fd::AsFd, time::Duration};

/// Waits up to `timeout` (whole milliseconds) for one of the sockets to become readable; returns which are. A signal may
/// end the wait earlier.
pub fn wait_readable<'a>(
    sockets: impl IntoIterator<Item = &'a UdpSocket>,
    timeout: Duration,
) -> Vec<bool> {
    let new = |socket: &'a UdpSocket| PollFd::new(socket.as_fd(), PollFlags::POLLIN);
    let mut all: Vec<PollFd<'_>> = sockets.into_iter().map(new).collect();
    let timeout = u16::try_from(timeout.as_millis()).unwrap_or(u16::MAX);
    let is_polled = poll(&mut all, PollTimeout::from(timeout)).is_ok();
    let is_readable = |fd: &PollFd<'_>| is_polled && fd.any().unwrap_or(false);
    all.iter().map(is_readable).collect()
}

/// Waits up to `timeout`, rounded up to a millisecond, for one socket to become readable. A signal may end the wait earlier.
pub(in crate::transport) fn readable_within(
    socket: &impl AsFd,
    timeout: Duration,
) -> io::Result<bool> {
    let mut polled = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    let timeout = u16::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(u16::MAX);
    match poll(&mut polled, PollTimeout::from(timeout)) {
        Ok(count) => Ok(count > 0),
        Err(nix::Error::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
