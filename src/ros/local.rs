//! Messages that clients of `view` publish, passed to the subscriptions of this node without the middleware.
use super::{RosError, call, callback::EndingCallback, subscription::decode};
use crate::msgs::Message;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// A message for the subscriptions of this node.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// CDR with its 4-byte encapsulation header.
    Cdr(&'a [u8]),
    /// YAML or JSON; missing fields have their defaults.
    Yaml(&'a str),
}

/// Passes a message on; false if its subscription has ended.
type Deliver = dyn Fn(Payload<'_>) -> Result<bool, RosError> + Send + Sync;

/// One subscription of this node; ends on drop.
pub(super) struct LocalSubscription {
    type_name: &'static str,
    deliver: Box<Deliver>,
}

/// All subscriptions of a node by full name of their topic.
#[derive(Default)]
pub(super) struct LocalSubscriptions(Mutex<BTreeMap<String, Vec<Weak<LocalSubscription>>>>);

impl LocalSubscriptions {
    pub(super) fn add<M: Message>(
        &self,
        topic: &str,
        callback: EndingCallback<impl FnMut(M) + Send + 'static>,
    ) -> Arc<LocalSubscription> {
        let deliver = move |payload: Payload<'_>| {
            let message: M = match payload {
                Payload::Cdr(cdr) => decode(cdr)?,
                Payload::Yaml(text) => call::message(text).map_err(|(field, message)| {
                    RosError::Decode { type_name: M::TYPE, message: format!("{field}: {message}") }
                })?,
            };
            Ok(callback.run(|callback| callback(message)))
        };
        let added = Arc::new(LocalSubscription { type_name: M::TYPE, deliver: Box::new(deliver) });
        let mut topics = self.0.lock();
        topics.retain(|_, subscriptions| {
            subscriptions.retain(|subscription| subscription.strong_count() > 0);
            !subscriptions.is_empty()
        });
        topics.entry(topic.to_owned()).or_default().push(Arc::downgrade(&added));
        added
    }

    /// Types by topic.
    pub(super) fn types(&self) -> BTreeMap<String, &'static str> {
        let topics = self.0.lock();
        let type_of = |subscriptions: &Vec<Weak<LocalSubscription>>| {
            let first = subscriptions.iter().find_map(Weak::upgrade);
            first.map(|subscription| subscription.type_name)
        };
        let types = topics.iter();
        types.filter_map(|(topic, all)| Some((topic.clone(), type_of(all)?))).collect()
    }

    /// Passes a message to all subscriptions of a topic with this type, on the caller's thread; false if there is none.
    pub(super) fn deliver(
        &self,
        topic: &str,
        type_name: &str,
        payload: Payload<'_>,
    ) -> Result<bool, RosError> {
        // Not called under the lock: a callback may open subscriptions.
        let subscriptions: Vec<_> = match self.0.lock().get(topic) {
            Some(subscriptions) => subscriptions.iter().filter_map(Weak::upgrade).collect(),
            None => return Ok(false),
        };
        let mut delivered = false;
        for subscription in subscriptions.iter().filter(|found| found.type_name == type_name) {
            delivered |= (subscription.deliver)(payload)?;
        }
        Ok(delivered)
    }
}
