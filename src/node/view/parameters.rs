//! Parameters of all nodes of the graph for clients, through the services that nodes have for them.
use super::calls::json_of;
use super::errands::{Errands, Waiting};
use super::outbox::Outbox;
use crate::node::service_call::call;
use crate::ros::Middleware;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Requests at once of one client.
pub(super) const AT_ONCE: usize = 4;
/// Limit of one service.
const LIMIT: Duration = Duration::from_secs(5);
/// The service by which a node is known to have parameters, and its type.
const GET: (&str, &str) = ("/get_parameters", "rcl_interfaces/srv/GetParameters");

/// Fields of `rcl_interfaces/msg/ParameterValue` by its `type`, and what Foxglove calls those that JSON does not tell apart.
const KINDS: [(&str, Option<&str>); 10] = [
    ("", None),
    ("bool_value", None),
    ("integer_value", None),
    ("double_value", Some("float64")),
    ("string_value", None),
    ("byte_array_value", None),
    ("bool_array_value", None),
    ("integer_array_value", None),
    ("double_array_value", Some("float64_array")),
    ("string_array_value", None),
];

/// A parameter as a client names it (`/node.parameter`), with what it should be.
#[derive(Deserialize)]
pub(super) struct Given {
    name: String,
    #[serde(default)]
    value: Value,
}

/// The client that a request came from.
pub(super) struct Requester<'a> {
    pub(super) outbox: &'a Arc<Outbox>,
    pub(super) errands: &'a Errands,
    /// Length of the request in bytes.
    pub(super) len: usize,
}

/// Reads and sets.
pub(super) struct Parameters {
    middleware: Middleware,
}

impl Parameters {
    pub(super) fn new(middleware: &Middleware) -> Self {
        Self {
            middleware: middleware.clone(),
        }
    }

    /// Answers with the values of these parameters, or of all.
    pub(super) fn get(&self, names: Vec<String>, id: Option<Value>, from: &Requester<'_>) {
        self.run(from, move |nodes| Ok((nodes.read(&names)?, id)));
    }

    /// Sets, and answers with the new values if the client gave its request a name.
    pub(super) fn set(&self, given: Vec<Given>, id: Option<Value>, from: &Requester<'_>) {
        self.run(from, move |nodes| {
            let names: Vec<_> = given.iter().map(|one| one.name.clone()).collect();
            nodes.write(given)?;
            Ok((nodes.read(&names)?, id))
        });
    }

    fn run(
        &self,
        from: &Requester<'_>,
        work: impl FnOnce(&Nodes) -> Result<(Vec<Value>, Option<Value>), String> + Send + 'static,
    ) {
        let (middleware, answered) = (self.middleware.clone(), from.outbox.clone());
        let started = from.errands.run(from.len, move |waiting| {
            let nodes = waiting.map(|waiting| Nodes {
                middleware,
                waiting,
            });
            match nodes.and_then(|nodes| work(&nodes)) {
                Ok((parameters, id)) => {
                    let mut answer = json!({"op": "parameterValues", "parameters": parameters});
                    if let Some(id) = id {
                        answer["id"] = id;
                    }
                    answered.say(&answer);
                }
                Err(why) => answered.complain(&why),
            }
        });
        if let Err(why) = started {
            from.outbox.complain(&why);
        }
    }
}

/// The nodes of the graph.
struct Nodes {
    middleware: Middleware,
    waiting: Waiting,
}

impl Nodes {
    fn names(&self) -> Vec<String> {
        let servers = self.middleware.servers().into_iter();
        let servers = servers.filter(|server| server.type_name == GET.1);
        servers
            .filter_map(|server| server.name.strip_suffix(GET.0).map(str::to_owned))
            .collect()
    }

    fn ask(&self, service: &str, type_name: &str, request: &Value) -> Result<Value, String> {
        let request = request.to_string();
        let called = call(&self.middleware, service, Some(type_name), &request, LIMIT);
        let response = self.waiting.response(called)?;
        serde_json::from_str(&json_of(&response)?).map_err(|e| e.to_string())
    }

    /// `rcl_interfaces/msg/ParameterValue` of these parameters of a node.
    fn values(&self, node: &str, names: &[String]) -> Result<Vec<Value>, String> {
        let service = format!("{node}{}", GET.0);
        let response = self.ask(&service, GET.1, &json!({"names": names}))?;
        Ok(response["values"].as_array().cloned().unwrap_or_default())
    }

    /// Parameters as clients read them; all if none are named.
    fn read(&self, wanted: &[String]) -> Result<Vec<Value>, String> {
        let mut found = Vec::new();
        for node in self.names() {
            let names = if wanted.is_empty() {
                let service = format!("{node}/list_parameters");
                let listed = self.ask(&service, "rcl_interfaces/srv/ListParameters", &json!({}))?;
                let names = listed["result"]["names"].as_array().into_iter().flatten();
                names
                    .filter_map(|name| Some(name.as_str()?.to_owned()))
                    .collect()
            } else {
                own(&node, wanted)
            };
            if names.is_empty() {
                continue;
            }
            let values = self.values(&node, &names)?;
            found.extend(names.iter().zip(&values).filter_map(|(name, value)| {
                let (field, kind) = KINDS.get(value["type"].as_u64()? as usize)?;
                let mut shown = Map::new();
                shown.insert("name".to_owned(), json!(format!("{node}.{name}")));
                shown.insert("value".to_owned(), value.get(*field)?.clone());
                if let Some(kind) = kind {
                    shown.insert("type".to_owned(), json!(kind));
                }
                Some(Value::Object(shown))
            }));
        }
        Ok(found)
    }

    fn write(&self, given: Vec<Given>) -> Result<(), String> {
        let names: Vec<_> = given.iter().map(|one| one.name.clone()).collect();
        let mut given: BTreeMap<_, _> = given.into_iter().map(|g| (g.name, g.value)).collect();
        let mut refused = Vec::new();
        for node in self.names() {
            let names = own(&node, &names);
            if names.is_empty() {
                continue;
            }
            // JSON has one kind of number: the type is the one that the parameter has.
            let values = self.values(&node, &names)?;
            let typed = names.iter().zip(&values).filter_map(|(name, value)| {
                let value_type = value["type"].as_u64()?;
                let (field, _) = KINDS.get(value_type as usize)?;
                let wanted = given.remove(&format!("{node}.{name}"))?;
                Some(json!({"name": name, "value": {"type": value_type, *field: wanted}}))
            });
            let request = json!({"parameters": typed.collect::<Vec<_>>()});
            let service = format!("{node}/set_parameters");
            tracing::info!("view: {service} {request}");
            let done = self.ask(&service, "rcl_interfaces/srv/SetParameters", &request)?;
            let results = done["results"].as_array().into_iter().flatten();
            let failed = results.filter(|result| result["successful"] != true);
            refused.extend(failed.map(|result| {
                let reason = result["reason"].as_str().unwrap_or_default();
                format!("{node}: {reason}")
            }));
        }
        refused.extend(
            given
                .keys()
                .map(|name| format!("no such parameter: {name}")),
        );
        match refused.is_empty() {
            true => Ok(()),
            false => Err(refused.join("; ")),
        }
    }
}

/// Names of `wanted` that are of this node, without it.
fn own(node: &str, wanted: &[String]) -> Vec<String> {
    let names = wanted.iter().filter_map(|name| {
        let name = name.strip_prefix(node)?.strip_prefix('.')?;
        Some(name.to_owned())
    });
    names.collect()
}
