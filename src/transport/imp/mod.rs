//! The operating system: one folder for each, with the same names. A port to another one writes its folder, and touches
//! nothing else but `ros/pacing` and `ros/dds/ffi`.
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::{heads, holders, interfaces, shm, socket};
#[cfg(target_os = "linux")]
pub use linux::{limits::Limit, poll::wait_readable, signals::EndSignals, socket::try_recv_from};
#[cfg(not(target_os = "linux"))]
compile_error!("this system has no folder in src/transport/imp");
