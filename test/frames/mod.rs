//! Tests of `frames`.
mod attitudes;
mod emulator;
mod geodetic;
mod origins;
mod rehanging;
mod tree;
mod vectors;
