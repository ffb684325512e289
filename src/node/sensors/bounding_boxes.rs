//! Bounding boxes in the images of cameras: for each frame, one per vehicle and object that the renderer describes.
use crate::frames::{FrameTree, SensorMount, Transform};
use crate::msgs::vision_msgs::msg::{Detection2D, Detection2DArray};
use crate::node::pose_history::{PoseAt, PoseDemand, PoseHistory};
use crate::node::tasks::{CountedTask, next_moment};
use crate::node::{
    cause::Cause, sensor_views::SensorView, settings::Settings, shared_reports::SharedReports,
    stats::SourceStats,
};
use crate::reports::{
    BoundingBox3d, DepthImage, DescribedEntity, PinholeCamera, ReportedEntity, detection_2d,
};
use crate::sensors::{
    CameraView, Codec, Decoder, FrameHead, FrameStep, Lens, SensorPipeline, camera_info,
};
use crate::time::{RosTime, SimTime};
use crate::{config::SensorConfig, msgs::std_msgs::msg::Header, ros::Publisher, wire::SensorKind};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long a frame waits for the vehicle poses and the depth image of its time.
const MAX_WAIT: Duration = Duration::from_millis(200);
/// Interval of checks for these poses and images.
const CHECK_PERIOD: Duration = Duration::from_millis(10);
/// Limit of pending frames, and of queued events, of all cameras together.
const MAX_PENDING: usize = 64;
/// Number of images kept of a depth camera.
const MAX_DEPTH_IMAGES: usize = 8;
/// Metres per count of a depth image if `otherParams[2]` is not positive.
const DEFAULT_SCALE: f64 = 0.001;

/// Event from a sensor to the task. Events of a sensor are in the order of its frames.
enum BoxEvent {
    Frame(PendingFrame),
    Depth { seq_id: u16, time: SimTime, payload: Vec<u8>, fov_deg: f32 },
    Mount(Box<SensorMount>),
}

/// Queue from the sensors to the task.
#[derive(Clone)]
pub(super) struct BoxEvents(mpsc::Sender<BoxEvent>);

impl BoxEvents {
    /// Tells the task that the following frames of a sensor are from another mount.
    pub(super) fn set_mount(&self, mount: &SensorMount) {
        // If the queue is full, the event is lost: boxes keep the old mount until its next change.
        let _full = self.0.try_send(BoxEvent::Mount(Box::new(mount.clone())));
    }
}

/// Sends the published frames of a sensor to the task while a topic of boxes that needs them has subscribers.
struct BoxEventStep {
    events: BoxEvents,
    slot: Arc<SensorView>,
    seq_id: u16,
    /// Whether the frames are depth images for boxes.
    is_depth: bool,
    /// Whether the frames get boxes.
    has_boxes: bool,
    topics: Vec<Publisher<Detection2DArray>>,
}

impl FrameStep for BoxEventStep {
    fn needs_frames(&self) -> bool {
        self.topics.iter().any(|topic| topic.subscribers() > 0)
    }

    fn after(&mut self, head: &FrameHead, payload: Option<&[u8]>) {
        if !self.needs_frames() {
            return;
        }
        let view = self.slot.view();
        let (seq_id, time) = (self.seq_id, head.sim_time);
        // If the queue is full, the frame has no boxes, or no depth.
        if let Some(payload) = payload.filter(|_| self.is_depth) {
            let (payload, fov_deg) = (payload.to_vec(), view.fov_deg);
            let _full = self.events.0.try_send(BoxEvent::Depth { seq_id, time, payload, fov_deg });
        }
        if self.has_boxes {
            let (stamp, since) = (head.stamp, Instant::now());
            let frame = PendingFrame { seq_id, time, stamp, view, since };
            let _full = self.events.0.try_send(BoxEvent::Frame(frame));
        }
    }
}

/// Topics of the boxes; adds a step to the sensors whose frames they need.
#[derive(Clone)]
pub(super) struct BoxTopics {
    topics: BTreeMap<u16, Publisher<Detection2DArray>>,
    pub(super) events: BoxEvents,
    /// New cameras that the task does not use yet.
    next: Arc<Mutex<Option<BoxCameras>>>,
}

/// The cameras with boxes, the depth cameras at the same mounts, and the frame tree.
struct BoxCameras {
    cameras: BTreeMap<u16, BoxCamera>,
    depths: BTreeMap<u16, DepthCamera>,
    tree: FrameTree,
}

impl BoxTopics {
    /// Returns the cameras whose boxes depend on the frames of a sensor.
    pub(super) fn cameras_needing(&self, settings: &Settings, seq_id: u16) -> Vec<u16> {
        let needs = |id: &u16| {
            *id == seq_id || depth_of(settings, *id).is_some_and(|depth| depth.seq_id == seq_id)
        };
        self.topics.keys().copied().filter(needs).collect()
    }

    /// Adds a step to the sensor if boxes need its frames.
    pub(super) fn add_step(
        &self,
        pipeline: &mut SensorPipeline,
        settings: &Settings,
        seq_id: u16,
        slot: Arc<SensorView>,
    ) {
        if let Some(step) = self.step(settings, seq_id, slot) {
            pipeline.add_step(Box::new(step));
        }
    }

    fn step(
        &self,
        settings: &Settings,
        seq_id: u16,
        slot: Arc<SensorView>,
    ) -> Option<BoxEventStep> {
        let cameras = self.cameras_needing(settings, seq_id);
        let has_this_depth =
            |id: &u16| depth_of(settings, *id).is_some_and(|depth| depth.seq_id == seq_id);
        (!cameras.is_empty()).then(|| BoxEventStep {
            events: self.events.clone(),
            slot,
            seq_id,
            is_depth: cameras.iter().any(has_this_depth),
            has_boxes: self.topics.contains_key(&seq_id),
            topics: { cameras.iter() }.filter_map(|id| self.topics.get(id).cloned()).collect(),
        })
    }

    /// Prepares the cameras of new settings for the task.
    pub(super) fn change(&self, settings: &Settings, tree: FrameTree) {
        let mut next = self.next.lock();
        *next = Some(self.cameras_of(settings, tree));
    }

    fn cameras_of(&self, settings: &Settings, tree: FrameTree) -> BoxCameras {
        let (mut cameras, mut depths) = (BTreeMap::new(), BTreeMap::new());
        for config in &settings.sensors {
            let seq_id = config.seq_id;
            let Some(topic) = self.topics.get(&seq_id) else { continue };
            let depth = depth_of(settings, seq_id);
            let optical = tree.sensor(seq_id);
            let camera = BoxCamera {
                config: config.clone(),
                topic: topic.clone(),
                carrier: settings.vehicle_of(config),
                depth: depth.map(|depth| depth.seq_id),
                optical: optical.map_or_else(String::new, |frames| frames.optical.clone()),
            };
            cameras.insert(seq_id, camera);
            if let Some(depth) = depth {
                depths.insert(depth.seq_id, DepthCamera::new(depth));
            }
        }
        BoxCameras { cameras, depths, tree }
    }
}

/// Returns the depth camera at the same mount as a camera.
fn depth_of(settings: &Settings, seq_id: u16) -> Option<&SensorConfig> {
    let mounts = settings.mounts();
    let camera = mounts.iter().find(|mount| mount.seq_id == seq_id)?;
    let mounted = settings.sensors.iter().zip(&mounts);
    let mut depths = mounted.filter(|(other, _)| other.kind == SensorKind::Depth);
    let (depth, _) = depths.find(|(_, mount)| share_mount(camera, mount))?;
    Some(depth)
}

struct BoxCamera {
    config: SensorConfig,
    topic: Publisher<Detection2DArray>,
    /// Vehicle that carries the camera; it gets no box.
    carrier: Option<u16>,
    /// Depth camera at the same mount.
    depth: Option<u16>,
    optical: String,
}

/// A depth camera, whose images show which parts of a box are occluded.
struct DepthCamera {
    config: SensorConfig,
    decoder: Decoder,
    images: VecDeque<(SimTime, f32, Vec<u8>)>,
}

/// A frame that waits for poses and depth.
struct PendingFrame {
    seq_id: u16,
    time: SimTime,
    stamp: RosTime,
    view: CameraView,
    since: Instant,
}

pub(super) struct BoxTask {
    cameras: BoxCameras,
    pub(super) topics: BoxTopics,
    vehicles: Vec<u16>,
    map: String,
    reported: SharedReports,
    poses: PoseHistory,
    pose_demand: PoseDemand,
    events: mpsc::Receiver<BoxEvent>,
    pending: VecDeque<PendingFrame>,
    pub(super) stats: Arc<SourceStats>,
}

impl BoxTask {
    pub(super) fn new(
        (settings, tree): (&Settings, FrameTree),
        topics: BTreeMap<u16, Publisher<Detection2DArray>>,
        reported: SharedReports,
        poses: PoseHistory,
        stats: Arc<SourceStats>,
    ) -> Self {
        for topic in topics.values() {
            let reader = topic.clone();
            reported.add_reader(move || reader.subscribers() > 0);
        }
        let (sender, events) = mpsc::channel(MAX_PENDING);
        let topics = BoxTopics { topics, events: BoxEvents(sender), next: Arc::default() };
        Self {
            vehicles: settings.vehicles(),
            map: tree.names().map.clone(),
            cameras: topics.cameras_of(settings, tree),
            topics,
            reported,
            pose_demand: poses.demand(),
            poses,
            events,
            pending: VecDeque::new(),
            stats,
        }
    }

    /// Returns the time to the next check; longer without a subscriber.
    fn pause(&self) -> Duration {
        if self.pose_demand.is_set() { CHECK_PERIOD } else { next_moment(MAX_WAIT) }
    }

    /// Replaces the cameras, after publishing the boxes of pending frames.
    fn replace_cameras(&mut self) {
        let next = self.topics.next.lock().take();
        if let Some(cameras) = next {
            self.publish_ready(true);
            self.cameras = cameras;
        }
    }

    fn handle(&mut self, event: BoxEvent) {
        match event {
            BoxEvent::Mount(mount) => {
                // Pending frames are from the previous mount.
                self.publish_ready(true);
                self.cameras.tree.remount(mount.seq_id, mount.position_frd, mount.orientation);
            }
            BoxEvent::Depth { seq_id, time, payload, fov_deg } => {
                if let Some(depth) = self.cameras.depths.get_mut(&seq_id) {
                    depth.images.truncate(MAX_DEPTH_IMAGES - 1);
                    depth.images.push_front((time, fov_deg, payload));
                }
            }
            BoxEvent::Frame(frame) => {
                if self.pending.len() >= MAX_PENDING {
                    self.pending.pop_front();
                    self.stats.lock().count(Cause::Late);
                }
                self.pending.push_back(frame);
            }
        }
    }

    /// Publishes the boxes of pending frames whose poses and depth are known or overdue, or of `all` pending frames.
    fn publish_ready(&mut self, all: bool) {
        for pending in std::mem::take(&mut self.pending) {
            if all || pending.since.elapsed() >= MAX_WAIT || self.is_ready(&pending) {
                self.publish(&pending);
            } else {
                self.pending.push_back(pending);
            }
        }
    }

    fn is_ready(&self, frame: &PendingFrame) -> bool {
        let not_yet = |id: &u16| matches!(self.poses.at(*id, frame.time), PoseAt::NotYet);
        let depth = self.cameras.cameras.get(&frame.seq_id).and_then(|c| c.depth);
        let depth = depth.and_then(|id| self.cameras.depths.get(&id));
        let has_depth = depth.is_none_or(|d| d.images.iter().any(|(time, ..)| *time == frame.time));
        has_depth && !self.vehicles.iter().any(not_yet)
    }

    fn publish(&mut self, frame: &PendingFrame) {
        let mut bases = BTreeMap::new();
        for id in &self.vehicles {
            if let PoseAt::Known(pose) = self.poses.at(*id, frame.time) {
                self.cameras.tree.update(&pose, frame.stamp);
                let base = self.cameras.tree.base_link(*id);
                bases.insert(i32::from(*id), self.cameras.tree.lookup(&self.map, &base));
            }
        }
        let Some(camera) = self.cameras.cameras.get(&frame.seq_id) else { return };
        let missing = |id: &u16| !bases.contains_key(&i32::from(*id));
        let camera_pose = self.cameras.tree.lookup(&self.map, &camera.optical);
        let is_lost = camera.carrier.as_ref().is_some_and(missing);
        let Some(camera_pose) = camera_pose.filter(|_| !is_lost) else {
            return self.stats.lock().count(Cause::NoPose);
        };
        let Some(pinhole) = pinhole(&camera.config, frame.view.fov_deg) else { return };
        let depth = camera.depth.and_then(|id| self.cameras.depths.get_mut(&id));
        let depth = depth.and_then(|depth| depth.image_at(frame.time));
        let header = Header { stamp: frame.stamp.to_msg(), frame_id: frame.view.frame_id.clone() };
        let detect =
            |(entity, described): (&ReportedEntity, &DescribedEntity)| -> Option<Detection2D> {
                let base = match entity {
                    ReportedEntity::Vehicle(id) if camera.carrier.map(i32::from) == Some(*id) => {
                        return None;
                    }
                    ReportedEntity::Vehicle(id) => bases.get(id).copied().flatten(),
                    ReportedEntity::Object(_) => None,
                };
                // Served vehicles have a true pose at the time of the frame; for all other entities the described pose is used.
                let centre = base.map_or(described.centre, |base| {
                    base * (described.pose.inverse() * described.centre)
                });
                let box_3d =
                    BoundingBox3d { pose: camera_pose.inverse() * centre, size: described.size };
                let edges = box_3d.project(&pinhole)?;
                let score = depth.as_ref().and_then(|(camera, scale, counts)| {
                    box_3d.visible_share(&DepthImage { camera, counts, scale: *scale })
                });
                let score = score.unwrap_or(1.0);
                (score > 0.0).then(|| detection_2d(entity, &edges, score, &header))
            };
        let detections = self.reported.lock().entities.iter().filter_map(detect).collect();
        let message = Detection2DArray { header, detections };
        let published = camera.topic.publish(&message);
        let mut figures = self.stats.lock();
        figures.count_frame();
        match published {
            Ok(_) => figures.converted += 1,
            Err(_) => figures.count(Cause::Publish),
        }
    }
}

impl DepthCamera {
    fn new(config: &SensorConfig) -> Self {
        let decoder = Decoder::new(config.into());
        Self { config: config.clone(), decoder, images: VecDeque::new() }
    }

    /// Returns the image of a time: its camera, metres per count, counts.
    fn image_at(&mut self, time: SimTime) -> Option<(PinholeCamera, f64, &[u8])> {
        let Self { config, decoder, images } = self;
        let (_, fov_deg, payload) = images.iter().find(|(at, ..)| *at == time)?;
        let scale = f64::from(config.other_params[2]);
        let scale = if scale > 0.0 { scale } else { DEFAULT_SCALE };
        let raw_len = 2 * usize::from(config.width) * usize::from(config.height);
        let counts = match Codec::of(payload) {
            Some(_) if payload.len() != raw_len => decoder.decode_depth(payload).ok()?.1,
            _ => payload,
        };
        Some((pinhole(config, *fov_deg)?, scale, counts))
    }
}

/// Returns the pinhole camera with this field of view.
fn pinhole(config: &SensorConfig, fov_deg: f32) -> Option<PinholeCamera> {
    PinholeCamera::new(&camera_info(Lens::Pinhole, config.into(), fov_deg, Header::default()))
}

/// Whether two sensors have the same carrier, position and orientation.
fn share_mount(a: &SensorMount, b: &SensorMount) -> bool {
    let are_near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let [p, q] =
        [a, b].map(|m| Transform::from_parts(m.position_frd, m.orientation.attitude().wxyz()));
    let alignment = (p.inverse() * q).rotation()[0].abs();
    a.mount == b.mount && are_near(&p.translation(), &q.translation()) && alignment > 1.0 - 1e-12
}

impl CountedTask for BoxTask {
    async fn run(&mut self) {
        loop {
            let event = tokio::time::timeout(self.pause(), self.events.recv()).await;
            self.replace_cameras();
            if let Ok(Some(event)) = event {
                self.handle(event);
            }
            let mut cameras = self.cameras.cameras.values();
            let is_read = cameras.any(|camera| camera.topic.subscribers() > 0);
            self.pose_demand.set(is_read);
            self.publish_ready(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ros_args;
    use crate::node::sensor_views::SensorViews;
    use crate::ros::{Middleware, Options, Qos};

    /// A colour camera and a depth camera at the same mount.
    fn settings() -> Settings {
        let camera = |seq_id: u16, type_id: u16| {
            format!(
                r#"{{"SeqID": {seq_id}, "TypeID": {type_id}, "TargetCopter": 1, "TargetMountType": 0, "DataWidth": 64,
                   "DataHeight": 48, "DataCheckFreq": 30, "SendProtocol": [1,127,0,0,1,{port},0,0], "CameraFOV": 90,
                   "SensorPosXYZ": [0.3, 0, 0], "SensorAngEular": [0, 0, 0], "otherParams": [0,0,0,0,0,0,0,0]}}"#,
                port = 9999 + seq_id
            )
        };
        let text = format!(r#"{{"VisionSensors": [{}, {}]}}"#, camera(0, 1), camera(1, 2));
        let path = std::env::temp_dir().join(format!("rfly_depth_boxes_{}", std::process::id()));
        std::fs::write(&path, text).expect("a temporary file");
        let config = format!("config:={}", path.display());
        let words = ["--ros-args", "-p", &config].map(str::to_owned);
        let settings = Settings::load(&ros_args::parse(words).expect("arguments"));
        std::fs::remove_file(&path).expect("it was there");
        settings.unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_depth_camera_that_has_boxes_itself_gives_its_depth_too() {
        let settings = settings();
        let tree = settings.frame_tree().expect("a tree");
        let views = SensorViews::new(&settings, &tree);
        let (middleware, recorder) = Middleware::recorder(&Options::new("n")).expect("a recorder");
        let mut topics = BTreeMap::new();
        for seq_id in [0, 1] {
            let name = format!("/boxes{seq_id}");
            recorder.set_subscribers(&name, 1);
            let topic = middleware.publisher(&name, Qos::DEFAULT).expect("a publisher");
            topics.insert(seq_id, topic);
        }
        let (sender, mut events) = mpsc::channel(MAX_PENDING);
        let topics = BoxTopics { topics, events: BoxEvents(sender), next: Arc::default() };
        for seq_id in [0, 1] {
            let slot = views.slot(seq_id).expect("a view");
            let mut step = topics.step(&settings, seq_id, slot).expect("a step");
            step.after(&FrameHead::new(RosTime(1), true), Some(&[0; 8]));
        }
        let sent = std::iter::from_fn(|| events.try_recv().ok()).map(|event| match event {
            BoxEvent::Frame(frame) => ("frame", frame.seq_id),
            BoxEvent::Depth { seq_id, .. } => ("depth", seq_id),
            BoxEvent::Mount(mount) => ("mount", mount.seq_id),
        });
        let sent: Vec<_> = sent.collect();
        assert_eq!(sent, [("frame", 0), ("depth", 1), ("frame", 1)]);
    }
}
