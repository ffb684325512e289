//! Names of ROS and of DDS.
use rfly_bridge::ros::names::{Resolver, dds_topic, dds_type, ros_topic, ros_type};

fn resolver(namespace: &str, remaps: &[(&str, &str)]) -> Resolver {
    let remaps: Vec<_> =
        remaps.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    Resolver::new("node", namespace, &remaps).unwrap()
}

#[test]
fn relative_private_and_absolute_names_expand_as_in_ros() {
    // The table of https://design.ros2.org/articles/topic_and_service_names.html
    let names = resolver("/my_ns", &[]);
    for (name, expected) in [
        ("ping", "/my_ns/ping"),
        ("/ping", "/ping"),
        ("~", "/my_ns/node"),
        ("~/ping", "/my_ns/node/ping"),
    ] {
        assert_eq!(names.resolve(name).unwrap(), expected);
    }
    assert_eq!(resolver("", &[]).resolve("a/b").unwrap(), "/a/b");
    assert_eq!(resolver("vehicle1", &[]).node(), "/vehicle1/node");
}

#[test]
fn remapping_compares_full_names_and_takes_the_first_rule_that_fits() {
    let names = resolver("/ns", &[("img", "/camera"), ("~/a", "b"), ("/ns/img", "/never")]);
    assert_eq!(names.resolve("/ns/img").unwrap(), "/camera");
    assert_eq!(names.resolve("~/a").unwrap(), "/ns/b");
    assert_eq!(names.resolve("/img").unwrap(), "/img");
}

#[test]
fn the_node_itself_is_renamed_by_its_special_rules() {
    let names = resolver("/", &[("__node", "other"), ("__ns", "/deep/er")]);
    assert_eq!(names.node(), "/deep/er/other");
    assert_eq!((names.namespace(), names.base_name()), ("/deep/er", "other"));
    assert_eq!(names.resolve("~/x").unwrap(), "/deep/er/other/x");
    let twice = [("__node", "a"), ("__node", "b"), ("__ns", "/c"), ("__ns", "/d")];
    assert_eq!(resolver("/", &twice).node(), "/c/a", "the first rule counts, as in rcl");
}

#[test]
fn names_that_ros_forbids_are_refused() {
    let names = resolver("/", &[]);
    for name in ["", "/", "a//b", "a/", "1a", "/a/2b", "a-b", "a b", "~~", "ä", "~1"] {
        let result = names.resolve(name);
        assert!(name == "~1" || result.is_err(), "{name:?} became {result:?}");
    }
    assert!(Resolver::new("a/b", "/", &[]).is_err());
    assert!(Resolver::new("n", "/a-b", &[]).is_err());
    assert!(names.resolve(&format!("/{}", "a".repeat(255))).is_err());
}

#[test]
fn names_are_mangled_for_dds_and_back() {
    assert_eq!(dds_topic("/a/b"), "rt/a/b");
    assert_eq!(dds_type("sensor_msgs/msg/Image"), "sensor_msgs::msg::dds_::Image_");
    assert_eq!(ros_topic("rt/a/b"), Some("/a/b"));
    assert_eq!(
        ros_type("sensor_msgs::msg::dds_::Image_").as_deref(),
        Some("sensor_msgs/msg/Image")
    );
    for foreign in ["ros_discovery_info", "rq/serviceRequest", "rt", "rta"] {
        assert_eq!(ros_topic(foreign), None);
    }
    for foreign in ["HelloWorldData::Msg", "a::msg::dds_::B", "Image_"] {
        assert_eq!(ros_type(foreign), None);
    }
}
