//! Tests of `vehicle`.
mod ground_truth;
