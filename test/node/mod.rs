//! Tests of `node`.
mod liveness;
mod mounts;
mod requests;
mod rosout;
mod settings;
mod urdf;
