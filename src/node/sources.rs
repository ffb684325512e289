//! What the bridge receives: one task per source.
use super::NodeError;
use super::announced::{Announced, Whereabouts};
use super::live::FovWatch;
use super::plan::{Plan, below};
use super::request::Liveness;
use super::shm_source::ShmSource;
use super::stats::SourceStats;
use super::supervisor::Link;
use super::udp_source::{UdpSource, idle_pause};
use super::vehicle::{HeartbeatSource, ImuSource, TruthSource};
use crate::config::params::{Stream, TfSource};
use crate::config::{ControlLink, SensorConfig, TransportMode};
use crate::sensors::{ImuConverter, Options, Sensor, SensorContext, SensorSpec, spec_of};
use crate::session::Reassembler;
use crate::transport::{BindOptions, UdpReceiver, is_local_address};
use crate::wire::{ImuRequestPacket, shm_block_len, shm_name};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

pub(super) const HEARTBEAT_PORT: u16 = 20005;
pub(super) const HEARTBEAT_GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 10);
const COPTERSIM_PORT: u16 = 30100;
const TRUTH_PORT: u16 = 30101;
const IMU_PORT: u16 = 31000;
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
                announced: self.announced(),
                served: self.settings.vehicles(),
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
                    tf: match params.frames.tf_source {
                        TfSource::Truth => self.tf.clone(),
                        TfSource::Estimate | TfSource::External => None,
                    },
                    truth: self.ground_truth(vehicle)?,
                    map_centre: self.map_centre.clone(),
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
                    settings: self.watch.clone(),
                    resend: 0,
                    stats: watch(format!("imu of vehicle {vehicle}")),
                };
                runtime.spawn(source.run());
            }
        }
        Ok(())
    }

    /// The vehicles that are served, and where CopterSim is for those that it stands behind.
    fn announced(&self) -> Announced {
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
        Announced::new(vehicles.map(|id| (id, place(id))))
    }

    pub(super) fn sensor_tasks(
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
                resend: 0,
            });
            let fov = FovWatch::new(self.watch.clone(), config.seq_id, config.fov_deg);
            if config.transport == TransportMode::SharedMemory {
                let (name, next_look) = (shm_name(config.seq_id), Instant::now());
                blocks.push(ShmSource {
                    name,
                    len,
                    sensor,
                    fov,
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
            let idle_pause = idle_pause(receiver.buffer_bytes(), len);
            let source = UdpSource {
                receiver,
                reassembler: Reassembler::new(2 * len + SPARE_FRAME_BYTES),
                sensor,
                fov,
                compressed: config.transport.is_compressed(),
                clock,
                stats,
                idle_pause,
                overflows: 0,
            };
            runtime.spawn(source.run());
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
}

impl Binder {
    pub(super) fn bind(&mut self, options: &BindOptions, what: &str) -> Option<UdpReceiver> {
        let receiver = UdpReceiver::bind(options);
        if let Err(error) = &receiver {
            self.failures
                .push(format!("{what}: UDP port {}: {error}", options.port));
        }
        receiver.ok()
    }

    pub(super) fn finish(self) -> Result<(), NodeError> {
        if self.failures.is_empty() {
            Ok(())
        } else {
            Err(NodeError::Bind(self.failures))
        }
    }
}

fn max_objects(config: &SensorConfig) -> u32 {
    config.other_params[1].max(0.0) as u32
}
