//! Calls of services whose type is known at run time only, in YAML; `test/e2e/ros_graph/test_call.py` has the program.
use rfly_bridge::msgs::Service;
use rfly_bridge::msgs::geometry_msgs::msg::Quaternion;
use rfly_bridge::msgs::mavros_msgs::srv::{CommandLong, CommandLongResponse};
use rfly_bridge::msgs::rcl_interfaces::srv::{SetParameters, SetParametersResponse};
use rfly_bridge::msgs::simulation_interfaces::srv::{
    SpawnEntities, SpawnEntitiesResponse, SpawnEntity, SpawnEntityRequest, SpawnEntityResponse,
    StepSimulation, StepSimulationResponse,
};
use rfly_bridge::ros::call::ServiceCall;
use rfly_bridge::ros::{Middleware, Options, ServiceHandle};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Services that keep what they are asked, as JSON, and answer with `answer`.
struct Rig {
    middleware: Middleware,
    asked: Arc<Mutex<Option<Value>>>,
    _service: ServiceHandle,
    type_name: &'static str,
}

impl Rig {
    fn new<S: Service>(answer: impl Fn() -> S::Response + Send + 'static) -> Self {
        let (middleware, _) = Middleware::recorder(&Options::new("bridge")).expect("a recorder");
        let asked = Arc::<Mutex<Option<Value>>>::default();
        let keep = asked.clone();
        let service = middleware.service::<S>("/ask", move |request, responder| {
            *keep.lock().unwrap() = Some(serde_json::to_value(&request).expect("JSON"));
            responder.respond(answer());
        });
        Self { middleware, asked, _service: service.expect("a service"), type_name: S::TYPE }
    }

    fn call(&self, yaml: &str) -> Result<String, String> {
        let call = ServiceCall::new(&self.middleware, "/ask", self.type_name, yaml);
        let call = call.map_err(|error| error.to_string())?;
        assert!(call.is_ready());
        let answer = call.make().expect("sent").answer.try_recv().expect("an answer");
        Ok(answer.expect("readable"))
    }

    /// What the service got.
    fn got(&self, yaml: &str) -> Value {
        self.call(yaml).expect(yaml);
        self.asked.lock().unwrap().take().expect("a request")
    }

    fn wrong(&self, yaml: &str) -> String {
        let error = self.call(yaml).expect_err(yaml);
        assert_eq!(*self.asked.lock().unwrap(), None, "nothing is sent");
        error
    }
}

fn spawn() -> Rig {
    Rig::new::<SpawnEntity>(SpawnEntityResponse::default)
}

#[test]
fn fields_are_filled_in_and_those_that_are_missing_have_their_defaults() {
    let rig = spawn();
    let got = rig.got(
        "{name: box, initial_pose: {header: {frame_id: map}, pose: {position: {x: 1, y: -2.5}}}}",
    );
    assert_eq!(got["name"], "box");
    assert_eq!(got["allow_renaming"], false);
    assert_eq!(got["initial_pose"]["header"]["frame_id"], "map");
    let pose = &got["initial_pose"]["pose"];
    assert_eq!(pose["position"], serde_json::json!({"x": 1.0, "y": -2.5, "z": 0.0}));
    assert_eq!(pose["orientation"]["w"], 1.0, "no rotation");

    // The same as block, and with text in quotes that would be a number.
    let got = rig.got("name: '007'\nallow_renaming: yes\nentity_resource:\n  uri: rflysim://3\n");
    assert_eq!(got["name"], "007");
    assert_eq!(got["allow_renaming"], true);
    assert_eq!(got["entity_resource"]["uri"], "rflysim://3");
    assert_eq!(rig.got("name: 12")["name"], "12", "what is plainly text needs no quotes");
    for nothing in ["", "{}"] {
        assert_eq!(rig.got(nothing), serde_json::to_value(SpawnEntityRequest::default()).unwrap());
    }

    let steps = Rig::new::<StepSimulation>(StepSimulationResponse::default);
    assert_eq!(steps.got("")["steps"], 1, "its definition says 1");
    assert_eq!(steps.got("steps: 18446744073709551615")["steps"], u64::MAX);
}

#[test]
fn elements_of_lists_have_the_defaults_of_their_type() {
    let rig = Rig::new::<SpawnEntities>(SpawnEntitiesResponse::default);
    let got =
        rig.got("spawn_requests: [{name: a}, {initial_pose: {pose: {orientation: {z: 1, w: 0}}}}]");
    let orientation = |i: usize| {
        let value = &got["spawn_requests"][i]["initial_pose"]["pose"]["orientation"];
        Quaternion::deserialize(value).expect("a rotation")
    };
    assert_eq!(orientation(0), Quaternion::default());
    assert_eq!(orientation(1), Quaternion { z: 1.0, w: 0.0, ..Quaternion::default() });

    let rig = Rig::new::<SetParameters>(SetParametersResponse::default);
    let got =
        rig.got("parameters: [{name: a.b, value: {type: 8, double_array_value: [1, 2.5, .nan]}}]");
    let value = &got["parameters"][0]["value"];
    assert_eq!(value["type"], 8, "a keyword of Rust");
    assert_eq!(value["double_array_value"][1], 2.5);
}

#[test]
fn a_request_that_does_not_fit_names_the_field_and_what_would() {
    let rig = spawn();
    for (yaml, wanted) in [
        (
            "{nam: box}",
            "the whole: SpawnEntityRequest has no field \"nam\"; did you mean \"name\"? It has: name, allow_renaming",
        ),
        (
            "[1, 2]",
            "the whole: is a list, expected SpawnEntityRequest: name, allow_renaming, entity_resource",
        ),
        ("{allow_renaming: 1}", "allow_renaming: is 1, expected true or false"),
        ("{name: [a]}", "name: is a list, expected text"),
        ("{name: a, name: b}", "the whole: \"name\" is given twice"),
        (
            "{initial_pose: {pose: {position: {x: east}}}}",
            "initial_pose.pose.position.x: is \"east\", expected a number",
        ),
        (
            "{initial_pose: {header: {stamp: {nanosec: -1}}}}",
            "initial_pose.header.stamp.nanosec: is -1, expected a whole number from 0 to 4294967295",
        ),
        (
            "{initial_pose: {header: {stamp: {sec: 1.5}}}}",
            "initial_pose.header.stamp.sec: is 1.5, expected a whole number from -2147483648",
        ),
        ("{initial_pose: 3}", "initial_pose: is 3, expected PoseStamped: header, pose"),
        ("{name: [}", "the request: line 1: invalid YAML"),
    ] {
        let error = rig.wrong(yaml);
        assert!(error.contains(wanted), "{yaml}: {error}");
    }
    let rig = Rig::new::<SetParameters>(SetParametersResponse::default);
    let error = rig.wrong("parameters: [{}, {value: {bool_value: no, integer_value: x}}]");
    let wanted = "rcl_interfaces/srv/SetParameters: parameters[1].value.integer_value: is \"x\", expected a whole number";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn the_response_is_yaml_in_the_order_of_its_fields() {
    let answer = || CommandLongResponse { success: true, result: 4 };
    let rig = Rig::new::<CommandLong>(answer);
    assert_eq!(rig.call("{command: 400, param1: 1}").unwrap(), "success: true\nresult: 4\n");
}

#[test]
fn a_type_that_is_unknown_is_told_with_the_nearest() {
    let (middleware, _) = Middleware::recorder(&Options::new("bridge")).expect("a recorder");
    let call = |type_name: &str| {
        let call = ServiceCall::new(&middleware, "/ask", type_name, "");
        call.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(
        call("std_srvs/srv/Triger").unwrap_err(),
        "`std_srvs/srv/Triger` is not a known service type; did you mean \"std_srvs/srv/Trigger\"?"
    );
    for known in super::types::built_services() {
        call(known).unwrap_or_else(|error| panic!("{error}"));
    }
    let call = ServiceCall::new(&middleware, "/ask", "std_srvs/srv/Trigger", "");
    assert!(!call.expect("a call").is_ready(), "nobody offers it");
}

#[test]
fn the_graph_tells_the_types_of_services() {
    let rig = spawn();
    let servers = rig.middleware.servers().into_iter();
    let servers: BTreeMap<_, _> = servers.map(|s| (s.name, s.type_name)).collect();
    assert_eq!(servers["/ask"], SpawnEntity::TYPE);
}
