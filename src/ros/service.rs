//! Services: each request has a responder, for an immediate or a later answer.
use super::{Backend, Guard, Middleware, RosError, ServiceReport, bulk, subscription::decode};
use crate::msgs::{Message, Service};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Figures of one service.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ServiceStats {
    /// Requests that reached the handler.
    pub requests: u64,
    /// Requests that did not decode; they cannot be answered.
    pub undecodable: u64,
    /// Requests with a dropped [`Responder`]; they got the default response.
    pub unanswered: u64,
    /// Responses not delivered because the client was gone or unreachable.
    pub undelivered: u64,
    /// Requests of clients on Fast DDS, not answered because `services.fast_dds` is off, or this program is not linked as in
    /// `build.rs`.
    pub foreign: u64,
}

/// Figures that the back end and responders share.
#[derive(Default)]
pub(super) struct ServiceCounters(Mutex<ServiceStats>);

impl ServiceCounters {
    fn stats(&self) -> ServiceStats {
        *self.0.lock()
    }

    /// Increments a field.
    pub(super) fn count(&self, field: fn(&mut ServiceStats) -> &mut u64) {
        *field(&mut self.0.lock()) += 1;
    }
}

/// A service offered by this node; ends on drop. No handler runs after that; pending requests can still be answered.
pub struct ServiceHandle {
    name: String,
    counters: Arc<ServiceCounters>,
    _server: Guard,
}

impl ServiceHandle {
    /// Full name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Counters since the service was created.
    pub fn stats(&self) -> ServiceStats {
        self.counters.stats()
    }
}

/// The existing services of a node.
#[derive(Default)]
pub(super) struct ServiceRegistry(Mutex<Vec<(String, Weak<ServiceCounters>)>>);

impl ServiceRegistry {
    fn add(&self, name: &str, counters: &Arc<ServiceCounters>) {
        let mut services = self.0.lock();
        services.retain(|(_, counters)| counters.strong_count() > 0);
        services.push((name.to_owned(), Arc::downgrade(counters)));
    }

    pub(super) fn report(&self) -> Vec<ServiceReport> {
        let services = self.0.lock();
        let report = |(name, counters): &(String, Weak<ServiceCounters>)| {
            let stats = counters.upgrade()?.stats();
            let service = name.clone();
            Some(ServiceReport { service, stats })
        };
        services.iter().filter_map(report).collect()
    }
}

/// Sends one response; never blocks.
pub(super) type SendResponse<R> = Box<dyn FnOnce(R) + Send>;

/// Answers one request, from any thread. If dropped without an answer it sends the default response, so that no client
/// waits forever.
#[must_use = "dropping it sends the default response"]
pub struct Responder<S: Service> {
    answer: Option<SendResponse<S::Response>>,
    counters: Arc<ServiceCounters>,
}

impl<S: Service> Responder<S> {
    /// Sends the response; never blocks.
    pub fn respond(mut self, response: S::Response) {
        if let Some(answer) = self.answer.take() {
            answer(response);
        }
    }
}

impl<S: Service> Drop for Responder<S> {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            self.counters.count(|stats| &mut stats.unanswered);
            answer(S::Response::default());
        }
    }
}

/// Types of a service.
#[derive(Clone, Copy)]
pub(super) struct ServiceTypes {
    pub(super) service: &'static str,
    #[cfg_attr(not(feature = "dds"), expect(dead_code, reason = "only DDS names them"))]
    pub(super) request: &'static str,
    #[cfg_attr(not(feature = "dds"), expect(dead_code, reason = "only DDS names them"))]
    pub(super) response: &'static str,
}

impl ServiceTypes {
    pub(super) fn of<S: Service>() -> Self {
        Self { service: S::TYPE, request: S::Request::TYPE, response: S::Response::TYPE }
    }
}

type CdrHandler = Box<dyn FnMut(&[u8], SendResponse<Vec<u8>>) + Send>;

/// Interface of a service for a back end that moves bytes.
#[cfg_attr(not(feature = "dds"), expect(dead_code, reason = "the recorder uses less than DDS"))]
pub(super) struct CdrService {
    pub(super) types: ServiceTypes,
    /// Takes requests and returns answers as CDR with encapsulation header.
    pub(super) handler: CdrHandler,
    pub(super) counters: Arc<ServiceCounters>,
}

impl CdrService {
    fn new<S: Service>(
        counters: Arc<ServiceCounters>,
        mut handler: impl FnMut(S::Request, SendResponse<S::Response>) + Send + 'static,
    ) -> Self {
        let counted = counters.clone();
        let handler = move |cdr: &[u8], answer: SendResponse<Vec<u8>>| match decode(cdr) {
            Ok(request) => {
                let undelivered = counted.clone();
                let answer = move |response: S::Response| match encode_padded(&response) {
                    Ok(cdr) => answer(cdr),
                    Err(error) => {
                        undelivered.count(|stats| &mut stats.undelivered);
                        tracing::debug!(service = S::TYPE, %error, "response not sent");
                    }
                };
                handler(request, Box::new(answer));
            }
            Err(_) => counted.count(|stats| &mut stats.undecodable),
        };
        Self { types: ServiceTypes::of::<S>(), handler: Box::new(handler), counters }
    }
}

/// CDR of a request or a response.
pub(super) fn encode_padded<M: Message>(message: &M) -> Result<Vec<u8>, RosError> {
    let mut cdr = Vec::new();
    bulk::encode(&mut cdr, M::TYPE, message)?;
    if cdr.len() == 4 {
        // IDL has no empty structure: rosidl adds a byte.
        cdr.push(0);
    }
    bulk::pad(&mut cdr);
    Ok(cdr)
}

impl Middleware {
    /// Offers a service. `handler` runs on the middleware's receive thread and must return quickly; the [`Responder`]
    /// may be kept and used from another thread, also for several requests at a time.
    pub fn service<S: Service>(
        &self,
        name: &str,
        mut handler: impl FnMut(S::Request, Responder<S>) + Send + 'static,
    ) -> Result<ServiceHandle, RosError> {
        let name = self.resolve(name)?;
        let counters = Arc::<ServiceCounters>::default();
        let counted = counters.clone();
        let handler = move |request: S::Request, answer: SendResponse<S::Response>| {
            counted.count(|stats| &mut stats.requests);
            let responder = Responder { answer: Some(answer), counters: counted.clone() };
            handler(request, responder);
        };
        let server = match &self.shared.backend {
            Backend::Cdr(node) => {
                node.service(&name, CdrService::new::<S>(counters.clone(), handler))?
            }
            #[cfg(feature = "rclrs")]
            Backend::Rclrs(node) => node.service::<S>(&name, handler)?,
        };
        self.shared.services.add(&name, &counters);
        Ok(ServiceHandle { name, counters, _server: server })
    }
}
