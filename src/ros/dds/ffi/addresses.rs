//! Addresses of this host.
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::net::Ipv4Addr;

/// IPv4 addresses of the network interfaces that are up, except loopback; empty if the system does not return them.
pub(in crate::ros::dds) fn own_addresses() -> Vec<Ipv4Addr> {
    let interfaces = getifaddrs().into_iter().flatten();
    let used = interfaces.filter(|interface| {
        let flags = interface.flags;
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    });
    used.filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip())).collect()
}
