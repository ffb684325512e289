//! Tests of `program`.
mod limits;
mod line;
mod log;
mod panics;
mod signals;
