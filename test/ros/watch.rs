//! What a tool sees of messages whose type it does not know.
use super::{samples::sample, types::every_message};
use rfly_bridge::{
    msgs::Message,
    ros::{Middleware, Options, Qos, Watched},
    time::RosTime,
};
use std::sync::mpsc;

fn check<M: Message>(middleware: &Middleware) {
    let message: M = sample(11);
    let json = serde_json::to_value(&message).expect("JSON");
    let stamp = json.get("header").map(|header| {
        let number = |name: &str| header["stamp"][name].as_i64().expect("a number");
        RosTime(number("sec") * 1_000_000_000 + number("nanosec"))
    });
    let (report, seen) = mpsc::channel::<Watched>();
    let topic = format!("/{}", M::TYPE);
    let watch = middleware.watch(&topic, M::TYPE, Qos::DEFAULT, move |sample| {
        let _ = report.send(sample); // after the test nobody listens
    });
    let publisher = middleware.publisher::<M>(&topic, Qos::DEFAULT);
    publisher.expect("a publisher").publish(&message).expect("published");
    assert_eq!(seen.recv().expect("a sample").stamp, stamp, "{}", M::TYPE);
    drop(watch);
}

#[test]
fn the_stamp_of_every_type_that_begins_with_a_header_is_found() {
    let (middleware, _recorder) = Middleware::recorder(&Options::new("n")).expect("a recorder");
    let checked: Vec<()> = every_message!(check, &middleware);
    assert_eq!(checked.len(), super::types::built().len());
}

#[test]
fn the_stamp_is_read_in_the_byte_order_that_the_encapsulation_says() {
    let (middleware, recorder) = Middleware::recorder(&Options::new("n")).expect("a recorder");
    let (report, seen) = mpsc::channel::<Watched>();
    let _watch = middleware.watch("/range", "sensor_msgs/msg/Range", Qos::DEFAULT, move |sample| {
        let _ = report.send(sample); // after the test nobody listens
    });
    let stamp_of = |encapsulation: [u8; 4], sec: [u8; 4], nanosec: [u8; 4]| {
        recorder.deliver("/range", &[encapsulation, sec, nanosec].concat());
        seen.try_recv().expect("a sample").stamp
    };
    let (sec, nanosec) = (7_i32, 999_999_999_u32);
    let expected = Some(RosTime(7_999_999_999));
    assert_eq!(stamp_of([0, 1, 0, 0], sec.to_le_bytes(), nanosec.to_le_bytes()), expected);
    assert_eq!(stamp_of([0, 0, 0, 0], sec.to_be_bytes(), nanosec.to_be_bytes()), expected);
    assert_eq!(stamp_of([9, 9, 0, 0], sec.to_le_bytes(), nanosec.to_le_bytes()), None);
}
