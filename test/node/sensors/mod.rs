//! Tests of `node/sensors`.
mod blocks;
mod hints;
mod liveness;
mod requests;
mod rhythm;
