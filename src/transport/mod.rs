//! Bytes in and out: sockets and shared memory. Nothing here knows what the bytes mean. What depends on the operating system
//! is in `imp`, and with it its signals and limits.
mod accept;
mod holders;
mod imp;
mod shm;
mod udp;

pub use accept::{Accept, Refused, RefusedSender, is_local_address};
pub use holders::{Holder, holders};
pub use imp::{EndSignals, Limit, try_recv_from, wait_readable};
pub use shm::{SharedBlock, ShmError};
pub use udp::{BindOptions, Datagram, Received, StreamReceiver, UdpReceiver};
