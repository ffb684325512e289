//! Opcodes of classic BPF (linux/bpf_common.h).
pub(super) const LOAD_BYTE: u16 = 0x30;
pub(super) const LOAD_LENGTH: u16 = 0x80;
/// Loads two bytes after the IP header, whose length is in X.
pub(super) const LOAD_HALF_AFTER_X: u16 = 0x48;
/// Sets X to the length of the IP header at an offset.
pub(super) const HEADER_TO_X: u16 = 0xb1;
pub(super) const SHIFT_LEFT: u16 = 0x64;
pub(super) const ADD: u16 = 0x04;
pub(super) const OR_X: u16 = 0x4c;
pub(super) const A_TO_X: u16 = 0x07;
pub(super) const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(super) const JUMP_IF_EQUAL: u16 = 0x15;
pub(super) const JUMP_IF_EQUAL_X: u16 = 0x1d;
pub(super) const KEEP: u16 = 0x06;
