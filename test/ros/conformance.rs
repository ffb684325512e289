//! What the DDS back end publishes, as an independent subscriber in another process sees it.
use super::{
    probe::{Probe, knowing, node, subscription, until},
    samples::sample,
    types::every_message,
};
use crate::support::wait::wait_until;
use rfly_bridge::{
    msgs::{Message, sensor_msgs, std_msgs},
    ros::{Discovery, Distro, ImageHead, Middleware, Options, Outcome, Policy, Publisher, Qos},
};
use serde_json::{Value, json};

/// Topic of a type: `sensor_msgs/msg/Image` on `/sensor_msgs/Image`.
fn topic_of(type_name: &str) -> String {
    format!("/{}", type_name.replace("/msg", ""))
}

const SAMPLES: u32 = 5;

/// One publisher, and what it will send.
struct Sender {
    type_name: &'static str,
    expected: Vec<Value>,
    subscribers: Box<dyn Fn() -> usize>,
    publish: Box<dyn Fn(usize)>,
}

fn sender<M: Message>(middleware: &Middleware) -> Sender {
    let publisher: Publisher<M> =
        middleware.publisher(&topic_of(M::TYPE), Qos::DEFAULT).expect("a publisher");
    let messages: Vec<M> = (0..SAMPLES).map(|n| sample(n * 31)).collect();
    let expected = messages.iter().map(|m| serde_json::to_value(m).expect("JSON")).collect();
    let count = publisher.clone();
    Sender {
        type_name: M::TYPE,
        expected,
        subscribers: Box::new(move || count.subscribers()),
        publish: Box::new(move |n| {
            assert_eq!(publisher.publish(&messages[n]).expect("published"), Outcome::Sent);
        }),
    }
}

#[test]
fn every_message_type_is_decoded_by_an_independent_reader_field_by_field() {
    let middleware = node(41, Distro::Newer);
    let senders = every_message!(sender, &middleware);
    let names: Vec<_> = senders.iter().map(|sender| sender.type_name).collect();
    assert_eq!(names, super::types::built());

    let wanted: Vec<_> = names
        .iter()
        .map(|name| subscription(&topic_of(name), name, Qos::DEFAULT, SAMPLES as usize))
        .collect();
    let Some(mut probe) = Probe::start(41, Distro::Newer, &wanted, &names) else {
        return;
    };
    probe.wait_matched();
    wait_until(|| senders.iter().all(|sender| (sender.subscribers)() == 1));
    for n in 0..SAMPLES as usize {
        senders.iter().for_each(|sender| (sender.publish)(n));
    }
    let report = probe.finish();
    for Sender { type_name, expected, .. } in &senders {
        let samples = report["samples"][topic_of(type_name)].as_array().expect("samples");
        let received: Vec<_> = samples.iter().map(|sample| sample["message"].clone()).collect();
        assert_eq!(&received, expected, "{type_name}");

        // `typehash` as peers since Iron announce it, computed by rosbags from the message definitions.
        let hash = report["hashes"][type_name].as_str().expect("a hash");
        assert_eq!(
            report["user_data"][format!("rt{}", topic_of(type_name))],
            format!("typehash={hash};")
        );
    }
}

#[test]
fn a_reader_sees_name_type_qos_and_bytes_of_each_publisher() {
    let middleware = node(42, Distro::Humble);
    let image = middleware.image("camera/image_raw", Qos::IMAGE).expect("a publisher");
    let scan = middleware.cloud("~/points", Qos::SENSOR_DATA).expect("a publisher");
    let info = middleware
        .publisher::<sensor_msgs::msg::CameraInfo>("/info", Qos::LATCHED)
        .expect("a publisher");
    let name = "/camera/image_raw";
    let wanted = [knowing(
        subscription(name, "sensor_msgs/msg/Image", Qos::DEFAULT, 2),
        &["/bridge_under_test/points", "/info"],
    )];
    let Some(mut probe) = Probe::start(42, Distro::Humble, &wanted, &[]) else {
        return;
    };
    probe.wait_matched();
    wait_until(|| image.subscribers() == 1);

    let header = std_msgs::msg::Header { frame_id: "optical".to_owned(), ..sample(7) };
    // Bigger than one fragment, and no multiple of four.
    let big: Vec<u8> =
        (0..300_001_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for data in [&[1_u8, 2, 3][..], &big] {
        let (height, width) = (1, data.len() as u32);
        let head = ImageHead { header: &header, height, width, encoding: "mono8", step: width };
        assert_eq!(image.publish(&head, data).expect("published"), Outcome::Sent);
    }
    let report = probe.finish();

    let offer = |topic: &str| {
        let offers = report["offers"].as_array().expect("offers");
        let offer = offers
            .iter()
            .find(|offer| offer["topic"] == topic)
            .unwrap_or_else(|| panic!("no {topic}"));
        json!([offer["type"], offer["reliable"], offer["transient_local"], offer["depth"]])
    };
    assert_eq!(offer(name), json!(["sensor_msgs/msg/Image", true, false, 2]));
    assert_eq!(
        offer("/bridge_under_test/points"),
        json!(["sensor_msgs/msg/PointCloud2", false, false, 5])
    );
    assert_eq!(offer("/info"), json!(["sensor_msgs/msg/CameraInfo", true, true, 1]));
    assert_eq!((scan.subscribers(), info.subscribers()), (0, 0));
    assert_eq!(report["user_data"]["rt/info"], "", "Humble knows no type hashes");

    let samples = report["samples"][name].as_array().expect("samples");
    // Header 4, stamp 8, frame_id 4+8, height and width 8, encoding 4+6+2 padding to `is_bigendian` +step, length.
    let message = &samples[0]["message"];
    assert_eq!(message["data"], json!([1, 2, 3]));
    assert_eq!(message["header"]["frame_id"], "optical");
    assert_eq!(message["header"]["stamp"], serde_json::to_value(&header.stamp).expect("JSON"));
    let expected = (samples[0]["length"].as_u64().expect("a length") - 4) + 300_004;
    assert_eq!(samples[1]["length"], expected, "3 bytes and 1 of padding became 300001 and 3");
    assert_eq!(image.stats().published, 2);
}

#[test]
fn a_late_reader_gets_the_latched_message_once_and_no_volatile_one() {
    let middleware = node(43, Distro::Newer);
    let latched = middleware
        .publisher::<std_msgs::msg::String>("/latched", Qos::LATCHED)
        .expect("a publisher");
    let volatile = middleware
        .publisher::<std_msgs::msg::String>("/volatile", Qos::DEFAULT)
        .expect("a publisher");
    for data in ["old", "new"] {
        let message = std_msgs::msg::String { data: data.to_owned() };
        latched.publish(&message).expect("published");
        volatile.publish(&message).expect("published");
    }
    let wanted = [
        until(
            subscription("/latched", "std_msgs/msg/String", Qos::LATCHED, usize::MAX),
            &["data"],
            "new",
        ),
        until(
            subscription("/volatile", "std_msgs/msg/String", Qos::DEFAULT, usize::MAX),
            &["data"],
            "marker",
        ),
    ];
    let Some(mut probe) = Probe::start(43, Distro::Newer, &wanted, &[]) else {
        return;
    };
    probe.wait_matched();
    wait_until(|| latched.subscribers() == 1 && volatile.subscribers() == 1);
    let marker = std_msgs::msg::String { data: "marker".to_owned() };
    volatile.publish(&marker).expect("published");
    let report = probe.stop();
    let texts = |topic: &str| -> Vec<Value> {
        let samples = report["samples"][topic].as_array().expect("samples");
        samples.iter().map(|sample| sample["message"]["data"].clone()).collect()
    };
    assert_eq!(texts("/latched"), ["new"]);
    assert_eq!(texts("/volatile"), ["marker"]);
}

#[test]
fn a_reader_that_wants_more_than_is_offered_is_reported_with_the_policy() {
    let middleware = node(44, Distro::Newer);
    let best_effort = middleware
        .publisher::<std_msgs::msg::Bool>("/best", Qos::SENSOR_DATA)
        .expect("a publisher");
    let volatile = middleware
        .publisher::<std_msgs::msg::Bool>("/volatile", Qos::DEFAULT)
        .expect("a publisher");
    let matching = middleware
        .publisher::<std_msgs::msg::Bool>("/matching", Qos::DEFAULT)
        .expect("a publisher");
    let wanted = [
        subscription("/best", "std_msgs/msg/Bool", Qos::DEFAULT, usize::MAX),
        subscription("/volatile", "std_msgs/msg/Bool", Qos::LATCHED, usize::MAX),
        subscription("/matching", "std_msgs/msg/Bool", Qos::SENSOR_DATA, usize::MAX),
    ];
    let Some(probe) = Probe::start(44, Distro::Newer, &wanted, &[]) else {
        return;
    };
    let incompatible = || -> Vec<_> {
        let report = middleware.report();
        report
            .iter()
            .map(|r| (r.topic.clone(), r.incompatible.count, r.incompatible.last_policy))
            .collect()
    };
    wait_until(|| {
        incompatible().iter().map(|(_, count, _)| count).sum::<u32>() == 2
            && matching.subscribers() == 1
    });
    assert_eq!(
        incompatible(),
        [
            ("/best".to_owned(), 1, Some(Policy::Reliability)),
            ("/volatile".to_owned(), 1, Some(Policy::Durability)),
            ("/matching".to_owned(), 0, None),
        ]
    );
    assert_eq!((best_effort.subscribers(), volatile.subscribers()), (0, 0));
    probe.stop();
    wait_until(|| matching.subscribers() == 0);
}

/// Resident memory of this process in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("procfs");
    let pages: usize =
        text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    pages * 4096
}

#[test]
fn a_stalled_reader_neither_blocks_publishing_nor_costs_memory_and_gets_later_frames() {
    const FRAMES: usize = 400;
    const BYTES: usize = 2_000_000;
    let middleware = node(45, Distro::Newer);
    let image = middleware.image("/image", Qos::IMAGE).expect("a publisher");
    let wanted = [until(
        subscription("/image", "sensor_msgs/msg/Image", Qos::IMAGE, 1),
        &["data"],
        json!(b"late"),
    )];
    let Some(mut probe) = Probe::start(45, Distro::Newer, &wanted, &[]) else {
        return;
    };
    probe.wait_matched();
    wait_until(|| image.subscribers() == 1);
    let header = std_msgs::msg::Header::default();
    let big = vec![7_u8; BYTES];
    let publish = |data: &[u8]| {
        let width = data.len() as u32;
        let head = ImageHead { header: &header, height: 1, width, encoding: "mono8", step: width };
        image.publish(&head, data).expect("published")
    };

    probe.pause();
    let before = resident();
    for _ in 0..FRAMES {
        assert_eq!(publish(&big), Outcome::Sent);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < FRAMES * BYTES / 4, "the history holds 2 frames, not {} MB", grown / 1_000_000);
    probe.resume();

    // Again and again: had the machine been so slow that they took each other for dead, they would have to meet first.
    let report = probe.finish_while(|| assert_eq!(publish(b"late"), Outcome::Sent));
    let samples = report["samples"]["/image"].as_array().expect("samples");
    let last = samples.last().expect("something arrived");
    assert_eq!(last["message"]["data"], json!(b"late"));
    assert_eq!(image.stats().dropped, 0);
}

#[test]
fn a_big_sample_pauses_while_it_leaves_and_arrives_whole() {
    let options = Options {
        domain_id: 46,
        discovery: Discovery::Localhost,
        // Slow: even a reader that does not run for a tenth of a second has room for what comes meanwhile.
        pacing_bytes_per_s: 2_000_000,
        ..Options::new("bridge_under_test")
    };
    let middleware = Middleware::join(&options).expect("a node on loopback");
    let image = middleware.image("/image", Qos::IMAGE.with_depth(10)).expect("a publisher");
    // Best effort: nothing is sent twice, whatever arrives came through at the first attempt.
    let wanted = [subscription("/image", "sensor_msgs/msg/Image", Qos::SENSOR_DATA, 1)];
    let Some(mut probe) = Probe::start(46, Distro::Newer, &wanted, &[]) else {
        return;
    };
    probe.wait_matched();
    wait_until(|| image.subscribers() == 1);
    let header = std_msgs::msg::Header::default();
    let big = vec![7_u8; 1_000_000];
    let mut sent = 0;
    let report = probe.finish_while(|| {
        if image.subscribers() == 0 {
            return; // it has its image and is about to end; without a reader nothing would pause
        }
        let (height, width) = (1000, 1000);
        let head = ImageHead { header: &header, height, width, encoding: "mono8", step: width };
        assert_eq!(image.publish(&head, &big).expect("published"), Outcome::Sent);
        sent += 1;
        assert!(sent < 60, "a reader with a default receive buffer gets images");
    });
    let samples = report["samples"]["/image"].as_array().expect("samples");
    assert!(!samples.is_empty());
    assert!(image.stats().paused > std::time::Duration::ZERO, "the pauses are in effect");
    assert_eq!(image.stats().retransmitted_bytes, Some(0));
}
