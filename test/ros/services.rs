//! Services of the DDS back end, called by a client that shares no code with it, and those of the recorder.
use super::probe::node;
use crate::support::python;
use crate::support::wait::wait_until;
use rfly_bridge::{
    msgs::{
        self, Message, Service,
        rcl_interfaces::{
            msg::ParameterValue,
            srv::{
                GetParameterTypes, GetParameterTypesRequest, GetParameterTypesResponse,
                GetParameters, GetParametersRequest, GetParametersResponse,
            },
        },
    },
    ros::{Distro, Middleware, Options, Responder, ServiceHandle, ServiceStats},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc,
};

/// A running client.
pub(super) struct Client {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// `None` if there is no Python.
    pub(super) fn start(domain: u32, rounds: &[Value]) -> Option<Self> {
        let python = python::interpreter()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/ros/client.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(json!({ "domain": domain, "rounds": rounds }).to_string())
            .env_remove("CYCLONEDDS_URI")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Some(Self { child, output })
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the client speaks");
        assert!(!line.is_empty(), "the client failed, see its error above");
        line.trim().to_owned()
    }

    fn wait_sent(&mut self) {
        assert_eq!(self.line(), "sent");
    }

    /// Lets it make the reader that it is late with.
    fn go_on(&mut self) {
        writeln!(self.child.stdin.as_mut().expect("piped"), "go on").expect("the client listens");
    }

    /// Responses by round, and USER_DATA of the service's endpoints; the client lives until it is dropped.
    pub(super) fn finish(&mut self) -> Value {
        loop {
            let line = self.line();
            if line != "sent" {
                return serde_json::from_str(&line).expect("a line of JSON");
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = writeln!(self.child.stdin.as_mut().expect("piped"), "end"); // it may have ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn elsewhere(work: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
    let thread = std::thread::Builder::new().name("answers".to_owned());
    thread.spawn(work).expect("a thread")
}

fn text(value: &str) -> ParameterValue {
    ParameterValue { type_: 4, string_value: value.to_owned(), ..ParameterValue::default() }
}

/// Answers each name with a text that contains it.
fn echo(request: &GetParametersRequest) -> GetParametersResponse {
    let answer = |name: &String| text(&format!("<{name}>"));
    GetParametersResponse { values: request.names.iter().map(answer).collect() }
}

fn echo_service(middleware: &Middleware, name: &str) -> ServiceHandle {
    middleware
        .service::<GetParameters>(name, |request, responder| responder.respond(echo(&request)))
        .expect("a service")
}

fn get(service: &str, names: &[&[&str]]) -> Value {
    let requests: Vec<_> = names.iter().map(|names| json!({ "names": names })).collect();
    json!({ "service": service, "type": GetParameters::TYPE, "requests": requests })
}

fn with(mut round: Value, key: &str, value: impl Into<Value>) -> Value {
    round[key] = value.into();
    round
}

/// The texts in response `index` of round `round`.
fn texts(report: &Value, round: usize, index: usize) -> Vec<String> {
    let values = report["responses"][round][index]["values"].as_array().expect("values");
    let text = |value: &Value| value["string_value"].as_str().expect("a text").to_owned();
    values.iter().map(text).collect()
}

#[test]
fn a_client_gets_the_response_to_each_of_its_requests() {
    let middleware = node(61, Distro::Newer);
    let service = echo_service(&middleware, "~/get");
    assert_eq!(service.name(), "/bridge_under_test/get");
    let rounds = [
        get("/bridge_under_test/get", &[&["a", "bc"], &[], &["x"]]),
        // Padding and alignment differ with the length of the text.
        get("/bridge_under_test/get", &[&["1", "12", "123", "1234", "12345"]]),
        with(get("/bridge_under_test/get", &[&["named"]]), "client_id", "1.2.3"),
    ];
    let Some(mut client) = Client::start(61, &rounds) else {
        return;
    };
    let report = client.finish();
    assert_eq!(texts(&report, 0, 0), ["<a>", "<bc>"]);
    assert_eq!(texts(&report, 0, 1), [""; 0]);
    assert_eq!(texts(&report, 0, 2), ["<x>"]);
    assert_eq!(texts(&report, 1, 0), ["<1>", "<12>", "<123>", "<1234>", "<12345>"]);
    assert_eq!(texts(&report, 2, 0), ["<named>"]);
    let all = ServiceStats { requests: 5, ..ServiceStats::default() };
    assert_eq!(service.stats(), all);
}

#[test]
fn responses_may_come_later_from_another_thread_and_in_another_order() {
    let middleware = node(62, Distro::Humble);
    let (report, waiting) = mpsc::channel::<(GetParametersRequest, Responder<GetParameters>)>();
    let service = middleware
        .service::<GetParameters>("/later", move |request, responder| {
            let _ = report.send((request, responder)); // after the test nobody listens
        })
        .expect("a service");
    let rounds = [get("/later", &[&["first"], &["second"], &["third"]])];
    let Some(mut client) = Client::start(62, &rounds) else {
        return;
    };
    client.wait_sent();
    let mut requests: Vec<_> = waiting.iter().take(3).collect();
    requests.reverse();
    let answer = elsewhere(move || {
        for (request, responder) in requests {
            responder.respond(echo(&request));
        }
    });
    let report = client.finish();
    for (index, expected) in ["<first>", "<second>", "<third>"].iter().enumerate() {
        assert_eq!(texts(&report, 0, index), [*expected]);
    }
    answer.join().unwrap();
    assert_eq!(service.stats().requests, 3);
}

#[test]
fn a_request_that_nobody_answers_gets_the_default_and_is_counted() {
    let middleware = node(63, Distro::Newer);
    let service = middleware
        .service::<GetParameters>("/lazy", |_, responder| drop(responder))
        .expect("a service");
    let Some(mut client) = Client::start(63, &[get("/lazy", &[&["a"]])]) else {
        return;
    };
    assert_eq!(texts(&client.finish(), 0, 0), [""; 0]);
    let stats = service.stats();
    assert_eq!((stats.requests, stats.unanswered), (1, 1));
}

#[test]
fn a_request_that_is_not_of_the_type_is_counted_and_the_next_is_served() {
    let middleware = node(64, Distro::Newer);
    let service = echo_service(&middleware, "/get");
    // A count of names, and no names; and a request without even a client.
    let bad = json!({ "service": "/get", "type": GetParameters::TYPE, "unanswered": true,
        "requests": [{ "hex": "00010000ffff0000" }] });
    let rounds = [bad, get("/get", &[&["good"]])];
    let Some(mut client) = Client::start(64, &rounds) else {
        return;
    };
    assert_eq!(texts(&client.finish(), 1, 0), ["<good>"]);
    let stats = service.stats();
    assert_eq!((stats.requests, stats.undecodable), (1, 1));
}

#[test]
fn a_response_waits_for_the_reader_of_its_client_to_be_discovered() {
    let waited = (0..20).find_map(|_| a_response_waits());
    assert!(waited.is_some(), "no client was in time");
}

/// `None` if the client was held up for nearly the second that a response waits: that proves nothing.
fn a_response_waits() -> Option<()> {
    let middleware = node(65, Distro::Newer);
    let service = echo_service(&middleware, "/get");
    // As many as a program may send at once that does not wait for each response.
    let many: Vec<_> = (0..300).map(|i| format!("late{i}")).collect();
    let many: Vec<_> = many.iter().map(|name| [name.as_str()]).collect();
    let many: Vec<_> = many.iter().map(<[&str; 1]>::as_slice).collect();
    let rounds = [
        with(get("/get", &many), "late_reader", true),
        // The reader of the first client is there, but it is not the one that asked.
        with(with(get("/get", &[&["another"]]), "late_reader", true), "client_id", "4.5.6"),
    ];
    let Some(mut client) = Client::start(65, &rounds) else {
        return Some(());
    };
    for requests in [300, 301] {
        client.wait_sent();
        wait_until(|| service.stats().requests == requests);
        client.go_on();
    }
    let report = client.finish();
    let late = report["late_s"].as_array().expect("seconds").iter();
    if late.map(|s| s.as_f64().expect("seconds")).any(|s| s > 0.8) {
        return None;
    }
    for i in 0..300 {
        assert_eq!(texts(&report, 0, i), [format!("<late{i}>")]);
    }
    assert_eq!(texts(&report, 1, 0), ["<another>"]);
    assert_eq!(service.stats().undelivered, 0);
    Some(())
}

#[test]
fn a_response_to_a_client_without_reader_is_given_up_and_counted() {
    let middleware = node(66, Distro::Newer);
    let service = echo_service(&middleware, "/get");
    let deaf = with(get("/get", &[&["a"], &["b"]]), "late_reader", true);
    let Some(mut client) = Client::start(66, &[with(deaf, "unanswered", true)]) else {
        return;
    };
    client.wait_sent();
    wait_until(|| service.stats().undelivered == 2);
}

/// What `ros2 service list`, `ros2 service type` and a client's `wait_for_service` look at.
#[test]
fn both_endpoints_of_a_service_carry_its_id_and_their_type_hashes() {
    let middleware = node(67, Distro::Newer);
    let first = echo_service(&middleware, "/first");
    let second = echo_service(&middleware, "/second");
    let rounds = [get("/first", &[&[]]), get("/second", &[&[]])];
    let Some(mut client) = Client::start(67, &rounds) else {
        return;
    };
    let seen = client.finish()["seen"].clone();
    let id = |name: &str| {
        let [request, response] = [
            ("readers", format!("rq/{name}Request"), "Request"),
            ("writers", format!("rr/{name}Reply"), "Response"),
        ]
        .map(|(kind, topic, half)| {
            let [dds_type, data] = [0, 1].map(|i| seen[kind][&topic][i].as_str().expect("seen"));
            assert_eq!(dds_type, format!("rcl_interfaces::srv::dds_::GetParameters_{half}_"));
            let (id, hash) = data.strip_prefix("serviceid=").unwrap().split_once(';').unwrap();
            assert!(hash.starts_with("typehash=RIHS01_"), "{hash}");
            id.to_owned()
        });
        assert_eq!(request, response);
        request
    };
    assert_ne!(id("first"), id("second"));
    drop((first, second));
}

#[test]
fn a_dropped_service_leaves_the_graph_and_may_be_made_again() {
    let middleware = node(68, Distro::Newer);
    drop(echo_service(&middleware, "/get"));
    let service = echo_service(&middleware, "/get");
    let Some(mut client) = Client::start(68, &[get("/get", &[&["again"]])]) else {
        return;
    };
    assert_eq!(texts(&client.finish(), 0, 0), ["<again>"]);
    assert_eq!(service.stats().requests, 1, "the first one is gone");
}

fn recorder(remaps: &[(&str, &str)]) -> (Middleware, rfly_bridge::ros::Recorder) {
    let own = |(from, to): &(&str, &str)| ((*from).to_owned(), (*to).to_owned());
    let options = Options {
        namespace: "/ns".to_owned(),
        remaps: remaps.iter().map(own).collect(),
        ..Options::new("bridge")
    };
    Middleware::recorder(&options).expect("a recorder")
}

fn request(names: &[&str]) -> GetParametersRequest {
    GetParametersRequest { names: names.iter().map(|name| (*name).to_owned()).collect() }
}

#[test]
fn names_of_services_are_expanded_and_remapped_as_those_of_topics() {
    let (middleware, recorder) = recorder(&[("get", "/elsewhere/get")]);
    let services = [
        echo_service(&middleware, "~/own"),
        echo_service(&middleware, "relative"),
        echo_service(&middleware, "get"),
    ];
    let names = ["/ns/bridge/own", "/ns/relative", "/elsewhere/get"];
    assert_eq!(services.each_ref().map(ServiceHandle::name), names);
    for name in names {
        let response = recorder.call::<GetParameters>(name, &request(&["a"]));
        assert_eq!(response, Some(echo(&request(&["a"]))), "{name}");
    }
    assert!(middleware.service::<GetParameters>("a b", |_, _| ()).is_err());
    assert!(
        middleware.service::<GetParameters>("/ns/relative", |_, _| ()).is_err(),
        "two services of one name"
    );
}

#[test]
fn the_recorder_calls_services_of_the_right_name_and_type_only() {
    let (middleware, recorder) = recorder(&[]);
    assert_eq!(recorder.call::<GetParameters>("/get", &request(&[])), None);
    let service = echo_service(&middleware, "/get");
    let other = GetParameterTypesRequest { names: Vec::new() };
    assert_eq!(recorder.call::<GetParameterTypes>("/get", &other), None);
    assert_eq!(recorder.services(), [("/get".to_owned(), GetParameters::TYPE)]);
    drop(service);
    assert_eq!(recorder.call::<GetParameters>("/get", &request(&[])), None);
}

#[test]
fn the_recorder_waits_for_a_response_that_comes_later_or_not_at_all() {
    let (middleware, recorder) = recorder(&[]);
    let service = middleware
        .service::<GetParameterTypes>("/types", |request, responder| {
            elsewhere(move || match request.names.len() {
                0 => drop(responder),
                n => responder.respond(GetParameterTypesResponse { types: vec![n as u8] }),
            });
        })
        .expect("a service");
    let call = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        recorder.call::<GetParameterTypes>("/types", &GetParameterTypesRequest { names })
    };
    assert_eq!(call(&["a", "b"]).unwrap().types, [2]);
    assert_eq!(call(&[]), Some(GetParameterTypesResponse::default()));
    let stats = service.stats();
    assert_eq!((stats.requests, stats.unanswered), (2, 1));

    let reported = || -> Vec<_> {
        let services = middleware.services().into_iter();
        services.map(|s| (s.service, s.stats)).collect()
    };
    assert_eq!(reported(), [("/types".to_owned(), stats)]);
    drop(service);
    // The thread that answered may still be letting go of the call.
    wait_until(|| reported().is_empty());
}

/// IDL has no empty structures; rosidl puts one byte into them.
#[test]
fn a_service_whose_messages_are_empty_works() {
    #[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
    struct Nothing {}
    impl Message for Nothing {
        const TYPE: &'static str = "std_srvs/srv/Empty_Request";
    }
    struct Empty;
    impl Service for Empty {
        type Request = Nothing;
        type Response = Nothing;
        const TYPE: &'static str = "std_srvs/srv/Empty";
    }
    let (middleware, recorder) = recorder(&[]);
    let _service = middleware
        .service::<Empty>("/empty", |_, responder| responder.respond(Nothing {}))
        .expect("a service");
    assert_eq!(recorder.call::<Empty>("/empty", &Nothing {}), Some(Nothing {}));
}

#[test]
fn every_service_names_its_halves_as_rosidl_does() {
    assert!(msgs::SERVICES.contains(&"rcl_interfaces/srv/SetParametersAtomically"));
    assert_eq!(GetParameters::TYPE, "rcl_interfaces/srv/GetParameters");
    assert_eq!(GetParametersRequest::TYPE, "rcl_interfaces/srv/GetParameters_Request");
    assert_eq!(GetParametersResponse::TYPE, "rcl_interfaces/srv/GetParameters_Response");
}
