//! Tests of `transport`.
