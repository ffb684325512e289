//! Opens sensors: at the start, and again while the bridge runs if other topics, frames or payloads need it.
use super::added::{More, Newcomer};
use super::boxes::BoxTopics;
use super::opened::{Opened, Successor};
use super::surroundings::{Around, Frames};
use super::view::Viewed;
use crate::config::{MountOrientation, Problem, Problems, SensorConfig};
use crate::frames::FrameTree;
use crate::node::assembly::{Change, InEffect};
use crate::node::clock::SimClocks;
use crate::node::context::qos_of;
use crate::node::conventions::Conventions;
use crate::node::error::NodeError;
use crate::node::poses::Poses;
use crate::node::settings::{Settings, below};
use crate::node::views::{Reopened, Views, frame_ids};
use crate::ros::Middleware;
use crate::sensors::{
    FrameIds, OdometryTopic, Options, SensorContext, Surroundings, Unreliable, spec_of,
};
use crate::wire::{Payload, shm_block_lens};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// By the number of the sensor.
type Threads = BTreeMap<u16, mpsc::Sender<Successor>>;

/// What opens sensors.
pub(super) struct Opener {
    pub(super) middleware: Middleware,
    pub(super) clocks: SimClocks,
    pub(super) views: Views,
    pub(super) boxes: Option<BoxTopics>,
    pub(super) frames: Frames,
    pub(super) poses: Poses,
    pub(super) conventions: Conventions,
    /// The threads that serve the sensors.
    pub(super) threads: Mutex<Threads>,
    /// For sensors that are added.
    pub(super) more: More,
}

/// What of a sensor cannot change while it is open.
#[derive(PartialEq)]
struct Shape {
    row: SensorConfig,
    frames: FrameIds,
    odometry: Option<OdometryTopic>,
    vehicle: Option<u16>,
    boxes: Vec<u16>,
}

impl Opener {
    /// Opens a sensor; `again`: it takes the place of one that is open.
    pub(super) fn open(
        &self,
        settings: &Settings,
        tree: &FrameTree,
        config: &SensorConfig,
        again: bool,
    ) -> Result<Option<Opened>, NodeError> {
        let (spec, params) = (spec_of(config.kind), &settings.params);
        let Some(clock) = self.clocks.of(settings.vehicle_of(config)) else {
            return Ok(None);
        };
        let sensor = spec.open(&SensorContext {
            middleware: &self.middleware,
            config,
            topic: &settings.sensor_topic(config),
            frames: frame_ids(tree, config.seq_id),
            odometry: odometry_topic(settings, tree, config),
            surroundings: self.surroundings(settings, config),
            options: Options::new(params, config.seq_id),
            qos: &|group, topic| qos_of(settings, &self.middleware, group, topic),
        })?;
        let sensor = Viewed::around(sensor, &self.views, config.seq_id, again);
        let sensor = match &self.boxes {
            Some(boxes) => {
                let slot = self.views.slot(config.seq_id);
                boxes.around(sensor, settings, config.seq_id, slot.as_ref())
            }
            None => sensor,
        };
        let max_objects = config.other_params[1].max(0.0) as u32;
        let (width, height) = (config.width, config.height);
        let lens = shm_block_lens(config.kind.type_id(), width, height, max_objects);
        Ok(Some(Opened {
            name: format!("sensor{} {}", config.seq_id, spec.suffix()),
            sensor: Unreliable::around(sensor, &params.degrade, config.seq_id),
            clock,
            compressed: config.transport.is_compressed(),
            lens: lens.unwrap_or(0..=0),
        }))
    }

    /// What a sensor with points that is carried by a vehicle may ask for.
    fn surroundings(
        &self,
        settings: &Settings,
        config: &SensorConfig,
    ) -> Option<Arc<dyn Surroundings>> {
        let Payload::Points(_) = config.kind.row().payload else {
            return None;
        };
        Some(Arc::new(Around {
            seq_id: config.seq_id,
            vehicle: settings.vehicle_of(config)?,
            poses: self.poses.clone(),
            want: Mutex::new(self.poses.wants()),
            frames: self.frames.clone(),
            conventions: self.conventions.clone(),
        }))
    }

    /// Opens again what cannot stay as it is; nothing changes before the result is called.
    ///
    /// # Errors
    /// Why a sensor cannot be opened; nothing changed.
    pub(super) fn prepare(
        self: &Arc<Self>,
        before: &Arc<Settings>,
        now: &Arc<Settings>,
    ) -> Result<Change, Problems> {
        let own = self.clone();
        let (old, new) = (before.clone(), now.clone());
        let sensors = || before.sensors.iter().zip(&now.sensors);
        // They are behind those that were there.
        let added = now.sensors.get(before.sensors.len()..).unwrap_or_default();
        if added.is_empty() && sensors().all(|(was, is)| row_of(was) == row_of(is)) {
            return Ok(Box::new(move || own.show(&old, &new)));
        }
        let wrong =
            |path: String, error: NodeError| Problems(vec![Problem::new(path, error.to_string())]);
        let tree = |settings: &Settings| {
            let tree = settings.frame_tree();
            tree.map_err(|error| wrong("frames".to_owned(), error))
        };
        let (old_tree, tree) = (tree(before)?, tree(now)?);
        let _all_at_once = self.middleware.hold_graph();
        let mut opened = Vec::new();
        for (was, config) in sensors() {
            if self.shape(before, &old_tree, was) == self.shape(now, &tree, config) {
                continue;
            }
            let sensor = self.open(now, &tree, config, true);
            let sensor =
                sensor.map_err(|error| wrong(format!("sensor{}", config.seq_id), error))?;
            opened.extend(sensor.map(|sensor| (config.seq_id, sensor)));
        }
        let mut begun = Vec::new();
        for config in added {
            let one = self.add((now, &tree), config);
            let one = one.map_err(|error| wrong(format!("sensor{}", config.seq_id), error))?;
            begun.extend(one);
        }
        Ok(Box::new(move || {
            own.hand_over((opened, begun), tree, (&old, &new))
        }))
    }

    /// Opens a sensor that was not there; `None` if its vehicle has no clock.
    fn add(
        &self,
        (settings, tree): (&Settings, &FrameTree),
        config: &SensorConfig,
    ) -> Result<Option<Newcomer>, NodeError> {
        self.views.add(settings, tree, config.seq_id);
        let opened = self.open(settings, tree, config, true)?;
        let received = opened.map(|opened| self.more.prepare(settings, config, opened));
        received.transpose()
    }

    /// Nothing was opened.
    fn show(&self, before: &Settings, now: &Arc<Settings>) -> InEffect {
        self.views.change(before, now, None);
        Box::new(|| ())
    }

    /// Gives the opened sensors to the threads that serve those before them.
    fn hand_over(
        &self,
        (opened, begun): (Vec<(u16, Opened)>, Vec<Newcomer>),
        tree: FrameTree,
        (before, now): (&Settings, &Arc<Settings>),
    ) -> InEffect {
        let again = opened.iter().map(|(seq_id, _)| *seq_id);
        let sensors = again.chain(begun.iter().map(|new| new.seq_id)).collect();
        let reopened = Reopened { sensors, tree };
        self.views.change(before, now, Some(&reopened));
        self.frames.change(reopened.tree.clone());
        if let Some(boxes) = &self.boxes {
            boxes.change(now, reopened.tree);
        }
        let names: Vec<_> = opened.iter().map(|(_, sensor)| &*sensor.name).collect();
        if !names.is_empty() {
            tracing::info!("opened again: {}", names.join(", "));
        }
        for new in begun {
            let (seq_id, successor) = self.more.begin(new);
            self.threads().insert(seq_id, successor);
        }
        let (taking, taken) = mpsc::channel();
        let threads = self.threads();
        for (seq_id, sensor) in opened {
            if let Some(thread) = threads.get(&seq_id) {
                // A thread that has ended serves nothing.
                let _ended = thread.send((sensor, taking.clone()));
            }
        }
        drop((taking, threads));
        Box::new(move || while taken.recv().is_ok() {})
    }

    pub(super) fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shape(&self, settings: &Settings, tree: &FrameTree, config: &SensorConfig) -> Shape {
        let boxes = self.boxes.iter();
        let boxes = boxes.flat_map(|boxes| boxes.read_by(settings, config.seq_id));
        Shape {
            row: row_of(config),
            frames: frame_ids(tree, config.seq_id),
            odometry: odometry_topic(settings, tree, config),
            vehicle: settings.vehicle_of(config),
            boxes: boxes.collect(),
        }
    }
}

/// A row without what a request alone changes.
fn row_of(config: &SensorConfig) -> SensorConfig {
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

/// Returns the odometry topics of a sensor: that of its vehicle, for the vehicle's first sensor with clouds.
pub(super) fn odometry_topic(
    settings: &Settings,
    tree: &FrameTree,
    config: &SensorConfig,
) -> Option<OdometryTopic> {
    let params = &settings.params;
    let vehicle = settings.vehicle_of(config)?;
    let of_vehicle = |other: &&SensorConfig| {
        let has_points = matches!(other.kind.row().payload, Payload::Points(_));
        has_points && settings.vehicle_of(other) == Some(vehicle)
    };
    let first = settings.sensors.iter().find(of_vehicle)?;
    if first.seq_id != config.seq_id {
        return None;
    }
    let named = |template: &str| match template {
        "" => String::new(),
        template => below(
            &params.topic_prefix,
            &template.replace("{id}", &vehicle.to_string()),
        ),
    };
    let names = tree.names();
    Some(OdometryTopic {
        local: named(&params.cloud_odometry_topic),
        global: named(&params.cloud_global_odometry_topic),
        start: names.of_vehicle(vehicle, "odom_start"),
        odom: names.of_vehicle(vehicle, &names.odom),
        world: names.map.clone(),
        child: tree.base_link(vehicle),
    })
}
