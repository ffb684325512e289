//! Tests of `reports`.
mod bounding_boxes;
mod collisions;
mod descriptions;
mod requester;
