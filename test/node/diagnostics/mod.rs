//! Tests of `node/diagnostics`.
mod program_health;
mod rates;
mod rosout;
mod top;
