//! Names of `rmw_zenoh_cpp` on Zenoh: keys of data, liveliness tokens of nodes and endpoints with their QoS, and ids of
//! endpoints (docs/zenoh.md).
use crate::{
    msgs,
    ros::{Distro, Durability, History, Qos, Reliability, names},
};

/// First part of all tokens; `**` in other key expressions does not match it.
const ADMIN_SPACE: &str = "@ros2_lv";
/// Replaces `/` in names; alone, it stands for an empty name.
const SLASH: &str = "%";
/// Hash of a type on Humble.
const NO_HASH: &str = "TypeHashNotSupported";
/// Prefix of a hash (REP 2016).
const HASH: &str = "RIHS01_";
/// Matches every hash.
pub(super) const ANY_HASH: &str = "*";
/// Depth that a token leaves out.
const DEFAULT_DEPTH: u16 = 42;
/// Numbers of `rmw_qos_*_policy_e`.
const BEST_EFFORT: &str = "2";
const TRANSIENT_LOCAL: &str = "1";
const KEEP_ALL: &str = "2";

/// Kind of an endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EntityKind {
    Publisher,
    Subscription,
    Server,
    Client,
}

impl EntityKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Publisher, "MP"),
        (Self::Subscription, "MS"),
        (Self::Server, "SS"),
        (Self::Client, "SC"),
    ];

    fn code(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, code)| code)
    }

    fn of(code: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(kind, _)| *kind)
    }
}

/// Type of a topic or service and its hash, as in keys: `std_msgs::msg::dds_::String_/RIHS01_...`. A type without interface
/// file has [`ANY_HASH`].
pub(super) fn typed(type_name: &str, distro: Distro) -> String {
    let dds = names::dds_type(type_name);
    match (distro, msgs::type_hash(type_name)) {
        (Distro::Humble, _) => format!("{dds}/{NO_HASH}"),
        (_, Some(hash)) => format!("{dds}/{HASH}{hash}"),
        (_, None) => format!("{dds}/{ANY_HASH}"),
    }
}

/// Whether this is the hash of a type.
pub(super) fn is_hash(text: &str) -> bool {
    text.starts_with(HASH)
}

/// Key of the data of a topic, or of the requests of a service, from its full name and [`typed`] type.
pub(super) fn data_key(domain: u32, name: &str, typed: &str) -> String {
    format!("{domain}/{}/{typed}", name.trim_matches('/'))
}

/// Key expression that matches all tokens of a domain.
pub(super) fn all_tokens(domain: u32) -> String {
    format!("{ADMIN_SPACE}/{domain}/**")
}

/// A node of one session.
#[derive(Clone, Debug)]
pub(super) struct NodeIdentity {
    pub(super) domain: u32,
    /// Zenoh id of the session.
    pub(super) session: String,
    /// Unique in the session, among nodes and endpoints.
    pub(super) id: u64,
    /// Absolute; `/` for none.
    pub(super) namespace: String,
    pub(super) name: String,
}

impl NodeIdentity {
    pub(super) fn token(&self) -> String {
        self.prefix(self.id, "NN")
    }

    /// Token of an endpoint with a number that is unique in the session.
    pub(super) fn endpoint_token(
        &self,
        id: u64,
        kind: EntityKind,
        name: &str,
        typed: &str,
        qos: Qos,
    ) -> String {
        // A token is not a key expression, so it must not contain `*`.
        let typed = typed.replace(ANY_HASH, NO_HASH);
        format!("{}/{}/{typed}/{}", self.prefix(id, kind.code()), mangled(name), encoded(qos))
    }

    fn prefix(&self, id: u64, code: &str) -> String {
        let Self { domain, session, id: node, namespace, name } = self;
        let namespace = mangled(namespace);
        format!("{ADMIN_SPACE}/{domain}/{session}/{node}/{id}/{code}/{SLASH}/{namespace}/{name}")
    }
}

fn mangled(name: &str) -> String {
    if name.is_empty() { SLASH.to_owned() } else { name.replace('/', SLASH) }
}

fn encoded(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::Reliable => "",
        Reliability::BestEffort => BEST_EFFORT,
    };
    let durability = match qos.durability {
        Durability::Volatile => "",
        Durability::TransientLocal => TRANSIENT_LOCAL,
    };
    let history = match (qos.history, qos.depth) {
        (History::KeepAll, _) => format!("{KEEP_ALL},"),
        (History::KeepLast, DEFAULT_DEPTH) => ",".to_owned(),
        (History::KeepLast, depth) => format!(",{depth}"),
    };
    format!("{reliability}:{durability}:{history}:,:,:,,")
}

fn decoded(qos: &str) -> Option<Qos> {
    let fields: Vec<_> = qos.split(':').collect();
    let [reliability, durability, history, _, _, _] = fields[..] else { return None };
    let (history, depth) = history.split_once(',')?;
    Some(Qos {
        reliability: match reliability {
            BEST_EFFORT => Reliability::BestEffort,
            _ => Reliability::Reliable,
        },
        durability: match durability {
            TRANSIENT_LOCAL => Durability::TransientLocal,
            _ => Durability::Volatile,
        },
        history: if history == KEEP_ALL { History::KeepAll } else { History::KeepLast },
        depth: if depth.is_empty() { DEFAULT_DEPTH } else { depth.parse().unwrap_or(u16::MAX) },
    })
}

/// Contents of an endpoint's token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct AnnouncedEndpoint {
    /// Full name of the node.
    pub(super) node: String,
    pub(super) kind: EntityKind,
    /// Full name of the topic or service.
    pub(super) name: String,
    /// As ROS writes it.
    pub(super) type_name: String,
    /// As in [`typed`].
    pub(super) typed: String,
    pub(super) qos: Qos,
}

/// Reads the token of an endpoint; `None` for the token of a node, and for any other text.
pub(super) fn endpoint_of(token: &str) -> Option<AnnouncedEndpoint> {
    let parts: Vec<_> = token.split('/').collect();
    let [ADMIN_SPACE, _, _, _, _, kind, _, namespace, node, name, type_name, hash, qos] = parts[..]
    else {
        return None;
    };
    let namespace = namespace.replace(SLASH, "/");
    Some(AnnouncedEndpoint {
        node: format!("{}/{node}", namespace.trim_end_matches('/')),
        kind: EntityKind::of(kind)?,
        name: name.replace(SLASH, "/"),
        type_name: names::ros_type(type_name)?,
        typed: format!("{type_name}/{hash}"),
        qos: decoded(qos)?,
    })
}

/// The Zenoh id of a token's session.
pub(super) fn session_of(token: &str) -> Option<&str> {
    token.split('/').nth(2)
}

/// Id of an endpoint, from its token.
pub(super) fn gid(token: &str) -> [u8; 16] {
    // Low half first.
    xxhash_rust::xxh3::xxh3_128(token.as_bytes()).to_le_bytes()
}

/// Data beside the payload of each sample, request and response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Attachment {
    /// Counted by the writer or client, from 1.
    pub(super) sequence: i64,
    /// Time of writing in ns since 1970, by the writer's clock.
    pub(super) stamp_ns: i64,
    pub(super) gid: [u8; 16],
}

impl Attachment {
    /// Bytes in the serialisation of `zenoh-ext`.
    const SIZE: usize = 33;

    pub(super) fn bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.stamp_ns.to_le_bytes());
        bytes[16] = self.gid.len() as u8;
        bytes[17..].copy_from_slice(&self.gid);
        bytes
    }

    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let (sequence, rest) = bytes.split_first_chunk()?;
        let (stamp, rest) = rest.split_first_chunk()?;
        let gid = rest.strip_prefix(&[16])?.try_into().ok()?;
        let [sequence, stamp_ns] = [sequence, stamp].map(|bytes| i64::from_le_bytes(*bytes));
        Some(Self { sequence, stamp_ns, gid })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made by zenoh-ros2-sdk 0.1.8 (keys, tokens, attachment), pamoja-ros2 0.2.0 (the same key) and xxhash 3 (id), all of PyPI.
    const TYPED: &str = "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    const BEGIN: &str =
        "@ros2_lv/7/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MP/%/%ns/listener/%a%chatter/";
    const ATTACHMENT: &str = "030000000000000015cd853dfe9c971710000102030405060708090a0b0c0d0e0f";

    fn node() -> NodeIdentity {
        NodeIdentity {
            domain: 7,
            session: "aac3178e146ba6f1fc6e6a4085e77f21".to_owned(),
            id: 0,
            namespace: "/ns".to_owned(),
            name: "listener".to_owned(),
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal digits");
        (0..hex.len()).step_by(2).map(pair).collect()
    }

    #[test]
    fn keys_and_tokens_are_those_of_other_implementations() {
        let typed = typed("std_msgs/msg/String", Distro::Newer);
        assert_eq!(typed, TYPED);
        assert_eq!(data_key(7, "/a/chatter", &typed), format!("7/a/chatter/{TYPED}"));
        let expected = "@ros2_lv/7/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%ns/listener";
        assert_eq!(node().token(), expected);
        let best_effort =
            Qos { reliability: Reliability::BestEffort, ..Qos::LATCHED.with_depth(5) };
        let keep_all = Qos { history: History::KeepAll, ..Qos::DEFAULT };
        for (qos, code) in [(Qos::DEFAULT, "::,10"), (best_effort, "2:1:,5"), (keep_all, "::2,")] {
            let token = node().endpoint_token(10, EntityKind::Publisher, "/a/chatter", &typed, qos);
            assert_eq!(token, format!("{BEGIN}{TYPED}/{code}:,:,:,,"));
            let read = endpoint_of(&token).expect("an endpoint");
            let depth = if qos == keep_all { DEFAULT_DEPTH } else { qos.depth };
            let expected = AnnouncedEndpoint {
                node: "/ns/listener".to_owned(),
                kind: EntityKind::Publisher,
                name: "/a/chatter".to_owned(),
                type_name: "std_msgs/msg/String".to_owned(),
                typed: TYPED.to_owned(),
                qos: Qos { depth, ..qos },
            };
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn humble_has_no_hashes_and_an_unknown_type_matches_every_hash() {
        let of = |distro| typed("std_msgs/msg/String", distro);
        assert_eq!(of(Distro::Humble), "std_msgs::msg::dds_::String_/TypeHashNotSupported");
        assert_eq!(of(Distro::Unknown), TYPED);
        let unknown = typed("px4_msgs/msg/None", Distro::Newer);
        assert_eq!(unknown, "px4_msgs::msg::dds_::None_/*");
        let token = node().endpoint_token(1, EntityKind::Server, "/a", &unknown, Qos::DEFAULT);
        assert!(token.contains("/SS/") && !token.contains('*'), "{token}");
    }

    #[test]
    fn ids_are_hashes_of_the_whole_token() {
        let token = format!("{BEGIN}{TYPED}/::2,:,:,:,,");
        assert_eq!(gid(&token).to_vec(), bytes("eda1b1e0e0e9b7dc4e42092cad8a4935"));
    }

    #[test]
    fn an_attachment_is_read_as_written_and_other_lengths_are_refused() {
        let attachment = Attachment {
            sequence: 3,
            stamp_ns: 1_700_000_000_123_456_789,
            gid: std::array::from_fn(|i| i as u8),
        };
        let expected = bytes(ATTACHMENT);
        assert_eq!(attachment.bytes().to_vec(), expected);
        assert_eq!(Attachment::of(&expected), Some(attachment));
        for end in 0..expected.len() {
            assert_eq!(Attachment::of(&expected[..end]), None, "{end}");
        }
        assert_eq!(Attachment::of(&[&expected[..], &[0]].concat()), None);
    }

    #[test]
    fn what_is_no_token_of_an_endpoint_is_left_out() {
        let whole = format!("{BEGIN}{TYPED}/::,10:,:,:,,");
        assert_eq!(endpoint_of(&node().token()), None);
        for (from, to) in
            [("MP", "XX"), ("@ros2_lv", "other"), ("::,10", ":"), ("String_", "String")]
        {
            assert_eq!(endpoint_of(&whole.replacen(from, to, 1)), None, "{to}");
        }
        for end in 0..whole.len() {
            let _ = endpoint_of(&whole[..end]);
        }
    }
}
