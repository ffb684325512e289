//! Topics of the simulated network between vehicles.
use crate::config::params::{NetSimParams, QosGroup};
use crate::model::{InputError, NetSim, NetSimReceived};
use crate::msgs::rfly_bridge_msgs::msg::{NetSimData, NetSimRequest, NetSimState};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, cause::Cause, clock::host_now, context::Context, datagrams::count_received,
    error::NodeError, settings::topic_below, stats::SourceStats, threads::REPORT,
};
use crate::ros::{Publisher, Qos};
use crate::transport::{Datagram, UdpReceiver, UdpSender};
use crate::{msgs::Message, wire::NETWORK_GROUP};
use parking_lot::Mutex;
use std::{collections::BTreeMap, io::IoSliceMut, net::SocketAddrV4, sync::Arc, time::Duration};

/// The tables of `model` document its topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: |_: &mut TopicPage| {} };

/// Reliable, because each message is sent once.
const INPUTS: Qos = Qos { depth: 20, ..Qos::DEFAULT };
const REQUEST_PERIOD: Duration = Duration::from_secs(1);
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
    let shared = Arc::new(SharedNetSim {
        net: Mutex::new(NetSim::new(params.frames.world, vehicles.clone())),
        requests: Mutex::default(),
    });
    let name = |name: &str| topic_below(&params.topic_prefix, name);
    let publishers = Publishers {
        state: context.publisher(QosGroup::State, &name("netsim/state"))?,
        data: context.publisher(QosGroup::State, &name("netsim/data"))?,
        request: context.publisher(QosGroup::State, &name("netsim/request"))?,
    };
    let mut sender = None;
    // A port for all vehicles, and one per vehicle.
    let vehicle_ports = vehicles.iter().filter_map(|id| port.checked_add(*id));
    for port in std::iter::once(port).chain(vehicle_ports) {
        let options = context.senders.group(port);
        let what = format!("simulated network, port {port}");
        let Some(receiver) = assembly.binder.bind(&options, &what) else { continue };
        let stats = assembly.add_source_on_demand(what);
        let sender = sender.get_or_insert_with(|| NetSimSender {
            socket: receiver.sender(),
            to: SocketAddrV4::new(NETWORK_GROUP, port),
            stats: stats.clone(),
        });
        let source = NetSimSource {
            receiver,
            shared: shared.clone(),
            publishers: publishers.clone(),
            request_sender: (sender.to.port() == port).then(|| sender.clone()),
            stats,
        };
        tasks::start_counted(&runtime, source.stats.clone(), source);
    }
    let Some(sender) = sender else { return Ok(()) };
    let (net, out) = (shared.clone(), sender.clone());
    subscribe(context, assembly, &name("netsim/send_state"), move |message: NetSimState| {
        out.send(net.net.lock().state(&message, unix_time()));
    })?;
    let (net, out) = (shared.clone(), sender.clone());
    subscribe(context, assembly, &name("netsim/send_data"), move |message: NetSimData| {
        out.send(net.net.lock().data(&message, unix_time()));
    })?;
    subscribe(context, assembly, &name("netsim/send_request"), move |message: NetSimRequest| {
        let datagrams = shared.net.lock().request(&message, unix_time());
        if let Err(error) = &datagrams {
            return sender.refuse(error);
        }
        if !message.wanted.is_empty() {
            sender.send(datagrams);
        }
        shared.requests.lock().insert(message.sender, message);
    })
}

fn subscribe<M: Message>(
    context: &Context<'_>,
    assembly: &mut Assembly,
    topic: &str,
    callback: impl FnMut(M) + Send + 'static,
) -> Result<(), NodeError> {
    let subscription = context.middleware.subscribe(topic, INPUTS, callback)?;
    assembly.guards.push(Box::new(subscription));
    Ok(())
}

/// Returns the time of the host in s since 1970.
fn unix_time() -> f64 {
    host_now().0 as f64 * 1e-9
}

/// State that the topics and the ports share.
struct SharedNetSim {
    net: Mutex<NetSim>,
    /// The newest request of each vehicle.
    requests: Mutex<BTreeMap<u16, NetSimRequest>>,
}

#[derive(Clone)]
struct NetSimSender {
    socket: UdpSender,
    to: SocketAddrV4,
    stats: Arc<SourceStats>,
}

impl NetSimSender {
    fn send(&self, datagrams: Result<Vec<Vec<u8>>, InputError>) {
        match datagrams {
            Ok(datagrams) => {
                for bytes in datagrams {
                    if self.socket.send_to(&bytes, self.to).is_err() {
                        self.stats.lock().count(Cause::NotSent);
                    }
                }
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&self, error: &InputError) {
        let mut figures = self.stats.lock();
        let cause = Cause::Model(error.cause);
        if !figures.counts.contains_key(&cause) {
            tracing::warn!(
                "simulated network: {}; further ones are only counted (drop_{} in /diagnostics)",
                error.text,
                cause.name()
            );
        }
        figures.count(cause);
    }
}

#[derive(Clone)]
struct Publishers {
    state: Publisher<NetSimState>,
    data: Publisher<NetSimData>,
    request: Publisher<NetSimRequest>,
}

/// Publishes the datagrams of one port.
struct NetSimSource {
    receiver: UdpReceiver,
    shared: Arc<SharedNetSim>,
    publishers: Publishers,
    /// Sender of repeated requests; only on the first port.
    request_sender: Option<NetSimSender>,
    stats: Arc<SourceStats>,
}

impl CountedTask for NetSimSource {
    async fn run(&mut self) {
        let mut buffer = vec![0; BUFFER];
        let mut timer = tokio::time::interval(REQUEST_PERIOD);
        timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = timer.tick() => self.repeat_requests(),
                ready = self.receiver.readable() => match ready {
                    Ok(()) => self.drain(&mut buffer),
                    Err(_) => {
                        self.stats.lock().count(Cause::Socket);
                        // Keeps a permanently failing socket from spinning.
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                },
            }
        }
    }
}

impl NetSimSource {
    fn repeat_requests(&self) {
        let Some(sender) = &self.request_sender else { return };
        let requests = self.shared.requests.lock().clone();
        for request in requests.values().filter(|request| !request.wanted.is_empty()) {
            sender.send(self.shared.net.lock().request(request, unix_time()));
        }
    }

    /// Reads queued datagrams, up to a limit, so that other tasks of the thread run.
    fn drain(&self, buffer: &mut [u8]) {
        for _ in 0..64 {
            match self.receiver.try_recv(&mut [IoSliceMut::new(buffer)]) {
                Ok(Some(received)) => {
                    if let Some(datagram) = count_received(received, &self.stats) {
                        self.publish(&datagram, buffer);
                    }
                }
                Ok(None) => return,
                Err(_) => return self.stats.lock().count(Cause::Socket),
            }
        }
    }

    fn publish(&self, datagram: &Datagram, buffer: &[u8]) {
        let bytes = buffer.get(..datagram.len).unwrap_or(buffer);
        let message = self.shared.net.lock().receive(bytes, unix_time());
        let published = match message {
            Ok(NetSimReceived::State(state)) => self.publishers.state.publish(&state),
            Ok(NetSimReceived::Data(data)) => self.publishers.data.publish(&data),
            Ok(NetSimReceived::Request(request)) => self.publishers.request.publish(&request),
            Err(_) => return self.stats.lock().count(Cause::Malformed),
        };
        let mut figures = self.stats.lock();
        figures.count_frame();
        figures.converted += 1;
        if published.is_err() {
            figures.count(Cause::Publish);
        }
    }
}
