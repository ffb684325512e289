//! Facts about network and shared memory of this host, for diagnosis.
use super::imp;
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;

/// An address of an interface.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NetworkInterface {
    /// Name of the interface.
    pub name: String,
    /// Its address, with the prefix length of its network.
    pub network: Ipv4Net,
    /// It is up, and has a carrier.
    pub up: bool,
    /// It is a loopback interface.
    pub loopback: bool,
    /// It supports multicast.
    pub multicast: bool,
}

/// A row of the routing table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    /// Destination.
    pub network: Ipv4Net,
    /// The next router; `None` on the network of the interface itself.
    pub gateway: Option<Ipv4Addr>,
    /// Name of the interface.
    pub interface: String,
    /// The route with the smallest metric is used.
    pub metric: u32,
}

/// A file that may be a block of shared memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlockFile {
    /// There is no such file.
    Missing,
    /// This user lacks the permission to read or to write it.
    Denied {
        /// User id of its owner.
        owner: u32,
    },
    /// A directory, a link, a pipe or a device.
    NotAFile,
    /// A file.
    File {
        /// Its length in bytes.
        len: u64,
    },
}

/// What filters packets on this host, as far as programs without privileges see it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Firewall {
    /// `ufw` is enabled.
    Ufw,
    /// `firewalld` runs.
    Firewalld,
    /// The service `nftables` runs; family, table and chain for received packets, such as `inet filter input`.
    Nftables(String),
}

/// Facts about this host; unknown ones are empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HostFacts {
    /// Version of the kernel; WSL's contains `Microsoft`.
    pub kernel: String,
    /// Maker and product of the machine, which name a virtual machine or a board.
    pub machine: String,
    /// The process is in a container.
    pub container: bool,
    /// Maximum receive buffer of a program without privileges, in bytes.
    pub receive_buffer_max: Option<u64>,
    /// Addresses of the interfaces.
    pub interfaces: Vec<NetworkInterface>,
    /// The routing table.
    pub routes: Vec<Route>,
    /// User ids of the owners of shared memory of Fast DDS.
    pub fast_dds_owners: Vec<u32>,
    /// User id of this process.
    pub user: u32,
    /// The firewall; `None` also if the rules come from elsewhere.
    pub firewall: Option<Firewall>,
}

impl HostFacts {
    /// Reads the facts.
    pub fn read() -> Self {
        imp::host::read()
    }
}

/// Counts of IP packets since boot.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketCounts {
    /// Received, but neither delivered nor counted as faulty. A difference, because the kernel does not count packets that a rule
    /// drops.
    pub undelivered: u64,
    /// Multicast that network cards received; some drivers do not count it.
    pub device_multicast: u64,
    /// Received multicast of IPv6.
    pub ipv6_multicast: u64,
    /// Received multicast of IPv4 to joined groups, including the looped back part of `sent_multicast`.
    pub joined_multicast: u64,
    /// Multicast of IPv4 that this host sent. The kernel loops it back, without a count in `device_multicast`: if the group is
    /// joined, and on the loopback interface always; there it is undelivered if nobody joined.
    pub sent_multicast: u64,
}

impl PacketCounts {
    /// Reads the counts; `None` if this system does not have them.
    pub fn read() -> Option<Self> {
        imp::host::packet_counts()
    }

    /// Returns the minimum number of packets that a firewall or the reverse-path filter dropped since an earlier count: the
    /// undelivered ones, less multicast of other hosts to groups not joined here, and less all sent multicast. It is a minimum,
    /// because no count tells how much of the sent multicast was delivered.
    pub fn dropped_since(&self, before: &Self) -> u64 {
        let new = |count: fn(&Self) -> u64| count(self).saturating_sub(count(before));
        let (joined, sent) = (new(|n| n.joined_multicast), new(|n| n.sent_multicast));
        let of_devices = new(|n| n.device_multicast).saturating_sub(new(|n| n.ipv6_multicast));
        let of_others = of_devices.saturating_sub(joined.saturating_sub(sent));
        new(|n| n.undelivered).saturating_sub(of_others + sent)
    }
}
