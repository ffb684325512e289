//! Opens everything and starts the tasks.
use super::clock::{SimClocks, host_now};
use super::health::Health;
use super::request::Liveness;
use super::shm_source::{self, ShmSource};
use super::stats::SourceStats;
use super::supervisor::{Link, Supervisor};
use super::udp_source::UdpSource;
use super::vehicle::{HeartbeatSource, ImuSource, Tf, TruthSource};
use super::{NodeError, Settings};
use crate::config::params::{self, ImuFrame, QosSettings, Stream, TimeMode};
use crate::config::{SensorConfig, TransportMode};
use crate::frames::{FrameTree, MissingPath};
use crate::msgs::tf2_msgs::msg::TFMessage;
use crate::ros::{Durability, History, Middleware, Publisher, Qos, Reliability};
use crate::sensors::{FrameIds, ImuConverter, Options, Sensor, SensorContext, SensorSpec, spec_of};
use crate::session::Reassembler;
use crate::transport::{BindOptions, UdpReceiver};
use crate::wire::{ImuRequestPacket, shm_block_len, shm_name};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

const RENDERER_PORT: u16 = 20010;
const HEARTBEAT_PORT: u16 = 20005;
const HEARTBEAT_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 10);
const COPTERSIM_PORT: u16 = 30100;
const TRUTH_PORT: u16 = 30101;
const IMU_PORT: u16 = 31000;
/// A PNG of noise is a little larger than its pixels; small payloads get room for longer lists.
const SPARE_FRAME_BYTES: usize = 1 << 20;

/// A running bridge; it ends when this is dropped.
pub struct Bridge {
    data: Option<Runtime>,
    stop: Arc<AtomicBool>,
    quit: Option<tokio::sync::oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    // Latched messages live as long as their writer.
    _static_tf: Option<Publisher<TFMessage>>,
}

impl Bridge {
    /// Opens topics and ports, asks for the sensors, and publishes from then on.
    pub fn start(settings: &Settings, middleware: &Middleware) -> Result<Self, NodeError> {
        let data = Builder::new_multi_thread()
            .worker_threads(workers())
            .thread_name("rfly-data")
            .enable_all()
            .build()
            .map_err(|source| NodeError::Start {
                what: "the data runtime",
                source,
            })?;
        let prompt = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| NodeError::Start {
                what: "the IMU runtime",
                source,
            })?;
        let plan = Plan::new(settings, middleware)?;
        let (quit, quitting) = tokio::sync::oneshot::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let mut binder = Binder::default();

        let mut others = Vec::new();
        {
            let _guard = prompt.enter();
            plan.vehicle_tasks(&prompt, &mut binder, &mut others)?;
        }
        let mut links = Vec::new();
        let mut blocks = Vec::new();
        {
            let _guard = data.enter();
            plan.sensor_tasks(&data, &mut binder, &mut links, &mut blocks)?;
        }
        binder.finish()?;
        let static_tf = plan.publish_static_tf()?;
        let supervisor = plan.supervisor(links, others)?;
        data.spawn(supervisor.run());

        let mut threads = vec![spawn("rfly-prompt", move || {
            // Dropping the runtime afterwards ends its tasks.
            let _quit_or_dropped = prompt.block_on(quitting);
        })?];
        if !blocks.is_empty() {
            let stop = stop.clone();
            threads.push(spawn("rfly-shm", move || shm_source::poll(blocks, &stop))?);
        }
        Ok(Self {
            data: Some(data),
            stop,
            quit: Some(quit),
            threads,
            _static_tf: static_tf,
        })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Also ends the thread if it is told nothing: it sees that the sender is gone.
        drop(self.quit.take());
        if let Some(data) = self.data.take() {
            data.shutdown_timeout(std::time::Duration::from_secs(1));
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the bridge panicked");
            }
        }
    }
}

/// What the tasks are made of.
struct Plan<'a> {
    settings: &'a Settings,
    middleware: &'a Middleware,
    clocks: SimClocks,
    tree: FrameTree,
    tf: Option<Tf>,
}

impl<'a> Plan<'a> {
    fn new(settings: &'a Settings, middleware: &'a Middleware) -> Result<Self, NodeError> {
        let params = &settings.params;
        let vehicles = settings.vehicles();
        let tree = FrameTree::new(settings.frame_names(), &vehicles, &settings.mounts())
            .map_err(NodeError::Frames)?;
        let clock = match params.time.mode {
            TimeMode::Sim => Some(middleware.publisher(
                "/clock",
                qos_of(settings, middleware, Stream::Clock, "/clock"),
            )?),
            TimeMode::Aligned | TimeMode::Arrival => None,
        };
        let tf = match params.frames.publish_tf {
            false => None,
            true => Some(Tf {
                tree: Arc::new(Mutex::new(tree.clone())),
                publisher: Arc::new(
                    middleware.publisher("/tf", qos_of(settings, middleware, Stream::Tf, "/tf"))?,
                ),
            }),
        };
        Ok(Self {
            settings,
            middleware,
            clocks: SimClocks::new(params, &vehicles, clock),
            tree,
            tf,
        })
    }

    fn qos(&self, stream: Stream, topic: &str) -> Qos {
        qos_of(self.settings, self.middleware, stream, topic)
    }

    fn vehicle_tasks(
        &self,
        runtime: &Runtime,
        binder: &mut Binder,
        others: &mut Vec<Arc<SourceStats>>,
    ) -> Result<(), NodeError> {
        let params = &self.settings.params;
        let mut watch = |name: String| {
            let stats = Arc::new(SourceStats::new(name));
            others.push(stats.clone());
            stats
        };
        let options = BindOptions {
            reuse: true,
            groups: vec![HEARTBEAT_GROUP],
            ..BindOptions::port(HEARTBEAT_PORT)
        };
        if let Some(receiver) = binder.bind(&options, "clock heartbeats") {
            let source = HeartbeatSource {
                receiver,
                clocks: self.clocks.clone(),
                stats: watch("heartbeats".into()),
            };
            runtime.spawn(source.run());
        }
        for vehicle in self.settings.vehicles() {
            let Some(clock) = self.clocks.of(Some(vehicle)) else {
                continue;
            };
            let step = 2 * (vehicle - 1);
            let options = BindOptions {
                reuse: true,
                ..BindOptions::port(TRUTH_PORT + step)
            };
            if let Some(receiver) =
                binder.bind(&options, &format!("true state of vehicle {vehicle}"))
            {
                let stats = watch(format!("true state of vehicle {vehicle}"));
                let source = TruthSource {
                    vehicle,
                    receiver,
                    clock: clock.clone(),
                    tf: self.tf.clone(),
                    stats,
                };
                runtime.spawn(source.run());
            }
            if !params.imu.enabled {
                continue;
            }
            let port = IMU_PORT + vehicle - 1;
            let options = BindOptions::port(port);
            if let Some(receiver) = binder.bind(&options, &format!("IMU of vehicle {vehicle}")) {
                let topic = self.imu_topic(vehicle);
                let reply_to = params.receive_address.unwrap_or(Ipv4Addr::LOCALHOST);
                let source = ImuSource {
                    receiver,
                    request: ImuRequestPacket::new(params.imu.rate_hz, reply_to.octets(), port),
                    simulator: SocketAddrV4::new(params.simulator_address, COPTERSIM_PORT + step),
                    period: params.request.period,
                    timeout: params.request.timeout,
                    converter: ImuConverter::new(&params.imu, &self.imu_frame(vehicle)),
                    publisher: self
                        .middleware
                        .publisher(&topic, self.qos(Stream::Imu, &topic))?,
                    clock,
                    stats: watch(format!("imu of vehicle {vehicle}")),
                };
                runtime.spawn(source.run());
            }
        }
        Ok(())
    }

    fn sensor_tasks(
        &self,
        runtime: &Runtime,
        binder: &mut Binder,
        links: &mut Vec<Link>,
        blocks: &mut Vec<ShmSource>,
    ) -> Result<(), NodeError> {
        let params = &self.settings.params;
        for config in &self.settings.sensors {
            let Some(spec) = spec_of(config.type_id) else {
                continue;
            };
            let Some(clock) = self.clocks.of(self.settings.vehicle_of(config)) else {
                continue;
            };
            let sensor = self.open(spec, config)?;
            let stats = Arc::new(SourceStats::new(format!(
                "sensor{} {}",
                config.seq_id,
                spec.suffix()
            )));
            let len = shm_block_len(
                config.type_id,
                config.width,
                config.height,
                max_objects(config),
            )
            .unwrap_or(0);
            links.push(Link {
                sensor: config.clone(),
                stats: stats.clone(),
                liveness: Liveness::new(params.request.timeout),
            });
            if config.transport == TransportMode::SharedMemory {
                let (name, next_look) = (shm_name(config.seq_id), Instant::now());
                blocks.push(ShmSource {
                    name,
                    len,
                    sensor,
                    clock,
                    stats,
                    block: None,
                    next_look,
                });
                continue;
            }
            let options = BindOptions {
                buffer_bytes: params.receive_buffer_bytes,
                ..BindOptions::port(config.port)
            };
            let Some(receiver) = binder.bind(&options, &stats.name) else {
                continue;
            };
            if config.transport == TransportMode::UdpRaw && receiver.buffer_bytes() < len {
                tracing::warn!(
                    "{}: the system grants a receive buffer of {} bytes, a frame has {len}; frames will be lost. \
                     Raise it: sysctl -w net.core.rmem_max={}",
                    stats.name,
                    receiver.buffer_bytes(),
                    params.receive_buffer_bytes
                );
            }
            let source = UdpSource {
                receiver,
                reassembler: Reassembler::new(2 * len + SPARE_FRAME_BYTES),
                sensor,
                compressed: config.transport.is_compressed(),
                clock,
                stats,
            };
            runtime.spawn(source.run());
        }
        Ok(())
    }

    fn open(&self, spec: &SensorSpec, config: &SensorConfig) -> Result<Box<dyn Sensor>, NodeError> {
        let params = &self.settings.params;
        let topic = match params.sensor(config.seq_id).topic {
            Some(own) => below(&params.topic_prefix, &own),
            None => spec.default_topic(&params.topic_prefix, config.seq_id),
        };
        let context = SensorContext {
            middleware: self.middleware,
            config,
            topic: &topic,
            frames: self.frame_ids(config),
            options: Options::new(params, config.seq_id),
            qos: &|stream, topic| self.qos(stream, topic),
        };
        Ok(spec.open(&context)?)
    }

    fn frame_ids(&self, config: &SensorConfig) -> FrameIds {
        let world = self.tree.names().map.clone();
        match self.tree.sensor(config.seq_id) {
            Some(f) => FrameIds {
                optical: f.optical.clone(),
                link: f.link.clone(),
                world,
            },
            None => FrameIds::new("", config.seq_id),
        }
    }

    fn imu_topic(&self, vehicle: u16) -> String {
        let params = &self.settings.params;
        let prefix = match self.settings.vehicles().len() {
            1 => params.topic_prefix.clone(),
            _ => format!("{}/copter{vehicle}", params.topic_prefix),
        };
        below(&prefix, &params.imu.topic)
    }

    fn imu_frame(&self, vehicle: u16) -> String {
        match self.settings.params.imu.frame {
            ImuFrame::Flu => self.tree.imu_link(vehicle),
            ImuFrame::Frd => self.tree.base_link(vehicle) + "_frd",
        }
    }

    /// Returns every frame_id that can be published and has no path to the map frame.
    fn missing_paths(&self) -> Vec<MissingPath> {
        let mut published: Vec<String> = self
            .settings
            .vehicles()
            .iter()
            .map(|v| self.imu_frame(*v))
            .collect();
        for config in &self.settings.sensors {
            let Some(spec) = spec_of(config.type_id) else {
                continue;
            };
            let ids = self.frame_ids(config);
            published.extend(spec.topics.iter().map(|t| ids.id(t.frame).to_owned()));
        }
        published.sort();
        published.dedup();
        self.tree.check(&published)
    }

    fn publish_static_tf(&self) -> Result<Option<Publisher<TFMessage>>, NodeError> {
        if self.tf.is_none() {
            return Ok(None);
        }
        let publisher = self
            .middleware
            .publisher("/tf_static", self.qos(Stream::TfStatic, "/tf_static"))?;
        publisher.publish(&TFMessage {
            transforms: self.tree.static_transforms(host_now()),
        })?;
        Ok(Some(publisher))
    }

    fn supervisor(
        &self,
        links: Vec<Link>,
        others: Vec<Arc<SourceStats>>,
    ) -> Result<Supervisor, NodeError> {
        let params = &self.settings.params;
        let missing = self.missing_paths();
        for path in &missing {
            tracing::error!("{path}");
        }
        let renderer = SocketAddrV4::new(
            params.simulator_address,
            RENDERER_PORT + u16::from(params.window),
        );
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(|source| NodeError::Start {
                what: "the request socket",
                source,
            })?;
        let publisher = self.middleware.publisher(
            "/diagnostics",
            self.qos(Stream::Diagnostics, "/diagnostics"),
        )?;
        let middleware = self.middleware.clone();
        Ok(Supervisor {
            socket,
            renderer,
            links,
            request_period: params.request.period,
            clear_first: params.clear_capture_on_start,
            health: Health::new(
                middleware,
                publisher,
                renderer.to_string(),
                others,
                self.clocks.clone(),
                missing,
            ),
            health_period: params.diagnostics_period,
        })
    }
}

/// Binds sockets and remembers every failure, so that all of them are reported together.
#[derive(Default)]
struct Binder {
    failures: Vec<String>,
}

impl Binder {
    fn bind(&mut self, options: &BindOptions, what: &str) -> Option<UdpReceiver> {
        let receiver = UdpReceiver::bind(options);
        if let Err(error) = &receiver {
            self.failures
                .push(format!("{what}: UDP port {}: {error}", options.port));
        }
        receiver.ok()
    }

    fn finish(self) -> Result<(), NodeError> {
        if self.failures.is_empty() {
            Ok(())
        } else {
            Err(NodeError::Bind(self.failures))
        }
    }
}

fn spawn(
    name: &'static str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, NodeError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|source| NodeError::Start { what: name, source })
}

fn workers() -> usize {
    std::thread::available_parallelism()
        .map_or(2, usize::from)
        .clamp(2, 4)
}

fn max_objects(config: &SensorConfig) -> u32 {
    config.other_params[1].max(0.0) as u32
}

fn below(prefix: &str, name: &str) -> String {
    if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{}/{name}", prefix.trim_end_matches('/'))
    }
}

fn qos_of(settings: &Settings, middleware: &Middleware, stream: Stream, topic: &str) -> Qos {
    let name = middleware
        .resolve(topic)
        .unwrap_or_else(|_| topic.to_owned());
    to_qos(settings.params.qos.of(stream, &name))
}

fn to_qos(settings: QosSettings) -> Qos {
    Qos {
        reliability: match settings.reliability {
            params::Reliability::Reliable => Reliability::Reliable,
            params::Reliability::BestEffort => Reliability::BestEffort,
        },
        durability: match settings.durability {
            params::Durability::Volatile => Durability::Volatile,
            params::Durability::TransientLocal => Durability::TransientLocal,
        },
        history: match settings.history {
            params::History::KeepLast => History::KeepLast,
            params::History::KeepAll => History::KeepAll,
        },
        depth: u16::try_from(settings.depth).unwrap_or(u16::MAX),
    }
}
