//! Copies of the datagrams that other programs receive.
use super::bpf as op;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::{collections::BTreeSet, io};

/// Longest program that the kernel accepts (BPF_MAXINSNS).
const MAX_LEN: usize = 4096;
/// Offset of the destination port in a UDP header.
const DESTINATION: u32 = 2;

/// Opens a raw socket, which receives a copy of each UDP datagram for this host, with its IP header, after the kernel has
/// reassembled IP fragments. Needs CAP_NET_RAW.
pub(in crate::transport) fn open_socket(ports: &BTreeSet<u16>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP))?;
    let program = filter(ports);
    // With more ports, only the caller filters the datagrams.
    if program.len() <= MAX_LEN {
        socket.attach_filter(&program)?;
    }
    Ok(socket)
}

/// Keeps datagrams to these ports, so that no other traffic of the host is queued.
fn filter(ports: &BTreeSet<u16>) -> Vec<SockFilter> {
    let stmt = |code, k| SockFilter::new(code, 0, 0, k);
    let mut program = vec![stmt(op::HEADER_TO_X, 0), stmt(op::LOAD_HALF_AFTER_X, DESTINATION)];
    for port in ports {
        program.push(SockFilter::new(op::JUMP_IF_EQUAL, 0, 1, (*port).into()));
        program.push(stmt(op::KEEP, u32::MAX));
    }
    program.push(stmt(op::KEEP, 0));
    program
}
