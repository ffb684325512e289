//! Linux.
mod bpf;
pub(in crate::transport) mod heads;
pub(in crate::transport) mod holders;
pub(in crate::transport) mod host;
pub(in crate::transport) mod interfaces;
pub(super) mod limits;
pub(in crate::transport) mod poll;
pub(in crate::transport) mod raw_socket;
pub(in crate::transport) mod shm;
mod sigbus;
pub(super) mod signals;
pub(in crate::transport) mod socket;
