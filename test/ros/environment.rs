//! The environment variables of ROS 2.
use rfly_bridge::ros::{Discovery, Distro, Options, RosError, ZenohOptions};

fn options(variables: &[(&str, &str)]) -> Result<Options, RosError> {
    let find = |name: &str| {
        variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
    };
    Options::new("n").with_environment(find)
}

#[test]
fn without_variables_the_node_is_in_domain_0_on_the_local_network_and_takes_no_distribution_for_granted()
 {
    let options = options(&[]).unwrap();
    assert_eq!(
        (options.domain_id, options.discovery, options.distro),
        (0, Discovery::Subnet, Distro::Unknown)
    );
}

#[test]
fn the_domain_is_taken_over_and_checked() {
    assert_eq!(options(&[("ROS_DOMAIN_ID", "42")]).unwrap().domain_id, 42);
    assert_eq!(options(&[("ROS_DOMAIN_ID", "")]).unwrap().domain_id, 0);
    for bad in ["233", "-1", "x"] {
        assert!(options(&[("ROS_DOMAIN_ID", bad)]).unwrap_err().to_string().contains(bad));
    }
}

#[test]
fn the_discovery_range_is_taken_over_and_localhost_only_wins() {
    let range = |value| {
        options(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", value)]).map(|options| options.discovery)
    };
    assert_eq!(range("LOCALHOST").unwrap(), Discovery::Localhost);
    assert_eq!(range("OFF").unwrap(), Discovery::Off);
    assert_eq!(range("SYSTEM_DEFAULT").unwrap(), Discovery::SystemDefault);
    assert!(range("EVERYWHERE").is_err());
    let both = [("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"), ("ROS_LOCALHOST_ONLY", "1")];
    assert_eq!(options(&both).unwrap().discovery, Discovery::Localhost);
    assert_eq!(options(&[("ROS_LOCALHOST_ONLY", "0")]).unwrap().discovery, Discovery::Subnet);
}

#[test]
fn static_peers_are_taken_over_where_rcl_and_rmw_cyclonedds_cpp_take_them_over() {
    let peers = |more: &[(&str, &str)]| {
        let listed = ("ROS_STATIC_PEERS", "192.168.1.7;; robot.local ;");
        options(&[&[listed], more].concat()).unwrap().static_peers
    };
    let range = |value| peers(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", value)]);
    for peers in [peers(&[]), range("SUBNET"), range("LOCALHOST")] {
        assert_eq!(peers, ["192.168.1.7", "robot.local"]);
    }
    let none: [&str; 0] = [];
    for peers in [range("OFF"), range("SYSTEM_DEFAULT"), peers(&[("ROS_LOCALHOST_ONLY", "1")])] {
        assert_eq!(peers, none);
    }
    assert_eq!(options(&[]).unwrap().static_peers, none);
}

#[test]
fn variables_that_are_not_set_leave_what_the_program_has_set() {
    let zenoh = ZenohOptions {
        session_config: "session.json5".to_owned(),
        router_config: "router.json5".to_owned(),
        overrides: "mode=\"client\"".to_owned(),
        router_check_attempts: None,
        ..ZenohOptions::default()
    };
    let found = zenoh.with_environment(|_| None).unwrap();
    assert_eq!(found.session_config, "session.json5");
    assert_eq!(found.router_config, "router.json5");
    assert_eq!(found.overrides, "mode=\"client\"");
    assert_eq!(found.router_check_attempts, None);
    let set = |name: &str| (name == "ZENOH_SESSION_CONFIG_URI").then(|| "other.json5".to_owned());
    assert_eq!(found.with_environment(set).unwrap().session_config, "other.json5");
    let peers = Options { static_peers: vec!["10.0.0.2".to_owned()], ..Options::new("n") };
    assert_eq!(peers.with_environment(|_| None).unwrap().static_peers, ["10.0.0.2"]);
}

#[test]
fn the_distribution_decides_the_layout_of_graph_information() {
    let distro = |name| options(&[("ROS_DISTRO", name)]).unwrap().distro;
    assert_eq!(distro("humble"), Distro::Humble);
    assert_eq!(distro("jazzy"), Distro::Newer);
    assert_eq!(distro("rolling"), Distro::Newer);
}

#[test]
fn the_pace_of_big_samples_is_taken_over_and_checked() {
    let pace = |value| {
        options(&[("RFLY_PACING_BYTES_PER_S", value)]).map(|options| options.pacing_bytes_per_s)
    };
    assert_eq!(pace("0").unwrap(), 0);
    assert_eq!(pace("2500000000").unwrap(), 2_500_000_000);
    assert_eq!(pace("").unwrap(), 600_000_000);
    assert!(pace("1 GB").unwrap_err().to_string().contains("RFLY_PACING_BYTES_PER_S"));
}

/// As rcl reads both variables: exactly `true`, exactly `Enforce`.
#[cfg(feature = "dds")]
#[test]
fn security_that_must_be_enforced_and_cannot_be_is_refused() {
    let with = |enable, strategy| {
        options(&[("ROS_SECURITY_ENABLE", enable), ("ROS_SECURITY_STRATEGY", strategy)])
    };
    let error = with("true", "Enforce").unwrap_err().to_string();
    assert!(error.contains("ROS_SECURITY_ENABLE") && error.contains("workspace"), "{error}");
    for (enable, strategy) in
        [("true", "Permissive"), ("true", ""), ("false", "Enforce"), ("", "Enforce")]
    {
        assert!(with(enable, strategy).is_ok(), "{enable} {strategy}");
    }
}
