//! Reads and sets parameters of all nodes of the graph for clients, through the parameter services of the nodes.
use super::call_threads::{CallThreads, CallWaiter};
use super::client_queue::ClientQueue;
use super::service_calls::yaml_to_json;
use crate::node::service_call::call;
use crate::ros::Middleware;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) const MAX_PENDING: usize = 4;
/// Timeout of the search for a service, and of its response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Suffix and type of the service that each node with parameters has.
const GET: (&str, &str) = ("/get_parameters", "rcl_interfaces/srv/GetParameters");

/// Field of `rcl_interfaces/msg/ParameterValue` by `type`, and Foxglove's name of the type if the value in JSON is ambiguous.
#[rustfmt::skip] // a table
const VALUE_FIELDS: [(&str, Option<&str>); 10] = [
    ("", None), ("bool_value", None), ("integer_value", None), ("double_value", Some("float64")), ("string_value", None),
    ("byte_array_value", None), ("bool_array_value", None), ("integer_array_value", None),
    ("double_array_value", Some("float64_array")), ("string_array_value", None),
];

/// A parameter (`/node.parameter`) and its new value.
#[derive(Deserialize)]
pub(super) struct ParameterUpdate {
    name: String,
    #[serde(default)]
    value: Value,
}

pub(super) struct ParameterRequest<'a> {
    /// The client's id of the request, which the reply repeats.
    pub(super) id: Option<Value>,
    pub(super) len: usize,
    pub(super) queue: &'a Arc<ClientQueue>,
    pub(super) threads: &'a CallThreads,
}

/// Replies with the values of the named parameters; without names, of all parameters.
pub(super) fn get(middleware: &Middleware, names: Vec<String>, request: ParameterRequest<'_>) {
    run(middleware, request, move |nodes| nodes.read(&names));
}

/// Sets parameters, and replies with their new values.
pub(super) fn set(
    middleware: &Middleware,
    updates: Vec<ParameterUpdate>,
    request: ParameterRequest<'_>,
) {
    run(middleware, request, move |nodes| {
        let names: Vec<_> = updates.iter().map(|update| update.name.clone()).collect();
        nodes.write(updates)?;
        nodes.read(&names)
    });
}

fn run(
    middleware: &Middleware,
    request: ParameterRequest<'_>,
    work: impl FnOnce(&ParameterNodes) -> Result<Vec<Value>, String> + Send + 'static,
) {
    let (middleware, id, queue) = (middleware.clone(), request.id, request.queue.clone());
    let started = request.threads.start(request.len, move |waiter| {
        let nodes = waiter.map(|waiter| ParameterNodes { middleware, waiter });
        match nodes.and_then(|nodes| work(&nodes)) {
            Ok(parameters) => {
                let mut reply = json!({"op": "parameterValues", "parameters": parameters});
                if let Some(id) = id {
                    reply["id"] = id;
                }
                queue.send_json(&reply);
            }
            Err(why) => queue.send_error(&why),
        }
    });
    if let Err(why) = started {
        request.queue.send_error(&why);
    }
}

struct ParameterNodes {
    middleware: Middleware,
    waiter: CallWaiter,
}

impl ParameterNodes {
    fn node_names(&self) -> Vec<String> {
        let servers = self.middleware.servers().into_iter();
        let servers = servers.filter(|server| server.type_name == GET.1);
        servers.filter_map(|server| server.name.strip_suffix(GET.0).map(str::to_owned)).collect()
    }

    fn call(&self, service: &str, type_name: &str, request: &Value) -> Result<Value, String> {
        let request = request.to_string();
        let middleware = &self.middleware;
        let pending = call(middleware, service, Some(type_name), &request, TIMEOUT);
        let response = self.waiter.response(pending)?;
        serde_json::from_str(&yaml_to_json(&response)?).map_err(|e| e.to_string())
    }

    /// The `rcl_interfaces/msg/ParameterValue` of each named parameter of a node.
    fn values(&self, node: &str, names: &[String]) -> Result<Vec<Value>, String> {
        let service = format!("{node}{}", GET.0);
        let response = self.call(&service, GET.1, &json!({"names": names}))?;
        Ok(response["values"].as_array().cloned().unwrap_or_default())
    }

    /// The named parameters in the client's format; without names, all parameters.
    fn read(&self, full_names: &[String]) -> Result<Vec<Value>, String> {
        let mut found = Vec::new();
        for node in self.node_names() {
            let names = if full_names.is_empty() {
                let service = format!("{node}/list_parameters");
                let listed =
                    self.call(&service, "rcl_interfaces/srv/ListParameters", &json!({}))?;
                let names = listed["result"]["names"].as_array().into_iter().flatten();
                names.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
            } else {
                names_of_node(&node, full_names)
            };
            if names.is_empty() {
                continue;
            }
            let values = self.values(&node, &names)?;
            found.extend(names.iter().zip(&values).filter_map(|(name, value)| {
                let (field, type_name) = VALUE_FIELDS.get(value["type"].as_u64()? as usize)?;
                let full_name = format!("{node}.{name}");
                let mut parameter = json!({"name": full_name, "value": value.get(*field)?});
                if let Some(type_name) = type_name {
                    parameter["type"] = json!(type_name);
                }
                Some(parameter)
            }));
        }
        Ok(found)
    }

    fn write(&self, updates: Vec<ParameterUpdate>) -> Result<(), String> {
        let full_names: Vec<_> = updates.iter().map(|update| update.name.clone()).collect();
        let updates = updates.into_iter();
        let mut new_values: BTreeMap<_, _> = updates.map(|u| (u.name, u.value)).collect();
        let mut errors = Vec::new();
        for node in self.node_names() {
            let names = names_of_node(&node, &full_names);
            if names.is_empty() {
                continue;
            }
            // JSON has one type for integers and floats, so each parameter keeps its current type.
            let values = self.values(&node, &names)?;
            let typed = names.iter().zip(&values).filter_map(|(name, value)| {
                let value_type = value["type"].as_u64()?;
                let (field, _) = VALUE_FIELDS.get(value_type as usize)?;
                let new = new_values.remove(&format!("{node}.{name}"))?;
                Some(json!({"name": name, "value": {"type": value_type, *field: new}}))
            });
            let request = json!({"parameters": typed.collect::<Vec<_>>()});
            let service = format!("{node}/set_parameters");
            tracing::info!("view: {service} {request}");
            let done = self.call(&service, "rcl_interfaces/srv/SetParameters", &request)?;
            let results = done["results"].as_array().into_iter().flatten();
            let failed = results.filter(|result| result["successful"] != true);
            let reasons = failed.map(|result| result["reason"].as_str().unwrap_or_default());
            errors.extend(reasons.map(|reason| format!("{node}: {reason}")));
        }
        errors.extend(new_values.keys().map(|name| format!("no such parameter: {name}")));
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }
}

/// The parameters of a node among full names (`/node.parameter`), without the name of the node.
fn names_of_node(node: &str, full_names: &[String]) -> Vec<String> {
    let local_name = |name: &String| Some(name.strip_prefix(node)?.strip_prefix('.')?.to_owned());
    full_names.iter().filter_map(local_name).collect()
}
