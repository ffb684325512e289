//! Messages that a client publishes (`clientPublish`): they go to the subscriptions of this node, not into the middleware.
use super::ViewFigures;
use crate::config::did_you_mean;
use crate::ros::{Middleware, Payload};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Encodings of messages. Foxglove uses the first one, also for requests of services, which must be JSON.
pub(super) const ENCODINGS: [&str; 2] = [JSON, "cdr"];
const JSON: &str = "json";
/// Maximum number of channels that one client advertises.
const MAX_CHANNELS: usize = 1000;
/// Maximum length of a message in JSON: decoding takes up to a hundred times its length in memory.
const MAX_JSON: usize = 64 << 10;
/// Minimum interval between equal reports of refused messages.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientChannel {
    id: u32,
    topic: String,
    encoding: String,
    schema_name: String,
}

/// The channels that one client has advertised.
#[derive(Default)]
pub(super) struct ClientChannels {
    channels: HashMap<u32, AdvertisedChannel>,
    last_report: Option<(String, Instant)>,
}

struct AdvertisedChannel {
    topic: String,
    type_name: &'static str,
    is_json: bool,
}

impl ClientChannels {
    /// Adds channels; returns the reason for each refused channel.
    pub(super) fn advertise(
        &mut self,
        middleware: &Middleware,
        channels: Vec<ClientChannel>,
    ) -> Vec<String> {
        let subscribed = middleware.subscribed();
        let mut refused = Vec::new();
        for ClientChannel { id, topic, encoding, schema_name } in channels {
            let result = match subscribed.get(&topic) {
                None => {
                    let hint = did_you_mean(&topic, subscribed.keys().map(String::as_str));
                    Err(format!("this node does not subscribe to it{hint}"))
                }
                Some(found) if *found != schema_name => {
                    Err(format!("it is a {found}, not a {schema_name}"))
                }
                Some(_) if !ENCODINGS.contains(&&*encoding) => {
                    Err(format!("the encoding must be one of {}", ENCODINGS.join(", ")))
                }
                Some(_) if self.channels.contains_key(&id) => {
                    Err(format!("the id {id} of the channel is in use"))
                }
                Some(_) if self.channels.len() >= MAX_CHANNELS => {
                    Err("the client has too many channels".to_owned())
                }
                Some(type_name) => Ok(type_name),
            };
            match result {
                Ok(type_name) => {
                    tracing::info!("view: a client publishes {topic}");
                    let is_json = encoding == JSON;
                    self.channels.insert(id, AdvertisedChannel { topic, type_name, is_json });
                }
                Err(why) => refused.push(format!("cannot publish {topic}: {why}")),
            }
        }
        refused
    }

    pub(super) fn unadvertise(&mut self, ids: &[u32]) {
        self.channels.retain(|id, _| !ids.contains(id));
    }

    /// Delivers and counts a message (`Client Message Data` without its opcode). Returns why it is refused, but the same reason at
    /// most once per second: a stream of wrong setpoints is reported as one fault.
    pub(super) fn publish(
        &mut self,
        middleware: &Middleware,
        message: &[u8],
        figures: &ViewFigures,
    ) -> Option<String> {
        let Err(why) = self.deliver(middleware, message) else {
            figures.published.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        figures.refused_messages.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let is_repeated = self.last_report.as_ref().is_some_and(|(last, at)| {
            *last == why && now.saturating_duration_since(*at) < REPORT_INTERVAL
        });
        if is_repeated {
            return None;
        }
        self.last_report = Some((why.clone(), now));
        Some(why)
    }

    fn deliver(&self, middleware: &Middleware, message: &[u8]) -> Result<(), String> {
        let (id, data) = message.split_first_chunk().ok_or("the message data is truncated")?;
        let id = u32::from_le_bytes(*id);
        let AdvertisedChannel { topic, type_name, is_json } =
            self.channels.get(&id).ok_or_else(|| format!("no such channel: {id}"))?;
        let refused = |why: &dyn std::fmt::Display| format!("{topic}: {why}");
        let payload = if *is_json {
            if data.len() > MAX_JSON {
                let len = data.len();
                return Err(refused(&format!("{len} bytes of JSON, the limit is {MAX_JSON}")));
            }
            Payload::Yaml(std::str::from_utf8(data).map_err(|error| refused(&error))?)
        } else {
            Payload::Cdr(data)
        };
        match middleware.deliver(topic, type_name, payload) {
            Ok(true) => Ok(()),
            Ok(false) => Err(refused(&"this node does not subscribe to it any more")),
            Err(error) => Err(refused(&error)),
        }
    }
}
