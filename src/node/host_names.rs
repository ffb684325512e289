//! Names of hosts in place of addresses, looked up once, at the start.
use crate::config::{ParamValue, Problems, params};
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs as _};

/// Replaces names of hosts by their addresses in all parameters that are addresses. A name without an address becomes a problem,
/// and its parameter is removed. May wait for a name server.
pub(super) fn resolve(values: &mut Vec<(String, ParamValue)>, problems: &mut Problems) {
    values.retain_mut(|(name, value)| {
        let ParamValue::Str(host) = &*value else { return true };
        if !is_host_name(host) || !params::is_address(name) {
            return true;
        }
        match address_of(host) {
            Ok(address) => *value = ParamValue::Str(address.to_string()),
            Err(why) => {
                let wanted = "write its IPv4 address, or name it in /etc/hosts";
                problems.push(name.as_str(), format!("{why}; {wanted}"));
                return false;
            }
        }
        true
    });
}

/// Whether a text is the name of a host, not a mistyped address.
fn is_host_name(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
}

fn address_of(host: &str) -> Result<Ipv4Addr, String> {
    let found = (host, 0).to_socket_addrs();
    let mut found = found.map_err(|error| format!("no address of {host} is found: {error}"))?;
    let address = found.find_map(|address| match address {
        SocketAddr::V4(address) => Some(*address.ip()),
        SocketAddr::V6(_) => None,
    });
    address.ok_or_else(|| format!("{host} has no IPv4 address"))
}
