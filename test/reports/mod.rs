//! Tests of `reports`.
mod asking;
mod boxes;
mod collisions;
mod descriptions;
