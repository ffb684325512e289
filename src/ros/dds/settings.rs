//! Cyclone's configuration: the bridge's settings first, then the user's, which take precedence.
use super::super::{Discovery, Options};

/// Payload of one RTPS fragment, and size of its datagram. Measured, see `docs/dds.md`: with smaller
/// ones Fast DDS readers cannot keep up with the pacing, and only two or three larger ones fit into a default receive
/// buffer.
const FRAGMENT_BYTES: u32 = 30_000;
const DATAGRAM_BYTES: u32 = 30_720;

/// XML fragments in the order in which Cyclone applies them.
pub(super) fn configuration(options: &Options) -> String {
    let (interfaces, multicast, discovery) = match options.discovery {
        Discovery::Localhost => (
            r#"<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>"#,
            "<AllowMulticast>spdp</AllowMulticast>",
            r#"<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex><Peers><Peer address="127.0.0.1"/></Peers></Discovery>"#
                .to_owned(),
        ),
        Discovery::Off => (
            "",
            "<AllowMulticast>false</AllowMulticast>",
            format!(
                "<Discovery><ParticipantIndex>none</ParticipantIndex><Tag>ros_discovery_off_{}</Tag></Discovery>",
                std::process::id()
            ),
        ),
        Discovery::Subnet => (
            "",
            "",
            "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex></Discovery>"
                .to_owned(),
        ),
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
