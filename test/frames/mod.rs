//! Tests of `frames`.
mod attitudes;
mod emulator;
mod geodetic;
mod tree;
mod vectors;
