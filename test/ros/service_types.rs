//! Every service type, called by a client that shares no code with the bridge.
use super::{probe::node, samples::sample, services::Client, types::every_service};
use rfly_bridge::{
    msgs::Service,
    ros::{Distro, Middleware, ServiceHandle},
};
use serde_json::{Value, json};
use std::sync::mpsc;

/// One service: what its client sends, what the handler got, and what it answers.
struct Offered {
    type_name: &'static str,
    request: Value,
    response: Value,
    received: mpsc::Receiver<Value>,
    _service: ServiceHandle,
}

fn name_of(type_name: &str) -> String {
    format!("/{}", type_name.replace("/srv", ""))
}

fn offer<S: Service>(middleware: &Middleware) -> Offered {
    let (report, received) = mpsc::channel();
    let answer = || sample::<S::Response>(40);
    let handler = move |request: S::Request, responder: rfly_bridge::ros::Responder<S>| {
        let _ = report.send(serde_json::to_value(&request).expect("JSON")); // after the test nobody listens
        responder.respond(answer());
    };
    let service = middleware.service::<S>(&name_of(S::TYPE), handler);
    Offered {
        type_name: S::TYPE,
        request: serde_json::to_value(sample::<S::Request>(7)).expect("JSON"),
        response: serde_json::to_value(answer()).expect("JSON"),
        received,
        _service: service.expect("a service"),
    }
}

/// What IDL puts into a structure that has no fields.
fn without_filler(mut fields: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("structure_needs_at_least_one_member");
    }
    fields
}

#[test]
fn every_service_type_is_spoken_by_an_independent_client_field_by_field() {
    let middleware = node(69, Distro::Newer);
    let offers = every_service!(offer, &middleware);
    let names: Vec<_> = offers.iter().map(|offer| offer.type_name).collect();
    assert_eq!(names, super::types::built_services());

    let round = |offer: &Offered| {
        json!({
            "service": name_of(offer.type_name),
            "type": offer.type_name,
            "requests": [offer.request],
        })
    };
    let rounds: Vec<_> = offers.iter().map(round).collect();
    let Some(mut client) = Client::start(69, &rounds) else {
        return;
    };
    let report = client.finish();
    for (index, offer) in offers.iter().enumerate() {
        let name = offer.type_name;
        assert_eq!(offer.received.recv().expect("called"), offer.request, "{name}");
        let response = without_filler(report["responses"][index][0].clone());
        assert_eq!(response, offer.response, "{name}");

        let seen = |kind: &str, topic: String| {
            let data = report["seen"][kind][&topic][1].as_str().expect("USER_DATA");
            let (_, hash) = data.split_once(";typehash=").expect("a type hash");
            hash.to_owned()
        };
        let hash = |half: &str| {
            let hash = &report["hashes"][format!("{name}_{half}")];
            format!("{};", hash.as_str().expect("a hash"))
        };
        let service = name_of(name);
        assert_eq!(seen("readers", format!("rq{service}Request")), hash("Request"));
        assert_eq!(seen("writers", format!("rr{service}Reply")), hash("Response"));
    }
}
