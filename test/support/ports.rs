//! Ports for programs that bind them later.
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the simulator's own ports, from 20005, and those that the system gives to sockets bound to port 0: they would take
/// a port between its choice and its use.
const FIRST: u16 = 10_240;
const LAST: u16 = 19_900;
/// Of one vehicle to the next the simulator's ports rise by 2.
const APART: u16 = 8;

static NEXT: AtomicU16 = AtomicU16::new(FIRST);

/// Ports that nobody uses, with room for those of three more vehicles above each; no two tests get the same.
pub fn free_ports<const N: usize>() -> [u16; N] {
    [(); N].map(|()| free_port())
}

pub fn free_port() -> u16 {
    let step = |port| Some(if port < LAST { port + APART } else { FIRST });
    let mut candidates = std::iter::repeat_with(|| {
        NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step)
            .expect("there is always a next one")
    });
    let free = |port: &u16| (0..APART).all(|i| UdpSocket::bind(("0.0.0.0", port + i)).is_ok());
    candidates.by_ref().take(10_000).find(free).expect("a free port")
}
