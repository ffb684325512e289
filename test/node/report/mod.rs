//! Tests of `node/report`.
mod condition;
mod rates;
mod rosout;
