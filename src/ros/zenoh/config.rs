//! Configuration of Zenoh: the defaults of `rmw_zenoh_cpp`, and the environment variables that replace them.
use crate::ros::{RosError, ZenohOptions};
use zenoh::Config;

/// What `rmw_zenoh_cpp` changes of Zenoh's defaults for a node.
const OF_SESSION: &[(&str, &str)] = &[
    ("mode", r#""peer""#),
    ("connect/endpoints", r#"["tcp/localhost:7447"]"#),
    ("listen/endpoints", r#"["tcp/localhost:0"]"#),
    (AUTOCONNECT, r#"{ peer: { to_router: "always", to_peer: "greater-zid" } }"#),
    ("queries_default_timeout", "600000"),
];
/// The same of a router.
const OF_ROUTER: &[(&str, &str)] = &[
    ("mode", r#""router""#),
    ("listen/endpoints", r#"["tcp/[::]:7447"]"#),
    (AUTOCONNECT, r#"{ router: { to_router: "always", to_peer: "always" } }"#),
    ("queries_default_timeout", "60000"),
    ("routing/router/peers_failover_brokering", "false"),
];
/// And of both: many nodes may start at a time.
const OF_BOTH: &[(&str, &str)] = &[
    ("scouting/multicast/enabled", "false"),
    ("scouting/gossip/target", r#"{ router: ["router", "peer"], peer: ["router"] }"#),
    ("timestamping/enabled", "true"),
    ("transport/unicast/open_timeout", "60000"),
    ("transport/unicast/accept_timeout", "60000"),
    ("transport/unicast/accept_pending", "10000"),
    ("transport/unicast/max_sessions", "10000"),
    ("transport/link/tx/lease", "60000"),
    ("transport/link/tx/keep_alive", "2"),
    ("transport/link/tx/queue/congestion_control/block/wait_before_close", "60000000"),
    // Batches of 64 KiB: with Zenoh's 2 a burst of images makes a reader that is late for 2 ms lose small messages.
    ("transport/link/tx/queue/size/data", "16"),
    (SHARED_MEMORY, "false"),
    // Copies of large samples into a further pool, where the pool of the publishers has no room.
    ("transport/shared_memory/transport_optimization/enabled", "false"),
];
const SHARED_MEMORY: &str = "transport/shared_memory/enabled";
const AUTOCONNECT: &str = "scouting/gossip/autoconnect_strategy";
const OVERRIDE: &str = "ZENOH_CONFIG_OVERRIDE";

/// Configuration of a node; with or without shared memory, unless a file or the overrides say otherwise.
pub(super) fn of_session(options: &ZenohOptions, shares: bool) -> Result<Config, RosError> {
    let memory = if shares { "transport/shared_memory/enabled=true;" } else { "" };
    let overrides = match options.session_config.as_str() {
        "" => format!("{memory}{}", options.overrides),
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
            message: format!("`{file}`: {error}"),
        })?;
    }
    let mut problems = Vec::new();
    for pair in overrides.split(';').map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            None => problems.push(format!("`{pair}` has not the form key=value")),
            Some((key, value)) => match config.insert_json5(key.trim(), value.trim()) {
                Ok(()) => {}
                Err(error) => problems.push(format!("`{pair}`: {error}")),
            },
        }
    }
    if problems.is_empty() {
        return Ok(config);
    }
    Err(RosError::Environment { variable: OVERRIDE, message: problems.join("; ") })
}

/// Whether sessions with this configuration exchange shared memory.
pub(super) fn shares_memory(config: &Config) -> bool {
    config.get_json(SHARED_MEMORY).is_ok_and(|value| value == "true")
}

/// The addresses that a session connects to, for messages.
pub(super) fn routers(config: &Config) -> String {
    config.get_json("connect/endpoints").unwrap_or_default()
}

/// The addresses that others connect to.
pub(super) fn listens(config: &Config) -> String {
    config.get_json("listen/endpoints").unwrap_or_default()
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
        assert_eq!(routers(&config), r#"["tcp/localhost:7447"]"#);
        assert!(shares_memory(&config));
        let without = of_session(&options("", ""), false).expect("the defaults");
        let router = of_router(&options("", "")).expect("the defaults");
        assert!(!shares_memory(&without) && !shares_memory(&router));
        assert_eq!(listens(&router), r#"["tcp/[::]:7447"]"#);
        let pairs =
            r#"connect/endpoints=["tcp/127.0.0.1:7000"]; transport/shared_memory/enabled=false;"#;
        let config = of_session(&options(pairs, ""), true).expect("the pairs");
        assert_eq!(routers(&config), r#"["tcp/127.0.0.1:7000"]"#);
        assert!(!shares_memory(&config));
    }

    #[test]
    fn all_wrong_pairs_and_an_unreadable_file_are_named() {
        let error =
            of_session(&options("mode=7; nonsense; no/such/key=1", ""), false).expect_err("wrong");
        let text = error.to_string();
        let named = ["ZENOH_CONFIG_OVERRIDE", "mode=7", "nonsense", "no/such/key=1"];
        assert!(named.iter().all(|part| text.contains(part)), "{text}");
        let error = of_session(&options("", "/nowhere/config.json5"), false).expect_err("missing");
        let text = error.to_string();
        assert!(text.contains("ZENOH_SESSION_CONFIG_URI: `/nowhere/config.json5`"), "{text}");
    }
}
