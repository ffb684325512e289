//! The sensors of Config.json: requested, received over UDP or from shared memory, published.
mod boxes;
mod gimbal;
mod held;
mod hint;
mod lens;
mod liveness;
mod request;
mod shm_source;
mod supervisor;
mod udp_source;
mod view;

pub use hint::hint;
pub use liveness::{LinkChange, Liveness};
pub use request::sensor_request;
pub use shm_source::{BlockReader, Rhythm, Taken};

use crate::config::params::QosGroup;
use crate::config::{SensorConfig, TransportMode};
use crate::frames::SensorMount;
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::settings::{Settings, below};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks;
use crate::node::threads::REPORT;
use crate::node::views::frame_ids;
use crate::sensors::{
    FrameIds, FrameKind, OdometryTopic, Options, Sensor, SensorContext, SensorSpec, SensorStream,
    TopicSpec, Unreliable, spec_of, specs,
};
use crate::session::Reassembler;
use crate::transport::BindOptions;
use crate::wire::{Payload, SensorKind, shm_block_lens, shm_name};
use boxes::Boxes;
use lens::Lenses;
use shm_source::ShmSource;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use supervisor::{Link, Supervisor};
use udp_source::{Idle, UdpSource};
use view::Viewed;

/// A PNG of noise is a little larger than its pixels; also leaves room for longer lists in small payloads.
const SPARE_FRAME_BYTES: usize = 1 << 20;

/// Name of a camera's topic of boxes, beside its image.
const BOXES: &str = "boxes";

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let params = &context.settings.params;
    let mut links = Vec::new();
    let mut odometries = BTreeSet::new();
    let views = context.views.clone();
    let changed = move |before: &Settings, now: &Settings| views.change(before, now);
    assembly.on_change.push(Box::new(changed));
    for pair in context.settings.pairs.describe() {
        tracing::info!("{pair}");
    }
    let boxes = open_boxes(context, assembly)?;
    gimbal::open(context, assembly)?;
    let mut lenses = Lenses::new(context.tree.clone(), context.poses.clone());
    let mounts = context.settings.mounts();
    for config in &context.settings.sensors {
        let spec = spec_of(config.kind);
        let Some(clock) = context.clocks.of(context.settings.vehicle_of(config)) else {
            continue;
        };
        let frames = frame_ids(&context.tree, config.seq_id);
        let topics = spec.topics.iter();
        assembly
            .frame_ids
            .extend(topics.map(|topic| frames.id(topic.frame).to_owned()));
        let odometry = odometry_topic(context, config, &mut odometries);
        assembly
            .frame_ids
            .extend(odometry.iter().map(|topic| topic.local.clone()));
        let sensor = open_sensor(context, spec, config, (frames, odometry))?;
        let vehicle = context.settings.vehicle_of(config);
        let sensor = lenses.around(sensor, config, vehicle, &mounts);
        let sensor = Viewed::around(sensor, &context.views, config.seq_id);
        let sensor = match &boxes {
            Some(boxes) => boxes.around(sensor, config.seq_id, context.views.slot(config.seq_id)),
            None => sensor,
        };
        let sensor = Unreliable::around(sensor, &params.degrade, config.seq_id);
        let stats = assembly.source(format!("sensor{} {}", config.seq_id, spec.suffix()));
        links.push(Link::new(config, stats.clone(), params.request.timeout));
        let max_objects = config.other_params[1].max(0.0) as u32;
        let (width, height) = (config.width, config.height);
        let lens = shm_block_lens(config.kind.type_id(), width, height, max_objects);
        let lens = lens.unwrap_or(0..=0);
        let len = *lens.end();
        if config.transport == TransportMode::SharedMemory {
            let name = shm_name(config.seq_id);
            assembly.binder.reads(&name, &lens);
            let mut block = ShmSource::new((name, lens), sensor, clock, stats);
            block.stand = assembly.binder.stand.clone();
            let serve = move |stop: &_| block.serve(stop);
            assembly.threads.add("rfly-shm", serve);
            continue;
        }
        let options = BindOptions {
            buffer_bytes: params.receive_buffer_bytes,
            ..context.senders.port_at(config.ip.into(), config.port)
        };
        let Some(receiver) = assembly.binder.bind_stream(&options, &stats.name) else {
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
        let mut stream = UdpSource {
            idle: Idle::new(receiver.buffer_bytes(), len),
            receiver,
            stream: SensorStream {
                reassembler: Reassembler::for_loans(2 * len + SPARE_FRAME_BYTES),
                sensor,
                compressed: config.transport.is_compressed(),
            },
            clock,
            stats,
            overflows: 0,
            logged: Vec::new(),
        };
        let serve = move |stop: &_| stream.serve(stop);
        assembly.threads.add("rfly-stream", serve);
    }
    let runtime = assembly.threads.runtime(REPORT)?;
    tasks::start(&runtime, Supervisor::open(context, links)?);
    if let Some(boxes) = boxes {
        tasks::start(&runtime, boxes);
    }
    if let Some(report) = lenses.report() {
        assembly.sections.push(report);
        let moved = lenses.moved();
        let follow = move |_: &Settings, mount: &SensorMount, _| moved(mount);
        context.views.follow(Box::new(follow));
        tasks::start(&runtime, lenses);
    }
    Ok(())
}

/// Returns the odometry topic of a sensor: that of its vehicle, for the vehicle's first sensor with clouds.
fn odometry_topic(
    context: &Context<'_>,
    config: &SensorConfig,
    taken: &mut BTreeSet<u16>,
) -> Option<OdometryTopic> {
    let params = &context.settings.params;
    let template = &params.cloud_odometry_topic;
    let vehicle = context.settings.vehicle_of(config)?;
    let has_points = matches!(config.kind.row().payload, Payload::Points(_));
    if template.is_empty() || !has_points || !taken.insert(vehicle) {
        return None;
    }
    let names = context.tree.names();
    Some(OdometryTopic {
        name: below(
            &params.topic_prefix,
            &template.replace("{id}", &vehicle.to_string()),
        ),
        local: names.of_vehicle(vehicle, &names.odom),
        world: names.map.clone(),
        child: context.tree.base_link(vehicle),
    })
}

fn open_sensor(
    context: &Context<'_>,
    spec: &SensorSpec,
    config: &SensorConfig,
    (frames, odometry): (FrameIds, Option<OdometryTopic>),
) -> Result<Box<dyn Sensor>, NodeError> {
    let params = &context.settings.params;
    let topic = context.settings.sensor_topic(config);
    Ok(spec.open(&SensorContext {
        middleware: context.middleware,
        config,
        topic: &topic,
        frames,
        odometry,
        options: Options::new(params, config.seq_id),
        qos: &|group, topic| context.qos(group, topic),
    })?)
}

/// Opens the boxes of the cameras that are to have them; `None` if there is none.
fn open_boxes(context: &Context<'_>, assembly: &mut Assembly) -> Result<Option<Boxes>, NodeError> {
    let settings = context.settings;
    let wanted = |config: &&SensorConfig| settings.params.sensor(config.seq_id).boxes;
    let cameras: Vec<_> = settings.sensors.iter().filter(wanted).collect();
    if cameras.is_empty() {
        return Ok(None);
    }
    let mounts = settings.mounts();
    let mount = |seq_id: u16| mounts.iter().find(|mount| mount.seq_id == seq_id);
    let mut boxes = Boxes::new(
        (context.tree.clone(), settings.vehicles()),
        context.reported.clone(),
        context.poses.clone(),
        assembly.source_on_demand("boxes in images".to_owned()),
    );
    for config in cameras {
        let main = settings.sensor_topic(config);
        let parent = main.rsplit_once('/').map_or("", |(parent, _)| parent);
        let topic = context.publisher(QosGroup::Detections, &format!("{parent}/{BOXES}"))?;
        let depths = settings.sensors.iter();
        let mut depths = depths.filter(|other| other.kind == SensorKind::Depth);
        let depth = depths.find(|other| match (mount(config.seq_id), mount(other.seq_id)) {
            (Some(a), Some(b)) => boxes::coincide(a, b),
            _ => false,
        });
        boxes.add(config, topic, settings.vehicle_of(config), depth);
    }
    let notes = boxes.notes();
    let moved = move |_: &Settings, mount: &SensorMount, _| notes.moved(mount);
    context.views.follow(Box::new(moved));
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
    page.topic(
        &["/rflysim/uav<id>/local/odom"],
        "nav_msgs/msg/Odometry",
        &[QosGroup::State],
        "odometry that newer simulators send with the clouds of the vehicle's first cloud sensor, with their stamp; \
         `cloud.odometry_topic`",
    );
}

/// Documents the topic of boxes, which cameras of several types may have.
const BOXES_ROW: &str = "\
| 1, 2, 3, 4, 9, 40, 41 | | `/rflysim/sensor<N>/boxes` | `vision_msgs/msg/Detection2DArray` | `<prefix>sensor<N>_optical_frame` | `detections` | all | \
with `sensor<N>.boxes`: boxes of described vehicles and objects in the image, stamp of the image ([reports.md](reports.md)) |
";

fn row(text: &mut String, spec: &SensorSpec, topic: &TopicSpec, first: bool) {
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
    let (type_id, name) = if first {
        (spec.kind.type_id().to_string(), spec.name)
    } else {
        (String::new(), "")
    };
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
