//! Variables that keep programs from finding each other.
use super::codes;
use rfly_bridge::doctor::{Code, check_environment};

fn found(variables: &[(&str, &str)]) -> Vec<Code> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    codes(&check_environment(&variable, &|path| path == "/there.xml"))
}

#[test]
fn an_environment_without_variables_is_fine() {
    assert_eq!(found(&[]), []);
    assert_eq!(found(&[("ROS_DOMAIN_ID", ""), ("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp")]), []);
}

#[test]
fn domains_are_whole_numbers_below_the_ports_of_the_kernel() {
    assert_eq!(found(&[("ROS_DOMAIN_ID", "101")]), []);
    assert_eq!(found(&[("ROS_DOMAIN_ID", "102")]), [Code::RosDomain]);
    assert_eq!(found(&[("ROS_DOMAIN_ID", "233")]), [Code::RosVariable]);
    assert_eq!(found(&[("ROS_DOMAIN_ID", "mine")]), [Code::RosVariable]);
}

#[test]
fn the_older_variable_wins_and_that_is_said() {
    let (only, range) = ("ROS_LOCALHOST_ONLY", "ROS_AUTOMATIC_DISCOVERY_RANGE");
    assert_eq!(found(&[(only, "1"), (range, "SUBNET")]), [Code::RosRange]);
    assert_eq!(found(&[(only, "0"), (range, "subnet")]), []);
    assert_eq!(found(&[(range, "OFF")]), [Code::RosRange]);
    assert_eq!(found(&[(only, "1"), (range, "OFF")]), [Code::RosLocalhost]);
    assert_eq!(found(&[(only, "1")]), [Code::RosLocalhost]);
    assert_eq!(found(&[(range, "LOCALHOST")]), [Code::RosLocalhost]);
    assert_eq!(found(&[(range, "SUBMET")]), [Code::RosVariable]);
}

#[test]
fn a_middleware_that_is_no_dds_and_a_profile_that_is_not_there_are_named() {
    assert_eq!(found(&[("RMW_IMPLEMENTATION", "rmw_zenoh_cpp")]), [Code::RosMiddleware]);
    assert_eq!(found(&[("ROS_DISCOVERY_SERVER", "10.0.0.1:11811")]), [Code::RosMiddleware]);
    assert_eq!(found(&[("CYCLONEDDS_URI", "file:///there.xml")]), []);
    assert_eq!(found(&[("CYCLONEDDS_URI", "<CycloneDDS/>")]), []);
    assert_eq!(found(&[("CYCLONEDDS_URI", "file:///gone.xml")]), [Code::RosProfile]);
    assert_eq!(found(&[("FASTRTPS_DEFAULT_PROFILES_FILE", "/gone.xml")]), [Code::RosProfile]);
}
