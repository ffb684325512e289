//! What the bridge consists of, as far as it does not receive: names, QoS, frames, supervision.
use super::clock::SimClocks;
use super::figures::{STATS, StatsTopic};
use super::health::{Health, Reported};
use super::live::{SettingsWatch, StaticTf};
use super::neighbours::Neighbours;
use super::senders::Senders;
use super::stats::SourceStats;
use super::supervisor::{Link, Supervisor};
use super::urdf::{UrdfForm, fixed_frames, robot_description};
use super::vehicle::{MapCentre, Tf};
use super::{NodeError, Settings};
use crate::config::params::{ImuFrame, QosGroup, StampMode, TfSource};
use crate::config::{ControlLink, SensorConfig};
use crate::frames::{FrameTree, MissingPath};
use crate::msgs::{Message, std_msgs};
use crate::ros::{Middleware, Publisher, Qos};
use crate::sensors::{FrameIds, spec_of};
use crate::vehicle::{GroundTruth, TRUTH_TOPICS, TruthPublishers};
use crate::wire::TrueState;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;

/// What the tasks are made of.
pub(super) struct Plan<'a> {
    pub(super) settings: &'a Settings,
    pub(super) watch: SettingsWatch,
    pub(super) middleware: &'a Middleware,
    pub(super) senders: Arc<Senders>,
    pub(super) clocks: SimClocks,
    pub(super) tree: FrameTree,
    pub(super) tf: Option<Tf>,
    /// Where the origin of the simulator's map is; it says so itself.
    pub(super) map_centre: MapCentre,
    /// Takes the true states that come on the autopilots' links, by vehicle.
    relays: Mutex<BTreeMap<u16, mpsc::Sender<TrueState>>>,
    /// Beginning of monotonic time.
    pub(super) start: Instant,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        watch: SettingsWatch,
        middleware: &'a Middleware,
        senders: Arc<Senders>,
    ) -> Result<Self, NodeError> {
        let params = &settings.params;
        let vehicles = settings.vehicles();
        let tree = FrameTree::new(settings.frame_names(), &vehicles, &settings.mounts())
            .map_err(NodeError::Frames)?;
        let clock = match params.time.mode {
            StampMode::Sim => Some(middleware.publisher(
                "/clock",
                qos_of(settings, middleware, QosGroup::Clock, "/clock"),
            )?),
            StampMode::Aligned | StampMode::Arrival => None,
        };
        let tf = match params.frames.publish_tf {
            false => None,
            true => Some(Tf {
                tree: Arc::new(Mutex::new(tree.clone())),
                publisher: Arc::new(
                    middleware
                        .publisher("/tf", qos_of(settings, middleware, QosGroup::Tf, "/tf"))?,
                ),
                posed: Arc::default(),
            }),
        };
        Ok(Self {
            settings,
            watch,
            middleware,
            senders,
            clocks: SimClocks::new(params, &vehicles, clock),
            tree,
            tf,
            map_centre: MapCentre::default(),
            relays: Mutex::default(),
            start: Instant::now(),
        })
    }

    /// True states of a vehicle that come on its autopilot's link go there.
    pub(super) fn relay_truth(&self, vehicle: u16, to: mpsc::Sender<TrueState>) {
        let mut relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        relays.insert(vehicle, to);
    }

    /// Where true states go that come on the autopilot's link; `None` where nobody publishes them.
    pub(super) fn relay_of(&self, vehicle: u16) -> Option<mpsc::Sender<TrueState>> {
        let relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        relays.get(&vehicle).cloned()
    }

    pub(super) fn qos(&self, group: QosGroup, topic: &str) -> Qos {
        qos_of(self.settings, self.middleware, group, topic)
    }

    pub(super) fn frame_ids(&self, config: &SensorConfig) -> FrameIds {
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

    pub(super) fn imu_topic(&self, vehicle: u16) -> String {
        let params = &self.settings.params;
        below(&self.vehicle_prefix(vehicle), &params.imu.topic)
    }

    /// Returns what is put before the relative topics of a vehicle.
    fn vehicle_prefix(&self, vehicle: u16) -> String {
        let prefix = &self.settings.params.topic_prefix;
        match self.settings.vehicles().len() {
            1 => prefix.clone(),
            _ => format!("{prefix}/copter{vehicle}"),
        }
    }

    /// Opens the topics of a vehicle's true state.
    pub(super) fn ground_truth(&self, vehicle: u16) -> Result<GroundTruth, NodeError> {
        let prefix = self.vehicle_prefix(vehicle);
        let names = self.tree.names();
        let publishers = TruthPublishers {
            odometry: self.truth_topic(&prefix, "ground_truth/odom")?,
            path: self.truth_topic(&prefix, "ground_truth/path")?,
            pose: self.truth_topic(&prefix, "ground_truth/pose")?,
            twist: self.truth_topic(&prefix, "ground_truth/twist")?,
            accel: self.truth_topic(&prefix, "ground_truth/accel")?,
            gps: self.truth_topic(&prefix, "ground_truth/gps")?,
            motor_speeds: self.truth_topic(&prefix, "ground_truth/motor_speeds")?,
            crash: self.truth_topic(&prefix, "ground_truth/crash")?,
        };
        Ok(GroundTruth::new(
            publishers,
            names.world,
            names.map.clone(),
            self.tree.base_link(vehicle),
            self.settings.params.control.geoid,
        ))
    }

    fn truth_topic<M: Message>(&self, prefix: &str, name: &str) -> Result<Publisher<M>, NodeError> {
        let spec = TRUTH_TOPICS.iter().find(|spec| spec.name == name);
        debug_assert!(
            spec.is_some_and(|spec| spec.interface == M::TYPE),
            "{name} is in no table with this type"
        );
        let topic = below(prefix, name);
        let group = spec.map_or(QosGroup::State, |spec| spec.group);
        Ok(self.middleware.publisher(&topic, self.qos(group, &topic))?)
    }

    pub(super) fn imu_frame(&self, vehicle: u16) -> String {
        match self.settings.params.imu.frame {
            ImuFrame::Flu => self.tree.imu_link(vehicle),
            ImuFrame::Frd => self.tree.base_link(vehicle) + "_frd",
        }
    }

    /// Returns every frame_id that can be published and has no path to the map frame.
    pub(super) fn missing_paths(&self) -> Vec<MissingPath> {
        let vehicles = self.settings.vehicles();
        let mut published: Vec<String> = vehicles.iter().map(|v| self.imu_frame(*v)).collect();
        published.extend(vehicles.iter().map(|v| self.tree.local_origin(*v)));
        published.extend(vehicles.iter().map(|v| self.tree.base_link(*v)));
        for config in &self.settings.sensors {
            let spec = spec_of(config.kind);
            let ids = self.frame_ids(config);
            published.extend(spec.topics.iter().map(|t| ids.id(t.frame).to_owned()));
        }
        published.sort();
        published.dedup();
        self.tree.check(&published)
    }

    pub(super) fn publish_static_tf(&self) -> Result<Option<StaticTf>, NodeError> {
        let Some(tf) = self.tf.clone() else {
            return Ok(None);
        };
        let publisher = self
            .middleware
            .publisher("/tf_static", self.qos(QosGroup::TfStatic, "/tf_static"))?;
        let mut left_out = BTreeSet::new();
        if !self.settings.params.frames.publish_static {
            let vehicles = self.settings.vehicles();
            let frames = |vehicle: &u16| fixed_frames(self.settings, &self.tree, *vehicle);
            left_out.extend(vehicles.iter().flat_map(frames));
        }
        let static_tf = StaticTf::new(publisher, tf, left_out, self.clocks.headers(None));
        static_tf.publish()?;
        Ok(Some(static_tf))
    }

    pub(super) fn publish_robot_descriptions(
        &self,
    ) -> Result<Vec<(u16, Publisher<std_msgs::msg::String>)>, NodeError> {
        if !self.settings.params.frames.robot_description {
            return Ok(Vec::new());
        }
        let publish = |vehicle| {
            let topic = below(&self.vehicle_prefix(vehicle), "robot_description");
            let qos = self.qos(QosGroup::RobotDescription, &topic);
            let publisher = self.middleware.publisher(&topic, qos)?;
            let data = robot_description(self.settings, vehicle, UrdfForm::Urdf)?;
            publisher.publish(&std_msgs::msg::String { data })?;
            Ok((vehicle, publisher))
        };
        self.settings.vehicles().into_iter().map(publish).collect()
    }

    /// Absolute prefixes of the mavros-style topics.
    pub(super) fn control_prefixes(&self) -> Vec<String> {
        let params = &self.settings.params;
        let vehicles = self.settings.vehicles().into_iter();
        let controlled = vehicles.filter(|id| *params.control_link(*id) != ControlLink::Off);
        controlled
            .filter_map(|id| self.middleware.resolve(&params.control_prefix(id)).ok())
            .collect()
    }

    pub(super) fn supervisor(
        &self,
        links: Vec<Link>,
        others: Vec<Arc<SourceStats>>,
        neighbours: Neighbours,
    ) -> Result<Supervisor, NodeError> {
        let params = &self.settings.params;
        let missing = self.missing_paths();
        for path in &missing {
            tracing::error!("{path}");
        }
        let renderer = SocketAddrV4::new(
            params.simulator_address,
            self.settings.ports.window(params.window.into()),
        );
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(|source| NodeError::Start {
                what: "the request socket",
                source,
            })?;
        let publisher = self.middleware.publisher(
            "/diagnostics",
            self.qos(QosGroup::Diagnostics, "/diagnostics"),
        )?;
        Ok(Supervisor {
            socket,
            renderer,
            links,
            request_period: params.request.period,
            clear_first: params.clear_capture_on_start,
            poses: match params.frames.tf_source {
                TfSource::Truth | TfSource::Estimate => self.tf.clone(),
                TfSource::External => None,
            }
            .map(|tf| (tf, self.settings.vehicles().len())),
            health: Health::new(Reported {
                middleware: self.middleware.clone(),
                publisher,
                renderer: renderer.to_string(),
                others,
                senders: self.senders.clone(),
                neighbours,
                clocks: self.clocks.clone(),
                headers: self.clocks.headers(None),
                missing,
                control_prefixes: self.control_prefixes(),
                stats: StatsTopic::open(self.middleware, self.qos(QosGroup::Diagnostics, STATS))?,
            }),
            health_period: params.diagnostics_period,
            senders: self.senders.clone(),
            settings: self.watch.clone(),
        })
    }
}

/// Whether a full topic name is below a prefix; `/mavros2/state` is not below `/mavros`.
pub(super) fn is_below(topic: &str, prefix: &str) -> bool {
    let rest = topic.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

pub(super) fn below(prefix: &str, name: &str) -> String {
    if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{}/{name}", prefix.trim_end_matches('/'))
    }
}

fn qos_of(settings: &Settings, middleware: &Middleware, group: QosGroup, topic: &str) -> Qos {
    let name = middleware
        .resolve(topic)
        .unwrap_or_else(|_| topic.to_owned());
    settings.params.qos.of(group, &name)
}

/// QoS of every publisher there is, as parameters; not of those of the vehicles' control, which are dozens per vehicle:
/// their overrides count, but are not listed.
pub(super) fn publishers(
    middleware: &Middleware,
    control_prefixes: &[String],
) -> Vec<(String, Qos)> {
    let controls = |topic: &str| {
        let mut prefixes = control_prefixes.iter();
        prefixes.any(|prefix| is_below(topic, prefix))
    };
    let writers = middleware.report().into_iter();
    let writers = writers.filter(|writer| !controls(&writer.topic));
    writers.map(|writer| (writer.topic, writer.qos)).collect()
}
