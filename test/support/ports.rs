//! Ports for programs that bind them later.
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU16, Ordering};

/// Range of ports below the simulator's, from 20005, and below those that the system gives to sockets bound to port 0: these
/// could take a port between its choice and its use.
const FIRST: u16 = 10_240;
const LAST: u16 = 19_900;
/// Room for four vehicles: the simulator's ports rise by 2 from one vehicle to the next.
const APART: u16 = 8;

static NEXT: AtomicU16 = AtomicU16::new(FIRST);

/// Returns ports that nobody uses, with room above each for three more vehicles; no two calls in this process get the same.
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
