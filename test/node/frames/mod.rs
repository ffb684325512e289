//! Tests of `node/frames`.
mod urdf;
