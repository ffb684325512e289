//! Subscriptions to all topics of the graph, and the figures of each.
use super::groups::TopicFigures;
use crate::node::clock::host_now;
use crate::ros::{Middleware, Qos, RosError, Subscription, TopicInfo};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::{collections::BTreeMap, collections::btree_map::Entry, sync::Arc, time::Instant};

/// Latched topics, whose messages were published before this program started. In a workspace [`TopicInfo::offered`] does not tell
/// them.
const LATCHED: [&str; 3] = ["/tf_static", "/robot_description", "/ground_truth/path"];

struct TopicSubscription {
    type_name: String,
    counts: Arc<Mutex<TopicCounters>>,
    _subscription: Subscription,
}

struct TopicCounters {
    messages: u64,
    bytes: u64,
    /// Age of the stamp on arrival, for messages that begin with a header.
    age_us: Histogram<u64>,
    total: u64,
}

#[derive(Default)]
pub(super) struct TopicSubscriptions {
    topics: BTreeMap<String, TopicSubscription>,
    last: Option<Instant>,
}

impl TopicSubscriptions {
    /// Subscribes to new topics below `prefix`, and removes those that have left the graph, unless all topics have left it.
    pub(super) fn subscribe(
        &mut self,
        middleware: &Middleware,
        prefix: &str,
    ) -> Result<(), RosError> {
        let mut topics = middleware.topics();
        topics.retain(|topic| topic.name.starts_with(prefix));
        if !topics.is_empty() {
            let is_in_graph = |name: &String, subscription: &TopicSubscription| {
                let same = |t: &TopicInfo| t.name == *name && t.type_name == subscription.type_name;
                topics.iter().any(same)
            };
            self.topics.retain(|name, subscription| is_in_graph(name, subscription));
        }
        for topic in topics {
            if let Entry::Vacant(entry) = self.topics.entry(topic.name.clone()) {
                entry.insert(subscribe(middleware, &topic)?);
            }
        }
        Ok(())
    }

    /// Returns the figures since the last call.
    pub(super) fn take_figures(&mut self) -> Vec<TopicFigures> {
        let last = self.last.replace(Instant::now());
        let seconds = last.map_or(1.0, |last| last.elapsed().as_secs_f64().max(1e-3));
        let take = |(name, subscription): (&String, &TopicSubscription)| {
            let mut counts = subscription.counts.lock();
            let ms = |quantile| counts.age_us.value_at_quantile(quantile) as f64 * 1e-3;
            let topic = TopicFigures {
                name: name.clone(),
                type_name: subscription.type_name.clone(),
                hz: counts.messages as f64 / seconds,
                mb_per_s: counts.bytes as f64 / seconds * 1e-6,
                age_ms: (!counts.age_us.is_empty()).then(|| [ms(0.5), ms(0.99)]),
                total: counts.total,
            };
            (counts.messages, counts.bytes) = (0, 0);
            counts.age_us.reset();
            topic
        };
        self.topics.iter().map(take).collect()
    }
}

/// Returns the QoS with which a reader gets what all publishers of a topic send, and what they have stored.
pub fn qos_of(topic: &TopicInfo) -> Qos {
    if LATCHED.iter().any(|name| topic.name.ends_with(name)) { Qos::LATCHED } else { topic.offered }
}

fn subscribe(middleware: &Middleware, topic: &TopicInfo) -> Result<TopicSubscription, RosError> {
    let histogram = Histogram::new_with_bounds(1, 60_000_000, 2).unwrap_or_else(|_| unreachable!());
    let counts =
        Arc::new(Mutex::new(TopicCounters { messages: 0, bytes: 0, age_us: histogram, total: 0 }));
    let writer = counts.clone();
    let qos = qos_of(topic);
    let handle = middleware.watch(&topic.name, &topic.type_name, qos, move |message| {
        let mut counts = writer.lock();
        counts.messages += 1;
        counts.total += 1;
        counts.bytes += message.bytes as u64;
        if let Some(stamp) = message.stamp {
            let us = (host_now().0 - stamp.0) / 1000;
            counts.age_us.saturating_record(u64::try_from(us).unwrap_or(0).max(1));
        }
    })?;
    Ok(TopicSubscription { type_name: topic.type_name.clone(), counts, _subscription: handle })
}
