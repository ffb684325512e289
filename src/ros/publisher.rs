//! Publishers: turn a message into a list of byte ranges for the back end.
#[cfg(feature = "rclrs")]
use super::rclrs;
#[cfg(feature = "rclrs")]
use super::tap::settled;
use super::{
    CloudHead, CompressedHead, ImageHead, Qos, RosError, WriterStats,
    backend::CdrWriter,
    bulk::{self, Bulk, Bytes, Head},
    loan::{Loan, Place},
    tap::{Channel, Registry},
};
use crate::msgs::{
    Message,
    sensor_msgs::msg::{CompressedImage, Image, PointCloud2},
};
use std::{cell::RefCell, marker::PhantomData, sync::Arc};

/// Result of publishing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Passed to the middleware.
    Sent,
    /// The source changed during the copy; not sent.
    Torn,
    /// The middleware had no room and would have had to block; not sent.
    Dropped,
}

/// Destination of messages of type `M`: the back end, and the taps of this process.
pub(super) struct Sink<M: Message> {
    writer: Writer<M>,
    taps: Arc<Channel>,
}

enum Writer<M: Message> {
    Cdr(Arc<dyn CdrWriter>, PhantomData<fn(&M)>),
    #[cfg(feature = "rclrs")]
    Rclrs(Arc<rclrs::Writer<M>>),
}

impl<M: Message> Clone for Sink<M> {
    fn clone(&self) -> Self {
        Self {
            writer: match &self.writer {
                Writer::Cdr(writer, _) => Writer::Cdr(writer.clone(), PhantomData),
                #[cfg(feature = "rclrs")]
                Writer::Rclrs(writer) => Writer::Rclrs(writer.clone()),
            },
            taps: self.taps.clone(),
        }
    }
}

macro_rules! every_back_end {
    ($self:ident, $writer:ident => $body:expr) => {
        match &$self.writer {
            Writer::Cdr($writer, _) => $body,
            #[cfg(feature = "rclrs")]
            Writer::Rclrs($writer) => $body,
        }
    };
}

impl<M: Message> Sink<M> {
    pub(super) fn cdr(writer: Arc<dyn CdrWriter>, taps: &Registry) -> Self {
        let taps = taps.channel(writer.topic(), M::TYPE, writer.qos());
        let writer = Writer::Cdr(writer, PhantomData);
        Self { writer, taps }
    }

    #[cfg(feature = "rclrs")]
    pub(super) fn rclrs(writer: Arc<rclrs::Writer<M>>, taps: &Registry) -> Self {
        let taps = taps.channel(writer.topic(), M::TYPE, writer.qos());
        let writer = Writer::Rclrs(writer);
        Self { writer, taps }
    }

    fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        match &self.writer {
            Writer::Cdr(writer, _) => with_scratch(|buffer| {
                encode_small(buffer, message)?;
                writer.write(&[Bytes::Own(buffer)], &|| true, &self.taps)
            }),
            #[cfg(feature = "rclrs")]
            Writer::Rclrs(writer) => {
                if self.taps.is_open() {
                    with_scratch(|buffer| {
                        encode_small(buffer, message)?;
                        self.taps.offer(&[buffer]);
                        Ok::<_, RosError>(())
                    })?;
                }
                writer.publish(message)
            }
        }
    }

    /// Readers, those of taps included.
    fn subscribers(&self) -> usize {
        every_back_end!(self, writer => writer.subscribers()) + self.taps.wanted()
    }

    fn stats(&self) -> WriterStats {
        every_back_end!(self, writer => writer.stats())
    }

    fn topic(&self) -> &str {
        every_back_end!(self, writer => writer.topic())
    }

    fn qos(&self) -> Qos {
        every_back_end!(self, writer => writer.qos())
    }
}

fn encode_small<M: Message>(buffer: &mut Vec<u8>, message: &M) -> Result<(), RosError> {
    bulk::encode(buffer, M::TYPE, message)?;
    bulk::pad(buffer);
    Ok(())
}

impl<M: Bulk> Sink<M> {
    /// Publishes with one copy of the array, unless `intact` returns false after the copy.
    fn publish_copy<H: Head<Message = M>>(
        &self,
        head: &H,
        data: Bytes<'_>,
        intact: &dyn Fn() -> bool,
    ) -> Result<Outcome, RosError> {
        match &self.writer {
            Writer::Cdr(writer, _) => with_scratch(|before| {
                let tail = head.encode(before, data.len())?;
                let parts = [Bytes::Own(before), data, Bytes::Own(tail.as_slice())];
                writer.write(&parts, intact, &self.taps)
            }),
            #[cfg(feature = "rclrs")]
            Writer::Rclrs(writer) if !self.taps.is_open() => {
                writer.publish_copy(head, data, intact)
            }
            #[cfg(feature = "rclrs")]
            Writer::Rclrs(writer) => {
                let data = settled(data);
                let sound = intact();
                if sound {
                    self.offer(head, &data)?;
                }
                writer.publish_copy(head, Bytes::Own(&data), &|| sound)
            }
        }
    }

    #[cfg(feature = "rclrs")]
    fn offer<H: Head<Message = M>>(&self, head: &H, data: &[u8]) -> Result<(), RosError> {
        with_scratch(|before| {
            let tail = head.encode(before, data.len())?;
            self.taps.offer(&[before, data, tail.as_slice()]);
            Ok(())
        })
    }

    fn loan(&self, room: usize) -> Loan<M> {
        match &self.writer {
            Writer::Cdr(writer, _) => Loan::block(writer.block(room)),
            #[cfg(feature = "rclrs")]
            Writer::Rclrs(writer) => Loan(Place::Message(writer.loan(room))),
        }
    }

    /// Publishes `len` bytes of a loan, without a copy if the loan is this publisher's.
    fn publish_loan<H: Head<Message = M>>(
        &self,
        head: &H,
        loan: Loan<M>,
        len: usize,
    ) -> Result<Outcome, RosError> {
        match (&self.writer, loan.0) {
            (Writer::Cdr(writer, _), Place::Block(block, _)) => with_scratch(|before| {
                let tail = head.encode(before, len)?;
                writer.write_block(block, before, len, &tail, &self.taps)
            }),
            #[cfg(feature = "rclrs")]
            (Writer::Rclrs(writer), Place::Message(message)) => {
                if self.taps.is_open() {
                    self.offer(head, message.data().get(..len).unwrap_or_default())?;
                }
                writer.publish_loan(head, message, len)
            }
            #[cfg(feature = "rclrs")]
            (_, place) => {
                let loan = Loan(place);
                let data = loan.as_ref().get(..len).unwrap_or_default();
                self.publish_copy(head, data.into(), &|| true)
            }
        }
    }
}

thread_local! {
    /// Buffer for heads and small messages, so that steady publishing does not allocate.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_scratch<R>(body: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut buffer) => {
            buffer.clear();
            body(&mut buffer)
        }
        // Reached only if an `intact` closure publishes; correct, but allocates.
        Err(_) => body(&mut Vec::new()),
    })
}

macro_rules! common {
    () => {
        /// Number of matched readers; one atomic load.
        pub fn subscribers(&self) -> usize {
            self.sink.subscribers()
        }

        /// Counters since the publisher was created.
        pub fn stats(&self) -> WriterStats {
            self.sink.stats()
        }

        /// Full name of the topic.
        pub fn topic(&self) -> &str {
            self.sink.topic()
        }

        /// The offered QoS.
        pub fn qos(&self) -> Qos {
            self.sink.qos()
        }
    };
}

/// Publisher of small messages. Cheap to clone.
pub struct Publisher<M: Message> {
    sink: Sink<M>,
}

impl<M: Message> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        Self { sink: self.sink.clone() }
    }
}

impl<M: Message> Publisher<M> {
    pub(super) fn new(sink: Sink<M>) -> Self {
        Self { sink }
    }

    /// Publishes; never blocks on a reader.
    pub fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        self.sink.publish(message)
    }

    common!();
}

macro_rules! bulk_publisher {
    ($(#[$doc:meta])* $name:ident, $head:ident, $message:ident) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name {
            sink: Sink<$message>,
        }

        impl $name {
            pub(super) fn new(sink: Sink<$message>) -> Self {
                Self { sink }
            }

            /// Publishes with one copy of the data; never blocks on a reader.
            pub fn publish<'a>(
                &self,
                head: &$head<'_>,
                data: impl Into<Bytes<'a>>,
            ) -> Result<Outcome, RosError> {
                self.sink.publish_copy(head, data.into(), &|| true)
            }

            /// Loans memory for the data of the next message, at least `room` bytes with arbitrary contents.
            pub fn loan(&self, room: usize) -> Loan<$message> {
                self.sink.loan(room)
            }

            /// Publishes the first `len` bytes of a loan of this publisher, without a copy.
            pub fn publish_loan(
                &self,
                head: &$head<'_>,
                loan: Loan<$message>,
                len: usize,
            ) -> Result<Outcome, RosError> {
                self.sink.publish_loan(head, loan, len)
            }

            common!();
        }
    };
}

bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/Image`. Cheap to clone.
    ImagePublisher, ImageHead, Image
}

impl ImagePublisher {
    /// Publishes unless `intact`, called once after the copy, returns false: then the source was overwritten meanwhile,
    /// the sample is not sent and counts as torn.
    pub fn publish_if<'a>(
        &self,
        head: &ImageHead<'_>,
        data: impl Into<Bytes<'a>>,
        intact: &dyn Fn() -> bool,
    ) -> Result<Outcome, RosError> {
        self.sink.publish_copy(head, data.into(), intact)
    }
}

bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/CompressedImage`. Cheap to clone.
    CompressedPublisher, CompressedHead, CompressedImage
}
bulk_publisher! {
    /// Publisher of `sensor_msgs/msg/PointCloud2`. Cheap to clone.
    CloudPublisher, CloudHead, PointCloud2
}
