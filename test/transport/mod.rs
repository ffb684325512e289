//! Tests of `transport`.
mod accept;
mod holders;
mod host;
mod shm;
mod udp;
