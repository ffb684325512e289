//! The HTTP server: the page, and the WebSocket of the same port.
use super::session::{self, PROTOCOLS, Shared};
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
use std::collections::VecDeque;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::AbortHandle;

/// Longest message of a client in bytes.
const LONGEST: usize = 1 << 20;
/// Clients at once.
pub(super) const CLIENTS: usize = 64;
/// Connections at once, of clients and of browsers that load the page.
const CONNECTIONS: usize = 256;
/// Time for a request, and until the next one on the same connection.
const IDLE: Duration = Duration::from_secs(10);
/// Time of a connection: one that does not read its answers ends, too.
const LONGEST_VISIT: Duration = Duration::from_secs(60);
/// Pause after a failed accept: the process has no descriptor left.
const NO_DESCRIPTOR: Duration = Duration::from_millis(500);

/// The files of the page: path, type, content.
const FILES: &[(&str, &str, &[u8])] = &[
    ("/app.js", JS, include_bytes!("page/app.js")),
    ("/cdr.js", JS, include_bytes!("page/cdr.js")),
    ("/link.js", JS, include_bytes!("page/link.js")),
    ("/scene.js", JS, include_bytes!("page/scene.js")),
    ("/panels.js", JS, include_bytes!("page/panels.js")),
    ("/style.css", "text/css", include_bytes!("page/style.css")),
    (
        "/icon.svg",
        "image/svg+xml",
        include_bytes!("page/icon.svg"),
    ),
];
const JS: &str = "text/javascript";
const INDEX: &[u8] = include_bytes!("page/index.html");
/// The page needs nothing from elsewhere, and nobody may put it into a frame.
const POLICY: &str = "default-src 'self'; img-src 'self' blob:; frame-ancestors 'none'";

/// Serves all clients.
pub(super) struct Server {
    pub(super) listener: TcpListener,
    pub(super) shared: Arc<Shared>,
    /// Other origins that may read.
    pub(super) origins: Arc<Vec<String>>,
}

impl Endless for Server {
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

impl Server {
    /// Serves each connection in a task of its own.
    async fn accept(&self, listener: &tokio::net::TcpListener) {
        let mut visits = VecDeque::new();
        let service = TowerToHyperService::new(self.router());
        loop {
            let accepted = listener.accept().await;
            let why = accepted.as_ref().err().map(ToString::to_string);
            if self.shared.figures.refuse(why.clone())
                && let Some(why) = why
            {
                tracing::error!("view: no connection can be accepted: {why}");
            }
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(NO_DESCRIPTOR).await;
                continue;
            };
            visits.retain(|visit: &AbortHandle| !visit.is_finished());
            // The oldest one makes room: whoever keeps connections keeps nobody out.
            if visits.len() >= CONNECTIONS
                && let Some(oldest) = visits.pop_front()
            {
                oldest.abort();
                self.shared.figures.crowded.fetch_add(1, Ordering::Relaxed);
            }
            let service = service.clone();
            let visit = tokio::spawn(async move {
                let mut http = hyper::server::conn::http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(IDLE);
                let connection = http.serve_connection(TokioIo::new(stream), service);
                // A browser that leaves, or is too slow, is none of the operator's errors. A WebSocket is no longer part of it.
                let _ended = tokio::time::timeout(LONGEST_VISIT, connection.with_upgrades()).await;
            });
            visits.push_back(visit.abort_handle());
        }
    }

    fn router(&self) -> Router {
        let mut router = Router::new().route("/", get(index));
        for (path, kind, content) in FILES {
            router = router.route(path, get(async || file(kind, content)));
        }
        let trusted = Trusted {
            shared: self.shared.clone(),
            origins: self.origins.clone(),
        };
        router
            .layer(from_fn_with_state(trusted, check))
            .with_state(self.shared.clone())
    }
}

/// The page, or the WebSocket.
async fn index(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade.protocols(PROTOCOLS),
        Err(_) if !headers.contains_key(header::UPGRADE) => return file("text/html", INDEX),
        Err(rejection) => return rejection.into_response(),
    };
    if upgrade.selected_protocol().is_none() {
        let known = PROTOCOLS.join(", ");
        let why = format!("subprotocols of this server: {known}\n");
        return (StatusCode::BAD_REQUEST, why).into_response();
    }
    let Ok(place) = shared.places.clone().try_acquire_owned() else {
        shared.figures.crowded.fetch_add(1, Ordering::Relaxed);
        let why = format!("there are {CLIENTS} clients already\n");
        return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    };
    upgrade
        .max_message_size(LONGEST)
        .max_frame_size(LONGEST)
        .on_upgrade(async |socket| session::serve(shared, socket, place).await)
}

fn file(kind: &'static str, content: &'static [u8]) -> Response {
    let headers = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (headers, content).into_response()
}

#[derive(Clone)]
struct Trusted {
    shared: Arc<Shared>,
    origins: Arc<Vec<String>>,
}

/// Refuses what a page of another site makes a browser ask for: with its own origin, or, behind a name that it made to mean
/// this host, with its own host.
async fn check(State(trusted): State<Trusted>, request: Request, next: Next) -> Response {
    match refusal(request.headers(), &trusted.origins) {
        None => next.run(request).await,
        Some(why) => {
            let figures = &trusted.shared.figures;
            figures.refused.fetch_add(1, Ordering::Relaxed);
            (StatusCode::FORBIDDEN, why).into_response()
        }
    }
}

fn refusal(headers: &HeaderMap, origins: &[String]) -> Option<String> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text(header::HOST).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    if !["127.0.0.1", "localhost", "[::1]"].contains(&name) {
        return Some(format!(
            "the host {host} is not this one: use 127.0.0.1 or localhost\n"
        ));
    }
    let origin = text(header::ORIGIN)?;
    let own = origin.strip_prefix("http://") == Some(host);
    (!own && !origins.iter().any(|other| other == origin)).then(|| {
        format!(
            "the origin {origin} may not read: view.origins names those that may (docs/view.md)\n"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        refusal(&headers, &["https://app.foxglove.dev".to_owned()]).is_none()
    }

    #[test]
    fn only_this_host_by_its_own_names_and_origins_that_are_named_may_ask() {
        for host in [
            "127.0.0.1:8765",
            "localhost:8765",
            "[::1]:8765",
            "localhost",
        ] {
            assert!(asked(host, None), "{host}");
            assert!(asked(host, Some(&format!("http://{host}"))), "{host}");
            assert!(asked(host, Some("https://app.foxglove.dev")), "{host}");
            for origin in [
                "http://evil.example",
                "https://127.0.0.1:8765",
                "http://localhost:1",
                "https://app.foxglove.dev.evil.example",
                "null",
                "file://",
                "",
            ] {
                assert!(!asked(host, Some(origin)), "{host} {origin}");
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
            assert!(!asked(host, None), "{host}");
            assert!(!asked(host, Some(&format!("http://{host}"))), "{host}");
        }
        assert!(refusal(&HeaderMap::new(), &[]).is_some(), "no host");
    }
}
