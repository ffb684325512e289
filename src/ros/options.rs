//! Options for joining the ROS graph, and the environment variables of ROS 2 that set them.
use super::RosError;

/// Range of discovery.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Discovery {
    /// This machine only (`ROS_LOCALHOST_ONLY=1`, `ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST`).
    Localhost,
    /// The local network (`SUBNET`).
    #[default]
    Subnet,
    /// No other process (`OFF`).
    Off,
    /// As in Cyclone's own configuration (`SYSTEM_DEFAULT`).
    SystemDefault,
}

/// ROS generation for which graph information is encoded: the generations differ in the size of a GID.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Distro {
    /// Not known: 24 bytes and type hashes, because a peer since Iron reads the last 8 bytes of the GID as an empty list of
    /// nodes. With 16 bytes Humble would read a node without a name, and `ros2 node list` would fail for the whole domain.
    #[default]
    Unknown,
    /// Humble and older: 24 bytes.
    Humble,
    /// Iron and newer: 16 bytes, and type hashes.
    Newer,
}

/// Middleware of the stand-alone program.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MiddlewareKind {
    /// Cyclone DDS.
    #[default]
    Dds,
    /// Zenoh, as `rmw_zenoh_cpp` uses it; only in programs built with it.
    Zenoh,
}

/// Settings of Zenoh: the variables of `rmw_zenoh_cpp`, and the size of the shared memory.
#[derive(Clone, Debug)]
pub struct ZenohOptions {
    /// `ZENOH_SESSION_CONFIG_URI`: file that replaces the default configuration of a node; empty for none.
    pub session_config: String,
    /// `ZENOH_ROUTER_CONFIG_URI`: the same for a router.
    pub router_config: String,
    /// `ZENOH_CONFIG_OVERRIDE`: `key=value;key=value`, applied after the defaults or the file.
    pub overrides: String,
    /// `ZENOH_ROUTER_CHECK_ATTEMPTS`: seconds until the log reports that there is no router; `u64::MAX`: the start waits for a
    /// router; `None`: no check.
    pub router_check_attempts: Option<u64>,
    /// Size of the shared memory of the publishers; 0 for none.
    pub shared_memory_bytes: usize,
}

impl Default for ZenohOptions {
    fn default() -> Self {
        Self {
            session_config: String::new(),
            router_config: String::new(),
            overrides: String::new(),
            router_check_attempts: Some(1),
            shared_memory_bytes: 0,
        }
    }
}

impl ZenohOptions {
    /// Applies the environment, as [`Options::with_environment`].
    pub fn with_environment(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, RosError> {
        const ATTEMPTS: &str = "ZENOH_ROUTER_CHECK_ATTEMPTS";
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let router_check_attempts = match text(ATTEMPTS).as_deref().map(str::trim) {
            None | Some("") => self.router_check_attempts,
            Some(value) => match value.parse::<i64>() {
                Ok(0) => Some(u64::MAX),
                Ok(attempts) => u64::try_from(attempts).ok(),
                Err(wrong) => {
                    let message = format!("`{value}`: {wrong}");
                    return Err(RosError::Environment { variable: ATTEMPTS, message });
                }
            },
        };
        Ok(Self {
            session_config: text("ZENOH_SESSION_CONFIG_URI").unwrap_or(self.session_config),
            router_config: text("ZENOH_ROUTER_CONFIG_URI").unwrap_or(self.router_config),
            overrides: text("ZENOH_CONFIG_OVERRIDE").unwrap_or(self.overrides),
            router_check_attempts,
            ..self
        })
    }
}

/// How to join the ROS graph.
#[derive(Clone, Debug)]
pub struct Options {
    /// Middleware of the stand-alone program; `None`: chosen by `RMW_IMPLEMENTATION`.
    pub middleware: Option<MiddlewareKind>,
    /// Settings of Zenoh.
    pub zenoh: ZenohOptions,
    /// Name of the node, without namespace.
    pub node_name: String,
    /// Namespace, absolute; `/` for none.
    pub namespace: String,
    /// `from:=to` rules, in order.
    pub remaps: Vec<(String, String)>,
    /// `ROS_DOMAIN_ID`, 0..=232.
    pub domain_id: u32,
    /// Range of discovery.
    pub discovery: Discovery,
    /// `ROS_STATIC_PEERS`: addresses or names of hosts whose nodes are discovered by unicast as well.
    pub static_peers: Vec<String>,
    /// Layout of the graph information.
    pub distro: Distro,
    /// The user's `CYCLONEDDS_URI`; takes precedence over the bridge's settings.
    pub cyclonedds_uri: String,
    /// `RFLY_PACING_BYTES_PER_S`: rate of samples above 64 KiB, per reader, in bytes/s; 0 for unlimited. Readers with
    /// default receive buffers lose data at higher rates (`docs/dds.md`).
    pub pacing_bytes_per_s: u64,
    /// Services of the embedded back end also answer clients on Fast DDS.
    pub fast_dds_services: bool,
}

impl Options {
    /// Defaults: domain 0, local network.
    pub fn new(node_name: &str) -> Self {
        Self {
            middleware: None,
            zenoh: ZenohOptions::default(),
            node_name: node_name.to_owned(),
            namespace: "/".to_owned(),
            remaps: Vec::new(),
            domain_id: 0,
            discovery: Discovery::default(),
            static_peers: Vec::new(),
            distro: Distro::default(),
            cyclonedds_uri: String::new(),
            pacing_bytes_per_s: 600_000_000,
            fast_dds_services: true,
        }
    }

    /// Applies the variables that are set; `variable` is `|name| std::env::var(name).ok()` outside tests.
    pub fn with_environment(
        self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, RosError> {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let error = |variable, message| RosError::Environment { variable, message };
        let mut options = self;
        if let Some(value) = text("ROS_DOMAIN_ID") {
            let id = value.trim().parse().ok().filter(|id| *id <= 232);
            let wrong = || error("ROS_DOMAIN_ID", format!("`{value}` is not in 0..=232"));
            options.domain_id = id.ok_or_else(wrong)?;
        }
        if let Some(value) = text("ROS_AUTOMATIC_DISCOVERY_RANGE") {
            options.discovery = match value.to_ascii_uppercase().as_str() {
                "LOCALHOST" => Discovery::Localhost,
                "SUBNET" => Discovery::Subnet,
                "OFF" => Discovery::Off,
                "SYSTEM_DEFAULT" => Discovery::SystemDefault,
                _ => {
                    return Err(error(
                        "ROS_AUTOMATIC_DISCOVERY_RANGE",
                        format!("`{value}` is none of LOCALHOST, SUBNET, OFF, SYSTEM_DEFAULT"),
                    ));
                }
            };
        }
        // The older variable takes precedence if both are set, as in rcl since Iron.
        let localhost_only = text("ROS_LOCALHOST_ONLY").is_some_and(|value| value == "1");
        if localhost_only {
            options.discovery = Discovery::Localhost;
        }
        // Then ROS_STATIC_PEERS has no effect, as in rcl and rmw_cyclonedds_cpp.
        let without_peers = match options.discovery {
            _ if localhost_only => Some("ROS_LOCALHOST_ONLY is 1"),
            Discovery::Off => Some("ROS_AUTOMATIC_DISCOVERY_RANGE is OFF"),
            Discovery::SystemDefault => Some("ROS_AUTOMATIC_DISCOVERY_RANGE is SYSTEM_DEFAULT"),
            Discovery::Localhost | Discovery::Subnet => None,
        };
        if let Some(peers) = text("ROS_STATIC_PEERS").filter(|_| without_peers.is_none()) {
            let peers = peers.split(';').map(str::trim).filter(|peer| !peer.is_empty());
            options.static_peers = peers.map(str::to_owned).collect();
        }
        #[cfg(feature = "dds")]
        {
            security(&text)?;
            let asks_for_zenoh = text("RMW_IMPLEMENTATION").as_deref() == Some("rmw_zenoh_cpp");
            if options.middleware.is_none() && asks_for_zenoh && cfg!(feature = "zenoh") {
                options.middleware = Some(MiddlewareKind::Zenoh);
            }
            options.zenoh = options.zenoh.with_environment(&variable)?;
            match options.middleware {
                Some(MiddlewareKind::Zenoh) if !cfg!(feature = "zenoh") => {
                    return Err(RosError::WithoutZenoh);
                }
                Some(MiddlewareKind::Zenoh) => warn_of_dds_variables(&text),
                kind => warn_of_ignored(&text, without_peers, kind.is_none() && asks_for_zenoh),
            }
        }
        options.distro = match text("ROS_DISTRO").as_deref() {
            None => options.distro,
            Some("dashing" | "eloquent" | "foxy" | "galactic" | "humble") => Distro::Humble,
            Some(_) => Distro::Newer,
        };
        if let Some(value) = text("RFLY_PACING_BYTES_PER_S") {
            let rate = value.trim().parse();
            options.pacing_bytes_per_s = rate.map_err(|wrong: std::num::ParseIntError| {
                error("RFLY_PACING_BYTES_PER_S", format!("`{value}`: {wrong}"))
            })?;
        }
        options.cyclonedds_uri = text("CYCLONEDDS_URI").unwrap_or(options.cyclonedds_uri);
        Ok(options)
    }
}

/// Logs the variables that have no effect with this middleware or range of discovery; in a workspace rcl handles them.
#[cfg(feature = "dds")]
fn warn_of_ignored(
    text: &impl Fn(&str) -> Option<String>,
    without_peers: Option<&str>,
    asks_for_zenoh: bool,
) {
    let mut ignored = Vec::new();
    if text("ROS_DISCOVERY_SERVER").is_some() {
        ignored.push(
            "ROS_DISCOVERY_SERVER (the embedded Cyclone DDS cannot join a discovery server of Fast DDS: nodes that use one do not find this node; \
             unset it in their terminals, and name their hosts in ROS_STATIC_PEERS if the network has no multicast)"
                .to_owned(),
        );
    }
    if asks_for_zenoh {
        ignored.push(format!(
            "RMW_IMPLEMENTATION=rmw_zenoh_cpp (nodes on Zenoh do not find this node: {})",
            RosError::WithoutZenoh
        ));
    }
    if let (Some(reason), Some(_)) = (without_peers, text("ROS_STATIC_PEERS")) {
        ignored.push(format!("ROS_STATIC_PEERS ({reason})"));
    }
    if !ignored.is_empty() {
        tracing::warn!(
            "ignored by the stand-alone program: {}; docs/dds.md has the variables that it obeys",
            ignored.join("; ")
        );
    }
}

/// Logs the variables of DDS, which have no effect on Zenoh.
#[cfg(feature = "dds")]
fn warn_of_dds_variables(text: &impl Fn(&str) -> Option<String>) {
    let names = [
        "CYCLONEDDS_URI",
        "ROS_AUTOMATIC_DISCOVERY_RANGE",
        "ROS_LOCALHOST_ONLY",
        "ROS_STATIC_PEERS",
    ];
    let set: Vec<_> = names.into_iter().filter(|name| text(name).is_some()).collect();
    if !set.is_empty() {
        tracing::warn!(
            "ignored on Zenoh: {}; ZENOH_CONFIG_OVERRIDE says where nodes are looked for (docs/zenoh.md)",
            set.join(", ")
        );
    }
}

/// Warns that the embedded back end has no DDS Security; with `Enforce` it is an error, as in rcl. In a workspace rcl handles it.
#[cfg(feature = "dds")]
fn security(text: &impl Fn(&str) -> Option<String>) -> Result<(), RosError> {
    if text("ROS_SECURITY_ENABLE").as_deref() != Some("true") {
        return Ok(());
    }
    if text("ROS_SECURITY_STRATEGY").as_deref() == Some("Enforce") {
        return Err(RosError::Environment {
            variable: "ROS_SECURITY_ENABLE",
            message: "`true` with ROS_SECURITY_STRATEGY=Enforce: the stand-alone build has no DDS Security; build the bridge in a ROS 2 workspace, \
                      or unset the variable"
                .to_owned(),
        });
    }
    tracing::warn!(
        "ROS_SECURITY_ENABLE is true, but the stand-alone build has no DDS Security: this node is neither encrypted nor authenticated"
    );
    Ok(())
}
