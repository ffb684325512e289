//! The end of handles and nodes, on every back end.
use rfly_bridge::{
    msgs::{
        rcl_interfaces::srv::{GetParameters, GetParametersResponse},
        std_msgs::msg::String as Text,
    },
    ros::{Discovery, Middleware, Options, Qos},
};
use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread::{ThreadId, current},
};

fn node(domain_id: u32) -> Middleware {
    let options = Options {
        domain_id,
        discovery: Discovery::Localhost,
        ..Options::new("rfly_bridge_departure")
    };
    Middleware::join(&options).expect("joined")
}

/// Says where it was dropped.
struct Owned(Sender<ThreadId>);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.send(current().id()); // the test may be over
    }
}

fn owned() -> (Owned, Receiver<ThreadId>) {
    let (dropped, place) = channel();
    (Owned(dropped), place)
}

#[test]
fn what_a_callback_owns_is_gone_when_its_handle_is() {
    let node = node(47);
    let (in_service, of_service) = owned();
    let (in_subscription, of_subscription) = owned();
    let (in_watch, of_watch) = owned();
    let service = node.service::<GetParameters>("/departing", move |_, responder| {
        let _ = &in_service;
        responder.respond(GetParametersResponse::default());
    });
    let subscription = node.subscribe::<Text>("/departing", Qos::DEFAULT, move |_| {
        let _ = &in_subscription;
    });
    let watch = node.watch("/departing", "std_msgs/msg/String", Qos::DEFAULT, move |_| {
        let _ = &in_watch;
    });
    drop(service.expect("a service"));
    assert_eq!(of_service.try_recv(), Ok(current().id()));
    drop(subscription.expect("a subscription"));
    assert_eq!(of_subscription.try_recv(), Ok(current().id()));
    drop(watch.expect("a subscription"));
    assert_eq!(of_watch.try_recv(), Ok(current().id()));
}

#[test]
fn a_node_that_its_own_callbacks_hold_ends_with_them() {
    let node = node(48);
    let departure = node.departure();
    let (in_service, in_subscription) = (node.clone(), node.clone());
    let service = node.service::<GetParameters>("/departing", move |_, responder| {
        let _ = in_service.topics();
        responder.respond(GetParametersResponse::default());
    });
    let service = service.expect("a service");
    let subscription = node.subscribe::<Text>("/departing", Qos::DEFAULT, move |_| {
        let _ = in_subscription.topics();
    });
    let subscription = subscription.expect("a subscription");
    drop(node);
    drop(subscription);
    assert!(!departure.is_over());
    drop(service);
    assert!(departure.is_over());
}

#[test]
fn a_departure_waits_for_a_clone_in_another_thread() {
    let node = node(49);
    let departure = node.departure();
    let (go, gone) = channel::<()>();
    let elsewhere = std::thread::Builder::new().name("elsewhere".to_owned());
    let elsewhere = elsewhere.spawn(move || {
        let _ = gone.recv(); // ends when `go` is dropped
        drop(node);
    });
    assert!(!departure.is_over());
    drop(go);
    departure.wait();
    assert!(departure.is_over());
    elsewhere.expect("a thread").join().expect("it ends");
}
