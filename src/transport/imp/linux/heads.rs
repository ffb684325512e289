//! Truncates datagrams to their heads in the kernel while the payload is not needed.
use super::bpf as op;
use crate::transport::udp::HEAD;
use socket2::{SockFilter, Socket};
use std::io;

/// Offset of the length in a datagram: 32 bits, little endian.
const LENGTH_AT: usize = 4;
/// Length of the UDP header, which a socket filter sees before the payload.
const UDP_HEADER: u32 = 8;

/// Makes the socket truncate datagrams to their heads, but only those that contain their true length, which [`length`] reads.
pub(in crate::transport) fn keep(socket: &Socket) -> io::Result<()> {
    socket.attach_filter(&filter())
}

/// Makes the socket keep whole datagrams. Where a filter cannot be detached (qemu-user), another one keeps them whole.
pub(in crate::transport) fn keep_all(socket: &Socket) -> io::Result<()> {
    let keep_whole = [SockFilter::new(op::KEEP, 0, 0, u32::MAX)];
    socket.detach_filter().or_else(|_| socket.attach_filter(&keep_whole))
}

/// Returns the program that truncates a datagram with its true length to its head, and keeps others whole.
fn filter() -> [SockFilter; 21] {
    let stmt = |code, k| SockFilter::new(code, 0, 0, k);
    let byte = |n: u32| stmt(op::LOAD_BYTE, UDP_HEADER + LENGTH_AT as u32 + n);
    let head = UDP_HEADER + HEAD as u32;
    let to_x = || stmt(op::A_TO_X, 0);
    let shift = || stmt(op::SHIFT_LEFT, 8);
    let with_x = || stmt(op::OR_X, 0);
    [
        stmt(op::LOAD_LENGTH, 0),
        // Shorter than a head: jump to the last instruction.
        SockFilter::new(op::JUMP_IF_AT_LEAST, 0, 18, head),
        byte(3),
        shift(),
        to_x(),
        byte(2),
        with_x(),
        shift(),
        to_x(),
        byte(1),
        with_x(),
        shift(),
        to_x(),
        byte(0),
        with_x(),
        stmt(op::ADD, UDP_HEADER),
        to_x(),
        stmt(op::LOAD_LENGTH, 0),
        SockFilter::new(op::JUMP_IF_EQUAL_X, 0, 1, 0),
        stmt(op::KEEP, head),
        stmt(op::KEEP, u32::MAX),
    ]
}

/// Original length of a datagram of which `received` bytes passed the filter.
pub(in crate::transport) fn length(head: &[u8; HEAD], received: usize) -> usize {
    let [_, _, _, _, a, b, c, d, ..] = *head;
    match received {
        HEAD => u32::from_le_bytes([a, b, c, d]) as usize,
        other => other,
    }
}
