//! Tests of `transport`.
mod accept;
mod holders;
mod shm;
mod udp;
