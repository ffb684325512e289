//! Tests of `time`, on virtual time.
mod aligner;
mod properties;
mod table;
mod vendor;
mod world;
