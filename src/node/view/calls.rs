//! Calls of services for clients that may command.
use super::errands::Errands;
use super::outbox::Outbox;
use crate::node::service_call::call;
use crate::ros::Middleware;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Calls at once of one client.
pub(super) const AT_ONCE: usize = 8;
/// Limit of finding a service and of its response.
const LIMIT: Duration = Duration::from_secs(10);

/// Services that clients were told of, and those who call them.
pub(super) struct Calls {
    middleware: Middleware,
    /// Name and type; the place in the list is the number for clients.
    known: Mutex<Vec<(String, String)>>,
}

impl Calls {
    pub(super) fn new(middleware: &Middleware) -> Self {
        Self {
            middleware: middleware.clone(),
            known: Mutex::default(),
        }
    }

    /// Services from this number on: number, name, type.
    pub(super) fn since(&self, first: usize) -> Vec<(usize, String, String)> {
        let servers = self.middleware.servers();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for server in servers {
            let service = (server.name, server.type_name);
            if !known.contains(&service) {
                known.push(service);
            }
        }
        let services = known.iter().enumerate().skip(first);
        services
            .map(|(id, (name, kind))| (id, name.clone(), kind.clone()))
            .collect()
    }

    /// Calls a service with the operation of a client, and gives it the response.
    pub(super) fn make(&self, operation: &[u8], outbox: &Arc<Outbox>, errands: &Errands) {
        let Some(operation) = Operation::read(operation) else {
            return outbox.complain("the call is cut off");
        };
        let (service, number) = (operation.service, operation.number);
        let refuse = move |outbox: &Outbox, why: &str| {
            outbox.say(&json!({"op": "serviceCallFailure", "serviceId": service, "callId": number, "message": why}));
        };
        let named = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(service as usize).cloned()
        };
        let Some((name, type_name)) = named else {
            return refuse(outbox, "no such service");
        };
        if operation.encoding != "json" {
            return refuse(outbox, "requests are in JSON here");
        }
        let (middleware, answered) = (self.middleware.clone(), outbox.clone());
        let started = errands.run(operation.request.len(), move |waiting| {
            let Operation { request, .. } = &operation;
            tracing::info!("view: {name} {request}");
            let response = waiting.and_then(|waiting| {
                waiting.response(call(&middleware, &name, Some(&type_name), request, LIMIT))
            });
            match response.and_then(|yaml| json_of(&yaml)) {
                Ok(json) => answered.reply(answer(service, number, &json)),
                Err(why) => refuse(&answered, &why),
            }
        });
        if let Err(why) = started {
            refuse(outbox, &why);
        }
    }
}

/// A call as a client sends it, behind the opcode.
struct Operation {
    service: u32,
    number: u32,
    encoding: String,
    request: String,
}

impl Operation {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (service, bytes) = bytes.split_first_chunk()?;
        let (number, bytes) = bytes.split_first_chunk()?;
        let (len, bytes) = bytes.split_first_chunk()?;
        let (encoding, request) = bytes.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        Some(Self {
            service: u32::from_le_bytes(*service),
            number: u32::from_le_bytes(*number),
            encoding: text(encoding)?,
            request: text(request)?,
        })
    }
}

fn answer(service: u32, number: u32, json: &str) -> Vec<u8> {
    let mut message = vec![3];
    message.extend(service.to_le_bytes());
    message.extend(number.to_le_bytes());
    message.extend(4_u32.to_le_bytes());
    message.extend(b"json");
    message.extend(json.as_bytes());
    message
}

/// A response, which is YAML, as JSON.
pub(super) fn json_of(yaml: &str) -> Result<String, String> {
    let value = serde_saphyr::from_str::<serde_json::Value>(yaml);
    let value =
        value.map_err(|error| format!("the response cannot be written as JSON: {error}"))?;
    Ok(value.to_string())
}
