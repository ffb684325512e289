//! Messages out: one small facade over the middleware; the rest of the code does not know which one it is.
//!
//! * `dds` (feature, default): Cyclone DDS inside this process, ROS names and types, no ROS needed.
//! * [`recorder`]: keeps what is published, for tests and dry runs.
//!
//! Publishing never waits for a reader. Images and clouds go from the caller's slice to the middleware in one copy.
mod bulk;
mod error;
pub mod names;
mod options;
mod publisher;
mod qos;
pub mod recorder;
mod report;
mod subscription;

#[cfg(feature = "dds")]
mod dds;

pub use bulk::{CloudView, CompressedView, ImageView};
pub use error::RosError;
pub use options::{Discovery, Distro, Options};
pub use publisher::{CloudPublisher, CompressedPublisher, ImagePublisher, Outcome, Publisher};
pub use qos::{Durability, History, Policy, Qos, Reliability};
pub use recorder::Recorder;
pub use report::{Incompatible, TopicInfo, WriterReport, WriterStats};
pub use subscription::{RawSample, Subscription};

use crate::msgs::{
    Message,
    sensor_msgs::msg::{CompressedImage, Image, PointCloud2},
};
use publisher::Sink;
use std::sync::Arc;

/// One ROS node on one middleware. Cheap to clone; the node leaves the graph when the last clone and the last
/// publisher are gone.
#[derive(Clone)]
pub struct Middleware {
    shared: Arc<Shared>,
}

struct Shared {
    names: names::Resolver,
    backend: Backend,
}

/// The back ends. An enum and not a trait object: there are few, all known here, and the publishers stay plain structs.
enum Backend {
    #[cfg(feature = "dds")]
    Dds(dds::Node),
    Recorder(Recorder),
}

impl Middleware {
    /// Joins the ROS graph with the embedded Cyclone DDS.
    #[cfg(feature = "dds")]
    pub fn dds(options: &Options) -> Result<Self, RosError> {
        let names = names::Resolver::new(&options.node_name, &options.namespace, &options.remaps)?;
        let node = dds::Node::new(options, &names)?;
        Ok(Self {
            shared: Arc::new(Shared {
                names,
                backend: Backend::Dds(node),
            }),
        })
    }

    /// Publishes into memory only.
    pub fn recorder(options: &Options) -> Result<(Self, Recorder), RosError> {
        let names = names::Resolver::new(&options.node_name, &options.namespace, &options.remaps)?;
        let recorder = Recorder::default();
        let backend = Backend::Recorder(recorder.clone());
        Ok((
            Self {
                shared: Arc::new(Shared { names, backend }),
            },
            recorder,
        ))
    }

    /// The topic's full name after expansion (`img` and `~/img` become absolute) and remapping.
    pub fn resolve(&self, topic: &str) -> Result<String, RosError> {
        self.shared.names.resolve(topic)
    }

    /// Full name of this node.
    pub fn node_name(&self) -> &str {
        self.shared.names.node()
    }

    /// Publisher of small messages.
    pub fn publisher<M: Message>(&self, topic: &str, qos: Qos) -> Result<Publisher<M>, RosError> {
        Ok(Publisher::new(self.sink(topic, M::TYPE, qos)?))
    }

    /// Publisher of `sensor_msgs/msg/Image`.
    pub fn image(&self, topic: &str, qos: Qos) -> Result<ImagePublisher, RosError> {
        Ok(ImagePublisher::new(self.sink(topic, Image::TYPE, qos)?))
    }

    /// Publisher of `sensor_msgs/msg/CompressedImage`.
    pub fn compressed(&self, topic: &str, qos: Qos) -> Result<CompressedPublisher, RosError> {
        Ok(CompressedPublisher::new(self.sink(
            topic,
            CompressedImage::TYPE,
            qos,
        )?))
    }

    /// Publisher of `sensor_msgs/msg/PointCloud2`.
    pub fn cloud(&self, topic: &str, qos: Qos) -> Result<CloudPublisher, RosError> {
        Ok(CloudPublisher::new(self.sink(
            topic,
            PointCloud2::TYPE,
            qos,
        )?))
    }

    /// Calls `callback` with the CDR bytes of each sample, on the middleware's receive thread: it must return quickly.
    pub fn subscribe_raw(
        &self,
        topic: &str,
        type_name: &str,
        qos: Qos,
        callback: impl FnMut(&RawSample<'_>) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        let topic = self.resolve(topic)?;
        match &self.shared.backend {
            #[cfg(feature = "dds")]
            Backend::Dds(node) => node.subscribe(&topic, type_name, qos, Box::new(callback)),
            Backend::Recorder(recorder) => {
                Ok(recorder.subscribe(&topic, type_name, qos, Box::new(callback)))
            }
        }
    }

    /// The same with decoded messages; a sample that does not decode is counted, not delivered.
    pub fn subscribe<M: Message>(
        &self,
        topic: &str,
        qos: Qos,
        mut callback: impl FnMut(M, &RawSample<'_>) + Send + 'static,
    ) -> Result<Subscription, RosError> {
        let undecodable = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let count = undecodable.clone();
        let subscription =
            self.subscribe_raw(
                topic,
                M::TYPE,
                qos,
                move |sample| match subscription::decode::<M>(sample.cdr) {
                    Ok(message) => callback(message, sample),
                    Err(_) => {
                        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                },
            )?;
        Ok(subscription.with_undecodable(undecodable))
    }

    /// Figures of every publisher of this node, for `/diagnostics`.
    pub fn report(&self) -> Vec<WriterReport> {
        match &self.shared.backend {
            #[cfg(feature = "dds")]
            Backend::Dds(node) => node.report(),
            Backend::Recorder(recorder) => recorder.report(),
        }
    }

    /// Topics of the whole ROS graph that have a publisher, as far as discovery has gone.
    pub fn topics(&self) -> Vec<TopicInfo> {
        match &self.shared.backend {
            #[cfg(feature = "dds")]
            Backend::Dds(node) => node.topics(),
            Backend::Recorder(recorder) => recorder.topics(),
        }
    }

    fn sink(&self, topic: &str, type_name: &'static str, qos: Qos) -> Result<Sink, RosError> {
        let topic = self.resolve(topic)?;
        match &self.shared.backend {
            #[cfg(feature = "dds")]
            Backend::Dds(node) => Ok(Sink::Dds(node.writer(&topic, type_name, qos)?)),
            Backend::Recorder(recorder) => {
                Ok(Sink::Recorder(recorder.writer(&topic, type_name, qos)?))
            }
        }
    }
}
