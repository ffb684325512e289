//! Tests of `node`.
