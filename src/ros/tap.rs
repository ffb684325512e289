//! Taps: samples of this node's publishers as CDR, for readers inside this process (recording, view).
//!
//! A tap gets the samples that a reader without loss would get, but not through the middleware; so it works with every back end.
#[cfg(feature = "rclrs")]
use super::Bytes;
use super::{Cdr, Durability, Qos};
use parking_lot::{Mutex, RwLock};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// A topic of this node, for [`Tap::open`].
#[derive(Clone, Copy, Debug)]
pub struct TapTopic<'a> {
    /// Full name.
    pub name: &'a str,
    /// Type, as ROS writes it.
    pub type_name: &'static str,
    /// Offered QoS.
    pub qos: Qos,
}

/// Chooses topics.
pub trait Tap: Send + Sync {
    /// Called once for every existing and every later publisher; `None` skips the topic.
    fn open(&self, topic: &TapTopic<'_>) -> Option<Arc<dyn TapReader>>;
}

/// Receives the samples of one topic. It is called on the publisher's thread and must not wait.
pub trait TapReader: Send + Sync {
    /// Whether samples are wanted now. If so, this reader counts as a subscriber: messages without subscribers are not computed.
    fn wanted(&self) -> bool;

    /// One sample: CDR with its encapsulation header, in consecutive parts.
    fn sample(&self, parts: &[&[u8]]);

    /// One that a latched topic has kept for so long. They are passed first.
    fn kept(&self, sample: &[u8], _age: Duration) {
        self.sample(&[sample]);
    }

    /// As [`Self::sample`], in memory that is shared with the middleware; a reader may keep it without a copy.
    fn whole(&self, cdr: &Arc<Cdr>) {
        self.sample(&[(**cdr).as_ref()]);
    }
}

/// A tap ends when this is dropped.
#[must_use = "the tap ends when this is dropped"]
pub struct TapGuard {
    id: usize,
    registry: Arc<TapRegistry>,
}

impl Drop for TapGuard {
    fn drop(&mut self) {
        self.registry.remove(self.id);
    }
}

/// All taps and all publishers of a node.
#[derive(Default)]
pub(super) struct TapRegistry(Mutex<TapTable>);

#[derive(Default)]
struct TapTable {
    next: usize,
    taps: Vec<(usize, Arc<dyn Tap>)>,
    channels: Vec<Weak<TapChannel>>,
}

impl TapRegistry {
    pub(super) fn add(self: &Arc<Self>, tap: Arc<dyn Tap>) -> TapGuard {
        let mut table = self.0.lock();
        let id = table.next;
        table.next += 1;
        table.channels.retain(|channel| channel.strong_count() > 0);
        for channel in table.channels.iter().filter_map(Weak::upgrade) {
            channel.open(id, &*tap);
        }
        table.taps.push((id, tap));
        TapGuard { id, registry: self.clone() }
    }

    pub(super) fn channel(&self, name: &str, type_name: &'static str, qos: Qos) -> Arc<TapChannel> {
        let channel = Arc::new(TapChannel::new(name, type_name, qos));
        let mut table = self.0.lock();
        table.channels.retain(|channel| channel.strong_count() > 0);
        for (id, tap) in &table.taps {
            channel.open(*id, &**tap);
        }
        table.channels.push(Arc::downgrade(&channel));
        channel
    }

    fn remove(&self, id: usize) {
        let mut table = self.0.lock();
        table.taps.retain(|(other, _)| *other != id);
        for channel in table.channels.iter().filter_map(Weak::upgrade) {
            channel.close(id);
        }
    }
}

/// When a sample was published, and its bytes.
type KeptSample = (Instant, Vec<u8>);

/// The readers of one publisher.
pub(super) struct TapChannel {
    name: String,
    type_name: &'static str,
    qos: Qos,
    /// Samples that a late reader of a latched topic gets.
    kept: Option<Mutex<VecDeque<KeptSample>>>,
    readers: RwLock<Vec<(usize, Arc<dyn TapReader>)>>,
    /// Number of readers, so that a publisher without a tap takes no lock.
    count: AtomicUsize,
}

impl TapChannel {
    pub(super) fn new(name: &str, type_name: &'static str, qos: Qos) -> Self {
        let latched = qos.durability == Durability::TransientLocal;
        Self {
            name: name.to_owned(),
            type_name,
            qos,
            kept: latched.then(Mutex::default),
            readers: RwLock::default(),
            count: AtomicUsize::new(0),
        }
    }

    fn open(&self, id: usize, tap: &dyn Tap) {
        let Some(reader) =
            tap.open(&TapTopic { name: &self.name, type_name: self.type_name, qos: self.qos })
        else {
            return;
        };
        // Locked for both steps: a sample published meanwhile arrives once, after the kept ones.
        let mut readers = self.readers.write();
        if let Some(kept) = &self.kept {
            let kept = kept.lock();
            let now = Instant::now();
            kept.iter().for_each(|(at, sample)| reader.kept(sample, now.duration_since(*at)));
        }
        readers.push((id, reader));
        self.count.store(readers.len(), Ordering::Release);
    }

    fn close(&self, id: usize) {
        let mut readers = self.readers.write();
        readers.retain(|(other, _)| *other != id);
        self.count.store(readers.len(), Ordering::Release);
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn qos(&self) -> Qos {
        self.qos
    }

    /// Number of readers that want samples.
    pub(super) fn wanted(&self) -> usize {
        if self.count.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let readers = self.readers.read();
        readers.iter().filter(|(_, reader)| reader.wanted()).count()
    }

    /// Whether samples are kept or have a reader.
    pub(super) fn is_open(&self) -> bool {
        self.kept.is_some() || self.count.load(Ordering::Acquire) > 0
    }

    /// Passes a sample to all readers that want it.
    pub(super) fn offer(&self, parts: &[&[u8]]) {
        self.send(parts, &|reader| reader.sample(parts));
    }

    /// As [`Self::offer`], for a sample that readers may keep.
    #[cfg(feature = "dds")]
    pub(super) fn offer_whole(&self, cdr: &Arc<Cdr>) {
        self.send(&[(**cdr).as_ref()], &|reader| reader.whole(cdr));
    }

    fn send(&self, parts: &[&[u8]], to: &dyn Fn(&dyn TapReader)) {
        if !self.is_open() {
            return;
        }
        let readers = self.readers.read();
        if let Some(kept) = &self.kept {
            let mut kept = kept.lock();
            while kept.len() >= usize::from(self.qos.depth.max(1)) {
                kept.pop_front();
            }
            kept.push_back((Instant::now(), parts.concat()));
        }
        for (_, reader) in readers.iter().filter(|(_, reader)| reader.wanted()) {
            to(&**reader);
        }
    }
}

/// The array as bytes without concurrent writers: memory of another process is copied.
#[cfg(feature = "rclrs")]
pub(super) fn owned_or_copied(data: Bytes<'_>) -> std::borrow::Cow<'_, [u8]> {
    match data {
        Bytes::Own(bytes) => bytes.into(),
        Bytes::Foreign(_) => {
            let mut copy = vec![0; data.len()];
            data.copy_to(&mut copy);
            copy.into()
        }
    }
}
