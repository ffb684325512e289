//! Configuration of Zenoh: the defaults of `rmw_zenoh_cpp`, and the environment variables that replace them.
use super::plain;
use crate::ros::{RosError, ZenohOptions};
use serde_json::Value;
use zenoh::Config;

/// Settings of a node that differ from Zenoh's defaults, as in `rmw_zenoh_cpp`.
const OF_SESSION: &[(&str, &str)] = &[
    ("mode", r#""peer""#),
    (CONNECT, r#"["tcp/localhost:7447"]"#),
    (LISTEN, r#"["tcp/localhost:0"]"#),
    (AUTOCONNECT, r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#),
    (BLOCK, "60000000"),
];
/// The same for a router.
const OF_ROUTER: &[(&str, &str)] = &[
    ("mode", r#""router""#),
    (LISTEN, r#"["tcp/[::]:7447"]"#),
    (AUTOCONNECT, r#"{ router: { to_router: "always", to_peer: "always" } }"#),
    (BLOCK, "5000000"),
    ("routing/router/peers_failover_brokering", "false"),
];
/// The same for both. The limits allow many nodes to start at a time.
const OF_BOTH: &[(&str, &str)] = &[
    ("scouting/multicast/enabled", "false"),
    ("scouting/gossip/target", r#"{ router: ["router", "peer"], peer: ["router"] }"#),
    ("timestamping/enabled", "true"),
    ("queries_default_timeout", "600000"),
    ("transport/unicast/open_timeout", "60000"),
    ("transport/unicast/accept_timeout", "60000"),
    ("transport/unicast/accept_pending", "10000"),
    ("transport/unicast/max_sessions", "10000"),
    ("transport/link/tx/lease", "60000"),
    ("transport/link/tx/keep_alive", "2"),
    // Number of batches of 64 KiB: with Zenoh's default of 2, a burst of images makes a reader that is 2 ms late lose small
    // messages.
    ("transport/link/tx/queue/size/data", "16"),
    (SHARED_MEMORY, "false"),
    // This optimization would copy large samples into another pool while the pool of the publishers is full.
    ("transport/shared_memory/transport_optimization/enabled", "false"),
];
pub(super) const CONNECT: &str = "connect/endpoints";
pub(super) const LISTEN: &str = "listen/endpoints";
/// The only transport of this build.
pub(super) const TCP: &str = "tcp/";
const SHARED_MEMORY: &str = "transport/shared_memory/enabled";
const AUTOCONNECT: &str = "scouting/gossip/autoconnect_strategy";
/// Time in µs until Zenoh closes a link that is full.
const BLOCK: &str = "transport/link/tx/queue/congestion_control/block/wait_before_close";
const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";

/// Configuration of a node. `shares` enables shared memory in the defaults; a file or the overrides take precedence.
pub(super) fn of_session(options: &ZenohOptions, shares: bool) -> Result<Config, RosError> {
    let overrides = match options.session_config.as_str() {
        "" => format!("{SHARED_MEMORY}={shares};{}", options.overrides),
        _ => options.overrides.clone(),
    };
    read("ZENOH_SESSION_CONFIG_URI", &options.session_config, OF_SESSION, &overrides)
}

/// Configuration of a router.
pub(super) fn of_router(options: &ZenohOptions) -> Result<Config, RosError> {
    read("ZENOH_ROUTER_CONFIG_URI", &options.router_config, OF_ROUTER, &options.overrides)
}

/// As in `rmw_zenoh_cpp` a file replaces all defaults; `key=value` pairs apply to either.
fn read(
    variable: &'static str,
    file: &str,
    defaults: &[(&str, &str)],
    overrides: &str,
) -> Result<Config, RosError> {
    let mut config = Config::default();
    if file.is_empty() {
        for (key, value) in defaults.iter().chain(OF_BOTH) {
            let inserted = config.insert_json5(key, value);
            inserted.map_err(|error| super::failed("configure", key, &error))?;
        }
    } else {
        let read = Config::from_file(file.strip_prefix("file://").unwrap_or(file));
        config = read.map_err(|error| RosError::Environment {
            variable,
            message: format!("`{file}`: {}", plain(&error)),
        })?;
    }
    let mut problems = Vec::new();
    for pair in overrides.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            None => problems.push(format!("`{pair}` has not the form key=value")),
            Some((key, value)) => match config.insert_json5(key.trim(), value.trim()) {
                Ok(()) => {}
                Err(error) => problems.push(format!("`{pair}`: {}", plain(&error))),
            },
        }
    }
    if !problems.is_empty() {
        return Err(RosError::Environment { variable: OVERRIDE, message: problems.join("; ") });
    }
    // Refused here, because Zenoh would try to connect for ever.
    let foreign = [CONNECT, LISTEN].iter().flat_map(|key| endpoints(&config, key));
    let foreign: Vec<_> = foreign.filter(|node| !node.starts_with(TCP)).collect();
    let Some(first) = foreign.first() else { return Ok(config) };
    let variable = if overrides.contains(first) { OVERRIDE } else { variable };
    let message = format!(
        "`{}`: this program has TCP only, without TLS: use tcp/ADDRESS:PORT; for TLS, connect to a `rmw_zenohd` on this host that \
         has the link with TLS",
        foreign.join("`, `")
    );
    Err(RosError::Environment { variable, message })
}

/// The endpoints that a session connects to, or listens on: a list in the configuration, or one list for each mode.
pub(super) fn endpoints(config: &Config, key: &str) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(endpoint) => found.push(endpoint.clone()),
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            Value::Object(by_mode) => by_mode.values().for_each(|value| collect(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    let json = config.get_json(key).unwrap_or_default();
    collect(&serde_json::from_str(&json).unwrap_or_default(), &mut found);
    found
}

/// Whether sessions with this configuration exchange shared memory.
pub(super) fn shares_memory(config: &Config) -> bool {
    config.get_json(SHARED_MEMORY).is_ok_and(|value| value == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(overrides: &str, session_config: &str) -> ZenohOptions {
        let text = str::to_owned;
        ZenohOptions {
            overrides: text(overrides),
            session_config: text(session_config),
            ..ZenohOptions::default()
        }
    }

    #[test]
    fn defaults_are_accepted_and_pairs_replace_them() {
        let config = of_session(&options("", ""), true).expect("the defaults");
        assert_eq!(endpoints(&config, CONNECT), ["tcp/localhost:7447"]);
        assert!(shares_memory(&config));
        let without = of_session(&options("", ""), false).expect("the defaults");
        let router = of_router(&options("", "")).expect("the defaults");
        assert!(!shares_memory(&without) && !shares_memory(&router));
        assert_eq!(endpoints(&router, LISTEN), ["tcp/[::]:7447"]);
        let pairs =
            r#"connect/endpoints=["tcp/127.0.0.1:7000"]; transport/shared_memory/enabled=false;"#;
        let config = of_session(&options(pairs, ""), true).expect("the pairs");
        assert_eq!(endpoints(&config, CONNECT), ["tcp/127.0.0.1:7000"]);
        assert!(!shares_memory(&config));
    }

    #[test]
    fn addresses_of_other_transports_are_named() {
        let pairs = r#"connect/endpoints={peer:["tls/10.0.0.1:7447","tcp/10.0.0.1:7447"]};listen/endpoints=["quic/[::]:0"]"#;
        let text = of_session(&options(pairs, ""), true).expect_err("no TLS").to_string();
        let named = ["ZENOH_CONFIG_OVERRIDE: `tls/10.0.0.1:7447`, `quic/[::]:0`:", "TCP only"];
        assert!(named.iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains("tcp/10"), "{text}");
    }

    #[test]
    fn all_wrong_pairs_and_an_unreadable_file_are_named() {
        let error =
            of_session(&options("mode=7; nonsense; no/such/key=1", ""), false).expect_err("wrong");
        let text = error.to_string();
        let named = ["ZENOH_CONFIG_OVERRIDE", "mode=7", "nonsense", "no/such/key=1"];
        assert!(named.iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains(".rs:"), "{text}");
        let error = of_session(&options("", "/nowhere/config.json5"), false).expect_err("missing");
        let text = error.to_string();
        assert!(text.contains("ZENOH_SESSION_CONFIG_URI: `/nowhere/config.json5`"), "{text}");
    }
}
