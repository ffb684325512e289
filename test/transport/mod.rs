//! Tests of `transport`.
mod shm;
mod udp;
