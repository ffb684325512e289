//! One call of a service, for the command line.
use crate::config::did_you_mean;
use crate::ros::call::{CallError, ServiceCall};
use crate::ros::{Middleware, RosError};
use std::{io, time::Duration};
use tokio::sync::oneshot;

const POLL_PERIOD: Duration = Duration::from_millis(20);

/// Why a command on the graph failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The graph lacks what the command needs, or refuses it.
    #[error("{0}")]
    Graph(String),
    /// The path of `--field` does not fit the message.
    #[error("--field {0}")]
    Field(String),
    /// A request or message cannot be made, sent or read.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Writing to standard output failed.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl From<RosError> for CommandError {
    fn from(error: RosError) -> Self {
        Self::Call(error.into())
    }
}

/// Calls a service with a request in YAML and returns the response in YAML. Without `type_name`, the type is read from the graph.
/// `limit` applies to the search for the service, and again to the response.
pub async fn call(
    middleware: &Middleware,
    service: &str,
    type_name: Option<&str>,
    request: &str,
    limit: Duration,
) -> Result<String, CommandError> {
    let service = middleware.resolve(service)?;
    let absent = || no_service(middleware, &service, limit);
    // A request of known type is checked before the search.
    let checked = type_name
        .map(|given| ServiceCall::new(middleware, &service, given, request))
        .transpose()?;
    let type_of = || {
        let mut servers = middleware.servers().into_iter();
        servers.find(|server| server.name == service).map(|server| server.type_name)
    };
    let found = poll_until(limit, type_of).await.ok_or_else(absent)?;
    let call = match (checked, type_name) {
        (Some(call), Some(given)) if given == found => call,
        (_, Some(given)) => {
            return Err(CommandError::Graph(format!("{service} is a {found}, not a {given}")));
        }
        _ => ServiceCall::new(middleware, &service, &found, request)?,
    };
    let ready = || call.is_ready().then_some(());
    poll_until(limit, ready).await.ok_or_else(absent)?;
    let mut pending = call.make()?;
    wait_for_response(&service, limit, &mut pending.answer).await
}

/// The error for a service that was not found within `limit`.
pub(super) fn no_service(middleware: &Middleware, service: &str, limit: Duration) -> CommandError {
    let servers = middleware.servers();
    let hint = did_you_mean(service, servers.iter().map(|server| server.name.as_str()));
    let seconds = limit.as_secs_f64();
    CommandError::Graph(format!("no service {service} within {seconds} s{hint}"))
}

/// Returns the response that the callback of a call sends.
pub(super) async fn wait_for_response<T, E>(
    service: &str,
    limit: Duration,
    response: &mut oneshot::Receiver<Result<T, E>>,
) -> Result<T, CommandError>
where
    CommandError: From<E>,
{
    match tokio::time::timeout(limit, response).await {
        Ok(Ok(response)) => Ok(response?),
        Ok(Err(_)) | Err(_) => {
            let seconds = limit.as_secs_f64();
            let text = format!("{service} exists, but has not answered within {seconds} s");
            Err(CommandError::Graph(text))
        }
    }
}

/// Calls `look` until it returns a value or the time is over.
pub(super) async fn poll_until<T>(
    limit: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Option<T> {
    let found = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(POLL_PERIOD).await;
        }
    };
    tokio::time::timeout(limit, found).await.ok()
}
