//! Sockets of other processes on a UDP port, from `/proc`.
use std::{collections::BTreeSet, fs};

/// Port and inode of every IPv4 socket that is bound to one of these ports; empty without `/proc`.
pub(in crate::transport) fn bound_sockets(ports: &BTreeSet<u16>) -> Vec<(u16, u64)> {
    let table = fs::read_to_string("/proc/net/udp").unwrap_or_default();
    let socket = |line: &str| {
        let mut fields = line.split_whitespace();
        let (_, port) = fields.nth(1)?.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        // A socket being closed has inode 0.
        let inode = fields.nth(7)?.parse().ok().filter(|inode| *inode != 0)?;
        ports.contains(&port).then_some((port, inode))
    };
    table.lines().skip(1).filter_map(socket).collect()
}

/// Inodes of the sockets of this process.
pub(in crate::transport) fn own_sockets() -> BTreeSet<u64> {
    sockets("self")
}

/// The process that has a socket open.
pub(in crate::transport) fn owner_of(inode: u64) -> Option<(u32, String)> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let id = { ids }.find(|id| sockets(&id.to_string()).contains(&inode))?;
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    Some((id, name.trim_end().to_owned()))
}

/// Inodes of the sockets that a process has open.
fn sockets(process: &str) -> BTreeSet<u64> {
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { return BTreeSet::new() };
    let socket = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?;
        inode.strip_suffix(']')?.parse().ok()
    };
    files.flatten().filter_map(socket).collect()
}
