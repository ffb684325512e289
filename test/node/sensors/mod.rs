//! Tests of `node/sensors`.
mod blocks;
mod liveness;
mod requests;
mod rhythm;
