//! The simulated network between vehicles, as topics.
use crate::config::params::{NetSimParams, QosGroup};
use crate::model::{InputError, NetSim, NetSimReceived};
use crate::msgs::Message;
use crate::msgs::rfly_bridge_msgs::msg::{NetSimData, NetSimRequest, NetSimState};
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::clock::host_now;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::settings::below;
use crate::node::stats::SourceStats;
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks::{self, Source};
use crate::node::threads::REPORT;
use crate::ros::{Publisher, Qos};
use crate::transport::{Datagram, Received, UdpReceiver, UdpSender};
use crate::wire::NETWORK_GROUP;
use std::collections::BTreeMap;
use std::io::IoSliceMut;
use std::net::SocketAddrV4;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Documented with the models, whose tables have these topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem {
    open,
    topics: |_: &mut TopicPage| {},
};

/// Reliable: each message is sent once.
const INPUTS: Qos = Qos {
    depth: 20,
    ..Qos::DEFAULT
};
/// Time between requests.
const ASK: Duration = Duration::from_secs(1);
/// Longest datagram.
const BUFFER: usize = 65_536;

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let params = &context.settings.params;
    let NetSimParams { enabled, port } = params.netsim;
    if !enabled {
        return Ok(());
    }
    let runtime = assembly.threads.runtime(REPORT)?;
    let _entered = runtime.enter();
    let vehicles = context.settings.vehicles();
    let shared = Arc::new(Shared {
        net: Mutex::new(NetSim::new(params.frames.world, vehicles.clone())),
        wanted: Mutex::default(),
    });
    let name = |name: &str| below(&params.topic_prefix, name);
    let publishers = Publishers {
        state: context.publisher(QosGroup::State, &name("netsim/state"))?,
        data: context.publisher(QosGroup::State, &name("netsim/data"))?,
        request: context.publisher(QosGroup::State, &name("netsim/request"))?,
    };
    let mut sender = None;
    // One port of all, and one per vehicle.
    let own = vehicles.iter().filter_map(|id| port.checked_add(*id));
    for port in std::iter::once(port).chain(own) {
        let options = context.senders.group(port);
        let what = format!("simulated network, port {port}");
        let Some(receiver) = assembly.binder.bind(&options, &what) else {
            continue;
        };
        let stats = assembly.source_on_demand(what);
        let sender = sender.get_or_insert_with(|| Sender {
            socket: receiver.sender(),
            to: SocketAddrV4::new(NETWORK_GROUP, port),
            stats: stats.clone(),
        });
        let source = NetSimSource {
            receiver,
            shared: shared.clone(),
            publishers: publishers.clone(),
            asks: (sender.to.port() == port).then(|| sender.clone()),
            stats,
        };
        tasks::start(&runtime, source);
    }
    let Some(sender) = sender else {
        return Ok(());
    };
    let (net, out) = (shared.clone(), sender.clone());
    subscribe(
        context,
        assembly,
        &name("netsim/send_state"),
        move |message: NetSimState| {
            out.send(net.net().state(&message, unix_time()));
        },
    )?;
    let (net, out) = (shared.clone(), sender.clone());
    subscribe(
        context,
        assembly,
        &name("netsim/send_data"),
        move |message: NetSimData| {
            out.send(net.net().data(&message, unix_time()));
        },
    )?;
    subscribe(
        context,
        assembly,
        &name("netsim/send_request"),
        move |message: NetSimRequest| {
            if let Err(wrong) = shared.net().request(&message, unix_time()) {
                return sender.refuse(&wrong);
            }
            if !message.wanted.is_empty() {
                sender.send(shared.net().request(&message, unix_time()));
            }
            shared.wanted().insert(message.sender, message);
        },
    )
}

fn subscribe<M: Message>(
    context: &Context<'_>,
    assembly: &mut Assembly,
    topic: &str,
    take: impl FnMut(M) + Send + 'static,
) -> Result<(), NodeError> {
    let subscription = context.middleware.subscribe(topic, INPUTS, take)?;
    assembly.guards.push(Box::new(subscription));
    Ok(())
}

/// The host's clock in s since 1970.
fn unix_time() -> f64 {
    host_now().0 as f64 * 1e-9
}

/// State shared by topics and ports.
struct Shared {
    net: Mutex<NetSim>,
    /// The newest request of each vehicle.
    wanted: Mutex<BTreeMap<u16, NetSimRequest>>,
}

impl Shared {
    fn net(&self) -> MutexGuard<'_, NetSim> {
        self.net.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wanted(&self) -> MutexGuard<'_, BTreeMap<u16, NetSimRequest>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct Sender {
    socket: UdpSender,
    to: SocketAddrV4,
    stats: Arc<SourceStats>,
}

impl Sender {
    fn send(&self, datagrams: Result<Vec<Vec<u8>>, InputError>) {
        match datagrams {
            Ok(datagrams) => {
                for bytes in datagrams {
                    if self.socket.send_to(&bytes, self.to).is_err() {
                        self.stats.lock().drop_one(Cause::NotSent);
                    }
                }
            }
            Err(wrong) => self.refuse(&wrong),
        }
    }

    fn refuse(&self, wrong: &InputError) {
        let mut figures = self.stats.lock();
        let cause = Cause::Model(wrong.cause);
        if !figures.drops.contains_key(&cause) {
            tracing::warn!(
                "simulated network: {}; further ones are only counted (drop_{} in /diagnostics)",
                wrong.text,
                cause.name()
            );
        }
        figures.drop_one(cause);
    }
}

#[derive(Clone)]
struct Publishers {
    state: Publisher<NetSimState>,
    data: Publisher<NetSimData>,
    request: Publisher<NetSimRequest>,
}

/// One port.
struct NetSimSource {
    receiver: UdpReceiver,
    shared: Arc<Shared>,
    publishers: Publishers,
    /// The first port also asks.
    asks: Option<Sender>,
    stats: Arc<SourceStats>,
}

impl Source for NetSimSource {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    async fn run(&mut self) {
        let mut buffer = vec![0; BUFFER];
        let mut ask = tokio::time::interval(ASK);
        ask.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = ask.tick() => self.ask(),
                ready = self.receiver.readable() => match ready {
                    Ok(()) => self.drain(&mut buffer),
                    // Keeps a permanently failing socket from spinning.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                },
            }
        }
    }
}

impl NetSimSource {
    fn ask(&self) {
        let Some(sender) = &self.asks else {
            return;
        };
        let wanted = self.shared.wanted().clone();
        for request in wanted.values().filter(|request| !request.wanted.is_empty()) {
            sender.send(self.shared.net().request(request, unix_time()));
        }
    }

    /// Reads what is there, up to a limit: other tasks of the thread run, too.
    fn drain(&self, buffer: &mut [u8]) {
        for _ in 0..64 {
            match self.receiver.try_recv(&mut [IoSliceMut::new(buffer)]) {
                Ok(Some(Received::Datagram(datagram))) => self.publish(&datagram, buffer),
                Ok(Some(Received::Refused)) => self.stats.lock().drop_one(Cause::Refused),
                Ok(None) => return,
                Err(_) => return self.stats.lock().drop_one(Cause::Socket),
            }
        }
    }

    fn publish(&self, datagram: &Datagram, buffer: &[u8]) {
        let bytes = buffer.get(..datagram.len).unwrap_or(buffer);
        let message = self.shared.net().receive(bytes, unix_time());
        let published = match message {
            Ok(NetSimReceived::State(state)) => self.publishers.state.publish(&state),
            Ok(NetSimReceived::Data(data)) => self.publishers.data.publish(&data),
            Ok(NetSimReceived::Request(request)) => self.publishers.request.publish(&request),
            Err(_) => return self.stats.lock().drop_one(Cause::Malformed),
        };
        let mut figures = self.stats.lock();
        figures.received += 1;
        figures.bytes += bytes.len() as u64;
        figures.frames += 1;
        figures.converted += 1;
        figures.last_frame = Some(Instant::now());
        if published.is_err() {
            figures.drop_one(Cause::Publish);
        }
    }
}
