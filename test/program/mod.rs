//! Tests of `program`.
mod files;
mod limits;
mod line;
mod log;
mod panics;
mod signals;
mod supervisor;
