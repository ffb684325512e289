//! The HTTP server: the page, and the WebSocket on the same port.
use super::session::{self, PROTOCOLS, ViewState};
use crate::msgs::definition;
use crate::node::tasks::Endless;
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::AbortHandle;

const MAX_MESSAGE_BYTES: usize = 1 << 20;
pub(super) const MAX_CLIENTS: usize = 64;
/// Maximum number of HTTP connections, which load the page or open a WebSocket.
const MAX_CONNECTIONS: usize = 256;
/// Timeout of the headers of each request on a connection.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum lifetime of an HTTP connection, also if the peer does not read the response.
const CONNECTION_LIFETIME: Duration = Duration::from_secs(60);
/// Pause after a failed accept, for example while the process has no descriptor left.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

/// The files of the page: path, type, content.
const FILES: &[(&str, &str, &[u8])] = &[
    ("/app.js", JS, include_bytes!("page/app.js")),
    ("/cdr.js", JS, include_bytes!("page/cdr.js")),
    ("/choices.js", JS, include_bytes!("page/choices.js")),
    ("/connection.js", JS, include_bytes!("page/connection.js")),
    ("/panels.js", JS, include_bytes!("page/panels.js")),
    ("/pictures.js", JS, include_bytes!("page/pictures.js")),
    ("/plot.js", JS, include_bytes!("page/plot.js")),
    ("/record.js", JS, include_bytes!("page/record.js")),
    ("/scene.js", JS, include_bytes!("page/scene.js")),
    ("/vehicle.js", JS, include_bytes!("page/vehicle.js")),
    ("/style.css", "text/css", include_bytes!("page/style.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("page/icon.svg")),
];
const JS: &str = "text/javascript";
const INDEX: &[u8] = include_bytes!("page/index.html");
/// The page loads nothing from other origins, and no other page may embed it.
const POLICY: &str = "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'";

pub(super) struct ViewServer {
    pub(super) listener: TcpListener,
    pub(super) state: Arc<ViewState>,
}

impl Endless for ViewServer {
    fn name(&self) -> String {
        "view".to_owned()
    }

    async fn work(&mut self) {
        let listener = self.listener.try_clone();
        match listener.and_then(tokio::net::TcpListener::from_std) {
            Ok(listener) => self.accept(&listener).await,
            Err(error) => tracing::error!("view: {error}"),
        }
    }
}

impl ViewServer {
    async fn accept(&self, listener: &tokio::net::TcpListener) {
        let mut connections = VecDeque::new();
        let service = TowerToHyperService::new(self.router());
        loop {
            let accepted = listener.accept().await;
            let error = accepted.as_ref().err().map(ToString::to_string);
            if self.state.figures.set_accept_error(error.clone())
                && let Some(error) = error
            {
                tracing::error!("view: no connection can be accepted: {error}");
            }
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            connections.retain(|task: &AbortHandle| !task.is_finished());
            // The oldest connection is closed, so that idle connections cannot lock out new ones.
            if connections.len() >= MAX_CONNECTIONS
                && let Some(oldest) = connections.pop_front()
            {
                oldest.abort();
                (self.state.figures.over_limit).fetch_add(1, Ordering::Relaxed);
            }
            let service = service.clone();
            let task = tokio::spawn(async move {
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
                let connection = http.serve_connection(TokioIo::new(stream), service);
                // The result is ignored: a browser that leaves or is too slow is no error of the bridge. An upgraded WebSocket
                // continues in its own task.
                let connection = connection.with_upgrades();
                let _ended = tokio::time::timeout(CONNECTION_LIFETIME, connection).await;
            });
            connections.push_back(task.abort_handle());
        }
    }

    fn router(&self) -> Router {
        let mut router = Router::new().route("/", get(index));
        for (path, media_type, content) in FILES {
            router = router.route(path, get(async || file(media_type, content)));
        }
        router = router.route("/subscribed", get(subscribed));
        let state = self.state.clone();
        router.layer(from_fn_with_state(state.clone(), check_access)).with_state(state)
    }
}

/// The page, or the WebSocket.
async fn index(
    State(state): State<Arc<ViewState>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade.protocols(PROTOCOLS),
        Err(_) if !headers.contains_key(header::UPGRADE) => return file("text/html", INDEX),
        Err(rejection) => return rejection.into_response(),
    };
    if upgrade.selected_protocol().is_none() {
        let supported = PROTOCOLS.join(", ");
        let why = format!("the subprotocol must be one of: {supported}\n");
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    let Ok(permit) = state.client_permits.clone().try_acquire_owned() else {
        state.figures.over_limit.fetch_add(1, Ordering::Relaxed);
        let why = format!("the limit of {MAX_CLIENTS} clients is reached\n");
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    };
    upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(async |socket| session::serve(state, socket, permit).await)
}

/// The topics that clients may publish (`topics`: type by name) and the definitions of these types (`schemas`). The Foxglove
/// protocol has no message for this.
async fn subscribed(State(state): State<Arc<ViewState>>) -> Response {
    let topics = state.middleware.subscribed();
    let schemas: BTreeMap<_, _> =
        topics.values().map(|type_name| (*type_name, definition(type_name))).collect();
    let body = json!({"topics": topics, "schemas": schemas}).to_string();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn file(media_type: &'static str, content: &'static [u8]) -> Response {
    let headers = [
        (header::CONTENT_TYPE, format!("{media_type}; charset=utf-8")),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (headers, content).into_response()
}

/// Refuses requests that a foreign web page makes the browser send. They have the origin of that page or, after DNS rebinding,
/// its host name.
async fn check_access(
    State(state): State<Arc<ViewState>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(why) = refusal(request.headers(), &state.origins) else {
        return next.run(request).await;
    };
    state.figures.refused.fetch_add(1, Ordering::Relaxed);
    (StatusCode::FORBIDDEN, why).into_response()
}

/// Why a request is refused; `None` if it is accepted.
fn refusal(headers: &HeaderMap, origins: &[String]) -> Option<String> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    if !["127.0.0.1", "localhost", "[::1]"].contains(&name) {
        return Some(format!("the host {host} is refused: use 127.0.0.1 or localhost\n"));
    }
    let origin = text(header::ORIGIN)?;
    let is_same_origin = origin.strip_prefix("http://") == Some(host);
    (!is_same_origin && !origins.iter().any(|other| other == origin)).then(|| {
        format!(
            "the origin {origin} is refused: add it to view.origins to accept it (docs/view.md)\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        refusal(&headers, &["https://app.foxglove.dev".to_owned()]).is_none()
    }

    #[test]
    fn only_names_of_this_host_and_accepted_origins_pass() {
        for host in ["127.0.0.1:8765", "localhost:8765", "[::1]:8765", "localhost"] {
            assert!(accepts(host, None), "{host}");
            assert!(accepts(host, Some(&format!("http://{host}"))), "{host}");
            assert!(accepts(host, Some("https://app.foxglove.dev")), "{host}");
            for origin in [
                "http://evil.example",
                "https://127.0.0.1:8765",
                "http://localhost:1",
                "https://app.foxglove.dev.evil.example",
                "null",
                "file://",
                "",
            ] {
                assert!(!accepts(host, Some(origin)), "{host} {origin}");
            }
        }
        for host in [
            "evil.example",
            "evil.example:8765",
            "127.0.0.1.evil.example",
            "localhost:x",
            "",
            "[::1",
        ] {
            assert!(!accepts(host, None), "{host}");
            assert!(!accepts(host, Some(&format!("http://{host}"))), "{host}");
        }
        assert!(refusal(&HeaderMap::new(), &[]).is_some(), "no host");
    }
}
