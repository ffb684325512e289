//! Messages from inside this process take the path of those from the middleware.
use rfly_bridge::msgs::Message as _;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::std_msgs::msg::String as Text;
use rfly_bridge::ros::{Middleware, Options, Payload, Qos};
use std::sync::{Arc, Mutex};

const TYPE: &str = "geometry_msgs/msg/PoseStamped";

fn node() -> (Middleware, rfly_bridge::ros::Recorder) {
    Middleware::recorder(&Options::new("rfly_bridge")).expect("joined")
}

#[test]
fn a_delivered_message_is_that_of_a_writer() {
    let (node, recorder) = node();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = seen.clone();
    let callback = move |message: PoseStamped| keep.lock().unwrap().push(message);
    let subscription = node.subscribe("~/goal", Qos::SENSOR_DATA, callback).expect("opened");
    let topic = "/rfly_bridge/goal";
    assert_eq!(node.subscribed().into_iter().collect::<Vec<_>>(), [(topic.to_owned(), TYPE)]);

    let writer = node.publisher::<PoseStamped>(topic, Qos::DEFAULT).expect("opened");
    let mut goal = PoseStamped::default();
    goal.header.frame_id = "map".to_owned();
    goal.pose.position.x = 1.5;
    writer.publish(&goal).expect("published");
    let cdr = recorder.raw(topic).pop().expect("the CDR of the writer");
    assert_eq!(node.deliver(topic, TYPE, Payload::Cdr(&cdr)).ok(), Some(true));
    let json = r#"{"header": {"frame_id": "map"}, "pose": {"position": {"x": 1.5}}}"#;
    assert_eq!(node.deliver(topic, TYPE, Payload::Yaml(json)).ok(), Some(true));
    assert_eq!(*seen.lock().unwrap(), [goal.clone(), goal.clone(), goal]);

    // Nothing is taken for something else.
    assert_eq!(node.deliver(topic, Text::TYPE, Payload::Cdr(&cdr)).ok(), Some(false));
    assert_eq!(node.deliver("/other", TYPE, Payload::Cdr(&cdr)).ok(), Some(false));
    let wrong = |payload| node.deliver(topic, TYPE, payload).expect_err("refused").to_string();
    for len in 0..cdr.len() - 4 {
        assert!(wrong(Payload::Cdr(&cdr[..len])).contains(TYPE), "{len}");
    }
    assert!(wrong(Payload::Yaml("{pose: {position: {x: a}}}")).contains("pose.position.x"));
    assert!(wrong(Payload::Yaml("{speed: 1}")).contains("has no field \"speed\""));
    assert!(wrong(Payload::Yaml("{")).contains("invalid YAML"));
    assert_eq!(seen.lock().unwrap().len(), 3);

    drop(subscription);
    assert_eq!(Arc::strong_count(&seen), 1, "the callback is gone");
    assert_eq!(node.deliver(topic, TYPE, Payload::Cdr(&cdr)).ok(), Some(false));
    assert!(node.subscribed().is_empty());
}
