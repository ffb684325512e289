//! Copies of the datagrams that other programs receive.
use super::bpf as op;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::collections::BTreeSet;
use std::io;

/// Longest program that the kernel takes (BPF_MAXINSNS).
const MOST: usize = 4096;
/// Offset of the destination port in a UDP header.
const DESTINATION: u32 = 2;

/// A raw socket: it gets a copy of each UDP datagram for this host, with its IP header, after the kernel has put fragments of IP
/// together. Needs CAP_NET_RAW.
pub(in crate::transport) fn socket(ports: &BTreeSet<u16>) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP))?;
    let program = filter(ports);
    // With more ports the caller has to look at each datagram.
    if program.len() <= MOST {
        socket.attach_filter(&program)?;
    }
    Ok(socket)
}

/// Keeps datagrams to these ports, so that no other traffic of the host is queued.
fn filter(ports: &BTreeSet<u16>) -> Vec<SockFilter> {
    let does = |code, k| SockFilter::new(code, 0, 0, k);
    let mut program = vec![does(op::HEADER_TO_X, 0), does(op::LOAD_HALF_BEHIND, DESTINATION)];
    for port in ports {
        program.push(SockFilter::new(op::JUMP_IF_EQUAL, 0, 1, (*port).into()));
        program.push(does(op::KEEP, u32::MAX));
    }
    program.push(does(op::KEEP, 0));
    program
}
