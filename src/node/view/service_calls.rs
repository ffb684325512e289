//! Calls services of the graph for clients, if `view.control` allows it.
use super::call_threads::CallThreads;
use super::client_queue::ClientQueue;
use crate::node::service_call::call;
use crate::ros::Middleware;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) const MAX_PENDING: usize = 8;
/// Limit of the services found; clients are not told of others.
const MAX_SERVICES: usize = 10_000;
/// Timeout of the search for a service, and of its response.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct ServiceCalls {
    middleware: Middleware,
    /// Name and type of each service found so far; clients use the index as its id.
    services: Mutex<Vec<(String, String)>>,
}

impl ServiceCalls {
    pub(super) fn new(middleware: &Middleware) -> Self {
        Self { middleware: middleware.clone(), services: Mutex::default() }
    }

    /// Name and type of all services that have a server, by id. A service that returns has its former id.
    pub(super) fn services(&self) -> BTreeMap<usize, (String, String)> {
        let servers = self.middleware.servers().into_iter();
        let served: BTreeSet<_> = servers.map(|server| (server.name, server.type_name)).collect();
        let mut found = self.services.lock();
        for service in &served {
            if found.len() < MAX_SERVICES && !found.contains(service) {
                found.push(service.clone());
            }
        }
        let services = found.iter().enumerate().filter(|(_, service)| served.contains(*service));
        services.map(|(id, service)| (id, service.clone())).collect()
    }

    pub(super) fn call(&self, message: &[u8], queue: &Arc<ClientQueue>, threads: &CallThreads) {
        let Some(call_request) = CallRequest::parse(message) else {
            return queue.send_error("the service call request is truncated");
        };
        let (service, call_id) = (call_request.service, call_request.call_id);
        let refuse = move |queue: &ClientQueue, why: &str| {
            queue.send_json(&json!({"op": "serviceCallFailure", "serviceId": service, "callId": call_id, "message": why}));
        };
        let known = self.services.lock().get(service as usize).cloned();
        let Some((name, type_name)) = known else { return refuse(queue, "no such service") };
        if call_request.encoding != "json" {
            return refuse(queue, "the encoding of a request must be json");
        }
        let (middleware, replies) = (self.middleware.clone(), queue.clone());
        let started = threads.start(call_request.request.len(), move |waiter| {
            let CallRequest { request, .. } = &call_request;
            tracing::info!("view: {name} {request}");
            let response = waiter.and_then(|waiter| {
                waiter.response(call(&middleware, &name, Some(&type_name), request, TIMEOUT))
            });
            match response.and_then(|yaml| yaml_to_json(&yaml)) {
                Ok(json) => replies.reply(response_message(service, call_id, &json)),
                Err(why) => refuse(&replies, &why),
            }
        });
        if let Err(why) = started {
            refuse(queue, &why);
        }
    }
}

/// `Service Call Request` without its opcode.
struct CallRequest {
    service: u32,
    call_id: u32,
    encoding: String,
    request: String,
}

impl CallRequest {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let (service, bytes) = bytes.split_first_chunk()?;
        let (call_id, bytes) = bytes.split_first_chunk()?;
        let (len, bytes) = bytes.split_first_chunk()?;
        let (encoding, request) = bytes.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        Some(Self {
            service: u32::from_le_bytes(*service),
            call_id: u32::from_le_bytes(*call_id),
            encoding: text(encoding)?,
            request: text(request)?,
        })
    }
}

/// `Service Call Response`.
fn response_message(service: u32, call_id: u32, json: &str) -> Vec<u8> {
    let mut message = vec![3];
    message.extend(service.to_le_bytes());
    message.extend(call_id.to_le_bytes());
    message.extend(4_u32.to_le_bytes());
    message.extend(b"json");
    message.extend(json.as_bytes());
    message
}

pub(super) fn yaml_to_json(yaml: &str) -> Result<String, String> {
    let value = serde_saphyr::from_str::<serde_json::Value>(yaml);
    let value = value.map_err(|error| format!("cannot convert the response to JSON: {error}"))?;
    Ok(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgs::std_srvs::srv::{Trigger, TriggerResponse};
    use crate::ros::{Options, Responder};

    #[test]
    fn a_service_is_withdrawn_when_it_ends_and_returns_with_its_id() {
        let (middleware, _recorder) = Middleware::recorder(&Options::new("n")).expect("a recorder");
        let serve = |name: &str| {
            let answer = |_, responder: Responder<Trigger>| {
                responder.respond(TriggerResponse::default());
            };
            middleware.service::<Trigger>(name, answer).expect("a service")
        };
        let calls = ServiceCalls::new(&middleware);
        let names = || {
            let services = calls.services().into_iter();
            services.map(|(id, (name, _))| (id, name)).collect::<Vec<_>>()
        };
        let [first, second] = [(0, "/first".to_owned()), (1, "/second".to_owned())];
        let (served, _other) = (serve("/first"), serve("/second"));
        assert_eq!(names(), [first.clone(), second.clone()]);
        drop(served);
        assert_eq!(names(), std::slice::from_ref(&second));
        let _again = serve("/first");
        assert_eq!(names(), [first, second]);
    }
}
