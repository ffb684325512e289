//! Exchanges the datagrams of CopterSim and the renderer over channels of a Redis server, as the vendor's full edition does.
//!
//! The subsystem binds the ports of CopterSim (and of the renderer, with `redis.renderer`) on this host, publishes the datagrams
//! that the bridge sends there, and sends messages of the server to the bridge's own ports. The rest of the bridge is unchanged.
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError, stats::SourceStats,
};
use crate::transport::{BindOptions, Received, UdpReceiver, UdpSender};
use futures_util::StreamExt as _;
use redis::aio::{MultiplexedConnection, PubSubStream};
use redis::{Client, ConnectionAddr, IntoConnectionInfo as _, RedisError};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::{collections::BTreeMap, io::IoSliceMut, sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// Thread that exchanges messages with the server.
const THREAD: &str = "rfly-redis";
/// Limit of datagrams that wait for the server.
const MAX_QUEUED: usize = 1024;
/// Time limit of connecting and of publishing.
const TIMEOUT: Duration = Duration::from_secs(2);
const RETRY_PERIOD: Duration = Duration::from_secs(1);
/// Bytes of the receive buffer: longer than any datagram.
const BUFFER: usize = 65_536;

/// Opens no topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: |_: &mut TopicPage| {} };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let redis = &context.settings.params.redis;
    let Some(address) = redis.address else { return Ok(()) };
    let server = RedisServer::new(address, redis.port)?;
    let runtime = assembly.threads.runtime(THREAD)?;
    let _entered = runtime.enter();
    let stats = assembly.add_source("redis".to_owned());
    let (queue, queued) = mpsc::channel(MAX_QUEUED);
    let (params, ports) = (&context.settings.params, &context.settings.ports);
    let mut routes = BTreeMap::new();
    // Publishes datagrams to port `from` on channel `out`; sends messages of channel `back` to port `to`.
    let mut relay = |what: String,
                     (from, to): (SocketAddrV4, u16),
                     (out, back): (String, String)| {
        let options = BindOptions { address: *from.ip(), ..context.senders.port(from.port()) };
        let Some(receiver) = assembly.binder.bind(&options, &what) else { return };
        let route = ChannelRoute {
            sender: receiver.sender(),
            to: SocketAddrV4::new(Ipv4Addr::LOCALHOST, to),
        };
        routes.insert(back, route);
        let port = PortRelay { receiver, channel: out, queue: queue.clone(), stats: stats.clone() };
        tasks::start_counted(&runtime, stats.clone(), port);
    };
    for vehicle in context.settings.vehicles() {
        let address = params.copter_sim(vehicle);
        for (what, port, client) in [
            ("control", ports.autopilot(vehicle), ports.autopilot_client(vehicle)),
            ("inputs", ports.coptersim(vehicle), ports.true_state(vehicle)),
        ] {
            let what = format!("Redis in CopterSim's place: {what} of vehicle {vehicle}");
            let from = SocketAddrV4::new(address, port);
            relay(what, (from, client), (channel(port), channel(client)));
        }
    }
    if redis.renderer {
        let what = "Redis in RflySim3D's place".to_owned();
        let keys = (redis.to_renderer.clone(), redis.from_renderer.clone());
        relay(what, (context.settings.renderer(), ports.report), keys);
    }
    let publisher = RedisPublisher { server: server.clone(), queued, stats: stats.clone() };
    tasks::start_counted(&runtime, stats.clone(), publisher);
    tasks::start_counted(&runtime, stats.clone(), RedisSubscriber { server, routes, stats });
    Ok(())
}

fn channel(port: u16) -> String {
    format!("key{port}")
}

/// Destination of the messages of a channel.
struct ChannelRoute {
    sender: UdpSender,
    to: SocketAddrV4,
}

#[derive(Clone)]
struct RedisServer {
    client: Client,
    address: String,
}

impl RedisServer {
    fn new(host: Ipv4Addr, port: u16) -> Result<Self, NodeError> {
        let failed = |error: RedisError| NodeError::Start {
            what: "the Redis client",
            source: std::io::Error::other(error),
        };
        let address = ConnectionAddr::Tcp(host.to_string(), port);
        let info = address.into_connection_info().map_err(failed)?;
        Ok(Self { client: Client::open(info).map_err(failed)?, address: format!("{host}:{port}") })
    }

    /// Tries to connect until it succeeds, each time with a time limit; logs the first failure.
    async fn connect<T, F: Future<Output = Result<T, RedisError>> + Send>(
        &self,
        stats: &SourceStats,
        open: impl Fn(Client) -> F + Send + Sync,
    ) -> T {
        let mut is_logged = false;
        loop {
            let error = match tokio::time::timeout(TIMEOUT, open(self.client.clone())).await {
                Ok(Ok(connection)) => {
                    stats.lock().obstacle = None;
                    return connection;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_elapsed) => "no answer".to_owned(),
            };
            let text = format!(
                "the Redis server {} cannot be reached ({error}): check that it runs and listens there (redis.address, redis.port)",
                self.address
            );
            if !std::mem::replace(&mut is_logged, true) {
                tracing::warn!("{text}; trying again every {RETRY_PERIOD:?}");
            }
            {
                let mut figures = stats.lock();
                figures.count(Cause::NotConnected);
                figures.obstacle = Some(text);
            }
            tokio::time::sleep(RETRY_PERIOD).await;
        }
    }
}

/// Queues the datagrams that the bridge sends to one port of the simulator.
struct PortRelay {
    receiver: UdpReceiver,
    channel: String,
    queue: mpsc::Sender<(String, Vec<u8>)>,
    stats: Arc<SourceStats>,
}

impl CountedTask for PortRelay {
    async fn run(&mut self) {
        let mut buffer = vec![0; BUFFER];
        loop {
            // Datagrams may arrive without a gap; other tasks of the thread must run, too.
            tokio::task::coop::consume_budget().await;
            match self.receiver.recv(&mut [IoSliceMut::new(&mut buffer)]).await {
                Ok(Received::Datagram(datagram)) => {
                    let bytes = buffer[..datagram.len.min(BUFFER)].to_vec();
                    if self.queue.try_send((self.channel.clone(), bytes)).is_err() {
                        self.stats.lock().count(Cause::QueueFull);
                    }
                }
                Ok(Received::Refused) => self.stats.lock().count(Cause::Refused),
                Err(_) => {
                    self.stats.lock().count(Cause::Socket);
                    // Keeps a permanently failing socket from spinning.
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
    }
}

/// Publishes the queued datagrams.
struct RedisPublisher {
    server: RedisServer,
    queued: mpsc::Receiver<(String, Vec<u8>)>,
    stats: Arc<SourceStats>,
}

impl CountedTask for RedisPublisher {
    async fn run(&mut self) {
        let mut connection: Option<MultiplexedConnection> = None;
        while let Some((channel, bytes)) = self.queued.recv().await {
            let mut open = match connection.take() {
                Some(open) => open,
                None => {
                    let connect = |client: Client| async move {
                        client.get_multiplexed_async_connection().await
                    };
                    self.server.connect(&self.stats, connect).await
                }
            };
            let mut publish = redis::cmd("PUBLISH");
            publish.arg(channel).arg(bytes);
            let published = publish.exec_async(&mut open);
            match tokio::time::timeout(TIMEOUT, published).await {
                Ok(Ok(())) => connection = Some(open),
                Ok(Err(_)) | Err(_) => self.stats.lock().count(Cause::NotPublished),
            }
        }
    }
}

/// Sends messages of the server to the bridge's ports.
struct RedisSubscriber {
    server: RedisServer,
    routes: BTreeMap<String, ChannelRoute>,
    stats: Arc<SourceStats>,
}

impl CountedTask for RedisSubscriber {
    async fn run(&mut self) {
        loop {
            let channels: Vec<_> = self.routes.keys().cloned().collect();
            let subscribe = |client: Client| {
                let channels = channels.clone();
                async move {
                    let mut subscription = client.get_async_pubsub().await?;
                    subscription.subscribe(channels).await?;
                    Ok(subscription.split())
                }
            };
            // The sink is not used, but keeps the connection open.
            let (_sink, mut messages) = self.server.connect(&self.stats, subscribe).await;
            self.pass_on(&mut messages).await;
        }
    }
}

impl RedisSubscriber {
    /// Sends messages to the ports until the connection ends.
    async fn pass_on(&self, messages: &mut PubSubStream) {
        while let Some(message) = messages.next().await {
            let bytes = message.get_payload_bytes();
            let route = self.routes.get(message.get_channel_name());
            let sent = route.is_some_and(|route| route.sender.send_to(bytes, route.to).is_ok());
            let mut figures = self.stats.lock();
            figures.received += 1;
            figures.bytes += bytes.len() as u64;
            if sent {
                figures.count_frame();
                figures.converted += 1;
            } else {
                figures.count(Cause::NotSent)
            }
        }
    }
}
