//! Tests of `node`.
mod announced;
mod liveness;
mod mounts;
mod requests;
mod rosout;
mod settings;
mod urdf;
