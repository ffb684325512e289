//! Sockets of other processes on a UDP port, from `/proc`.
use crate::transport::Holder;
use std::collections::BTreeSet;
use std::fs;

/// Sockets of other processes bound to a UDP port on any address; empty without `/proc`.
pub(in crate::transport) fn of(port: u16) -> Vec<Holder> {
    let table = fs::read_to_string("/proc/net/udp").unwrap_or_default();
    let mut foreign = bound(&table, port);
    if foreign.is_empty() {
        return Vec::new();
    }
    for own in sockets("self") {
        foreign.remove(&own);
    }
    let holder = |inode| Holder {
        inode,
        process: process(inode),
    };
    foreign.into_iter().map(holder).collect()
}

/// Inodes of the sockets on a port, from the text of `/proc/net/udp`.
fn bound(table: &str, port: u16) -> BTreeSet<u64> {
    let socket = |line: &str| {
        let mut fields = line.split_whitespace();
        let local = fields.nth(1)?;
        let (_, own) = local.split_once(':')?;
        // A socket being closed has inode 0.
        let inode = fields.nth(7)?.parse().ok().filter(|inode| *inode != 0)?;
        (u16::from_str_radix(own, 16) == Ok(port)).then_some(inode)
    };
    table.lines().skip(1).filter_map(socket).collect()
}

/// The process that has a socket open.
fn process(inode: u64) -> Option<(u32, String)> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let id = { ids }.find(|id| sockets(&id.to_string()).contains(&inode))?;
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    Some((id, name.trim_end().to_owned()))
}

/// Inodes of the sockets that a process has open.
fn sockets(process: &str) -> BTreeSet<u64> {
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return BTreeSet::new();
    };
    let socket = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?;
        inode.strip_suffix(']')?.parse().ok()
    };
    files.flatten().filter_map(socket).collect()
}
