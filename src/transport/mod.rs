//! Bytes in and out: sockets and shared memory. Nothing here knows what the bytes mean.
mod shm;
mod udp;

pub use shm::{SharedBlock, ShmError};
pub use udp::{BindOptions, Datagram, UdpReceiver, is_local_address};
