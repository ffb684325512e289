//! Tests of `node`.
mod liveness;
mod requests;
