//! Tests of `frames`.
mod attitudes;
mod emulator;
mod geodetic;
mod origins;
mod remounting;
mod tree;
mod vectors;
