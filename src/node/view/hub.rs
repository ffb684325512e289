//! The topics, and the clients that subscribe to each. A topic has a reader while it has clients.
use super::client_queue::{ClientQueue, SampleData, Subscribers};
use super::thumbnails::Thumbnails;
use crate::msgs::definition;
use crate::ros::{Cdr, Durability, Qos, TapReader};
use parking_lot::{Mutex, RwLock};
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Keeps a reader attached to a topic until it is dropped.
pub(super) type SourceGuard = Box<dyn Any + Send + Sync>;

/// The source of samples: a tap of this node, or subscriptions.
pub(super) trait SampleSource: Send + Sync {
    /// Passes the samples of a topic to `reader`; for a latched topic, the stored samples first.
    fn attach(&self, topic: &ViewTopic, reader: Arc<dyn TapReader>) -> Option<SourceGuard>;

    /// Name and type of each topic that has a publisher now.
    fn published(&self) -> BTreeSet<(String, String)>;
}

/// Queue depth of images and point clouds.
const BULK_DEPTH: usize = 1;
/// Queue depth of all other volatile topics.
const DEPTH: usize = 100;
/// Maximum number of topics; further ones are left out, because each client gets the whole list.
const MAX_TOPICS: usize = 10_000;

pub(super) struct ViewTopic {
    /// The channel id for clients. A topic that ends and is published again keeps it.
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) qos: Qos,
    /// Whether the topic has lost all publishers.
    ended: AtomicBool,
    /// For Foxglove: all samples.
    full: TopicVariant,
    /// For the page: samples at a limited rate, and thumbnails of images.
    page: TopicVariant,
}

impl ViewTopic {
    /// Whether the page gets thumbnails instead of messages.
    pub(super) fn is_image(&self) -> bool {
        self.type_name == "sensor_msgs/msg/Image"
    }

    /// The definition of its type in the encoding `ros2msg`.
    pub(super) fn schema(&self) -> &'static str {
        definition(&self.type_name).unwrap_or_default()
    }

    fn variant(&self, is_page: bool) -> &TopicVariant {
        if is_page { &self.page } else { &self.full }
    }

    fn is_latched(&self) -> bool {
        self.qos.durability == Durability::TransientLocal
    }

    fn depth(&self) -> usize {
        if self.is_latched() {
            usize::from(self.qos.depth.max(1))
        } else if is_bulk(&self.type_name) {
            BULK_DEPTH
        } else {
            DEPTH
        }
    }
}

fn is_bulk(type_name: &str) -> bool {
    matches!(
        type_name,
        "sensor_msgs/msg/Image"
            | "sensor_msgs/msg/CompressedImage"
            | "sensor_msgs/msg/PointCloud2"
            | "livox_ros_driver2/msg/CustomMsg"
    )
}

/// Minimum interval between messages of a type for the page; `None` if the page needs every message, such as TF.
fn page_interval(type_name: &str) -> Option<Duration> {
    let millis = match type_name {
        "sensor_msgs/msg/Image" => 100, // thumbnails
        other if is_bulk(other) || other.starts_with("vision_msgs/") => 200,
        "sensor_msgs/msg/Imu"
        | "nav_msgs/msg/Odometry"
        | "nav_msgs/msg/Path"
        | "geometry_msgs/msg/PoseStamped"
        | "sensor_msgs/msg/NavSatFix" => 50,
        _ => return None,
    };
    Some(Duration::from_millis(millis))
}

/// Time in ns since 1970.
pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Passes the samples of one topic to its subscribers.
struct SampleReader {
    subscribers: Arc<Subscribers>,
    start: Instant,
    /// Minimum interval between samples; further samples are dropped.
    interval: Option<Duration>,
    /// Earliest time of the next sample, in ns since `start`.
    next: AtomicU64,
    thumbnails: Option<Arc<Thumbnails>>,
}

impl SampleReader {
    fn is_due(&self) -> bool {
        let Some(interval) = self.interval else { return true };
        let now = self.start.elapsed().as_nanos() as u64;
        if now < self.next.load(Ordering::Relaxed) {
            return false;
        }
        let next = now.saturating_add(interval.as_nanos() as u64);
        self.next.store(next, Ordering::Relaxed);
        true
    }

    fn forward(&self, data: impl FnOnce() -> SampleData) {
        if self.is_due() {
            self.send(now_ns(), data());
        }
    }

    fn send(&self, time: u64, data: SampleData) {
        match &self.thumbnails {
            Some(thumbnails) => thumbnails.push(&self.subscribers, time, data),
            None => self.subscribers.send(time, data),
        }
    }
}

impl TapReader for SampleReader {
    fn wanted(&self) -> bool {
        true
    }

    fn sample(&self, parts: &[&[u8]]) {
        self.forward(|| SampleData::Owned(parts.concat()));
    }

    fn kept(&self, sample: &[u8], age: Duration) {
        let time = now_ns().saturating_sub(age.as_nanos() as u64);
        self.send(time, SampleData::Owned(sample.to_vec()));
    }

    fn whole(&self, cdr: &Arc<Cdr>) {
        self.forward(|| SampleData::Shared(cdr.clone()));
    }
}

/// The clients of one variant of a topic, and its reader while there are clients.
#[derive(Default)]
struct TopicVariant {
    subscribers: Arc<Subscribers>,
    guard: Mutex<Option<SourceGuard>>,
}

/// The subscription of one client; it ends on drop.
pub(super) struct ClientSubscription {
    topic: Arc<ViewTopic>,
    is_page: bool,
    queue: Arc<ClientQueue>,
    id: u32,
    /// Each client of a latched topic has a reader of its own, which gets the stored samples.
    _latched: Option<SourceGuard>,
}

impl ClientSubscription {
    pub(super) fn channel(&self) -> u32 {
        self.topic.id
    }
}

impl Drop for ClientSubscription {
    fn drop(&mut self) {
        let variant = self.topic.variant(self.is_page);
        let mut guard = variant.guard.lock();
        if variant.subscribers.remove(&self.queue, self.id) {
            *guard = None;
        }
        self.queue.close(self.id);
    }
}

pub(super) struct Hub {
    source: Box<dyn SampleSource>,
    thumbnails: Arc<Thumbnails>,
    topics: RwLock<Vec<Arc<ViewTopic>>>,
    changes: watch::Sender<u64>,
}

impl Hub {
    pub(super) fn new(source: Box<dyn SampleSource>, thumbnails: Arc<Thumbnails>) -> Self {
        Self { source, thumbnails, topics: RwLock::default(), changes: watch::Sender::new(0) }
    }

    /// Adds a topic, unless it is known; a known topic that had ended is advertised again.
    pub(super) fn add(&self, name: &str, type_name: &str, qos: Qos) {
        let mut topics = self.topics.write();
        let is_known = |topic: &Arc<ViewTopic>| topic.name == name && topic.type_name == type_name;
        if let Some(topic) = topics.iter().find(|topic| is_known(topic)) {
            if topic.ended.swap(false, Ordering::Relaxed) {
                self.notify();
            }
            return;
        }
        if topics.len() >= MAX_TOPICS {
            return;
        }
        let id = topics.len() as u32;
        topics.push(Arc::new(ViewTopic {
            id,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            qos,
            ended: AtomicBool::new(false),
            full: TopicVariant::default(),
            page: TopicVariant::default(),
        }));
        self.notify();
    }

    fn notify(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(super) fn find_ended(&self) {
        let topics = self.topics();
        let published = self.source.published();
        let has_just_ended = |topic: &&Arc<ViewTopic>| {
            let name = (topic.name.clone(), topic.type_name.clone());
            !published.contains(&name) && !topic.ended.swap(true, Ordering::Relaxed)
        };
        if topics.iter().filter(has_just_ended).count() > 0 {
            self.notify();
        }
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn topics(&self) -> Vec<Arc<ViewTopic>> {
        let has_ended = |topic: &&Arc<ViewTopic>| topic.ended.load(Ordering::Relaxed);
        self.topics.read().iter().filter(|topic| !has_ended(topic)).cloned().collect()
    }

    pub(super) fn subscribe(
        &self,
        channel: u32,
        is_page: bool,
        queue: &Arc<ClientQueue>,
        id: u32,
    ) -> Result<ClientSubscription, &'static str> {
        let topic = self.topics.read().get(channel as usize).cloned().ok_or("no such channel")?;
        if !queue.open(id, topic.depth()) {
            return Err("the id of the subscription is in use");
        }
        let latched = topic.is_latched().then(|| {
            let subscribers = Arc::new(Subscribers::default());
            subscribers.add(queue, id);
            self.attach(&topic, is_page, subscribers)
        });
        if latched.is_none() {
            let variant = topic.variant(is_page);
            let mut guard = variant.guard.lock();
            variant.subscribers.add(queue, id);
            if guard.is_none() {
                *guard = self.attach(&topic, is_page, variant.subscribers.clone());
            }
        }
        Ok(ClientSubscription {
            topic,
            is_page,
            queue: queue.clone(),
            id,
            _latched: latched.flatten(),
        })
    }

    fn attach(
        &self,
        topic: &ViewTopic,
        is_page: bool,
        subscribers: Arc<Subscribers>,
    ) -> Option<SourceGuard> {
        let is_thumbnail = is_page && topic.is_image();
        let reader = SampleReader {
            subscribers,
            start: Instant::now(),
            interval: page_interval(&topic.type_name).filter(|_| is_page),
            next: AtomicU64::new(0),
            thumbnails: is_thumbnail.then(|| self.thumbnails.clone()),
        };
        self.source.attach(topic, Arc::new(reader))
    }
}
