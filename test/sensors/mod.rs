//! Tests of `sensors`.
