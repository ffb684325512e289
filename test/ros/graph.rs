//! The node in the ROS graph, and DDS in both directions.
use super::probe::{Probe, knowing, node, subscription, until};
use crate::support::wait::wait_until;
use rfly_bridge::{
    msgs::{
        Message,
        std_msgs::msg::{Header, Int32},
        std_srvs::srv::Trigger,
        type_hash,
    },
    ros::{
        Connections, Discovery, Distro, ImageHead, Middleware, NodesByName, Options, Outcome, Qos,
    },
    time::RosTime,
};
use std::sync::{Arc, Mutex, mpsc};

const INFO: &str = "rmw_dds_common/msg/ParticipantEntitiesInfo";

/// The last state that a late reader of `ros_discovery_info` gets, and the writers that DDS discovery shows.
fn discovery_info(domain: u32, distro: Distro) {
    let middleware = node(domain, distro);
    let kept = middleware.publisher::<Int32>("/kept", Qos::DEFAULT).unwrap();
    let gone = middleware.publisher::<Int32>("/gone", Qos::DEFAULT).unwrap();
    let reader =
        middleware.subscribe_raw("/in", "std_msgs/msg/Int32", Qos::DEFAULT, |_| ()).unwrap();
    let further = middleware.node("mavros/param").unwrap();
    let watch = middleware.connections().unwrap();
    drop((gone, middleware.node("other").unwrap()));
    let wanted = subscription("ros_discovery_info", INFO, Qos::LATCHED, 1);
    let wanted = [knowing(wanted, &["/kept"])];
    let Some(probe) = Probe::start(domain, distro, &wanted, &[]) else {
        return;
    };
    let report = probe.finish();
    let info = &report["samples"]["ros_discovery_info"][0]["message"];
    let nodes = info["node_entities_info_seq"].as_array().expect("nodes");
    let names: Vec<_> =
        nodes.iter().map(|node| (&node["node_namespace"], &node["node_name"])).collect();
    assert_eq!(
        names,
        [(&"/".into(), &"bridge_under_test".into()), (&"/mavros".into(), &"param".into())]
    );
    assert_eq!(nodes[1]["writer_gid_seq"], serde_json::json!([]));

    let hash = match distro {
        Distro::Humble => String::new(),
        Distro::Newer | Distro::Unknown => {
            format!("typehash=RIHS01_{};", type_hash(INFO).expect("a hash"))
        }
    };
    for kind in ["user_data", "reader_data"] {
        assert_eq!(report[kind]["ros_discovery_info"], hash, "{kind}");
    }

    let length = if distro == Distro::Newer { 16 } else { 24 };
    let gid = |value: &serde_json::Value| -> Vec<u8> {
        serde_json::from_value(value["data"].clone()).expect("bytes")
    };
    let offers = report["offers"].as_array().expect("offers");
    let kept_offer =
        offers.iter().find(|offer| offer["topic"] == "/kept").expect("/kept is offered");
    let mut guid = crate::support::golden::unhex(kept_offer["writer"].as_str().expect("hex"));
    guid.resize(length, 0);
    let writers: Vec<_> =
        nodes[0]["writer_gid_seq"].as_array().expect("writers").iter().map(gid).collect();
    assert_eq!(writers, [guid.clone()], "the dropped publisher is not listed");
    assert_eq!(nodes[0]["reader_gid_seq"].as_array().expect("readers").len(), 1);
    assert_eq!(gid(&info["gid"])[..12], guid[..12], "participant and endpoint share their prefix");
    assert_eq!(gid(&info["gid"]).len(), length);
    drop((kept, reader, further, watch));
}

#[test]
fn what_is_opened_while_the_graph_is_held_appears_at_once_at_the_end() {
    let middleware = node(59, Distro::Newer);
    let all = Qos::LATCHED.with_depth(100);
    let wanted = [until(
        subscription("ros_discovery_info", INFO, all, usize::MAX),
        &["node_entities_info_seq", "0", "writer_gid_seq"],
        23,
    )];
    let Some(mut probe) = Probe::start(59, Distro::Newer, &wanted, &[]) else {
        return;
    };
    probe.wait_matched();
    let open = |count: usize, name: &str| -> Vec<_> {
        let open = |n| middleware.publisher::<Int32>(&format!("/{name}{n}"), Qos::DEFAULT);
        (0..count).map(|n| open(n).unwrap()).collect()
    };
    let one_by_one = open(3, "a");
    let hold = middleware.hold_graph();
    let at_once = open(20, "b");
    drop(hold);
    let report = probe.stop();
    let samples = report["samples"]["ros_discovery_info"].as_array().expect("samples");
    let writers = |sample: &serde_json::Value| {
        let node = &sample["message"]["node_entities_info_seq"][0];
        node["writer_gid_seq"].as_array().expect("writers").len()
    };
    // Which of the first three are seen depends on when the node finds the reader.
    let mut seen: Vec<_> = samples.iter().map(writers).collect();
    assert_eq!(seen.pop(), Some(23));
    assert!(seen.iter().all(|count| *count <= 3), "{seen:?}");
    drop((one_by_one, at_once));
}

#[test]
fn the_graph_shows_the_node_with_its_endpoints_to_peers_since_iron() {
    discovery_info(51, Distro::Newer);
}

#[test]
fn the_graph_shows_the_node_with_its_endpoints_to_humble() {
    discovery_info(52, Distro::Humble);
}

/// Without `ROS_DISTRO` the peers may be of either generation.
#[test]
fn the_graph_of_an_unknown_distribution_shows_the_node_to_humble_and_an_empty_list_to_peers_since_iron()
 {
    discovery_info(57, Distro::Unknown);

    let middleware = node(58, Distro::Unknown);
    let _kept = middleware.publisher::<Int32>("/kept", Qos::DEFAULT).unwrap();
    let wanted = subscription("ros_discovery_info", INFO, Qos::LATCHED, 1);
    let wanted = [knowing(wanted, &["/kept"])];
    let Some(probe) = Probe::start(58, Distro::Unknown, &wanted, &[]) else {
        return;
    };
    let report = probe.finish();
    let hex = report["samples"]["ros_discovery_info"][0]["hex"].as_str();
    let cdr = crate::support::golden::unhex(hex.expect("a small sample"));
    // Encapsulation header, GID of 16 bytes, number of nodes.
    assert_eq!(cdr[4 + 16..4 + 16 + 4], [0; 4]);
    let hash = report["user_data"]["rt/kept"].as_str().expect("a hash");
    assert!(hash.starts_with("typehash=RIHS01_"), "{hash}");
}

#[test]
fn a_subscription_gets_messages_with_the_source_time_until_it_is_dropped() {
    let sender = node(53, Distro::Newer);
    let receiver = node(53, Distro::Newer);
    let publisher = sender.publisher::<Int32>("/number", Qos::DEFAULT).unwrap();
    let (report, received) = mpsc::sync_channel(16);
    let subscription = receiver
        .subscribe_raw("number", Int32::TYPE, Qos::DEFAULT, move |raw| {
            let message: Int32 = raw.decode().unwrap();
            let _ = report.send((message.data, raw.source_stamp, raw.cdr.to_vec())); // after the test nobody listens
        })
        .unwrap();
    wait_until(|| publisher.subscribers() == 1);
    publisher.publish(&Int32 { data: -77 }).unwrap();
    let (data, stamp, cdr) = received.recv().unwrap();
    assert_eq!((data, cdr), (-77, vec![0, 1, 0, 0, 179, 255, 255, 255]));
    assert!(stamp > RosTime(1_600_000_000_000_000_000), "{stamp:?} is a time since 1970");
    assert_eq!(subscription.undecodable(), 0);
    drop(subscription);
    wait_until(|| publisher.subscribers() == 0);
    publisher.publish(&Int32 { data: 1 }).unwrap();
    assert!(received.recv().is_err(), "the callback is gone with its channel");
}

#[test]
fn a_sample_that_is_not_of_the_type_is_counted_not_delivered() {
    let middleware = node(54, Distro::Newer);
    let publisher = middleware.publisher::<Int32>("/a", Qos::DEFAULT).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    // An Int32 is too short for a Header; the DDS type is what the publisher says.
    let raw = middleware
        .subscribe_raw("/a", "std_msgs/msg/Int32", Qos::DEFAULT, move |sample| {
            sink.lock()
                .unwrap()
                .push((sample.decode::<Header>().is_err(), sample.decode::<Int32>().unwrap().data));
        })
        .unwrap();
    wait_until(|| publisher.subscribers() == 1);
    publisher.publish(&Int32 { data: 5 }).unwrap();
    wait_until(|| !seen.lock().unwrap().is_empty());
    assert_eq!(*seen.lock().unwrap(), [(true, 5)]);
    drop(raw);
}

#[test]
fn the_topics_of_the_graph_are_listed_with_type_and_number_of_publishers() {
    let (one, other) = (node(55, Distro::Newer), node(55, Distro::Newer));
    let keep = (
        one.publisher::<Int32>("/b", Qos::DEFAULT).unwrap(),
        other.publisher::<Int32>("/b", Qos::DEFAULT).unwrap(),
        one.image("/a", Qos::IMAGE).unwrap(),
    );
    let topics = || -> Vec<_> {
        let topics = one.topics();
        topics.into_iter().map(|topic| (topic.name, topic.type_name, topic.publishers)).collect()
    };
    let expected = [("/a", "sensor_msgs/msg/Image", 1), ("/b", "std_msgs/msg/Int32", 2)]
        .map(|(name, type_name, count)| (name.to_owned(), type_name.to_owned(), count));
    wait_until(|| topics() == expected);
    drop(keep);
    wait_until(|| topics().is_empty());
}

#[test]
fn the_connections_of_the_graph_are_those_of_nodes_of_both_generations_while_they_are_there() {
    let own = node(60, Distro::Newer);
    let watch = Mutex::new(own.connections().unwrap());
    let look = || watch.lock().unwrap().look();
    let older = Options {
        domain_id: 60,
        discovery: Discovery::Localhost,
        distro: Distro::Humble,
        namespace: "lab".to_owned(),
        ..Options::new("older")
    };
    let older = Middleware::join(&older).unwrap();
    let publisher = own.publisher::<Int32>("/a", Qos::DEFAULT).unwrap();
    let subscription = older.subscribe("/a", Qos::DEFAULT, |_: Int32| ()).unwrap();
    let service = older.service::<Trigger>("/serve", |_, _| ()).unwrap();
    let of = |node: &str, name: &str| -> NodesByName {
        [(name.to_owned(), [node.to_owned()].into())].into()
    };
    let there = Connections {
        publishers: of("/bridge_under_test", "/a"),
        subscribers: of("/lab/older", "/a"),
        servers: of("/lab/older", "/serve"),
    };
    wait_until(|| look() == there);
    drop((subscription, service, older));
    let left = Connections { publishers: of("/bridge_under_test", "/a"), ..Connections::default() };
    wait_until(|| look() == left);
    drop(publisher);
    wait_until(|| look() == Connections::default());
}

#[test]
fn a_torn_frame_never_reaches_the_wire() {
    let middleware = node(56, Distro::Newer);
    let image = middleware.image("/image", Qos::IMAGE).unwrap();
    let (report, received) = mpsc::sync_channel(16);
    let subscription = middleware
        .subscribe_raw("/image", "sensor_msgs/msg/Image", Qos::DEFAULT, move |sample| {
            let _ = report.send(sample.cdr.len());
        })
        .unwrap();
    wait_until(|| image.subscribers() == 1);
    let header = Header::default();
    let head = ImageHead { header: &header, height: 1, width: 1, encoding: "mono8", step: 1 };
    assert_eq!(image.publish_if(&head, &[0; 1000], &|| false).unwrap(), Outcome::Torn);
    assert_eq!(image.publish_if(&head, &[0; 10], &|| true).unwrap(), Outcome::Sent);
    assert!(received.recv().unwrap() < 100, "the first sample to arrive is the small one");
    assert_eq!((image.stats().published, image.stats().torn), (1, 1));
    drop(subscription);
}
