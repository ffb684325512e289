//! The back end that stores published messages, for tests and dry runs.
use super::backend::{CdrAnswer, CdrClient, CdrNode, CdrWriter, GraphNode, Watch};
use super::block::{Block, Pool};
use super::service::{self, CdrService, ServiceTypes};
use super::subscription::{self, Callback};
use super::tap::TapChannel;
use super::{
    Bytes, Connections, Guard, NodesByName, OnDrop, Outcome, Qos, RawSample, RosError, ServiceInfo,
    SubscribedTopic, Subscription, TopicInfo, WriterReport, WriterStats,
};
use crate::msgs::{Message, Service};
use crate::time::RosTime;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

/// Limit of stored messages per topic; older ones are dropped, to bound the memory of a dry run.
const MAX_SAMPLES: usize = 1024;

/// All published messages, by topic. Cheap to clone.
#[derive(Clone, Default)]
pub struct Recorder {
    topics: Arc<Mutex<BTreeMap<String, RecordedTopic>>>,
    services: Services,
    counts_only: Arc<AtomicBool>,
}

type Services = Arc<Mutex<BTreeMap<String, Arc<Mutex<CdrService>>>>>;

fn find(services: &Services, name: &str) -> Option<Arc<Mutex<CdrService>>> {
    services.lock().get(name).cloned()
}

#[derive(Default)]
struct RecordedTopic {
    type_name: &'static str,
    qos: Qos,
    subscribers: usize,
    stats: WriterStats,
    samples: VecDeque<Vec<u8>>,
    callbacks: Vec<(u64, Arc<Mutex<Callback>>)>,
    /// Number of open writers.
    writers: usize,
}

/// A pending service call, see [`Recorder::ask`].
pub struct PendingResponse<R: Message>(mpsc::Receiver<Vec<u8>>, PhantomData<R>);

impl<R: Message> PendingResponse<R> {
    /// The response if there is one; returned once.
    pub fn response(&self) -> Option<R> {
        subscription::decode(&self.0.try_recv().ok()?).ok()
    }
}

impl Recorder {
    /// Simulates `count` matched readers, also for a topic that does not exist yet.
    pub fn set_subscribers(&self, topic: &str, count: usize) {
        self.topics.lock().entry(topic.to_owned()).or_default().subscribers = count;
    }

    /// Simulates `count` matched readers on every existing topic.
    pub fn set_all_subscribers(&self, count: usize) {
        self.topics.lock().values_mut().for_each(|topic| topic.subscribers = count);
    }

    /// Counts messages from now on and stores none: publishing without local subscribers does not allocate, for tests
    /// that measure allocations.
    pub fn count_only(&self) {
        self.counts_only.store(true, Ordering::Relaxed);
    }

    /// CDR of the messages published on `topic`, oldest first, with encapsulation header.
    pub fn raw(&self, topic: &str) -> Vec<Vec<u8>> {
        self.topics
            .lock()
            .get(topic)
            .map(|topic| topic.samples.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Messages published on `topic`, oldest first; an error if one is not an `M`.
    pub fn messages<M: Message>(&self, topic: &str) -> Result<Vec<M>, RosError> {
        self.raw(topic).iter().map(|cdr| subscription::decode(cdr)).collect()
    }

    /// Removes the messages, keeps topics and counters.
    pub fn clear(&self) {
        self.topics.lock().values_mut().for_each(|topic| topic.samples.clear());
    }

    /// Calls a service and waits for its response; `None` if no service has this name and type.
    pub fn call<S: Service>(&self, name: &str, request: &S::Request) -> Option<S::Response> {
        let PendingResponse(response, _) = self.ask::<S>(name, request)?;
        subscription::decode(&response.recv().ok()?).ok()
    }

    /// Calls a service; `None` if no service has this name and type. The handler has run when this returns; the response may
    /// arrive later.
    pub fn ask<S: Service>(
        &self,
        name: &str,
        request: &S::Request,
    ) -> Option<PendingResponse<S::Response>> {
        let service = find(&self.services, name)?;
        let cdr = service::encode_padded(request).ok()?;
        let (answer, response) = mpsc::sync_channel(1);
        let mut service = service.lock();
        if service.types.service != S::TYPE {
            return None;
        }
        let answer = move |cdr| drop(answer.send(cdr)); // fails if the caller is gone
        (service.handler)(&cdr, Box::new(answer));
        Some(PendingResponse(response, PhantomData))
    }

    /// Name and type of every service that the node offers.
    pub fn services(&self) -> Vec<(String, &'static str)> {
        let services = self.services.lock();
        let type_of = |service: &Mutex<CdrService>| service.lock().types.service;
        services.iter().map(|(name, service)| (name.clone(), type_of(service))).collect()
    }

    /// Calls a service with the CDR bytes of a foreign client; false if no service has this name. The response, if any, is
    /// discarded.
    pub fn ask_cdr(&self, name: &str, cdr: &[u8]) -> bool {
        let service = find(&self.services, name);
        if let Some(service) = &service {
            (service.lock().handler)(cdr, Box::new(drop));
        }
        service.is_some()
    }

    /// Names of the subscribed topics.
    pub fn subscribed(&self) -> Vec<String> {
        let topics = self.topics.lock();
        let subscribed = topics.iter().filter(|(_, t)| !t.callbacks.is_empty());
        subscribed.map(|(name, _)| name.clone()).collect()
    }

    fn is_subscribed(&self, topic: &str) -> bool {
        self.topics.lock().get(topic).is_some_and(|t| !t.callbacks.is_empty())
    }

    /// Delivers the CDR bytes of a foreign writer to all subscriptions of `topic`.
    pub fn deliver(&self, topic: &str, cdr: &[u8]) {
        let callbacks: Vec<_> = match self.topics.lock().get(topic) {
            Some(topic) => topic.callbacks.iter().map(|(_, c)| c.clone()).collect(),
            None => return,
        };
        for callback in callbacks {
            let mut callback = callback.lock();
            callback(&RawSample { cdr, source_stamp: RosTime(0) });
        }
    }
}

impl GraphNode for Recorder {
    fn report(&self) -> Vec<WriterReport> {
        let is_open = |topic: &&RecordedTopic| topic.writers > 0;
        let report = |(name, topic): (&String, &RecordedTopic)| WriterReport {
            topic: name.clone(),
            type_name: topic.type_name,
            qos: topic.qos,
            subscribers: topic.subscribers,
            incompatible: super::Incompatible::default(),
            stats: topic.stats,
        };
        self.topics.lock().iter().filter(|(_, topic)| is_open(topic)).map(report).collect()
    }

    fn topics(&self) -> Vec<TopicInfo> {
        let info = |report: WriterReport| TopicInfo {
            name: report.topic,
            type_name: report.type_name.to_owned(),
            publishers: 1,
            offered: report.qos,
        };
        self.report().into_iter().map(info).collect()
    }

    /// Always empty: the recorder does not keep track of the clients of services.
    fn clients(&self) -> Vec<ServiceInfo> {
        Vec::new()
    }

    fn servers(&self) -> Vec<ServiceInfo> {
        let services = self.services().into_iter();
        let info = |(name, type_name): (String, &str)| ServiceInfo {
            name,
            type_name: type_name.to_owned(),
        };
        services.map(info).collect()
    }

    /// Assigns every publisher, subscription and service to one node, `/recorder`.
    fn connections(&self) -> Result<Box<dyn Watch>, RosError> {
        Ok(Box::new(self.clone()))
    }

    /// No effect: updates cost nothing here.
    fn hold(&self) -> Guard {
        Box::new(())
    }

    fn further_node(&self, _: &str, _: &str) -> Result<Guard, RosError> {
        Ok(Box::new(()))
    }
}

impl Watch for Recorder {
    fn current(&mut self) -> Connections {
        fn nodes_by_name(names: impl Iterator<Item = String>) -> NodesByName {
            names.map(|name| (name, ["/recorder".to_owned()].into())).collect()
        }
        Connections {
            publishers: nodes_by_name(self.topics().into_iter().map(|topic| topic.name)),
            subscribers: nodes_by_name(self.subscribed().into_iter()),
            servers: nodes_by_name(self.servers().into_iter().map(|server| server.name)),
        }
    }

    /// Always empty: the recorder does not keep the types of subscriptions.
    fn subscribed_topics(&mut self) -> Vec<SubscribedTopic> {
        Vec::new()
    }
}

impl CdrNode for Recorder {
    fn writer(
        &self,
        name: &str,
        type_name: &'static str,
        qos: Qos,
    ) -> Result<Arc<dyn CdrWriter>, RosError> {
        let mut topics = self.topics.lock();
        let topic = topics.entry(name.to_owned()).or_default();
        if !topic.type_name.is_empty() && topic.type_name != type_name {
            let (existing, wanted) = (topic.type_name.to_owned(), type_name.to_owned());
            return Err(RosError::TypeConflict { topic: name.to_owned(), existing, wanted });
        }
        (topic.type_name, topic.qos) = (type_name, qos);
        topic.writers += 1;
        let recorder = self.clone();
        Ok(Arc::new(RecordingWriter { topic: name.into(), recorder, pool: Arc::default() }))
    }

    fn subscribe(
        &self,
        topic: &str,
        _: &str,
        _: Qos,
        callback: Callback,
    ) -> Result<Subscription, RosError> {
        let mut topics = self.topics.lock();
        let entry = topics.entry(topic.to_owned()).or_default();
        let id = entry.callbacks.last().map_or(0, |(id, _)| id + 1);
        entry.callbacks.push((id, Arc::new(Mutex::new(callback))));
        entry.subscribers += 1;
        let (recorder, topic) = (self.clone(), topic.to_owned());
        Ok(Subscription::new(OnDrop(move || {
            if let Some(topic) = recorder.topics.lock().get_mut(&topic) {
                topic.callbacks.retain(|(other, _)| *other != id);
                topic.subscribers = topic.subscribers.saturating_sub(1);
            }
        })))
    }

    fn service(&self, name: &str, service: CdrService) -> Result<Guard, RosError> {
        let mut services = self.services.lock();
        if services.contains_key(name) {
            return Err(RosError::ServiceExists { service: name.to_owned() });
        }
        services.insert(name.to_owned(), Arc::new(Mutex::new(service)));
        let (services, name) = (self.services.clone(), name.to_owned());
        Ok(Box::new(OnDrop(move || {
            services.lock().remove(&name);
        })))
    }

    fn client(&self, name: &str, service: ServiceTypes) -> Result<Box<dyn CdrClient>, RosError> {
        let (services, name) = (self.services.clone(), name.to_owned());
        Ok(Box::new(LocalClient { services, name, type_name: service.service }))
    }
}

/// Client of one service of this process.
struct LocalClient {
    services: Services,
    name: String,
    type_name: &'static str,
}

impl LocalClient {
    fn service(&self) -> Option<Arc<Mutex<CdrService>>> {
        let service = find(&self.services, &self.name)?;
        let type_name = service.lock().types.service;
        (type_name == self.type_name).then_some(service)
    }
}

impl CdrClient for LocalClient {
    fn is_ready(&self) -> bool {
        self.service().is_some()
    }

    fn call(&self, request: &[u8], answer: CdrAnswer) -> Result<(), RosError> {
        if let Some(service) = self.service() {
            (service.lock().handler)(request, Box::new(move |cdr| answer(&cdr)));
        }
        Ok(())
    }
}

/// Writer of one topic.
struct RecordingWriter {
    topic: String,
    recorder: Recorder,
    pool: Arc<Pool>,
}

impl Drop for RecordingWriter {
    fn drop(&mut self) {
        if let Some(topic) = self.recorder.topics.lock().get_mut(&self.topic) {
            topic.writers -= 1;
        }
    }
}

impl CdrWriter for RecordingWriter {
    fn block(&self, room: usize) -> Block {
        self.pool.take(room)
    }

    fn write(
        &self,
        parts: &[Bytes<'_>],
        intact: &dyn Fn() -> bool,
        taps: &TapChannel,
    ) -> Result<Outcome, RosError> {
        let counts_only = self.recorder.counts_only.load(Ordering::Relaxed);
        let is_wanted = self.recorder.is_subscribed(&self.topic) || taps.is_open();
        let mut sample = Vec::new();
        for part in parts.iter().filter(|_| is_wanted || !counts_only) {
            let end = sample.len();
            sample.resize(end + part.len(), 0);
            part.copy_to(&mut sample[end..]);
        }
        let intact = intact();
        if intact {
            taps.offer(&[&sample]);
        }
        let mut topics = self.recorder.topics.lock();
        let Some(topic) = topics.get_mut(&self.topic) else { return Ok(Outcome::Dropped) };
        if !intact {
            topic.stats.torn += 1;
            return Ok(Outcome::Torn);
        }
        topic.stats.published += 1;
        topic.stats.bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        if !counts_only {
            if topic.samples.len() == MAX_SAMPLES {
                topic.samples.pop_front();
            }
            topic.samples.push_back(sample.clone());
        }
        drop(topics);
        if is_wanted {
            self.recorder.deliver(&self.topic, &sample);
        }
        Ok(Outcome::Sent)
    }

    fn subscribers(&self) -> usize {
        self.recorder.topics.lock().get(&self.topic).map_or(0, |topic| topic.subscribers)
    }

    fn stats(&self) -> WriterStats {
        self.recorder.topics.lock().get(&self.topic).map(|topic| topic.stats).unwrap_or_default()
    }
}
