//! Tests of `emulator`.
