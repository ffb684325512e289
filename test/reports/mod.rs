//! Tests of `reports`.
mod asking;
mod collisions;
mod descriptions;
