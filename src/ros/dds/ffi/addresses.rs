//! Addresses of this host.
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::net::Ipv4Addr;

/// IPv4 addresses of the network cards that are up; none if the system does not tell.
pub(in crate::ros::dds) fn own_addresses() -> Vec<Ipv4Addr> {
    let interfaces = getifaddrs().into_iter().flatten();
    let used = interfaces.filter(|interface| {
        let flags = interface.flags;
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    });
    used.filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip())).collect()
}
