//! Messages of topics whose type is known at run time only, in YAML; `test/e2e/ros_graph/test_topic_commands.py` has the program.
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::sensor_msgs::msg::LaserScan;
use rfly_bridge::ros::call::{MessageType, MessageValue, ShortenOptions};
use rfly_bridge::ros::{Middleware, Options, Outcome, Qos};
use rfly_bridge::time::RosTime;
use std::sync::{Arc, Mutex};

fn recorder() -> Middleware {
    Middleware::recorder(&Options::new("peer")).expect("a recorder").0
}

/// What a reader gets of a message in YAML, or the error.
fn published(type_name: &str, yaml: &str, now: RosTime) -> Result<MessageValue, String> {
    let middleware = recorder();
    let kind = MessageType::by_name(type_name).map_err(|error| error.to_string())?;
    let publisher = kind.publisher(&middleware, "/a", Qos::DEFAULT, yaml);
    let publisher = publisher.map_err(|error| error.to_string())?;
    let seen = Arc::new(Mutex::new(None));
    let keep = seen.clone();
    let read = move |value: Result<MessageValue, _>| *keep.lock().unwrap() = Some(value);
    let subscription = kind.subscribe(&middleware, "/a", Qos::DEFAULT, usize::MAX, read).unwrap();
    assert_eq!(publisher.publish(now).unwrap(), Outcome::Sent);
    drop(subscription);
    let value = seen.lock().unwrap().take().expect("a message").expect("readable");
    Ok(value)
}

fn value(type_name: &str, yaml: &str) -> MessageValue {
    published(type_name, yaml, RosTime(0)).unwrap_or_else(|error| panic!("{yaml}: {error}"))
}

#[test]
fn what_is_printed_of_any_type_can_be_published_again() {
    for name in super::types::built() {
        let kind = MessageType::by_name(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kind.name(), name);
        let default = kind.default_value().unwrap();
        let yaml = default.to_yaml().unwrap();
        assert_eq!(value(name, &yaml), default, "{yaml}");
    }
    let scan = "{ranges: [1.5, .inf, .nan, -0.1], header: {frame_id: 'no: 1'}, range_max: 1.0e-7}";
    let first = value("sensor_msgs/msg/LaserScan", scan);
    let again = value("sensor_msgs/msg/LaserScan", &first.to_yaml().unwrap());
    assert_eq!(first.to_csv(), again.to_csv());
    assert_eq!(first.to_csv(), "0,0,no: 1,0.0,0.0,0.0,0.0,0.0,0.0,1e-7,1.5,inf,NaN,-0.1,");
}

#[test]
fn a_message_that_does_not_fit_names_the_field_and_what_would() {
    let wrong = |kind: &str, yaml: &str| published(kind, yaml, RosTime(0)).expect_err(yaml);
    assert_eq!(
        wrong("std_msgs/msg/Strin", ""),
        "`std_msgs/msg/Strin` is not a known message type; did you mean \"std_msgs/msg/String\"?"
    );
    for (yaml, wanted) in [
        (
            "{pose: {positon: {x: 1}}}",
            "the message of geometry_msgs/msg/PoseStamped: pose: Pose has no field \"positon\"; did you mean \"position\"?",
        ),
        ("{header: now}", "header: is \"now\", expected Header: stamp, frame_id"),
        ("{header: {stamp: auto}}", "header.stamp: is \"auto\", expected Time: sec, nanosec"),
        ("{pose: [1}", "the message: line 1: invalid YAML"),
    ] {
        let error = wrong("geometry_msgs/msg/PoseStamped", yaml);
        assert!(error.contains(wanted), "{yaml}: {error}");
    }
}

#[test]
fn a_header_is_stamped_when_it_is_published() {
    let now = RosTime(1_700_000_000_123_456_789);
    let stamp = |yaml: &str| {
        let value = published("geometry_msgs/msg/PoseStamped", yaml, now).expect(yaml);
        value.at("header.stamp").unwrap().expect("a stamp").to_csv()
    };
    assert_eq!(stamp("{header: auto}"), "1700000000,123456789");
    assert_eq!(stamp("{header: {stamp: now, frame_id: map}}"), "1700000000,123456789");
    assert_eq!(stamp("{header: {stamp: {sec: 5}}}"), "5,0");
    assert_eq!(stamp(""), "0,0");
    let marker = "{markers: [{header: auto}, {}]}";
    let markers = published("visualization_msgs/msg/MarkerArray", marker, now).expect(marker);
    let stamp = markers.at("markers[0].header.stamp.sec").unwrap().cloned();
    assert_eq!(stamp, Some(MessageValue::Signed(1_700_000_000)));
}

#[test]
fn a_path_leads_to_a_field_or_says_what_there_is() {
    let pose = value("geometry_msgs/msg/PoseWithCovariance", "{pose: {position: {y: 2}}}");
    let at = |path: &str| pose.at(path).map(|found| found.map(MessageValue::to_csv));
    assert_eq!(at("pose.position"), Ok(Some("0.0,2.0,0.0".to_owned())));
    assert_eq!(at("covariance[35]"), Ok(Some("0.0".to_owned())));
    assert_eq!(at("covariance.3"), Ok(Some("0.0".to_owned())));
    assert_eq!(at("covariance[36]"), Ok(None));
    let wrong = at("pose.positon").unwrap_err();
    assert!(wrong.contains("did you mean \"position\"?"), "{wrong}");
    assert!(wrong.contains("It has: position, orientation"), "{wrong}");
    assert!(at("pose.position.x.y").is_err());
    assert!(at("covariance.x").unwrap_err().contains("is not an index of an array"));
}

#[test]
fn long_arrays_and_texts_are_cut_off_as_ros2_topic_echo_does() {
    let mut shown =
        value("sensor_msgs/msg/LaserScan", "{ranges: [1, 2, 3], header: {frame_id: abcd}}");
    let mut brief = shown.clone();
    shown.shorten(ShortenOptions { length: Some(2), ..ShortenOptions::default() });
    let yaml = shown.to_yaml().unwrap();
    assert!(yaml.contains("ranges:\n- 1.0\n- 2.0\n- \"...\"\n"), "{yaml}");
    assert!(yaml.contains("  frame_id: ab...\n"), "{yaml}");
    brief.shorten(ShortenOptions { length: None, no_arrays: true, no_texts: true });
    let yaml = brief.to_yaml().unwrap();
    assert!(yaml.contains("ranges: <array of 3>\n"), "{yaml}");
    assert!(yaml.contains("  frame_id: <string of 4>\n"), "{yaml}");
}

#[test]
fn a_message_of_known_type_is_what_its_fields_say() {
    let middleware = recorder();
    let kind = MessageType::by_name("geometry_msgs/msg/PoseStamped").unwrap();
    let yaml = "{pose: {position: {x: 1, z: -2.5}}}";
    let publisher = kind.publisher(&middleware, "/a", Qos::LATCHED, yaml).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = seen.clone();
    let read = move |pose: PoseStamped| keep.lock().unwrap().push(pose);
    let subscription = middleware.subscribe("/a", Qos::DEFAULT, read).unwrap();
    assert_eq!((publisher.topic(), publisher.subscribers()), ("/a", 1));
    publisher.publish(RosTime(0)).unwrap();
    let mut wanted = PoseStamped::default();
    (wanted.pose.position.x, wanted.pose.position.z) = (1.0, -2.5);
    assert_eq!(*seen.lock().unwrap(), [wanted]);
    drop(subscription);

    // Only as much of an array as is printed is kept.
    let kind = MessageType::by_name("sensor_msgs/msg/LaserScan").unwrap();
    let publisher = middleware.publisher::<LaserScan>("/scan", Qos::DEFAULT).unwrap();
    let seen = Arc::new(Mutex::new(None));
    let keep = seen.clone();
    let read = move |value: Result<MessageValue, _>| *keep.lock().unwrap() = value.ok();
    let subscription = kind.subscribe(&middleware, "/scan", Qos::DEFAULT, 3, read).unwrap();
    let ranges = (0..1000_u16).map(f32::from).collect();
    publisher.publish(&LaserScan { ranges, ..LaserScan::default() }).unwrap();
    let value = seen.lock().unwrap().take().expect("a scan");
    assert_eq!(value.at("ranges").unwrap().expect("ranges").to_csv(), "0.0,1.0,2.0");
    drop(subscription);
}
