//! Cyclone's configuration: the bridge's settings first, then the user's, which take precedence.
use super::super::{Discovery, Options};
use super::ffi;
use std::net::{SocketAddr, ToSocketAddrs as _};

/// Payload of one RTPS fragment, and size of its datagram. Measured (`docs/dds_measured.md`): with smaller fragments Fast DDS
/// readers cannot keep up with the pacing, and of larger ones only two or three fit into a default receive buffer.
const FRAGMENT_BYTES: u32 = 30_000;
const DATAGRAM_BYTES: u32 = 30_720;

/// Lets peers that know only the address of this host find its participants.
const PARTICIPANT_INDEX: &str = "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>";

const LOOPBACK_PEER: &str = r#"<Peer address="127.0.0.1"/>"#;

/// XML fragments in the order in which Cyclone applies them. Resolves the names of static peers.
pub(super) fn configuration(options: &Options) -> String {
    let peers = options.static_peers.iter().filter_map(|peer| address(peer));
    // By default Cyclone stops announcing itself to a peer after 30 s, but the peer may start later.
    let peers: String =
        peers.map(|peer| format!(r#"<Peer address="{peer}" PruneDelay="inf"/>"#)).collect();
    let interval = if peers.is_empty() { "" } else { "<SPDPInterval>5s</SPDPInterval>" };
    let discovery = |first: &str| {
        format!("<Discovery>{PARTICIPANT_INDEX}{interval}<Peers>{first}{peers}</Peers></Discovery>")
    };
    let (interfaces, multicast, discovery) = match options.discovery {
        Discovery::Localhost if peers.is_empty() => (
            r#"<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>"#,
            "<AllowMulticast>spdp</AllowMulticast>",
            discovery(&own_peers()),
        ),
        // As in rmw_cyclonedds_cpp: the peers are not on loopback.
        Discovery::Localhost => {
            ("", "<AllowMulticast>false</AllowMulticast>", discovery(LOOPBACK_PEER))
        }
        Discovery::Off => (
            "",
            "<AllowMulticast>false</AllowMulticast>",
            format!(
                "<Discovery><ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_{}</Tag></Discovery>",
                std::process::id()
            ),
        ),
        Discovery::Subnet => ("", "", discovery("")),
        Discovery::SystemDefault => ("", "", String::new()),
    };
    // Linger: a stalled reader would delay the program's exit by this time for each writer (default 1 s).
    // Watermarks: with KEEP_LAST the history bounds unacknowledged samples; a lower watermark would make writing
    // wait for the slowest reader.
    let own = format!(
        "<CycloneDDS><Domain Id=\"any\"><General>{interfaces}{multicast}\
         <MaxMessageSize>{DATAGRAM_BYTES}B</MaxMessageSize><FragmentSize>{FRAGMENT_BYTES}B</FragmentSize></General>\
         {discovery}\
         <Internal><Watermarks><WhcLow>1GB</WhcLow><WhcHigh>2147483647B</WhcHigh><WhcHighInit>2147483647B</WhcHighInit>\
         <WhcAdaptive>false</WhcAdaptive></Watermarks>\
         <WriterLingerDuration>100ms</WriterLingerDuration></Internal></Domain></CycloneDDS>"
    );
    if options.cyclonedds_uri.is_empty() {
        own
    } else {
        format!("{own},{}", options.cyclonedds_uri)
    }
}

/// The addresses of this host: a node on Cyclone 11 that uses a network card ignores announcements to loopback, also with
/// `LOCALHOST`. Announcements to its own addresses do not leave the host.
fn own_peers() -> String {
    let peer = |address| format!(r#"<Peer address="{address}"/>"#);
    ffi::own_addresses()
        .into_iter()
        .map(peer)
        .fold(LOOPBACK_PEER.to_owned(), |all, peer| all + &peer)
}

/// IPv4 address of a static peer: Cyclone refuses to start with any other address, or with a name that it cannot resolve.
fn address(peer: &str) -> Option<String> {
    let found = (peer, 0).to_socket_addrs().into_iter().flatten().find(SocketAddr::is_ipv4);
    if found.is_none() {
        tracing::warn!(
            "ROS_STATIC_PEERS: `{peer}` has no IPv4 address, so its nodes are found by multicast only; correct the name, or add it to /etc/hosts"
        );
    }
    found.map(|address| address.ip().to_string())
}
