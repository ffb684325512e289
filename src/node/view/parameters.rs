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

/// Field of `rcl_interfaces/msg/ParameterValue` by `type` from 1, and Foxglove's name of the type if the JSON value is ambiguous.
#[rustfmt::skip] // a table
const VALUE_FIELDS: [(&str, Option<&str>); 9] = [
    ("bool_value", None), ("integer_value", None), ("double_value", Some("float64")), ("string_value", None),
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

    fn all_names(&self, node: &str) -> Result<Vec<String>, String> {
        let service = format!("{node}/list_parameters");
        let listed = self.call(&service, "rcl_interfaces/srv/ListParameters", &json!({}))?;
        let names = listed["result"]["names"].as_array().into_iter().flatten();
        Ok(names.filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    }

    /// The `rcl_interfaces/msg/ParameterValue` of each named parameter that a node has.
    fn values(&self, node: &str, mut names: Vec<String>) -> Result<Vec<(String, Value)>, String> {
        let service = format!("{node}{}", GET.0);
        let get = |names: &[String]| -> Result<Vec<Value>, String> {
            let response = self.call(&service, GET.1, &json!({"names": names}))?;
            Ok(response["values"].as_array().cloned().unwrap_or_default())
        };
        let mut values = get(&names)?;
        if values.len() < names.len() {
            // As in rclcpp, one unknown name makes the whole response empty.
            let known = self.all_names(node)?;
            names.retain(|name| known.contains(name));
            values = get(&names)?;
        }
        Ok(names.into_iter().zip(values).collect())
    }

    /// The named parameters in the client's format; without names, all parameters.
    fn read(&self, full_names: &[String]) -> Result<Vec<Value>, String> {
        let mut found = Vec::new();
        for node in self.node_names() {
            let names = if full_names.is_empty() {
                self.all_names(&node)?
            } else {
                names_of_node(&node, full_names)
            };
            if names.is_empty() {
                continue;
            }
            let values = self.values(&node, names)?.into_iter();
            found.extend(values.filter_map(|(name, value)| {
                let (field, type_name) = field_of(value["type"].as_u64()?)?;
                let full_name = format!("{node}.{name}");
                let mut parameter = json!({"name": full_name, "value": value.get(field)?});
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
            let values = self.values(&node, names)?.into_iter();
            let typed = values.filter_map(|(name, value)| {
                let value_type = value["type"].as_u64()?;
                let (field, _) = field_of(value_type)?;
                let new = new_values.remove(&format!("{node}.{name}"))?;
                Some(json!({"name": name, "value": {"type": value_type, field: new}}))
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

/// The row of [`VALUE_FIELDS`]; `None` if the parameter has no value.
fn field_of(value_type: u64) -> Option<(&'static str, Option<&'static str>)> {
    let row = usize::try_from(value_type).ok()?.checked_sub(1)?;
    VALUE_FIELDS.get(row).copied()
}

/// The parameters of a node among full names (`/node.parameter`), without the name of the node.
fn names_of_node(node: &str, full_names: &[String]) -> Vec<String> {
    let local_name = |name: &String| Some(name.strip_prefix(node)?.strip_prefix('.')?.to_owned());
    full_names.iter().filter_map(local_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgs::rcl_interfaces::msg::{ListParametersResult, ParameterValue};
    use crate::msgs::rcl_interfaces::srv::{
        GetParameters, GetParametersResponse, ListParameters, ListParametersResponse,
    };
    use crate::node::view::call_threads::CallCapacity;
    use crate::ros::Options;
    use std::sync::mpsc;
    use tokio::sync::watch;

    /// Reads parameters of a node that has `known`, and `unset` without a value.
    fn read(names: &[&str]) -> Vec<Value> {
        let (middleware, _recorder) = Middleware::recorder(&Options::new("n")).expect("a recorder");
        let get =
            middleware.service::<GetParameters>("/node/get_parameters", |request, responder| {
                let value = |name: &String| match name.as_str() {
                    "known" => Some(ParameterValue {
                        type_: 2,
                        integer_value: 7,
                        ..ParameterValue::default()
                    }),
                    "unset" => Some(ParameterValue::default()),
                    _ => None,
                };
                let values: Option<Vec<_>> = request.names.iter().map(value).collect();
                responder.respond(GetParametersResponse { values: values.unwrap_or_default() });
            });
        let list = middleware.service::<ListParameters>("/node/list_parameters", |_, responder| {
            let names = ["known", "unset"].map(str::to_owned).to_vec();
            let result = ListParametersResult { names, prefixes: Vec::new() };
            responder.respond(ListParametersResponse { result });
        });
        let _services = (get.expect("a service"), list.expect("a service"));
        let (_running, shutdown) = watch::channel(());
        let threads = CallThreads::new(MAX_PENDING, shutdown, CallCapacity::default());
        let names: Vec<_> = names.iter().map(|name| format!("/node.{name}")).collect();
        let (done, result) = mpsc::channel();
        let work = move |waiter: Result<CallWaiter, String>| {
            let nodes = ParameterNodes { middleware, waiter: waiter.expect("a runtime") };
            done.send(nodes.read(&names)).expect("the test waits");
        };
        threads.start(0, work).expect("a thread");
        result.recv().expect("a result").expect("parameters")
    }

    #[test]
    fn a_name_without_a_value_does_not_hide_the_others() {
        let known = json!({"name": "/node.known", "value": 7});
        assert_eq!(read(&["no_such", "known", "unset"]), [known]);
        assert!(read(&["no_such"]).is_empty());
    }
}
