//! What the bridge receives: one task per source.
use super::heartbeat_directory::{HeartbeatDirectory, Whereabouts};
use super::live::FovWatch;
use super::neighbours::Neighbours;
use super::plan::{Plan, below};
use super::request::Liveness;
use super::shm_source::ShmSource;
use super::stats::SourceStats;
use super::supervisor::Link;
use super::udp_source::{Idle, UdpSource};
use super::vehicle::{HeartbeatSource, ImuSource, SharedAttitude, TruthSource};
use super::{NodeError, tasks};
use crate::config::params::{ImuOrientation, QosGroup, TfSource};
use crate::config::{ControlLink, SensorConfig, TransportMode};
use crate::program::limit_behind;
use crate::sensors::{ImuConverter, Options, Sensor, SensorContext, SensorSpec, spec_of};
use crate::session::{Order, Reassembler};
use crate::transport::{BindOptions, StreamReceiver, UdpReceiver, holders, is_local_address};
use crate::wire::{ImuRequestPacket, shm_block_len, shm_name};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// True states on their way from the autopilot's link; more are not waited for.
const RELAYED: usize = 256;
/// A PNG of noise is a little larger than its pixels; small payloads get room for longer lists.
const SPARE_FRAME_BYTES: usize = 1 << 20;

impl Plan<'_> {
    pub(super) fn vehicle_tasks(
        &self,
        runtime: &Runtime,
        binder: &mut Binder,
        others: &mut Vec<Arc<SourceStats>>,
    ) -> Result<(), NodeError> {
        let params = &self.settings.params;
        let ports = &self.settings.ports;
        let mut watch = |name: String| {
            let stats = Arc::new(SourceStats::new(name));
            others.push(stats.clone());
            stats
        };
        if let Some(receiver) = binder.bind(
            &self.senders.heartbeats(ports.heartbeat),
            "clock heartbeats",
        ) {
            let source = HeartbeatSource {
                receiver,
                clocks: self.clocks.clone(),
                announced: self.announced(),
                served: self.settings.vehicles(),
                stats: watch("heartbeats".into()),
            };
            tasks::start(runtime, source);
        }
        for vehicle in self.settings.vehicles() {
            let Some(clock) = self.clocks.of(Some(vehicle)) else {
                continue;
            };
            let attitude = SharedAttitude::default();
            let options = BindOptions {
                reuse: true,
                ..self.senders.port(ports.true_state(vehicle))
            };
            if let Some(receiver) =
                binder.bind(&options, &format!("true state of vehicle {vehicle}"))
            {
                let stats = watch(format!("true state of vehicle {vehicle}"));
                let (relay, on_link) = mpsc::channel(RELAYED);
                self.relay_truth(vehicle, relay);
                let source = TruthSource {
                    vehicle,
                    receiver,
                    clock: clock.clone(),
                    tf: match params.frames.tf_source {
                        TfSource::Truth => self.tf.clone(),
                        TfSource::Estimate | TfSource::External => None,
                    },
                    truth: self.ground_truth(vehicle)?,
                    on_link,
                    map_centre: self.map_centre.clone(),
                    order: Order::default(),
                    attitude: attitude.clone(),
                    stats,
                };
                tasks::start(runtime, source);
            }
            if !params.imu.enabled {
                continue;
            }
            let port = ports.imu(vehicle);
            if let Some(receiver) = binder.bind(
                &self.senders.port(port),
                &format!("IMU of vehicle {vehicle}"),
            ) {
                let topic = self.imu_topic(vehicle);
                let stats = watch(format!("imu of vehicle {vehicle}"));
                stats.lock().asked_hz = Some(params.imu.rate_hz.into());
                let reply_to = params.receive_address.unwrap_or(Ipv4Addr::LOCALHOST);
                let source = ImuSource {
                    receiver,
                    request: ImuRequestPacket::new(params.imu.rate_hz, reply_to.octets(), port),
                    simulator: SocketAddrV4::new(
                        params.simulator_address,
                        ports.coptersim(vehicle),
                    ),
                    period: params.request.period,
                    timeout: params.request.timeout,
                    converter: ImuConverter::new(
                        &params.imu,
                        &self.imu_frame(vehicle),
                        params.frames.world,
                    ),
                    attitude: match params.imu.orientation {
                        ImuOrientation::None => None,
                        ImuOrientation::Truth => Some(attitude),
                    },
                    publisher: self
                        .middleware
                        .publisher(&topic, self.qos(QosGroup::Imu, &topic))?,
                    clock,
                    order: Order::default(),
                    settings: self.watch.clone(),
                    resend: 0,
                    stats,
                };
                tasks::start(runtime, source);
            }
        }
        Ok(())
    }

    /// The vehicles that are served, and where CopterSim is for those that it stands behind.
    fn announced(&self) -> HeartbeatDirectory {
        let params = &self.settings.params;
        let place = |id: u16| {
            let address = params.copter_sim(id);
            let local = is_local_address(address);
            match params.control_link(id) {
                ControlLink::Simulator(_) => Some(Whereabouts { address, local }),
                _ => None,
            }
        };
        let vehicles = self.settings.vehicles().into_iter();
        let others = params.other_vehicles.iter().copied();
        HeartbeatDirectory::new(vehicles.map(|id| (id, place(id))), others)
    }

    pub(super) fn sensor_tasks(
        &self,
        binder: &mut Binder,
        links: &mut Vec<Link>,
        streams: &mut Vec<UdpSource>,
        blocks: &mut Vec<ShmSource>,
    ) -> Result<(), NodeError> {
        let params = &self.settings.params;
        for config in &self.settings.sensors {
            let spec = spec_of(config.kind);
            let Some(clock) = self.clocks.of(self.settings.vehicle_of(config)) else {
                continue;
            };
            let sensor = self.open(spec, config)?;
            let stats = Arc::new(SourceStats::new(format!(
                "sensor{} {}",
                config.seq_id,
                spec.suffix()
            )));
            stats.lock().asked_hz = Some(config.rate_hz.into());
            let len = shm_block_len(
                config.kind.type_id(),
                config.width,
                config.height,
                max_objects(config),
            )
            .unwrap_or(0);
            links.push(Link {
                sensor: config.clone(),
                stats: stats.clone(),
                liveness: Liveness::new(params.request.timeout),
                resend: 0,
            });
            let fov = FovWatch::new(self.watch.clone(), config.seq_id, config.fov_deg);
            if config.transport == TransportMode::SharedMemory {
                let block = (shm_name(config.seq_id), len);
                blocks.push(ShmSource::new(block, sensor, fov, clock, stats));
                continue;
            }
            let options = BindOptions {
                buffer_bytes: params.receive_buffer_bytes,
                ..self.senders.port_at(config.ip.into(), config.port)
            };
            let Some(receiver) = binder.bind_with(StreamReceiver::bind, &options, &stats.name)
            else {
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
            let idle = Idle::new(receiver.buffer_bytes(), len);
            streams.push(UdpSource {
                receiver,
                reassembler: Reassembler::for_loans(2 * len + SPARE_FRAME_BYTES),
                sensor,
                fov,
                compressed: config.transport.is_compressed(),
                clock,
                stats,
                idle,
                overflows: 0,
                said: Vec::new(),
            });
        }
        Ok(())
    }

    pub(super) fn open(
        &self,
        spec: &SensorSpec,
        config: &SensorConfig,
    ) -> Result<Box<dyn Sensor>, NodeError> {
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
}

/// Binds sockets and remembers every failure, so that all of them are reported together.
#[derive(Default)]
pub(super) struct Binder {
    failures: Vec<String>,
    neighbours: Neighbours,
}

impl Binder {
    pub(super) fn bind(&mut self, options: &BindOptions, what: &str) -> Option<UdpReceiver> {
        self.bind_with(UdpReceiver::bind, options, what)
    }

    fn bind_with<R>(
        &mut self,
        bind: fn(&BindOptions) -> io::Result<R>,
        options: &BindOptions,
        what: &str,
    ) -> Option<R> {
        let receiver = bind(options);
        match &receiver {
            Ok(_) if options.reuse => self.neighbours.watch(options, what),
            Ok(_) => {}
            Err(error) => {
                let by: String = holders(options.port)
                    .iter()
                    .map(|holder| format!(", by {holder}"))
                    .collect();
                let limit = limit_behind(error);
                self.failures.push(format!(
                    "{what}: UDP port {}: {error}{by}{limit}",
                    options.port
                ));
            }
        }
        receiver.ok()
    }

    /// The ports that others may bind, too.
    pub(super) fn finish(self) -> Result<Neighbours, NodeError> {
        if self.failures.is_empty() {
            Ok(self.neighbours)
        } else {
            Err(NodeError::Bind(self.failures))
        }
    }
}

fn max_objects(config: &SensorConfig) -> u32 {
    config.other_params[1].max(0.0) as u32
}
