//! Bytes in and out: sockets and shared memory. Nothing here knows what the bytes mean.
mod accept;
mod heads;
mod holders;
mod shm;
mod udp;

pub use accept::{Accept, Refused, RefusedSender, is_local_address};
pub use holders::{Holder, holders};
pub use shm::{SharedBlock, ShmError};
pub use udp::{BindOptions, Datagram, Received, StreamReceiver, UdpReceiver};
