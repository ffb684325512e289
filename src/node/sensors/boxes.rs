//! Boxes of what a camera sees: for each frame, of the vehicles and objects that the renderer describes.
use crate::config::SensorConfig;
use crate::frames::{FrameTree, SensorMount, Transform};
use crate::msgs::sensor_msgs::msg::Image;
use crate::msgs::std_msgs::msg::Header;
use crate::msgs::vision_msgs::msg::{Detection2D, Detection2DArray};
use crate::node::cause::Cause;
use crate::node::poses::{At, Poses, Want};
use crate::node::reported::SharedReports;
use crate::node::settings::Settings;
use crate::node::stats::SourceStats;
use crate::node::tasks::{Source, next_moment};
use crate::node::views::Slot;
use crate::reports::{
    BoundingBox3d, DepthImage, DescribedEntity, PinholeCamera, ReportedEntity, detection_2d,
};
use crate::ros::{Loan, Publisher};
use crate::sensors::{
    Codec, Decoder, ForeignFrame, Frame, Lens, LentFrame, Sensor, SensorError, Size, View,
    camera_info,
};
use crate::time::{RosTime, SimTime};
use crate::wire::SensorKind;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long a frame waits for the poses of its instant and for depth.
const WAIT: Duration = Duration::from_millis(200);
/// How often it is looked whether they are there.
const LOOK: Duration = Duration::from_millis(10);
/// Frames of all cameras that wait.
const QUEUE: usize = 64;
/// Depth images kept of a sensor.
const DEPTHS: usize = 8;
/// Metres per count if the parameter is 0.
const DEFAULT_SCALE: f64 = 0.001;

/// What sensors tell the task, in the order in which they publish.
enum Note {
    Frame {
        seq_id: u16,
        time: SimTime,
        stamp: RosTime,
        view: View,
    },
    Depth {
        seq_id: u16,
        time: SimTime,
        payload: Vec<u8>,
        fov_deg: f32,
    },
    Mount(Box<SensorMount>),
}

/// The way from the sensors to the task.
#[derive(Clone)]
pub(super) struct Notes(mpsc::Sender<Note>);

impl Notes {
    /// The frames of a sensor show it elsewhere from now on.
    pub(super) fn moved(&self, mount: &SensorMount) {
        // A full queue drops boxes of frames, which are counted; TF is right again with the next mount.
        let _full = self.0.try_send(Note::Mount(Box::new(mount.clone())));
    }
}

/// A sensor that tells of its frames while somebody reads boxes that need them.
pub(super) struct Boxed {
    sensor: Box<dyn Sensor>,
    notes: Notes,
    slot: Arc<Slot>,
    seq_id: u16,
    /// It measures depth for these; otherwise they are of its own images.
    depth: bool,
    readers: Vec<Publisher<Detection2DArray>>,
}

impl Boxed {
    fn is_read(&self) -> bool {
        self.readers.iter().any(|topic| topic.subscribers() > 0)
    }

    fn tell(&self, frame: &LentFrame, payload: Option<&[u8]>) {
        let view = self.slot.view();
        let (seq_id, time) = (self.seq_id, frame.sim_time);
        let note = match payload {
            Some(payload) => Note::Depth {
                seq_id,
                time,
                payload: payload.to_vec(),
                fov_deg: view.fov_deg,
            },
            None => Note::Frame {
                seq_id,
                time,
                stamp: frame.stamp,
                view,
            },
        };
        // The frame has no boxes then.
        let _full = self.notes.0.try_send(note);
    }
}

impl Sensor for Boxed {
    fn wanted(&self) -> bool {
        self.sensor.wanted() || self.is_read()
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        self.sensor.accept(frame)?;
        if self.is_read() {
            self.tell(&frame.lent(), self.depth.then_some(frame.payload));
        }
        Ok(())
    }

    fn lend(&self) -> Option<Loan<Image>> {
        self.sensor.lend()
    }

    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        self.sensor.accept_loan(loan, frame)?;
        if self.is_read() && !self.depth {
            self.tell(frame, None);
        }
        Ok(())
    }

    fn accept_foreign(&mut self, frame: &ForeignFrame<'_>) -> Option<Result<(), SensorError>> {
        // It does not say when it is from.
        match self.is_read() {
            true => None,
            false => self.sensor.accept_foreign(frame),
        }
    }

    fn due(&self) -> Option<RosTime> {
        self.sensor.due()
    }

    fn release(&mut self, now: RosTime) -> Option<Result<(), SensorError>> {
        self.sensor.release(now)
    }

    fn set_view(&mut self, view: &View) {
        self.sensor.set_view(view);
    }
}

/// Topics of the boxes, and which sensors tell of their frames for them.
#[derive(Clone)]
pub(super) struct BoxTopics {
    topics: BTreeMap<u16, Publisher<Detection2DArray>>,
    notes: Notes,
    /// What the task is to know from now on.
    next: Arc<Mutex<Option<Plan>>>,
}

/// The cameras with boxes, the depth cameras at their places, and all frames.
struct Plan {
    cameras: BTreeMap<u16, Camera>,
    depths: BTreeMap<u16, Depth>,
    tree: FrameTree,
}

impl BoxTopics {
    /// Returns the cameras whose boxes need the frames of a sensor.
    pub(super) fn read_by(&self, settings: &Settings, seq_id: u16) -> Vec<u16> {
        let needs = |id: &u16| {
            *id == seq_id || depth_of(settings, *id).is_some_and(|depth| depth.seq_id == seq_id)
        };
        self.topics.keys().copied().filter(needs).collect()
    }

    /// Returns the sensor so that it tells of its frames, if boxes need them.
    pub(super) fn around(
        &self,
        sensor: Box<dyn Sensor>,
        settings: &Settings,
        seq_id: u16,
        slot: Option<&Arc<Slot>>,
    ) -> Box<dyn Sensor> {
        let readers = self.read_by(settings, seq_id);
        match slot {
            Some(slot) if !readers.is_empty() => Box::new(Boxed {
                sensor,
                notes: self.notes.clone(),
                slot: slot.clone(),
                seq_id,
                depth: !self.topics.contains_key(&seq_id),
                readers: { readers.iter() }
                    .filter_map(|id| self.topics.get(id).cloned())
                    .collect(),
            }),
            _ => sensor,
        }
    }

    /// The cameras are those of other settings from now on.
    pub(super) fn change(&self, settings: &Settings, tree: FrameTree) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(self.plan(settings, tree));
    }

    fn plan(&self, settings: &Settings, tree: FrameTree) -> Plan {
        let (mut cameras, mut depths) = (BTreeMap::new(), BTreeMap::new());
        for config in &settings.sensors {
            let seq_id = config.seq_id;
            let Some(topic) = self.topics.get(&seq_id) else {
                continue;
            };
            let depth = depth_of(settings, seq_id);
            let optical = tree.sensor(seq_id);
            let camera = Camera {
                config: config.clone(),
                topic: topic.clone(),
                carrier: settings.vehicle_of(config),
                depth: depth.map(|depth| depth.seq_id),
                optical: optical.map_or_else(String::new, |frames| frames.optical.clone()),
            };
            cameras.insert(seq_id, camera);
            if let Some(depth) = depth {
                depths.insert(depth.seq_id, Depth::new(depth));
            }
        }
        Plan {
            cameras,
            depths,
            tree,
        }
    }
}

/// Returns the depth camera at the place of a camera.
fn depth_of(settings: &Settings, seq_id: u16) -> Option<&SensorConfig> {
    let mounts = settings.mounts();
    let own = mounts.iter().find(|mount| mount.seq_id == seq_id)?;
    let placed = settings.sensors.iter().zip(&mounts);
    let mut depths = placed.filter(|(other, _)| other.kind == SensorKind::Depth);
    let (depth, _) = depths.find(|(_, mount)| coincide(own, mount))?;
    Some(depth)
}

/// A camera with boxes.
struct Camera {
    config: SensorConfig,
    topic: Publisher<Detection2DArray>,
    /// Vehicle that carries it, which it does not see.
    carrier: Option<u16>,
    /// Depth camera at the same place.
    depth: Option<u16>,
    optical: String,
}

/// A depth camera that finds what is hidden.
struct Depth {
    config: SensorConfig,
    decoder: Decoder,
    images: VecDeque<(SimTime, f32, Vec<u8>)>,
}

/// A frame that waits.
struct Waiting {
    seq_id: u16,
    time: SimTime,
    stamp: RosTime,
    view: View,
    since: Instant,
}

/// Publishes the boxes.
pub(super) struct Boxes {
    plan: Plan,
    topics: BoxTopics,
    vehicles: Vec<u16>,
    map: String,
    reported: SharedReports,
    poses: Poses,
    want: Want,
    notes: mpsc::Receiver<Note>,
    waiting: VecDeque<Waiting>,
    stats: Arc<SourceStats>,
}

impl Boxes {
    /// Publishes the boxes of these cameras.
    pub(super) fn new(
        (settings, tree): (&Settings, FrameTree),
        topics: BTreeMap<u16, Publisher<Detection2DArray>>,
        reported: SharedReports,
        poses: Poses,
        stats: Arc<SourceStats>,
    ) -> Self {
        for topic in topics.values() {
            let reader = topic.clone();
            reported.add_reader(move || reader.subscribers() > 0);
        }
        let (sender, notes) = mpsc::channel(QUEUE);
        let topics = BoxTopics {
            topics,
            notes: Notes(sender),
            next: Arc::default(),
        };
        Self {
            vehicles: settings.vehicles(),
            map: tree.names().map.clone(),
            plan: topics.plan(settings, tree),
            topics,
            reported,
            want: poses.wants(),
            poses,
            notes,
            waiting: VecDeque::new(),
            stats,
        }
    }

    pub(super) fn topics(&self) -> BoxTopics {
        self.topics.clone()
    }

    pub(super) fn notes(&self) -> Notes {
        self.topics.notes.clone()
    }

    /// Takes over what was opened again. Frames that wait are of what was before.
    fn take_over(&mut self) {
        let next = self.topics.next.lock();
        let next = next.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(plan) = next {
            self.publish_ready(true);
            self.plan = plan;
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Mount(mount) => {
                // Frames that wait are of the mount before.
                self.publish_ready(true);
                self.plan
                    .tree
                    .remount(mount.seq_id, mount.position_frd, mount.orientation);
            }
            Note::Depth {
                seq_id,
                time,
                payload,
                fov_deg,
            } => {
                if let Some(depth) = self.plan.depths.get_mut(&seq_id) {
                    depth.images.truncate(DEPTHS - 1);
                    depth.images.push_front((time, fov_deg, payload));
                }
            }
            Note::Frame {
                seq_id,
                time,
                stamp,
                view,
            } => {
                if self.waiting.len() >= QUEUE {
                    self.waiting.pop_front();
                    self.stats.lock().drop_one(Cause::Late);
                }
                self.waiting.push_back(Waiting {
                    seq_id,
                    time,
                    stamp,
                    view,
                    since: Instant::now(),
                });
            }
        }
    }

    /// Publishes the boxes of the frames that wait for nothing more; `all`: of all frames.
    fn publish_ready(&mut self, all: bool) {
        for waiting in std::mem::take(&mut self.waiting) {
            if all || waiting.since.elapsed() >= WAIT || self.is_ready(&waiting) {
                self.publish(&waiting);
            } else {
                self.waiting.push_back(waiting);
            }
        }
    }

    fn is_ready(&self, frame: &Waiting) -> bool {
        let not_yet = |id: &u16| matches!(self.poses.at(*id, frame.time), At::NotYet);
        let depth = self.plan.cameras.get(&frame.seq_id).and_then(|c| c.depth);
        let depth = depth.and_then(|id| self.plan.depths.get(&id));
        let measured = depth.is_none_or(|d| d.images.iter().any(|(time, ..)| *time == frame.time));
        measured && !self.vehicles.iter().any(not_yet)
    }

    fn publish(&mut self, frame: &Waiting) {
        let mut there = BTreeMap::new();
        for id in &self.vehicles {
            if let At::There(pose) = self.poses.at(*id, frame.time) {
                self.plan.tree.update(&pose, frame.stamp);
                let base = self.plan.tree.base_link(*id);
                there.insert(i32::from(*id), self.plan.tree.lookup(&self.map, &base));
            }
        }
        let Some(camera) = self.plan.cameras.get(&frame.seq_id) else {
            return;
        };
        let missing = |id: &u16| !there.contains_key(&i32::from(*id));
        let place = self.plan.tree.lookup(&self.map, &camera.optical);
        let (Some(place), false) = (place, camera.carrier.as_ref().is_some_and(missing)) else {
            return self.stats.lock().drop_one(Cause::NoPose);
        };
        let Some(pinhole) = pinhole(&camera.config, frame.view.fov_deg) else {
            return;
        };
        let depth = camera.depth.and_then(|id| self.plan.depths.get_mut(&id));
        let depth = depth.and_then(|depth| depth.at(frame.time));
        let header = Header {
            stamp: frame.stamp.to_msg(),
            frame_id: frame.view.frame_id.clone(),
        };
        let detect =
            |(entity, described): (&ReportedEntity, &DescribedEntity)| -> Option<Detection2D> {
                let now = match entity {
                    ReportedEntity::Vehicle(id) if camera.carrier.map(i32::from) == Some(*id) => {
                        return None;
                    }
                    ReportedEntity::Vehicle(id) => there.get(id).copied().flatten(),
                    ReportedEntity::Object(_) => None,
                };
                // A served vehicle is where it was at the instant of the frame; the rest where it was described.
                let centre = now.map_or(described.centre, |now| {
                    now * (described.pose.inverse() * described.centre)
                });
                let space = BoundingBox3d {
                    pose: place.inverse() * centre,
                    size: described.size,
                };
                let edges = space.project(&pinhole)?;
                let score = depth.as_ref().and_then(|(camera, scale, counts)| {
                    space.visible_share(&DepthImage {
                        camera,
                        counts,
                        scale: *scale,
                    })
                });
                let score = score.unwrap_or(1.0);
                (score > 0.0).then(|| detection_2d(entity, &edges, score, &header))
            };
        let detections = self
            .reported
            .lock()
            .entities
            .iter()
            .filter_map(detect)
            .collect();
        let message = Detection2DArray { header, detections };
        let published = camera.topic.publish(&message);
        let mut figures = self.stats.lock();
        figures.frames += 1;
        figures.last_frame = Some(Instant::now());
        match published {
            Ok(_) => figures.converted += 1,
            Err(_) => figures.drop_one(Cause::Publish),
        }
    }
}

impl Depth {
    fn new(config: &SensorConfig) -> Self {
        let size = Size {
            width: config.width.into(),
            height: config.height.into(),
        };
        Self {
            config: config.clone(),
            decoder: Decoder::new(size),
            images: VecDeque::new(),
        }
    }

    /// Returns the image of an instant: its camera, metres per count, counts.
    fn at(&mut self, time: SimTime) -> Option<(PinholeCamera, f64, &[u8])> {
        let Self {
            config,
            decoder,
            images,
        } = self;
        let (_, fov_deg, payload) = images.iter().find(|(at, ..)| *at == time)?;
        let scale = f64::from(config.other_params[2]);
        let scale = if scale > 0.0 { scale } else { DEFAULT_SCALE };
        let raw = 2 * usize::from(config.width) * usize::from(config.height);
        let counts = match Codec::of(payload) {
            Some(_) if payload.len() != raw => decoder.decode_depth(payload).ok()?.1,
            _ => payload,
        };
        Some((pinhole(config, *fov_deg)?, scale, counts))
    }
}

/// The camera with this field of view.
fn pinhole(config: &SensorConfig, fov_deg: f32) -> Option<PinholeCamera> {
    let size = Size {
        width: config.width.into(),
        height: config.height.into(),
    };
    PinholeCamera::new(&camera_info(
        Lens::Pinhole,
        size,
        fov_deg,
        Header::default(),
    ))
}

/// Whether two sensors look from one place in one direction.
fn coincide(a: &SensorMount, b: &SensorMount) -> bool {
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let [p, q] =
        [a, b].map(|m| Transform::from_parts(m.position_frd, m.orientation.attitude().wxyz()));
    let turned = (p.inverse() * q).rotation()[0].abs();
    a.mount == b.mount && near(&p.translation(), &q.translation()) && turned > 1.0 - 1e-12
}

impl Source for Boxes {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    async fn run(&mut self) {
        loop {
            let note = tokio::time::timeout(self.pause(), self.notes.recv()).await;
            self.take_over();
            if let Ok(Some(note)) = note {
                self.take(note);
            }
            let mut cameras = self.plan.cameras.values();
            let is_read = cameras.any(|camera| camera.topic.subscribers() > 0);
            self.want.set(is_read);
            self.publish_ready(false);
        }
    }
}

impl Boxes {
    /// While nobody reads boxes, it is rarely looked whether somebody does.
    fn pause(&self) -> Duration {
        match self.want.is_set() {
            true => LOOK,
            false => next_moment(WAIT),
        }
    }
}
