//! One client, in the Foxglove WebSocket protocol (<https://github.com/foxglove/ws-protocol>).
//!
//! The page speaks it, too, under a name of its own: it gets small pictures instead of images, and no more of frequent topics
//! than an eye sees.
use super::Figures;
use super::asset;
use super::calls::{self, Calls};
use super::connections::{Connections, Follower};
use super::errands::{Capacity, Errands};
use super::hub::{Hub, Subscription};
use super::outbox::{Next, Outbox};
use super::parameters::{self, Given, Parameters, Requester};
use axum::extract::ws::{Message, WebSocket};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, interval_at, timeout};

/// Names of the protocol: today's, the same before it was renamed, and the page's.
pub(super) const PROTOCOLS: [&str; 3] = ["foxglove.sdk.v1", "foxglove.websocket.v1", PAGE];
/// The page's.
const PAGE: &str = "rfly.page.v1";
/// A client that takes nothing for so long is dropped: what it reads is computed for nobody.
const PATIENCE: Duration = Duration::from_secs(30);
/// A client is asked for a sign of life this often, and is dropped when it gave none for [`PATIENCE`].
const PING: Duration = Duration::from_secs(10);
/// Subscriptions of one client, and entries of a list in one message.
const SUBSCRIPTIONS: usize = 1000;
/// Complaints about one message; of more only the number is told.
const COMPLAINTS: usize = 10;
/// The answer to who may only watch.
const NO_COMMANDS: &str = "no commands are taken here: start the bridge with -p view.control:=true, or `rfly_bridge view` with --control";
/// Time between two looks for new services, and for changes of the graph.
const LOOK: Duration = Duration::from_secs(2);
/// Time until the first look at the graph: names of nodes come from other participants.
const SETTLE: Duration = Duration::from_millis(500);

/// What clients say as text; of other operations there is no need to know.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase")]
enum Request {
    Subscribe {
        subscriptions: Vec<Wanted>,
    },
    #[serde(rename_all = "camelCase")]
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    #[serde(rename_all = "camelCase")]
    GetParameters {
        #[serde(default)]
        parameter_names: Vec<String>,
        id: Option<Value>,
    },
    SetParameters {
        parameters: Vec<Given>,
        id: Option<Value>,
    },
    #[serde(rename_all = "camelCase")]
    FetchAsset {
        uri: String,
        request_id: u32,
    },
    SubscribeConnectionGraph,
    UnsubscribeConnectionGraph,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    id: u32,
    channel_id: u32,
}

/// What all sessions share.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) hub: Hub,
    /// `None` without `view.control`.
    pub(super) calls: Option<Calls>,
    pub(super) parameters: Parameters,
    pub(super) connections: Connections,
    pub(super) figures: Figures,
    /// Ends the calls that wait when it is dropped.
    pub(super) lives: watch::Sender<()>,
    /// A place for each client.
    pub(super) places: Arc<Semaphore>,
    pub(super) capacity: Capacity,
}

/// A client.
struct Session {
    shared: Arc<Shared>,
    page: bool,
    outbox: Arc<Outbox>,
    subscriptions: HashMap<u32, Subscription>,
    /// Channels that it was told of and services.
    channels: BTreeSet<u32>,
    services: usize,
    calls: Errands,
    requests: Errands,
    /// While it wants to know the graph.
    graph: Option<Follower>,
}

/// Serves a client until it leaves or falls silent; `_place` is its place among the clients.
pub(super) async fn serve(
    shared: Arc<Shared>,
    mut socket: WebSocket,
    _place: OwnedSemaphorePermit,
) {
    let protocol = socket.protocol().and_then(|name| name.to_str().ok());
    let page = protocol == Some(PAGE);
    let outbox = Arc::new(Outbox::default());
    let _there = shared.figures.enter(&outbox);
    let mut session = Session {
        shared: shared.clone(),
        page,
        outbox,
        subscriptions: HashMap::new(),
        channels: BTreeSet::new(),
        services: 0,
        calls: Errands::new(
            calls::AT_ONCE,
            shared.lives.subscribe(),
            shared.capacity.clone(),
        ),
        requests: Errands::new(
            parameters::AT_ONCE,
            shared.lives.subscribe(),
            shared.capacity.clone(),
        ),
        graph: None,
    };
    session.greet();
    let mut changes = session.shared.hub.changes();
    let mut look = interval_at(Instant::now(), LOOK);
    let mut ping = interval_at(Instant::now() + PING, PING);
    let mut heard = Instant::now();
    loop {
        // A client that does not take its answers is not asked for more: memory stays bounded.
        let answered = !session.outbox.has_replies();
        tokio::select! {
            next = session.outbox.next() => {
                let message = session.frame(next);
                if !matches!(timeout(PATIENCE, socket.send(message)).await, Ok(Ok(()))) {
                    break;
                }
            }
            received = socket.recv(), if answered => {
                heard = Instant::now();
                match received {
                    Some(Ok(Message::Text(text))) => {
                        let knew = session.graph.is_some();
                        session.on_text(&text);
                        if !knew && session.graph.is_some() {
                            look.reset_after(SETTLE);
                        }
                    }
                    Some(Ok(Message::Binary(bytes))) => session.on_binary(&bytes),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                }
            }
            _ = ping.tick() => {
                let sent = timeout(PATIENCE, socket.send(Message::Ping(Vec::new().into()))).await;
                if !matches!(sent, Ok(Ok(()))) || heard.elapsed() > PATIENCE {
                    break;
                }
            }
            _ = changes.changed() => session.advertise(),
            _ = look.tick() => {
                session.shared.hub.look();
                session.advertise_services();
                session.tell_graph();
            }
        }
    }
}

impl Session {
    fn greet(&mut self) {
        let control = self.shared.calls.is_some();
        let capabilities: &[&str] = match control {
            true => &["assets", "connectionGraph", "parameters", "services"],
            false => &["assets", "connectionGraph", "parameters"],
        };
        self.outbox.say(&json!({
            "op": "serverInfo",
            "name": self.shared.name,
            "capabilities": capabilities,
            "supportedEncodings": ["json"],
            "metadata": {"version": env!("CARGO_PKG_VERSION"), "control": control.to_string()},
        }));
        self.advertise();
    }

    /// Tells of topics that are new, and of those that have ended.
    fn advertise(&mut self) {
        let mut topics = self.shared.hub.there();
        let there: BTreeSet<_> = topics.iter().map(|topic| topic.id).collect();
        let ended: BTreeSet<_> = self.channels.difference(&there).copied().collect();
        if !ended.is_empty() {
            self.subscriptions
                .retain(|_, subscription| !ended.contains(&subscription.channel()));
            self.outbox
                .say(&json!({"op": "unadvertise", "channelIds": ended}));
        }
        topics.retain(|topic| !self.channels.contains(&topic.id));
        self.channels = there;
        if topics.is_empty() {
            return;
        }
        let channels: Vec<_> = topics
            .iter()
            .map(|topic| {
                let encoding = match self.page && topic.is_picture() {
                    true => "jpeg",
                    false => "cdr",
                };
                json!({
                    "id": topic.id,
                    "topic": topic.name,
                    "encoding": encoding,
                    "schemaName": topic.type_name,
                    "schemaEncoding": "ros2msg",
                    "schema": topic.schema(),
                })
            })
            .collect();
        self.outbox
            .say(&json!({"op": "advertise", "channels": channels}));
    }

    /// Tells of services that are new.
    fn advertise_services(&mut self) {
        let Some(calls) = &self.shared.calls else {
            return;
        };
        let services = calls.since(self.services);
        if services.is_empty() {
            return;
        }
        let described: Vec<_> = services
            .iter()
            .map(|(id, name, type_name)| {
                let half = |which: &str| {
                    json!({
                        "encoding": "json",
                        "schemaName": format!("{type_name}_{which}"),
                        "schemaEncoding": "jsonschema",
                        "schema": "{}",
                    })
                };
                json!({
                    "id": id,
                    "name": name,
                    "type": type_name,
                    "request": half("Request"),
                    "response": half("Response"),
                })
            })
            .collect();
        self.services += services.len();
        self.outbox
            .say(&json!({"op": "advertiseServices", "services": described}));
    }

    /// Tells of changes of the graph who wants to know, unless what was said before has not been taken yet.
    fn tell_graph(&mut self) {
        if self.outbox.has_replies() {
            return;
        }
        if let Some(update) = self.graph.as_mut().and_then(Follower::update) {
            self.outbox.say(&update);
        }
    }

    fn follow_graph(&mut self) {
        if self.graph.is_some() {
            return;
        }
        match self.shared.connections.follow() {
            Ok(follower) => self.graph = Some(follower),
            Err(error) => self
                .outbox
                .complain(&format!("the graph cannot be read: {error}")),
        }
    }

    fn on_text(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Request::Subscribe { subscriptions }) => self.subscribe_all(&subscriptions),
            Ok(Request::Unsubscribe { subscription_ids }) => {
                for number in subscription_ids {
                    self.subscriptions.remove(&number);
                }
            }
            Ok(Request::GetParameters {
                parameter_names,
                id,
            }) => {
                let from = self.requester(text);
                self.shared.parameters.get(parameter_names, id, &from);
            }
            Ok(Request::SetParameters { parameters, id }) => match self.shared.calls {
                Some(_) => {
                    let from = self.requester(text);
                    self.shared.parameters.set(parameters, id, &from);
                }
                None => self.outbox.complain(NO_COMMANDS),
            },
            Ok(Request::FetchAsset { uri, request_id }) => {
                self.outbox.reply(asset::answer(&uri, request_id));
            }
            Ok(Request::SubscribeConnectionGraph) => self.follow_graph(),
            Ok(Request::UnsubscribeConnectionGraph) => self.graph = None,
            Ok(Request::Other) => self
                .outbox
                .complain("this server does not know the operation"),
            Err(error) => self
                .outbox
                .complain(&format!("the message is not understood: {error}")),
        }
    }

    fn requester(&self, text: &str) -> Requester<'_> {
        Requester {
            outbox: &self.outbox,
            errands: &self.requests,
            len: text.len(),
        }
    }

    fn subscribe_all(&mut self, wanted: &[Wanted]) {
        let mut refused = wanted
            .iter()
            .filter_map(|one| Some((one, self.subscribe(one).err()?)));
        let told: Vec<_> = refused.by_ref().take(COMPLAINTS).collect();
        let more = refused.count();
        for (one, why) in told {
            self.outbox
                .complain(&format!("channel {}: {why}", one.channel_id));
        }
        if more > 0 {
            self.outbox
                .complain(&format!("{more} more subscriptions are not there either"));
        }
    }

    fn subscribe(&mut self, wanted: &Wanted) -> Result<(), &'static str> {
        if self.subscriptions.len() >= SUBSCRIPTIONS {
            return Err("there are too many subscriptions");
        }
        let hub = &self.shared.hub;
        let subscription = hub.subscribe(wanted.channel_id, self.page, &self.outbox, wanted.id)?;
        self.subscriptions.insert(wanted.id, subscription);
        Ok(())
    }

    fn on_binary(&mut self, bytes: &[u8]) {
        match (bytes.split_first(), &self.shared.calls) {
            (Some((2, call)), Some(calls)) => calls.make(call, &self.outbox, &self.calls),
            (Some((2, _)), None) => self.outbox.complain(NO_COMMANDS),
            _ => self
                .outbox
                .complain("this server does not know the binary operation"),
        }
    }

    /// A message of the protocol.
    fn frame(&self, next: Next) -> Message {
        match next {
            Next::Reply(bytes) => match String::from_utf8(bytes) {
                Ok(text) if text.starts_with('{') => Message::text(text),
                Ok(text) => Message::binary(text.into_bytes()),
                Err(bytes) => Message::binary(bytes.into_bytes()),
            },
            Next::Sample(subscription, sample) => {
                let figures = &self.shared.figures;
                figures.sent.fetch_add(1, Ordering::Relaxed);
                let data = sample.data.as_ref();
                let mut frame = Vec::with_capacity(13 + data.len());
                frame.push(1);
                frame.extend(subscription.to_le_bytes());
                frame.extend(sample.at.to_le_bytes());
                frame.extend(data);
                Message::binary(frame)
            }
        }
    }
}
