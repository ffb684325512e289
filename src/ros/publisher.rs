//! Publishers: a message becomes a list of byte ranges, the back end takes the list.
use super::{CloudView, CompressedView, ImageView, Qos, RosError, WriterStats, bulk, recorder};
use crate::msgs::Message;
use std::{cell::RefCell, marker::PhantomData};

#[cfg(feature = "dds")]
use {super::dds, std::sync::Arc};

/// What became of a published sample.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Handed to the middleware.
    Sent,
    /// The source changed while it was copied; nothing was sent.
    Torn,
    /// The middleware had no room and would have had to wait for a reader; nothing was sent.
    Dropped,
}

/// Where serialised messages go.
#[derive(Clone)]
pub(super) enum Sink {
    #[cfg(feature = "dds")]
    Dds(Arc<dds::Writer>),
    Recorder(recorder::Writer),
}

impl Sink {
    /// Writes the concatenation of `parts`, unless `intact` denies after the copy.
    fn write(&self, parts: &[&[u8]], intact: &dyn Fn() -> bool) -> Result<Outcome, RosError> {
        match self {
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.write(parts, intact),
            Self::Recorder(writer) => Ok(writer.write(parts, intact)),
        }
    }

    fn subscribers(&self) -> usize {
        match self {
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.subscribers(),
            Self::Recorder(writer) => writer.subscribers(),
        }
    }

    fn stats(&self) -> WriterStats {
        match self {
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.stats(),
            Self::Recorder(writer) => writer.stats(),
        }
    }

    fn topic(&self) -> &str {
        match self {
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.topic(),
            Self::Recorder(writer) => writer.topic(),
        }
    }

    fn qos(&self) -> Qos {
        match self {
            #[cfg(feature = "dds")]
            Self::Dds(writer) => writer.qos(),
            Self::Recorder(writer) => writer.qos(),
        }
    }
}

thread_local! {
    /// Heads and small messages are encoded here, so that steady publishing allocates nothing.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_scratch<R>(body: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut buffer) => {
            buffer.clear();
            body(&mut buffer)
        }
        // Reached only if an `intact` closure publishes; correct, merely not free of allocation.
        Err(_) => body(&mut Vec::new()),
    })
}

macro_rules! common {
    () => {
        /// Readers that match now; one atomic load.
        pub fn subscribers(&self) -> usize {
            self.sink.subscribers()
        }

        /// Counters since the publisher was made.
        pub fn stats(&self) -> WriterStats {
            self.sink.stats()
        }

        /// Full name of the topic.
        pub fn topic(&self) -> &str {
            self.sink.topic()
        }

        /// What is offered to readers.
        pub fn qos(&self) -> Qos {
            self.sink.qos()
        }
    };
}

/// Publisher of small messages. Cheap to clone.
pub struct Publisher<M> {
    sink: Sink,
    message: PhantomData<fn(&M)>,
}

impl<M> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        Self {
            sink: self.sink.clone(),
            message: PhantomData,
        }
    }
}

impl<M: Message> Publisher<M> {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink,
            message: PhantomData,
        }
    }

    /// Publishes; never waits for a reader.
    pub fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        with_scratch(|buffer| {
            bulk::encode(buffer, M::TYPE, message)?;
            bulk::pad(buffer);
            self.sink.write(&[buffer], &|| true)
        })
    }

    common!();
}

macro_rules! bulk_publisher {
    ($(#[$doc:meta])* $name:ident, $view:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            sink: Sink,
        }

        impl $name {
            pub(super) fn new(sink: Sink) -> Self {
                Self { sink }
            }

            /// Publishes with one copy of the data; never waits for a reader.
            pub fn publish(&self, view: &$view<'_>) -> Result<Outcome, RosError> {
                self.publish_if(view, &|| true)
            }

            /// Publishes unless `intact`, asked after the data was copied, denies: then the source was overwritten
            /// meanwhile, nothing is sent and the torn sample is counted.
            pub fn publish_if(&self, view: &$view<'_>, intact: &dyn Fn() -> bool) -> Result<Outcome, RosError> {
                with_scratch(|head| {
                    let tail = view.encode_head(head)?;
                    self.sink.write(&[head, view.data, tail.as_slice()], intact)
                })
            }

            common!();
        }
    };
}

bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/Image`. Cheap to clone.
    ImagePublisher, ImageView
}
bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/CompressedImage`. Cheap to clone.
    CompressedPublisher, CompressedView
}
bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/PointCloud2`. Cheap to clone.
    CloudPublisher, CloudView
}
