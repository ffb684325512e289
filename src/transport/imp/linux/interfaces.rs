//! Addresses of this host.
use std::{collections::BTreeSet, io, net::Ipv4Addr};

/// Addresses of all interfaces, loopback included.
pub(in crate::transport) fn addresses() -> io::Result<BTreeSet<Ipv4Addr>> {
    let interfaces = nix::ifaddrs::getifaddrs()?;
    let addresses = interfaces.filter_map(|interface| {
        let address = interface.address.as_ref()?;
        Some(address.as_sockaddr_in()?.ip())
    });
    Ok(addresses.collect())
}
