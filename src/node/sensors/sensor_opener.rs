//! Opens sensors: at the start, and again when a parameter changes their topics, frames or payloads.
use super::opened_sensor::{OpenedSensor, Successor};
use super::sensor_adder::{AddedSensor, SensorAdder};
use super::true_pose::{SharedFrameTree, TruePoseSource};
use super::{bounding_boxes::BoxTopics, view_gate::ViewGate};
use crate::config::{MountOrientation, Problem, Problems, SensorConfig};
use crate::node::assembly::{AwaitEffect, PreparedChange};
use crate::node::sensor_views::{Reopened, SensorViews, frame_ids};
use crate::node::settings::{Settings, topic_below};
use crate::node::{
    axes::AxesReport, clock::SimClocks, context::qos_of, error::NodeError,
    pose_history::PoseHistory, tf::Tf,
};
use crate::sensors::{
    FrameHead, FrameStep, OdometryTopic, Options, Sensor, SensorContext, SensorError,
    SensorPipeline, TrueAttitude, spec_of,
};
use crate::wire::{Payload, shm_block_lens};
use crate::{frames::FrameTree, ros::Middleware};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};

/// Queues to the threads of the sensors, by SeqID.
type SuccessorSenders = BTreeMap<u16, mpsc::Sender<Successor>>;

pub(super) struct SensorOpener {
    pub(super) middleware: Middleware,
    pub(super) clocks: SimClocks,
    pub(super) views: SensorViews,
    pub(super) boxes: Option<BoxTopics>,
    pub(super) frames: SharedFrameTree,
    pub(super) poses: PoseHistory,
    /// `None` if TF is switched off.
    pub(super) tf: Option<Tf>,
    pub(super) axes_report: AxesReport,
    /// Queues to the threads that serve the sensors.
    pub(super) threads: Mutex<SuccessorSenders>,
    /// Opens sensors that are added at run time.
    pub(super) adder: SensorAdder,
}

impl SensorOpener {
    /// Opens a sensor. With `awaits_view` (at run time) the sensor publishes nothing before a frame shows its settings.
    pub(super) fn open(
        &self,
        settings: &Settings,
        tree: &FrameTree,
        config: &SensorConfig,
        awaits_view: bool,
    ) -> Result<Option<OpenedSensor>, NodeError> {
        let (spec, params) = (spec_of(config.kind), &settings.params);
        let Some(clock) = self.clocks.of(settings.vehicle_of(config)) else { return Ok(None) };
        let sensor = spec.open(&SensorContext {
            middleware: &self.middleware,
            config,
            topic: &settings.sensor_topic(config),
            frames: frame_ids(tree, config.seq_id),
            odometry: odometry_topic(settings, tree, config),
            true_attitude: self.true_pose_source(settings, config),
            options: Options::new(params, config.seq_id),
            qos: &|group, topic| qos_of(settings, &self.middleware, group, topic),
        })?;
        let mut sensor = SensorPipeline::new(sensor);
        sensor.degrade(&params.degrade, config.seq_id);
        if let Some(slot) = self.views.slot(config.seq_id) {
            ViewGate::add(&mut sensor, &self.views, slot.clone(), awaits_view);
            if let Some(boxes) = &self.boxes {
                boxes.add_step(&mut sensor, settings, config.seq_id, slot);
            }
        }
        if let (Some(tf), Some(vehicle)) = (&self.tf, settings.vehicle_of(config)) {
            sensor.add_step(Box::new(TransformFirst { tf: tf.clone(), vehicle }));
        }
        let max_objects = config.other_params[1].max(0.0) as u32;
        let (width, height) = (config.width, config.height);
        let lengths = shm_block_lens(config.kind.type_id(), width, height, max_objects);
        Ok(Some(OpenedSensor {
            name: format!("sensor{} {}", config.seq_id, spec.suffix()),
            sensor,
            clock,
            is_compressed: config.transport.is_compressed(),
            lengths: lengths.unwrap_or(0..=0),
        }))
    }

    /// Returns the source of true poses for a cloud sensor on a vehicle.
    fn true_pose_source(
        &self,
        settings: &Settings,
        config: &SensorConfig,
    ) -> Option<Arc<dyn TrueAttitude>> {
        let Payload::Points(_) = config.kind.row().payload else { return None };
        Some(Arc::new(TruePoseSource {
            seq_id: config.seq_id,
            vehicle: settings.vehicle_of(config)?,
            poses: self.poses.clone(),
            pose_demand: Mutex::new(self.poses.demand()),
            frames: self.frames.clone(),
            axes_report: self.axes_report.clone(),
        }))
    }

    /// Opens added sensors; reopens sensors whose fixed properties change. The returned closure makes the change take effect.
    ///
    /// # Errors
    /// A sensor cannot be opened, or the frames do not form a tree; no running sensor has changed then.
    pub(super) fn prepare(
        self: &Arc<Self>,
        before: &Arc<Settings>,
        now: &Arc<Settings>,
    ) -> Result<PreparedChange, Problems> {
        let opener = self.clone();
        let (old, new) = (before.clone(), now.clone());
        let sensors = || before.sensors.iter().zip(&now.sensors);
        // Added sensors are at the end of the list.
        let new_entries = now.sensors.get(before.sensors.len()..).unwrap_or_default();
        if new_entries.is_empty() && sensors().all(|(was, is)| fixed_part(was) == fixed_part(is)) {
            return Ok(Box::new(move || -> AwaitEffect {
                opener.views.change(&old, &new, None);
                Box::new(|| ())
            }));
        }
        let problem =
            |path: String, error: NodeError| Problems(vec![Problem::new(path, error.to_string())]);
        let tree = |settings: &Settings| {
            let tree = settings.frame_tree();
            tree.map_err(|error| problem("frames".to_owned(), error))
        };
        let (old_tree, tree) = (tree(before)?, tree(now)?);
        let _one_graph_update = self.middleware.hold_graph();
        let mut opened = Vec::new();
        for (was, config) in sensors() {
            if self.fixed_properties(before, &old_tree, was)
                == self.fixed_properties(now, &tree, config)
            {
                continue;
            }
            let sensor = self.open(now, &tree, config, true);
            let sensor = sensor.map_err(|e| problem(format!("sensor{}", config.seq_id), e))?;
            opened.extend(sensor.map(|sensor| (config.seq_id, sensor)));
        }
        let mut added = Vec::new();
        for config in new_entries {
            let sensor = self.add((now, &tree), config);
            let sensor = sensor.map_err(|e| problem(format!("sensor{}", config.seq_id), e))?;
            added.extend(sensor);
        }
        Ok(Box::new(move || opener.hand_over((opened, added), tree, (&old, &new))))
    }

    /// Opens an added sensor; `None` if its vehicle has no clock.
    fn add(
        &self,
        (settings, tree): (&Settings, &FrameTree),
        config: &SensorConfig,
    ) -> Result<Option<AddedSensor>, NodeError> {
        self.views.add(settings, tree, config.seq_id);
        let opened = self.open(settings, tree, config, true)?;
        let received = opened.map(|opened| self.adder.open(settings, config, opened));
        received.transpose()
    }

    /// Starts the added sensors; sends the reopened ones to the threads of the sensors that they replace.
    fn hand_over(
        &self,
        (opened, added): (Vec<(u16, OpenedSensor)>, Vec<AddedSensor>),
        tree: FrameTree,
        (before, now): (&Settings, &Arc<Settings>),
    ) -> AwaitEffect {
        let replaced_ids = opened.iter().map(|(seq_id, _)| *seq_id);
        let sensors = replaced_ids.chain(added.iter().map(|new| new.seq_id)).collect();
        let reopened = Reopened { sensors, tree };
        self.views.change(before, now, Some(&reopened));
        self.frames.replace(reopened.tree.clone());
        if let Some(boxes) = &self.boxes {
            boxes.change(now, reopened.tree);
        }
        let names: Vec<_> = opened.iter().map(|(_, sensor)| &*sensor.name).collect();
        if !names.is_empty() {
            tracing::info!("opened again: {}", names.join(", "));
        }
        for new in added {
            let (seq_id, successor) = self.adder.start(new);
            self.threads.lock().insert(seq_id, successor);
        }
        let (replacing, replaced) = mpsc::channel();
        let threads = self.threads.lock();
        for (seq_id, sensor) in opened {
            if let Some(thread) = threads.get(&seq_id) {
                // Sending fails if the thread has ended.
                let _ended = thread.send((sensor, replacing.clone()));
            }
        }
        drop((replacing, threads));
        Box::new(move || while replaced.recv().is_ok() {})
    }

    /// Returns the properties that an open sensor cannot change.
    fn fixed_properties(
        &self,
        settings: &Settings,
        tree: &FrameTree,
        config: &SensorConfig,
    ) -> impl PartialEq + use<> {
        let boxes = self.boxes.as_ref().map(|boxes| boxes.cameras_needing(settings, config.seq_id));
        let odometry = odometry_topic(settings, tree, config);
        let frames = frame_ids(tree, config.seq_id);
        (fixed_part(config), frames, odometry, settings.vehicle_of(config), boxes)
    }
}

/// Publishes the transforms of all vehicle states that arrived before a frame, ahead of the frame.
struct TransformFirst {
    tf: Tf,
    vehicle: u16,
}

impl FrameStep for TransformFirst {
    fn before(&mut self, _: &FrameHead, _: &mut dyn Sensor) -> Result<(), SensorError> {
        self.tf.catch_up(self.vehicle);
        Ok(())
    }
}

/// Returns an entry of Config.json without the values that a request can change.
fn fixed_part(config: &SensorConfig) -> SensorConfig {
    SensorConfig {
        fov_deg: 0.0,
        rate_hz: 0,
        position_frd: [0.0; 3],
        orientation: MountOrientation::Euler([0.0; 3]),
        raw_euler: [0.0; 3],
        raw_quaternion: [0.0; 4],
        eular_or_quat: 0.0,
        ..config.clone()
    }
}

/// Returns the odometry topics of a vehicle for its first sensor with clouds; `None` for all other sensors.
pub(super) fn odometry_topic(
    settings: &Settings,
    tree: &FrameTree,
    config: &SensorConfig,
) -> Option<OdometryTopic> {
    let params = &settings.params;
    let vehicle = settings.vehicle_of(config)?;
    let is_on_vehicle = |other: &&SensorConfig| {
        let has_points = matches!(other.kind.row().payload, Payload::Points(_));
        has_points && settings.vehicle_of(other) == Some(vehicle)
    };
    let first = settings.sensors.iter().find(is_on_vehicle)?;
    if first.seq_id != config.seq_id {
        return None;
    }
    let topic_name = |template: &str| match template {
        "" => String::new(),
        template => {
            topic_below(&params.topic_prefix, &template.replace("{id}", &vehicle.to_string()))
        }
    };
    let names = tree.names();
    Some(OdometryTopic {
        local: topic_name(&params.cloud_odometry_topic),
        global: topic_name(&params.cloud_global_odometry_topic),
        start: names.of_vehicle(vehicle, "odom_start"),
        odom: names.of_vehicle(vehicle, &names.odom),
        world: names.map.clone(),
        child: tree.base_link(vehicle),
    })
}
