//! Bytes in and out: sockets and shared memory, regardless of their contents. Code for the operating system,
//! including signals and limits, is in `imp`.
mod accept;
mod capture_socket;
mod holders;
mod host;
mod imp;
mod packet_tap;
mod played;
mod shm;
mod udp;

pub use accept::{Accept, Refused, RefusedSender, is_local_address};
pub use capture_socket::CaptureSocket;
pub use holders::{Holder, Holders};
pub use host::{BlockFile, Firewall, HostFacts, NetworkInterface, PacketCounts, Route};
pub use imp::{
    EndSignals, Limit, block_file, free_bytes, own_names, send_segments, try_recv_from,
    wait_readable,
};
pub use packet_tap::{PacketTap, PacketTapSlot};
pub use played::{Player, played_time};
pub use shm::{SharedBlock, ShmError, WatchedBlock};
pub use udp::{BindOptions, Datagram, Received, StreamReceiver, UdpReader, UdpReceiver, UdpSender};
