//! Boxes of what a camera sees: for each frame, of the vehicles and objects that the renderer describes.
use crate::config::SensorConfig;
use crate::frames::{FrameTree, SensorMount, Transform};
use crate::msgs::sensor_msgs::msg::Image;
use crate::msgs::std_msgs::msg::Header;
use crate::msgs::vision_msgs::msg::{Detection2D, Detection2DArray};
use crate::node::cause::Cause;
use crate::node::poses::{At, Poses, Want};
use crate::node::reported::SharedReports;
use crate::node::stats::SourceStats;
use crate::node::tasks::{Source, next_moment};
use crate::node::views::Slot;
use crate::reports::{DepthImage, Described, Entity, Pinhole, SpaceBox, detection_2d};
use crate::ros::{Loan, Publisher};
use crate::sensors::{
    Codec, Decoder, ForeignFrame, Frame, Lens, LentFrame, Sensor, SensorError, Size, View,
    camera_info,
};
use crate::time::{RosTime, SimTime};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
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
    cameras: BTreeMap<u16, Camera>,
    depths: BTreeMap<u16, Depth>,
    vehicles: Vec<u16>,
    tree: FrameTree,
    map: String,
    reported: SharedReports,
    poses: Poses,
    want: Want,
    notes: mpsc::Receiver<Note>,
    sender: Notes,
    waiting: VecDeque<Waiting>,
    stats: Arc<SourceStats>,
}

impl Boxes {
    pub(super) fn new(
        (tree, vehicles): (FrameTree, Vec<u16>),
        reported: SharedReports,
        poses: Poses,
        stats: Arc<SourceStats>,
    ) -> Self {
        let (sender, notes) = mpsc::channel(QUEUE);
        Self {
            cameras: BTreeMap::new(),
            depths: BTreeMap::new(),
            vehicles,
            map: tree.names().map.clone(),
            tree,
            reported,
            want: poses.wants(),
            poses,
            notes,
            sender: Notes(sender),
            waiting: VecDeque::new(),
            stats,
        }
    }

    pub(super) fn notes(&self) -> Notes {
        self.sender.clone()
    }

    /// Adds a camera; `depth`: the depth camera at its place.
    pub(super) fn add(
        &mut self,
        config: &SensorConfig,
        topic: Publisher<Detection2DArray>,
        carrier: Option<u16>,
        depth: Option<&SensorConfig>,
    ) {
        let reader = topic.clone();
        self.reported.add_reader(move || reader.subscribers() > 0);
        let optical = self.tree.sensor(config.seq_id);
        let optical = optical.map_or_else(String::new, |frames| frames.optical.clone());
        if let Some(depth) = depth {
            let size = Size {
                width: depth.width.into(),
                height: depth.height.into(),
            };
            let new = || Depth {
                config: depth.clone(),
                decoder: Decoder::new(size),
                images: VecDeque::new(),
            };
            self.depths.entry(depth.seq_id).or_insert_with(new);
        }
        let camera = Camera {
            config: config.clone(),
            topic,
            carrier,
            depth: depth.map(|depth| depth.seq_id),
            optical,
        };
        self.cameras.insert(config.seq_id, camera);
    }

    /// Returns the sensor so that it tells of its frames, if boxes need them.
    pub(super) fn around(
        &self,
        sensor: Box<dyn Sensor>,
        seq_id: u16,
        slot: Option<&Arc<Slot>>,
    ) -> Box<dyn Sensor> {
        let depth = self.depths.contains_key(&seq_id);
        let cameras = self.cameras.iter();
        let own = |(id, camera): &(&u16, &Camera)| match depth {
            true => camera.depth == Some(seq_id),
            false => **id == seq_id,
        };
        let readers: Vec<_> = cameras.filter(own).map(|(_, c)| c.topic.clone()).collect();
        match slot {
            Some(slot) if !readers.is_empty() => Box::new(Boxed {
                sensor,
                notes: self.notes(),
                slot: slot.clone(),
                seq_id,
                depth,
                readers,
            }),
            _ => sensor,
        }
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Mount(mount) => {
                // Frames that wait are of the mount before.
                self.publish_ready(true);
                self.tree
                    .remount(mount.seq_id, mount.position_frd, mount.orientation);
            }
            Note::Depth {
                seq_id,
                time,
                payload,
                fov_deg,
            } => {
                if let Some(depth) = self.depths.get_mut(&seq_id) {
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
        let depth = self.cameras.get(&frame.seq_id).and_then(|c| c.depth);
        let depth = depth.and_then(|id| self.depths.get(&id));
        let measured = depth.is_none_or(|d| d.images.iter().any(|(time, ..)| *time == frame.time));
        measured && !self.vehicles.iter().any(not_yet)
    }

    fn publish(&mut self, frame: &Waiting) {
        let mut there = BTreeMap::new();
        for id in &self.vehicles {
            if let At::There(pose) = self.poses.at(*id, frame.time) {
                self.tree.update(&pose, frame.stamp);
                let base = self.tree.base_link(*id);
                there.insert(i32::from(*id), self.tree.lookup(&self.map, &base));
            }
        }
        let Some(camera) = self.cameras.get(&frame.seq_id) else {
            return;
        };
        let missing = |id: &u16| !there.contains_key(&i32::from(*id));
        let place = self.tree.lookup(&self.map, &camera.optical);
        let (Some(place), false) = (place, camera.carrier.as_ref().is_some_and(missing)) else {
            return self.stats.lock().drop_one(Cause::NoPose);
        };
        let Some(pinhole) = pinhole(&camera.config, frame.view.fov_deg) else {
            return;
        };
        let depth = camera.depth.and_then(|id| self.depths.get_mut(&id));
        let depth = depth.and_then(|depth| depth.at(frame.time));
        let header = Header {
            stamp: frame.stamp.to_msg(),
            frame_id: frame.view.frame_id.clone(),
        };
        let detect = |(entity, described): (&Entity, &Described)| -> Option<Detection2D> {
            let now = match entity {
                Entity::Vehicle(id) if camera.carrier.map(i32::from) == Some(*id) => return None,
                Entity::Vehicle(id) => there.get(id).copied().flatten(),
                Entity::Object(_) => None,
            };
            // A served vehicle is where it was at the instant of the frame; the rest where it was described.
            let centre = now.map_or(described.centre, |now| {
                now * (described.pose.inverse() * described.centre)
            });
            let space = SpaceBox {
                pose: place.inverse() * centre,
                size: described.size,
            };
            let edges = space.project(&pinhole)?;
            let score = depth.as_ref().and_then(|(camera, scale, counts)| {
                space.visible(&DepthImage {
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
    /// Returns the image of an instant: its camera, metres per count, counts.
    fn at(&mut self, time: SimTime) -> Option<(Pinhole, f64, &[u8])> {
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
fn pinhole(config: &SensorConfig, fov_deg: f32) -> Option<Pinhole> {
    let size = Size {
        width: config.width.into(),
        height: config.height.into(),
    };
    Pinhole::new(&camera_info(
        Lens::Pinhole,
        size,
        fov_deg,
        Header::default(),
    ))
}

/// Whether two sensors look from one place in one direction.
pub(super) fn coincide(a: &SensorMount, b: &SensorMount) -> bool {
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
            if let Ok(Some(note)) = note {
                self.take(note);
            }
            let is_read = self.cameras.values().any(|c| c.topic.subscribers() > 0);
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
