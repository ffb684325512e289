//! Tests of `time`.
