//! Tests of `frames`.
mod attitudes;
mod emulator;
mod geodetic;
mod origins;
mod tree;
mod vectors;
