//! Calls of services, and messages of topics, whose types are known only at run time, in YAML.
mod fill;
mod topic;
mod tree;

pub use topic::{MessageType, YamlPublisher};
pub use tree::{MessageValue, ShortenOptions};

use super::{Middleware, RosError};
use crate::config::yaml::{self, Yaml};
use crate::msgs::{self, Message, Service};
use crate::{config::did_you_mean, time::RosTime};
use fill::{FieldError, YamlField};
use tokio::sync::oneshot;

/// Error of a call or a message: the request or message is not sent, or what is received is not readable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum CallError {
    /// Not a type that is built in.
    #[error("`{type_name}` is not a known {kind} type{hint}")]
    Type { kind: &'static str, type_name: String, hint: String },
    /// The text is not YAML.
    #[error("the {kind}: line {line}: {message}")]
    Yaml { kind: &'static str, line: usize, message: String },
    /// The text does not fit the type.
    #[error("the {kind} of {type_name}: {field}: {message}")]
    Field { kind: &'static str, type_name: &'static str, field: String, message: String },
    /// A response or message cannot be written as YAML.
    #[error("the contents of {type_name}: {message}")]
    Contents { type_name: &'static str, message: String },
    /// The middleware returned an error.
    #[error(transparent)]
    Ros(#[from] RosError),
}

/// A checked call, before its request is sent.
pub struct ServiceCall {
    name: String,
    is_ready: Box<dyn Fn() -> bool + Send>,
    make: Box<dyn FnOnce() -> Result<PendingCall, RosError> + Send>,
}

/// A call whose request was sent. Do not drop it on the thread that delivers the response: it contains the client, whose drop
/// waits for the callback.
pub struct PendingCall {
    /// Receives the response.
    pub answer: YamlResponse,
    _client: Box<dyn std::any::Any + Send>,
}

/// The response as YAML; closed without a response if the client ends.
pub type YamlResponse = oneshot::Receiver<Result<String, CallError>>;

impl ServiceCall {
    /// Checks the request, and opens a client. Missing fields have their defaults.
    pub fn new(
        middleware: &Middleware,
        service: &str,
        type_name: &str,
        request: &str,
    ) -> Result<Self, CallError> {
        let prepare = by_name(type_name).ok_or_else(|| CallError::Type {
            kind: "service",
            type_name: type_name.to_owned(),
            hint: did_you_mean(type_name, msgs::SERVICES.iter().copied()),
        })?;
        prepare(middleware, service, request)
    }

    /// Full name of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a server is matched.
    pub fn is_ready(&self) -> bool {
        (self.is_ready)()
    }

    /// Sends the request.
    pub fn make(self) -> Result<PendingCall, RosError> {
        (self.make)()
    }
}

type Prepare = fn(&Middleware, &str, &str) -> Result<ServiceCall, CallError>;

fn prepare<S: Service>(
    middleware: &Middleware,
    service: &str,
    request: &str,
) -> Result<ServiceCall, CallError> {
    let request: S::Request =
        message_of("request", S::TYPE, parse("request", request)?.as_ref(), None)?;
    let client = std::sync::Arc::new(middleware.client::<S>(service)?);
    let ready = client.clone();
    Ok(ServiceCall {
        name: client.name().to_owned(),
        is_ready: Box::new(move || ready.is_ready()),
        make: Box::new(move || {
            let (sender, answer) = oneshot::channel();
            client.call(request, move |response| {
                let text = response.map_err(CallError::from).and_then(yaml_of::<S>);
                // Fails if the caller no longer waits.
                let _unheard = sender.send(text);
            })?;
            Ok(PendingCall { answer, _client: Box::new(client) })
        }),
    })
}

fn parse(kind: &'static str, text: &str) -> Result<Option<Yaml>, CallError> {
    let parsed = yaml::parse(text);
    parsed.map_err(|error| CallError::Yaml { kind, line: error.line, message: error.message })
}

fn message_of<M: Message>(
    kind: &'static str,
    type_name: &'static str,
    given: Option<&Yaml>,
    now: Option<RosTime>,
) -> Result<M, CallError> {
    fill_in(given, now).map_err(|wrong| CallError::Field {
        kind,
        type_name,
        field: wrong.field,
        message: wrong.message,
    })
}

/// Missing fields have their defaults. With `now`, a header may be `auto` and a time `now`.
fn fill_in<M: Message>(given: Option<&Yaml>, now: Option<RosTime>) -> Result<M, FieldError> {
    // Never fails: all keys of a message are strings.
    let default = serde_json::to_value(M::default()).unwrap_or_default();
    M::deserialize(YamlField::whole(given, &default, now))
}

/// Reads a message from YAML or JSON. Errors: the place of the fault, and its description.
pub(super) fn message<M: Message>(text: &str) -> Result<M, (String, String)> {
    let given =
        yaml::parse(text).map_err(|error| (format!("line {}", error.line), error.message))?;
    fill_in(given.as_ref(), None).map_err(|wrong| (wrong.field, wrong.message))
}

fn yaml_of<S: Service>(response: S::Response) -> Result<String, CallError> {
    let unreadable = |message: String| CallError::Contents { type_name: S::TYPE, message };
    let value = MessageValue::of(&response, usize::MAX).map_err(|e| unreadable(e.message))?;
    serde_saphyr::to_string(&value).map_err(|error| unreadable(error.to_string()))
}

macro_rules! table {
    (@rows $($package:ident { $($name:ident)+ })+) => {
        fn by_name(type_name: &str) -> Option<Prepare> {
            $(crate::where_built! { $package {
                $(if type_name == concat!(stringify!($package), "/srv/", stringify!($name)) {
                    return Some(prepare::<msgs::$package::srv::$name>);
                })+
            } })+
            None
        }
    };
}

crate::every_service_type! { [table] }
