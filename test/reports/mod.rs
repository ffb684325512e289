//! Tests of `reports`.
mod boxes;
mod collisions;
mod descriptions;
mod requester;
