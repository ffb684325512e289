//! Copies of the datagrams that other programs of this host receive.
use super::imp::raw_socket;
use super::imp::socket::{enable_timestamps_and_overflows, force_buffer, receive};
use super::udp::{Datagram, WAIT, join_everywhere, none_if_empty};
use socket2::Socket;
use std::collections::BTreeSet;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4};

/// Longest IP packet.
const LONGEST: usize = 65_535;
/// Protocol number of UDP.
const UDP: u8 = 17;
/// Length of a UDP header.
const HEADER: usize = 8;

/// Receives a copy of each datagram to these ports; the programs at the ports still receive it. Needs CAP_NET_RAW.
#[derive(Debug)]
pub struct CaptureSocket {
    socket: Socket,
    ports: BTreeSet<u16>,
    packet: Vec<u8>,
}

impl CaptureSocket {
    /// Opens the socket; joins the groups.
    ///
    /// # Errors
    /// Errors of the system; [`io::ErrorKind::PermissionDenied`] without the capability.
    pub fn open(
        ports: BTreeSet<u16>,
        groups: &BTreeSet<Ipv4Addr>,
        buffer_bytes: usize,
    ) -> io::Result<Self> {
        let socket = raw_socket::open_socket(&ports)?;
        socket.set_recv_buffer_size(buffer_bytes)?;
        // Exceeding net.core.rmem_max requires CAP_NET_ADMIN.
        let _not_privileged = force_buffer(&socket, buffer_bytes);
        socket.set_read_timeout(Some(WAIT))?;
        enable_timestamps_and_overflows(&socket)?;
        for group in groups {
            join_everywhere(&socket, *group)?;
        }
        Ok(Self { socket, ports, packet: vec![0; LONGEST] })
    }

    /// Waits up to a quarter of a second for a packet; returns port, metadata and bytes if it is a datagram to one of the ports.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn recv(&mut self) -> io::Result<Option<(u16, Datagram, &[u8])>> {
        let received = receive(&self.socket, &mut [IoSliceMut::new(&mut self.packet)]);
        let Some(datagram) = none_if_empty(received)? else { return Ok(None) };
        let packet = self.packet.get(..datagram.len).unwrap_or_default();
        let found = parse(packet).filter(|(_, port, _)| self.ports.contains(port));
        Ok(found.map(|(from, port, bytes)| {
            (port, Datagram { from, len: bytes.len(), ..datagram }, bytes)
        }))
    }
}

/// Sender, destination port and contents of a UDP datagram in an IPv4 packet.
fn parse(packet: &[u8]) -> Option<(SocketAddrV4, u16, &[u8])> {
    let &[version_and_length, _, _, _, _, _, _, _, _, protocol, _, _, a, b, c, d, ..] = packet
    else {
        return None;
    };
    let length = 4 * usize::from(version_and_length & 0x0f);
    let udp = packet.get(length..)?;
    let &[s0, s1, d0, d1, l0, l1, _, _, ..] = udp else { return None };
    let bytes = udp.get(HEADER..usize::from(u16::from_be_bytes([l0, l1])))?;
    let from = SocketAddrV4::new([a, b, c, d].into(), u16::from_be_bytes([s0, s1]));
    let is_udp = version_and_length >> 4 == 4 && protocol == UDP;
    is_udp.then_some((from, u16::from_be_bytes([d0, d1]), bytes))
}
