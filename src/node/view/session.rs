//! The session of one client: the Foxglove WebSocket protocol (<https://github.com/foxglove/ws-protocol>).
//!
//! The page has a subprotocol of its own: it gets thumbnails instead of images, and frequent topics at a limited rate.
use super::ViewFigures;
use super::asset;
use super::call_threads::{CallCapacity, CallThreads};
use super::client_publish::{ClientChannel, ClientChannels, ENCODINGS};
use super::client_queue::{ClientQueue, QueuedMessage};
use super::connection_graph::{ConnectionGraph, GraphFollower};
use super::hub::{ClientSubscription, Hub, now_ns};
use super::parameters::{self, ParameterRequest, ParameterUpdate};
use super::service_calls::{self, ServiceCalls};
use crate::ros::Middleware;
use axum::extract::ws::{Message, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, interval_at, timeout};

/// Subprotocols: Foxglove's current name, its former name, and the one of the page.
pub(super) const PROTOCOLS: [&str; 3] = ["foxglove.sdk.v1", "foxglove.websocket.v1", PAGE];
const PAGE: &str = "rfly.page.v1";
/// A client that reads nothing, or sends nothing (not even a pong), for this time is disconnected: its subscriptions end.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Period of pings; the pong shows that the client is alive.
const PING_PERIOD: Duration = Duration::from_secs(10);
const MAX_SUBSCRIPTIONS: usize = 1000;
/// Maximum number of errors reported for one message; of further errors only the number is reported.
const MAX_ERRORS: usize = 10;
/// Reply to messages at `rfly_bridge view`, which has no subscriptions to pass them to.
const PUBLISHING_DISABLED: &str =
    "`rfly_bridge view` takes no messages: publish on the port of the bridge (view.port)";
/// Reply to commands while `view.control` is false.
const CONTROL_DISABLED: &str = "commands are disabled: start the bridge with -p view.control:=true, or `rfly_bridge view` with --control";
/// Period of updates of topics that have ended, of services and of the graph.
const UPDATE_PERIOD: Duration = Duration::from_secs(2);
/// Delay of the first update of the graph: other participants announce their node names after discovery.
const GRAPH_DELAY: Duration = Duration::from_millis(500);

/// JSON messages of clients. All other operations need capabilities that the server does not offer.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum ClientRequest {
    Subscribe {
        subscriptions: Vec<SubscribeRequest>,
    },
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    GetParameters {
        parameter_names: Option<Vec<String>>,
        id: Option<Value>,
    },
    SetParameters {
        parameters: Vec<ParameterUpdate>,
        id: Option<Value>,
    },
    FetchAsset {
        uri: String,
        request_id: u32,
    },
    Advertise {
        channels: Vec<ClientChannel>,
    },
    Unadvertise {
        channel_ids: Vec<u32>,
    },
    SubscribeConnectionGraph,
    UnsubscribeConnectionGraph,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubscribeRequest {
    id: u32,
    channel_id: u32,
}

pub(super) struct ViewState {
    pub(super) name: String,
    pub(super) hub: Hub,
    /// `None` without `view.control`.
    pub(super) calls: Option<ServiceCalls>,
    /// Whether clients may publish, with `view.control`.
    pub(super) takes_messages: bool,
    pub(super) middleware: Middleware,
    /// Accepted origins besides that of the page (`view.origins`).
    pub(super) origins: Vec<String>,
    pub(super) graph: ConnectionGraph,
    pub(super) figures: ViewFigures,
    /// Cancels all pending calls when it is dropped.
    pub(super) shutdown: watch::Sender<()>,
    pub(super) client_permits: Arc<Semaphore>,
    pub(super) call_capacity: CallCapacity,
}

struct ClientSession {
    state: Arc<ViewState>,
    is_page: bool,
    queue: Arc<ClientQueue>,
    subscriptions: HashMap<u32, ClientSubscription>,
    channels: BTreeSet<u32>,
    services: BTreeSet<usize>,
    service_threads: CallThreads,
    parameter_threads: CallThreads,
    graph: Option<GraphFollower>,
    published: ClientChannels,
}

/// Serves a client until it disconnects or times out, and holds its permit until then.
pub(super) async fn serve(
    state: Arc<ViewState>,
    mut socket: WebSocket,
    _permit: OwnedSemaphorePermit,
) {
    let protocol = socket.protocol().and_then(|name| name.to_str().ok());
    let is_page = protocol == Some(PAGE);
    let queue = Arc::new(ClientQueue::default());
    let _count = state.figures.add_client(&queue);
    let call_threads = |max_pending| {
        CallThreads::new(max_pending, state.shutdown.subscribe(), state.call_capacity.clone())
    };
    let mut session = ClientSession {
        state: state.clone(),
        is_page,
        queue,
        subscriptions: HashMap::new(),
        channels: BTreeSet::new(),
        services: BTreeSet::new(),
        service_threads: call_threads(service_calls::MAX_PENDING),
        parameter_threads: call_threads(parameters::MAX_PENDING),
        graph: None,
        published: ClientChannels::default(),
    };
    session.send_server_info();
    let mut changes = session.state.hub.changes();
    let mut update = interval_at(Instant::now(), UPDATE_PERIOD);
    let mut ping = interval_at(Instant::now() + PING_PERIOD, PING_PERIOD);
    let mut last_received = Instant::now();
    loop {
        // No request is read while a reply is queued: memory stays bounded.
        let may_receive = !session.queue.has_replies();
        tokio::select! {
            next = session.queue.next() => {
                let message = session.encode(next);
                if !matches!(timeout(CLIENT_TIMEOUT, socket.send(message)).await, Ok(Ok(()))) {
                    break;
                }
            }
            received = socket.recv(), if may_receive => {
                last_received = Instant::now();
                match received {
                    Some(Ok(Message::Text(text))) => {
                        let had_graph = session.graph.is_some();
                        session.on_text(&text);
                        if !had_graph && session.graph.is_some() {
                            update.reset_after(GRAPH_DELAY);
                        }
                    }
                    Some(Ok(Message::Binary(bytes))) => session.on_binary(&bytes),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                }
            }
            _ = ping.tick() => {
                let ping = Message::Ping(Vec::new().into());
                let sent = timeout(CLIENT_TIMEOUT, socket.send(ping)).await;
                if !matches!(sent, Ok(Ok(()))) || last_received.elapsed() > CLIENT_TIMEOUT {
                    break;
                }
            }
            _ = changes.changed() => session.advertise(),
            _ = update.tick() => {
                session.state.hub.find_ended();
                session.advertise_services();
                session.send_graph();
            }
        }
    }
}

impl ClientSession {
    fn send_server_info(&mut self) {
        let control = self.state.calls.is_some();
        let mut capabilities = vec!["assets", "connectionGraph", "parameters"];
        let mut encodings = &ENCODINGS[..0];
        if control {
            capabilities.push("services");
            encodings = &ENCODINGS[..1];
        }
        if control && self.state.takes_messages {
            capabilities.push("clientPublish");
            encodings = &ENCODINGS;
        }
        self.queue.send_json(&json!({
            "op": "serverInfo",
            "name": self.state.name,
            "capabilities": capabilities,
            "supportedEncodings": encodings,
            "metadata": {"version": env!("CARGO_PKG_VERSION"), "control": control.to_string()},
        }));
        self.advertise();
    }

    /// Advertises new topics, and withdraws those that have ended.
    fn advertise(&mut self) {
        let mut topics = self.state.hub.topics();
        let current: BTreeSet<_> = topics.iter().map(|topic| topic.id).collect();
        let ended: BTreeSet<_> = self.channels.difference(&current).copied().collect();
        if !ended.is_empty() {
            self.subscriptions.retain(|_, subscription| !ended.contains(&subscription.channel()));
            self.queue.send_json(&json!({"op": "unadvertise", "channelIds": ended}));
        }
        topics.retain(|topic| !self.channels.contains(&topic.id));
        self.channels = current;
        if topics.is_empty() {
            return;
        }
        let channels = topics.iter().map(|topic| {
            json!({
                "id": topic.id,
                "topic": topic.name,
                "encoding": if self.is_page && topic.is_image() { "jpeg" } else { "cdr" },
                "schemaName": topic.type_name,
                "schemaEncoding": "ros2msg",
                "schema": topic.schema(),
            })
        });
        let channels: Vec<_> = channels.collect();
        self.queue.send_json(&json!({"op": "advertise", "channels": channels}));
    }

    /// Advertises new services, and withdraws those that have ended.
    fn advertise_services(&mut self) {
        let Some(calls) = &self.state.calls else { return };
        let mut services = calls.services();
        let current: BTreeSet<_> = services.keys().copied().collect();
        let ended: BTreeSet<_> = self.services.difference(&current).copied().collect();
        if !ended.is_empty() {
            self.queue.send_json(&json!({"op": "unadvertiseServices", "serviceIds": ended}));
        }
        services.retain(|id, _| !self.services.contains(id));
        self.services = current;
        if services.is_empty() {
            return;
        }
        let schema = |name: String| json!({"encoding": "json", "schemaName": name, "schemaEncoding": "jsonschema", "schema": "{}"});
        let descriptions = services.iter().map(|(id, (name, type_name))| {
            json!({
                "id": id,
                "name": name,
                "type": type_name,
                "request": schema(format!("{type_name}_Request")),
                "response": schema(format!("{type_name}_Response")),
            })
        });
        let descriptions: Vec<_> = descriptions.collect();
        self.queue.send_json(&json!({"op": "advertiseServices", "services": descriptions}));
    }

    /// Sends the changes of the graph, unless replies are still queued.
    fn send_graph(&mut self) {
        if self.queue.has_replies() {
            return;
        }
        if let Some(update) = self.graph.as_mut().and_then(GraphFollower::update) {
            self.queue.send_json(&update);
        }
    }

    fn follow_graph(&mut self) {
        if self.graph.is_some() {
            return;
        }
        match self.state.graph.follow() {
            Ok(follower) => self.graph = Some(follower),
            Err(error) => self.queue.send_error(&format!("cannot read the graph: {error}")),
        }
    }

    fn on_text(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(ClientRequest::Subscribe { subscriptions }) => self.subscribe_all(&subscriptions),
            Ok(ClientRequest::Unsubscribe { subscription_ids }) => {
                for id in subscription_ids {
                    self.subscriptions.remove(&id);
                }
            }
            Ok(ClientRequest::GetParameters { parameter_names, id }) => {
                let names = parameter_names.unwrap_or_default();
                parameters::get(&self.state.middleware, names, self.parameter_request(id, text));
            }
            Ok(ClientRequest::SetParameters { .. }) if self.state.calls.is_none() => {
                self.queue.send_error(CONTROL_DISABLED);
            }
            Ok(ClientRequest::SetParameters { parameters, id }) => {
                let request = self.parameter_request(id, text);
                parameters::set(&self.state.middleware, parameters, request);
            }
            Ok(ClientRequest::Advertise { channels }) => match self.publishing_refusal() {
                Some(why) => self.queue.send_error(why),
                None => {
                    let refused = self.published.advertise(&self.state.middleware, channels);
                    let count = refused.len() as u64;
                    self.state.figures.refused_messages.fetch_add(count, Ordering::Relaxed);
                    self.send_errors(refused.into_iter(), "channels");
                }
            },
            Ok(ClientRequest::Unadvertise { channel_ids }) => {
                self.published.unadvertise(&channel_ids);
            }
            Ok(ClientRequest::FetchAsset { uri, request_id }) => {
                self.queue.reply(asset::response(&uri, request_id));
            }
            Ok(ClientRequest::SubscribeConnectionGraph) => self.follow_graph(),
            Ok(ClientRequest::UnsubscribeConnectionGraph) => self.graph = None,
            Ok(ClientRequest::Other) => self.queue.send_error("unknown operation"),
            Err(error) => self.queue.send_error(&format!("malformed message: {error}")),
        }
    }

    fn parameter_request(&self, id: Option<Value>, text: &str) -> ParameterRequest<'_> {
        let threads = &self.parameter_threads;
        ParameterRequest { id, len: text.len(), queue: &self.queue, threads }
    }

    fn subscribe_all(&mut self, requests: &[SubscribeRequest]) {
        let refused = requests.iter().filter_map(|request| {
            let why = self.subscribe(request).err()?;
            Some(format!("channel {}: {why}", request.channel_id))
        });
        let refused: Vec<_> = refused.collect();
        self.send_errors(refused.into_iter(), "subscriptions");
    }

    fn send_errors(&self, mut errors: impl Iterator<Item = String>, refused: &str) {
        for error in errors.by_ref().take(MAX_ERRORS) {
            self.queue.send_error(&error);
        }
        let more = errors.count();
        if more > 0 {
            self.queue.send_error(&format!("{more} more {refused} are refused"));
        }
    }

    /// Why this client cannot publish.
    fn publishing_refusal(&self) -> Option<&'static str> {
        match (&self.state.calls, self.state.takes_messages) {
            (None, _) => Some(CONTROL_DISABLED),
            (_, false) => Some(PUBLISHING_DISABLED),
            (_, true) => None,
        }
    }

    fn publish(&mut self, message: &[u8]) {
        let why = match self.publishing_refusal() {
            Some(why) => Some(why.to_owned()),
            None => self.published.publish(&self.state.middleware, message, &self.state.figures),
        };
        if let Some(why) = why {
            self.queue.send_error(&why);
        }
    }

    fn subscribe(&mut self, request: &SubscribeRequest) -> Result<(), &'static str> {
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            return Err("the client has too many subscriptions");
        }
        let subscription =
            self.state.hub.subscribe(request.channel_id, self.is_page, &self.queue, request.id)?;
        self.subscriptions.insert(request.id, subscription);
        Ok(())
    }

    fn on_binary(&mut self, bytes: &[u8]) {
        match (bytes.split_first(), &self.state.calls) {
            (Some((1, message)), _) => self.publish(message),
            (Some((2, call)), Some(calls)) => calls.call(call, &self.queue, &self.service_threads),
            (Some((2, _)), None) => self.queue.send_error(CONTROL_DISABLED),
            _ => self.queue.send_error("unknown binary operation"),
        }
    }

    fn encode(&self, next: QueuedMessage) -> Message {
        match next {
            QueuedMessage::Reply(bytes) => match String::from_utf8(bytes) {
                Ok(text) if text.starts_with('{') => Message::text(text),
                Ok(text) => Message::binary(text.into_bytes()),
                Err(bytes) => Message::binary(bytes.into_bytes()),
            },
            QueuedMessage::Sample(subscription, sample) => {
                self.state.figures.sent.fetch_add(1, Ordering::Relaxed);
                let data = sample.data.as_ref();
                let mut frame = Vec::with_capacity(13 + data.len());
                frame.push(1);
                frame.extend(subscription.to_le_bytes());
                // The page gets the age: its device may have another clock.
                let age = || now_ns().saturating_sub(sample.time);
                let time = if self.is_page { age() } else { sample.time };
                frame.extend(time.to_le_bytes());
                frame.extend(data);
                Message::binary(frame)
            }
        }
    }
}
