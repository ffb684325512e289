//! Tests of `frames`.
mod attitudes;
mod emulator;
mod tree;
mod vectors;
