//! Requests the sensors of Config.json, receives them over UDP or from shared memory, and publishes them.
mod bounding_boxes;
mod delayed_frames;
mod delivery_hint;
mod gimbal;
mod liveness;
mod opened_sensor;
mod refusal_log;
mod sensor_adder;
mod sensor_opener;
mod sensor_request;
mod set_camera_info;
mod shm_source;
mod supervisor;
mod true_pose;
mod udp_source;
mod view_gate;

pub use delivery_hint::delivery_hint;
pub use liveness::{LinkChange, Liveness};
pub use sensor_request::sensor_request;
pub use shm_source::{BlockRead, BlockReader, PollInterval};

use crate::config::params::{Params, QosGroup};
use crate::config::{Problem, SensorConfig, TransportMode};
use crate::node::assembly::{Assembly, DropGuard};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::threads::{REPORT, Threads};
use crate::node::{
    binder::Binder, context::Context, error::NodeError, senders::Senders, sensor_views::frame_ids,
    settings::Settings, stats::SourceStats, tasks,
};
use crate::sensors::{FrameKind, SensorSpec, TopicSpec, spec_of, specs};
use crate::transport::{BindOptions, StreamReceiver};
use crate::{doctor::SourceRole, frames::SensorMount, wire::shm_name};
use bounding_boxes::BoxTask;
use opened_sensor::{OpenedSensor, Successor};
use sensor_adder::SensorAdder;
use sensor_opener::{SensorOpener, odometry_topic};
use shm_source::ShmSource;
use std::sync::{Arc, mpsc};
use std::{collections::BTreeMap, fmt::Write as _};
use supervisor::{AddedLinks, SensorLink, Supervisor};
use true_pose::SharedFrameTree;
use udp_source::UdpSource;
use view_gate::FieldsOfView;

/// Name of a camera's topic of boxes, beside its image.
const BOXES: &str = "boxes";

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let (settings, params) = (context.settings, &context.settings.params);
    for pair in settings.pairs.describe() {
        tracing::info!("{pair}");
    }
    let boxes = open_boxes(context, assembly)?;
    gimbal::open(context, assembly)?;
    let frames = SharedFrameTree::new(context.tree.clone());
    let tree = frames.clone();
    let follow = move |_: &Settings, mount: &SensorMount, _| tree.set_mount(mount);
    context.views.follow(Box::new(follow));
    let services = set_camera_info::CameraInfoServices::new(context);
    for sensor in &settings.sensors {
        let service = services.open(settings, sensor)?;
        assembly.guards.extend(service.map(|service| Box::new(service) as DropGuard));
    }
    let added = AddedLinks::default();
    let mut threads = BTreeMap::new();
    let opener = SensorOpener {
        middleware: context.middleware.clone(),
        clocks: context.clocks.clone(),
        views: context.views.clone(),
        boxes: boxes.as_ref().map(|task| task.topics.clone()),
        frames,
        poses: context.poses.clone(),
        tf: context.tf.clone(),
        axes_report: context.axes_report.clone(),
        threads: parking_lot::Mutex::default(),
        adder: SensorAdder::new(context, assembly, services, added.clone()),
    };
    let mut links = Vec::new();
    for config in &settings.sensors {
        let Some(opened) = opener.open(settings, &context.tree, config, false)? else { continue };
        let ids = frame_ids(&context.tree, config.seq_id);
        let topics = spec_of(config.kind).topics.iter();
        let odometry = odometry_topic(settings, &context.tree, config);
        assembly.frame_ids.extend(topics.map(|topic| ids.id(topic.frame).to_owned()));
        assembly.frame_ids.extend(odometry.map(|topic| topic.odom));
        let stats = assembly.add_source_of(SourceRole::Sensor(config.seq_id), opened.name.clone());
        links.push(SensorLink::new(config, stats.clone(), params.request.timeout, false));
        let (successor, successors) = mpsc::channel();
        let reception = Reception {
            params,
            senders: &context.senders,
            binder: &mut assembly.binder,
            threads: &mut assembly.threads,
        };
        if reception.add_thread(config, (opened, successors), stats) {
            threads.insert(config.seq_id, successor);
        }
    }
    *opener.threads.lock() = threads;
    let opener = Arc::new(opener);
    let prepare = move |before: &Arc<Settings>, now: &Arc<Settings>| opener.prepare(before, now);
    assembly.prepare.push(Box::new(prepare));
    let runtime = assembly.threads.runtime(REPORT)?;
    tasks::start(&runtime, Supervisor::open(context, links, added)?);
    if let Some(boxes) = boxes {
        tasks::start_counted(&runtime, boxes.stats.clone(), boxes);
    }
    assembly.add_section("fields of view", FieldsOfView(context.views.clone()));
    if !settings.origin.skipped.is_empty() {
        let skipped = SkippedSensors(settings.origin.skipped.clone());
        assembly.add_section("sensors left out", skipped);
    }
    assembly.add_section("axes", context.axes_report.clone());
    Ok(())
}

/// Status of the sensors that the bridge leaves out.
struct SkippedSensors(Vec<Problem>);

impl Section for SkippedSensors {
    fn check(&mut self) -> Finding {
        let Self(skipped) = self;
        Finding {
            level: Level::Warn,
            message: format!("{} sensors of the configuration are left out", skipped.len()),
            values: skipped.iter().map(|problem| value(&problem.path, &problem.message)).collect(),
        }
    }
}

/// Resources for the reception of a sensor.
struct Reception<'a> {
    params: &'a Params,
    senders: &'a Arc<Senders>,
    binder: &'a mut Binder,
    threads: &'a mut Threads,
}

impl Reception<'_> {
    /// Adds the thread that serves a sensor and the sensors that replace it; false if its port cannot be bound.
    fn add_thread(
        self,
        config: &SensorConfig,
        (opened, successors): (OpenedSensor, mpsc::Receiver<Successor>),
        stats: Arc<SourceStats>,
    ) -> bool {
        let Self { params, senders, binder, threads } = self;
        if config.transport == TransportMode::SharedMemory {
            let name = shm_name(config.seq_id);
            binder.record_block(&name, &opened.lengths);
            let packet_tap = binder.packet_tap.clone();
            let mut block = ShmSource::new((name, packet_tap), opened, stats, successors);
            let serve = move |stop: &_| block.serve(stop);
            threads.add("rfly-shm", serve);
            return true;
        }
        let options = BindOptions {
            buffer_bytes: params.receive_buffer_bytes,
            ..senders.port_at(config.ip.into(), config.port)
        };
        let receiver = binder.bind_with(StreamReceiver::bind, &options, &stats.name());
        let Some(receiver) = receiver else { return false };
        let len = *opened.lengths.end();
        if config.is_sent_raw() && receiver.buffer_bytes() < len {
            tracing::warn!(
                "{}: the system grants a receive buffer of {} bytes, a frame has {len}; frames will be lost. \
             Raise it: sysctl -w net.core.rmem_max={}",
                stats.name(),
                receiver.buffer_bytes(),
                params.receive_buffer_bytes
            );
        }
        let mut stream = UdpSource::new(receiver, opened, stats, successors);
        let serve = move |stop: &_| stream.serve(stop);
        threads.add("rfly-stream", serve);
        true
    }
}

/// Opens the topics of boxes of the cameras with `sensor<N>.boxes`; `None` without such a camera.
fn open_boxes(
    context: &Context<'_>,
    assembly: &mut Assembly,
) -> Result<Option<BoxTask>, NodeError> {
    let settings = context.settings;
    let has_boxes = |config: &&SensorConfig| settings.params.sensor(config.seq_id).boxes;
    let mut topics = BTreeMap::new();
    for config in settings.sensors.iter().filter(has_boxes) {
        let main = settings.sensor_topic(config);
        let parent = main.rsplit_once('/').map_or("", |(parent, _)| parent);
        let topic = context.publisher(QosGroup::Detections, &format!("{parent}/{BOXES}"))?;
        topics.insert(config.seq_id, topic);
    }
    if topics.is_empty() {
        return Ok(None);
    }
    let boxes = BoxTask::new(
        (settings, context.tree.clone()),
        topics,
        context.reported.clone(),
        context.poses.clone(),
        assembly.add_source_on_demand("boxes in images".to_owned()),
    );
    let events = boxes.topics.events.clone();
    let follow = move |_: &Settings, mount: &SensorMount, _| events.set_mount(mount);
    context.views.follow(Box::new(follow));
    Ok(Some(boxes))
}

fn topics(page: &mut TopicPage) {
    for spec in specs() {
        for (i, topic) in spec.topics.iter().enumerate() {
            row(&mut page.sensors, spec, topic, i == 0);
        }
    }
    page.sensors += BOXES_ROW;
    page.sensors += gimbal::ROWS;
    page.sensors += set_camera_info::ROW;
    let (interface, group) = ("nav_msgs/msg/Odometry", [QosGroup::State]);
    let doc = "odometry that newer simulators send with each cloud of the vehicle's first cloud sensor, with the stamp of the cloud; \
        `cloud.global_odometry_topic`";
    page.topic(&["/rflysim/uav<id>/global/odom"], interface, &group, doc);
    let doc =
        "the same relative to its first pose, in `<prefix>odom_start`; `cloud.odometry_topic`";
    page.topic(&["/rflysim/uav<id>/local/odom"], interface, &group, doc);
}

/// Row of the topic of boxes, which cameras of several types share.
const BOXES_ROW: &str = "\
| 1, 2, 3, 4, 9, 40, 41 | | `/rflysim/sensor<N>/boxes` | `vision_msgs/msg/Detection2DArray` | `<prefix>sensor<N>_optical_frame` | `detections` | all | \
with `sensor<N>.boxes`: boxes of described vehicles and objects in the image, stamp of the image ([reports.md](reports.md)) |
";

fn row(text: &mut String, spec: &SensorSpec, topic: &TopicSpec, is_first: bool) {
    let frame = match topic.frame {
        FrameKind::Optical => "`<prefix>sensor<N>_optical_frame`",
        FrameKind::Link => "`<prefix>sensor<N>_link`",
        FrameKind::World => "`map`",
    };
    let modes: Vec<String> = spec
        .modes()
        .iter()
        .filter(|m| !topic.compressed_only || [1, 3].contains(*m))
        .map(u16::to_string)
        .collect();
    let (type_id, name) =
        if is_first { (spec.kind.type_id().to_string(), spec.name) } else { (String::new(), "") };
    let _ = writeln!(
        text,
        "| {type_id} | {name} | `/rflysim/sensor<N>/{}` | `{}` | {frame} | `{}` | {} | {} |",
        topic.suffix,
        topic.interface,
        topic.group.name(),
        modes.join(", "),
        topic.doc,
    );
}
