//! Messages of topics whose type is known only at run time.
use super::{CallError, message_of, parse, tree::MessageValue};
use crate::msgs::{self, Message};
use crate::ros::{Middleware, Outcome, Qos, RosError, Subscription};
use crate::{config::did_you_mean, time::RosTime};

/// A message type that is found by its name.
#[derive(Clone, Copy)]
pub struct MessageType {
    name: &'static str,
    default: fn() -> Result<MessageValue, CallError>,
    subscribe: Subscribe,
    publisher: fn(&Middleware, &str, Qos, &str) -> Result<YamlPublisher, CallError>,
}

type Subscribe = fn(&Middleware, &str, Qos, usize, OnMessage) -> Result<Subscription, RosError>;
type OnMessage = Box<dyn FnMut(Result<MessageValue, CallError>) + Send>;

/// Publishes one message that is given in YAML, any number of times.
pub struct YamlPublisher {
    topic: String,
    subscribers: Box<dyn Fn() -> usize + Send>,
    publish: Box<dyn Fn(RosTime) -> Result<Outcome, CallError> + Send>,
}

impl MessageType {
    /// Finds a type such as `std_msgs/msg/String`. Errors: no such type, with the most similar one.
    pub fn by_name(name: &str) -> Result<Self, CallError> {
        by_name(name).ok_or_else(|| CallError::Type {
            kind: "message",
            type_name: name.to_owned(),
            hint: did_you_mean(name, msgs::TYPES.iter().copied()),
        })
    }

    /// Full name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The default message.
    pub fn default_value(&self) -> Result<MessageValue, CallError> {
        (self.default)()
    }

    /// Calls `on_message` with each message, on the middleware's receive thread: it must return quickly. Arrays keep their first
    /// `most` elements.
    pub fn subscribe(
        &self,
        middleware: &Middleware,
        topic: &str,
        qos: Qos,
        most: usize,
        on_message: impl FnMut(Result<MessageValue, CallError>) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        (self.subscribe)(middleware, topic, qos, most, Box::new(on_message))
    }

    /// A publisher of the message in `text`. Missing fields have their defaults. A header may be `auto` and a time `now`, which
    /// become the time of publishing.
    pub fn publisher(
        &self,
        middleware: &Middleware,
        topic: &str,
        qos: Qos,
        text: &str,
    ) -> Result<YamlPublisher, CallError> {
        (self.publisher)(middleware, topic, qos, text)
    }

    fn of<M: Message>() -> Self {
        Self {
            name: M::TYPE,
            default: || value_of(&M::default(), usize::MAX),
            subscribe: |middleware, topic, qos, most, mut on_message| {
                let read = move |message: M| on_message(value_of(&message, most));
                middleware.subscribe(topic, qos, read)
            },
            publisher: publisher::<M>,
        }
    }
}

fn value_of<M: Message>(message: &M, most: usize) -> Result<MessageValue, CallError> {
    let value = MessageValue::of(message, most);
    value.map_err(|error| CallError::Contents { type_name: M::TYPE, message: error.message })
}

fn publisher<M: Message>(
    middleware: &Middleware,
    topic: &str,
    qos: Qos,
    text: &str,
) -> Result<YamlPublisher, CallError> {
    let given = parse("message", text)?;
    let message = move |now| message_of::<M>("message", M::TYPE, given.as_ref(), Some(now));
    message(RosTime(0))?;
    let publisher = middleware.publisher::<M>(topic, qos)?;
    let counted = publisher.clone();
    Ok(YamlPublisher {
        topic: publisher.topic().to_owned(),
        subscribers: Box::new(move || counted.subscribers()),
        publish: Box::new(move |now| Ok(publisher.publish(&message(now)?)?)),
    })
}

impl YamlPublisher {
    /// Full name of the topic.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Number of matched subscriptions.
    pub fn subscribers(&self) -> usize {
        (self.subscribers)()
    }

    /// Publishes the message.
    pub fn publish(&self, now: RosTime) -> Result<Outcome, CallError> {
        (self.publish)(now)
    }
}

macro_rules! table {
    (@rows $($package:ident { $($name:ident)+ })+) => {
        fn by_name(type_name: &str) -> Option<MessageType> {
            $(crate::where_built! { $package {
                $(if type_name == concat!(stringify!($package), "/msg/", stringify!($name)) {
                    return Some(MessageType::of::<msgs::$package::msg::$name>());
                })+
            } })+
            None
        }
    };
}

crate::every_message_type! { [table] }
