//! Tests of `node`.
mod anything;
mod blocks;
mod bridge;
mod condition;
mod heartbeat_directory;
mod liveness;
mod mounts;
mod peer;
mod rates;
mod requests;
mod rhythm;
mod rosout;
mod senders;
mod settings;
mod tasks;
mod unserved;
mod urdf;
