//! Code per operating system: one folder each, with the same interface. A port to another system adds a folder, and otherwise
//! changes only `ros/pacing` and `ros/dds/ffi`.
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::{heads, holders, host, interfaces, poll, raw_socket, shm, socket};
#[cfg(target_os = "linux")]
pub use linux::{
    host::{block_file, own_names},
    limits::{Limit, free_bytes},
    poll::wait_readable,
    signals::EndSignals,
    socket::{send_segments, try_recv_from},
};
#[cfg(not(target_os = "linux"))]
compile_error!("unsupported operating system: add a folder in src/transport/imp");
