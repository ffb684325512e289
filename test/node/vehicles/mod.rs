//! Tests of `node/vehicles`.
mod heartbeat_directory;
mod peer;
mod unserved;
