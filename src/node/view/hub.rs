//! Topics, and who of the clients reads them. A topic is subscribed to while a client reads it.
use super::crowd::Crowd;
use super::outbox::{Data, Outbox};
use super::pictures::Pictures;
use crate::msgs::definition;
use crate::ros::{Cdr, Durability, Qos, TapReader};
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Subscription to a topic; ends on drop.
pub(super) type Guard = Box<dyn Any + Send + Sync>;

/// Where samples come from.
pub(super) trait Feed: Send + Sync {
    /// Shows samples to `reader`, those that a latched topic keeps first.
    fn attach(&self, topic: &Topic, reader: Arc<dyn TapReader>) -> Option<Guard>;

    /// Name and type of every topic that is published now.
    fn offered(&self) -> BTreeSet<(String, String)>;
}

/// Samples that a client of a topic may be behind, of pictures and clouds ...
const DEPTH_BULK: usize = 1;
/// ... and of all others.
const DEPTH: usize = 100;
/// Time between two pictures for the page ...
const EVERY_PICTURE: Duration = Duration::from_millis(100);
/// ... and between two clouds or lists of boxes.
const EVERY_CLOUD: Duration = Duration::from_millis(200);
/// Time between two of frequent small messages.
const EVERY_SMALL: Duration = Duration::from_millis(50);
/// Topics beyond this are left out: nobody can look at them, and every client is told their names.
const TOPICS: usize = 10_000;

/// One topic.
pub(super) struct Topic {
    /// Its number for clients, also if it ends and begins again.
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) qos: Qos,
    /// Nobody publishes it any more.
    ended: AtomicBool,
    /// For Foxglove: everything.
    full: Form,
    /// For the page: as much as an eye sees, images as pictures.
    page: Form,
}

impl Topic {
    /// Whether the page gets pictures instead of messages.
    pub(super) fn is_picture(&self) -> bool {
        self.type_name == "sensor_msgs/msg/Image"
    }

    /// Definition of its type, as Foxglove reads it.
    pub(super) fn schema(&self) -> &'static str {
        definition(&self.type_name).unwrap_or_default()
    }

    fn form(&self, page: bool) -> &Form {
        if page { &self.page } else { &self.full }
    }

    fn is_latched(&self) -> bool {
        self.qos.durability == Durability::TransientLocal
    }

    fn depth(&self) -> usize {
        if self.is_latched() {
            usize::from(self.qos.depth.max(1))
        } else if is_bulk(&self.type_name) {
            DEPTH_BULK
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

/// Limit of what the page gets of a type; of small messages that belong together it gets all.
fn page_interval(type_name: &str) -> Option<Duration> {
    match type_name {
        "sensor_msgs/msg/Image" => Some(EVERY_PICTURE),
        other if is_bulk(other) || other.starts_with("vision_msgs/") => Some(EVERY_CLOUD),
        "sensor_msgs/msg/Imu"
        | "nav_msgs/msg/Odometry"
        | "nav_msgs/msg/Path"
        | "geometry_msgs/msg/PoseStamped"
        | "sensor_msgs/msg/NavSatFix" => Some(EVERY_SMALL),
        _ => None,
    }
}

/// A topic as its publisher sees it.
struct Reader {
    crowd: Arc<Crowd>,
    start: Instant,
    interval: Option<Duration>,
    /// Time since `start` before which samples are left out, in ns.
    due: AtomicU64,
    /// Makes pictures of images.
    pictures: Option<Arc<Pictures>>,
}

impl Reader {
    fn is_due(&self) -> bool {
        let Some(interval) = self.interval else {
            return true;
        };
        let now = self.start.elapsed().as_nanos() as u64;
        if now < self.due.load(Ordering::Relaxed) {
            return false;
        }
        let next = now.saturating_add(interval.as_nanos() as u64);
        self.due.store(next, Ordering::Relaxed);
        true
    }

    fn pass(&self, data: Data) {
        match &self.pictures {
            Some(pictures) => pictures.offer(&self.crowd, now(), data),
            None => self.crowd.give(now(), data),
        }
    }
}

impl TapReader for Reader {
    fn wanted(&self) -> bool {
        true
    }

    fn sample(&self, parts: &[&[u8]]) {
        if self.is_due() {
            self.pass(Data::Own(parts.concat()));
        }
    }

    fn whole(&self, cdr: &Arc<Cdr>) {
        if self.is_due() {
            self.pass(Data::Shared(cdr.clone()));
        }
    }
}

/// Time in ns since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Clients of one form of a topic, and where their samples come from while there are clients.
#[derive(Default)]
struct Form {
    crowd: Arc<Crowd>,
    feed: Mutex<Option<Guard>>,
}

/// A client's subscription; ends when this is dropped.
pub(super) struct Subscription {
    topic: Arc<Topic>,
    page: bool,
    outbox: Arc<Outbox>,
    number: u32,
    /// A latched topic is attached for each client, which then gets the kept samples.
    _latched: Option<Guard>,
}

impl Subscription {
    /// Number of its topic.
    pub(super) fn channel(&self) -> u32 {
        self.topic.id
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let form = self.topic.form(self.page);
        let mut feed = form.feed.lock().unwrap_or_else(PoisonError::into_inner);
        if form.crowd.remove(&self.outbox, self.number) {
            *feed = None;
        }
        self.outbox.close(self.number);
    }
}

/// All topics.
pub(super) struct Hub {
    feed: Box<dyn Feed>,
    pictures: Arc<Pictures>,
    topics: RwLock<Vec<Arc<Topic>>>,
    /// Counts changes of what is there.
    changes: watch::Sender<u64>,
}

impl Hub {
    pub(super) fn new(feed: Box<dyn Feed>, pictures: Arc<Pictures>) -> Self {
        Self {
            feed,
            pictures,
            topics: RwLock::default(),
            changes: watch::Sender::new(0),
        }
    }

    /// Adds a topic, once; it may have ended.
    pub(super) fn add(&self, name: &str, type_name: &str, qos: Qos) {
        let mut topics = self.topics.write().unwrap_or_else(PoisonError::into_inner);
        let known = |topic: &Arc<Topic>| topic.name == name && topic.type_name == type_name;
        if let Some(topic) = topics.iter().find(|topic| known(topic)) {
            if topic.ended.swap(false, Ordering::Relaxed) {
                self.changed();
            }
            return;
        }
        if topics.len() >= TOPICS {
            return;
        }
        let id = topics.len() as u32;
        topics.push(Arc::new(Topic {
            id,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            qos,
            ended: AtomicBool::new(false),
            full: Form::default(),
            page: Form::default(),
        }));
        self.changed();
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Looks which topics have ended.
    pub(super) fn look(&self) {
        let topics = self.there();
        let offered = self.feed.offered();
        let ended = |topic: &&Arc<Topic>| {
            let name = (topic.name.clone(), topic.type_name.clone());
            !offered.contains(&name) && !topic.ended.swap(true, Ordering::Relaxed)
        };
        if topics.iter().filter(ended).count() > 0 {
            self.changed();
        }
    }

    /// Tells of topics that begin and end.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The topics that are there.
    pub(super) fn there(&self) -> Vec<Arc<Topic>> {
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        let there = topics.iter().filter(|t| !t.ended.load(Ordering::Relaxed));
        there.cloned().collect()
    }

    /// Subscribes a client to a topic; `Err` says why not.
    pub(super) fn subscribe(
        &self,
        channel: u32,
        page: bool,
        outbox: &Arc<Outbox>,
        number: u32,
    ) -> Result<Subscription, &'static str> {
        let topic = {
            let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
            topics
                .get(channel as usize)
                .cloned()
                .ok_or("no such channel")?
        };
        if !outbox.open(number, topic.depth()) {
            return Err("the number of the subscription is in use");
        }
        let latched = topic.is_latched().then(|| {
            let crowd = Arc::new(Crowd::default());
            crowd.add(outbox, number);
            self.attach(&topic, page, crowd)
        });
        if latched.is_none() {
            let form = topic.form(page);
            let mut feed = form.feed.lock().unwrap_or_else(PoisonError::into_inner);
            form.crowd.add(outbox, number);
            if feed.is_none() {
                *feed = self.attach(&topic, page, form.crowd.clone());
            }
        }
        Ok(Subscription {
            topic,
            page,
            outbox: outbox.clone(),
            number,
            _latched: latched.flatten(),
        })
    }

    fn attach(&self, topic: &Topic, page: bool, crowd: Arc<Crowd>) -> Option<Guard> {
        let picture = page && topic.is_picture();
        let reader = Reader {
            crowd,
            start: Instant::now(),
            interval: page_interval(&topic.type_name).filter(|_| page),
            due: AtomicU64::new(0),
            pictures: picture.then(|| self.pictures.clone()),
        };
        self.feed.attach(topic, Arc::new(reader))
    }
}
