//! Tests of `node/params`.
mod anything;
