//! Tests of `node/diagnostics`.
mod condition;
mod rates;
mod rosout;
mod top;
