//! Tests of `node/sensors`.
mod blocks;
mod hints;
mod liveness;
mod poll_interval;
mod requests;
