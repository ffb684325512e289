//! Publishers: turn a message into a list of byte ranges for the back end.
use super::backend::CdrWriter;
use super::block::{Block, Pool};
use super::bulk::{self, Bulk, BulkHead, Bytes};
use super::loan::{Loan, LoanMemory};
#[cfg(feature = "rclrs")]
use super::rclrs;
use super::tap::TapChannel;
#[cfg(feature = "rclrs")]
use super::tap::owned_or_copied;
use super::{Qos, RosError, WriterStats};
use crate::msgs::Message;
use crate::msgs::sensor_msgs::msg::{CompressedImage, Image, PointCloud2};
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

/// Publisher of small messages: to the back end, and to the taps of this process. Cheap to clone.
pub struct Publisher<M: Message> {
    writer: BackendWriter<M>,
    taps: Arc<TapChannel>,
}

pub(super) enum BackendWriter<M: Message> {
    Cdr(Arc<dyn CdrWriter>, PhantomData<fn(&M)>),
    #[cfg(feature = "rclrs")]
    Rclrs(Arc<rclrs::RclWriter<M>>),
}

/// A writer without readers.
struct ClosedWriter;

impl CdrWriter for ClosedWriter {
    fn block(&self, room: usize) -> Block {
        Arc::new(Pool::default()).take(room)
    }

    fn write(
        &self,
        _: &[Bytes<'_>],
        _: &dyn Fn() -> bool,
        _: &TapChannel,
    ) -> Result<Outcome, RosError> {
        Ok(Outcome::Sent)
    }

    fn subscribers(&self) -> usize {
        0
    }

    fn stats(&self) -> WriterStats {
        WriterStats::default()
    }
}

impl<M: Message> Clone for Publisher<M> {
    fn clone(&self) -> Self {
        Self {
            writer: match &self.writer {
                BackendWriter::Cdr(writer, _) => BackendWriter::Cdr(writer.clone(), PhantomData),
                #[cfg(feature = "rclrs")]
                BackendWriter::Rclrs(writer) => BackendWriter::Rclrs(writer.clone()),
            },
            taps: self.taps.clone(),
        }
    }
}

impl<M: Message> Publisher<M> {
    pub(super) fn new(writer: BackendWriter<M>, taps: Arc<TapChannel>) -> Self {
        Self { writer, taps }
    }

    /// A publisher whose topic is not in the graph.
    pub fn closed(topic: &str, qos: Qos) -> Self {
        let writer = BackendWriter::Cdr(Arc::new(ClosedWriter), PhantomData);
        Self::new(writer, Arc::new(TapChannel::new(topic, M::TYPE, qos)))
    }

    /// Publishes; never blocks on a reader.
    pub fn publish(&self, message: &M) -> Result<Outcome, RosError> {
        match &self.writer {
            BackendWriter::Cdr(writer, _) => with_scratch(|buffer| {
                encode_small(buffer, message)?;
                writer.write(&[Bytes::Own(buffer)], &|| true, &self.taps)
            }),
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) => {
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

    /// Number of matched readers and of taps that want samples; cheap enough for each frame.
    pub fn subscribers(&self) -> usize {
        let matched = match &self.writer {
            BackendWriter::Cdr(writer, _) => writer.subscribers(),
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) => writer.subscribers(),
        };
        matched + self.taps.wanted()
    }

    /// Counters since the publisher was created.
    pub fn stats(&self) -> WriterStats {
        match &self.writer {
            BackendWriter::Cdr(writer, _) => writer.stats(),
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) => writer.stats(),
        }
    }

    /// Full name of the topic.
    pub fn topic(&self) -> &str {
        self.taps.name()
    }

    /// The offered QoS.
    pub fn qos(&self) -> Qos {
        self.taps.qos()
    }
}

fn encode_small<M: Message>(buffer: &mut Vec<u8>, message: &M) -> Result<(), RosError> {
    bulk::encode(buffer, M::TYPE, message)?;
    bulk::pad(buffer);
    Ok(())
}

/// Publisher of messages with a large array. Cheap to clone.
pub struct BulkPublisher<M: Bulk>(pub(super) Publisher<M>);

/// Publisher of `sensor_msgs/msg/Image`.
pub type ImagePublisher = BulkPublisher<Image>;
/// Publisher of `sensor_msgs/msg/CompressedImage`.
pub type CompressedPublisher = BulkPublisher<CompressedImage>;
/// Publisher of `sensor_msgs/msg/PointCloud2`.
pub type CloudPublisher = BulkPublisher<PointCloud2>;

impl<M: Bulk> Clone for BulkPublisher<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Bulk> BulkPublisher<M> {
    /// Publishes with one copy of the data; never blocks on a reader.
    pub fn publish<'a>(
        &self,
        head: &impl BulkHead<Message = M>,
        data: impl Into<Bytes<'a>>,
    ) -> Result<Outcome, RosError> {
        self.publish_if(head, data, &|| true)
    }

    /// Publishes unless `intact`, called once after the copy, returns false: the source was overwritten during the copy, so the
    /// sample is not sent and counts as torn.
    pub fn publish_if<'a>(
        &self,
        head: &impl BulkHead<Message = M>,
        data: impl Into<Bytes<'a>>,
        intact: &dyn Fn() -> bool,
    ) -> Result<Outcome, RosError> {
        let data = data.into();
        match &self.0.writer {
            BackendWriter::Cdr(writer, _) => with_scratch(|before| {
                let tail = head.encode(before, data.len())?;
                let parts = [Bytes::Own(before), data, Bytes::Own(tail.as_slice())];
                writer.write(&parts, intact, &self.0.taps)
            }),
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) if !self.0.taps.is_open() => {
                writer.publish_copy(head, data, intact)
            }
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) => {
                let data = owned_or_copied(data);
                let is_intact = intact();
                if is_intact {
                    self.offer(head, &data)?;
                }
                writer.publish_copy(head, Bytes::Own(&data), &|| is_intact)
            }
        }
    }

    #[cfg(feature = "rclrs")]
    fn offer(&self, head: &impl BulkHead<Message = M>, data: &[u8]) -> Result<(), RosError> {
        with_scratch(|before| {
            let tail = head.encode(before, data.len())?;
            self.0.taps.offer(&[before, data, tail.as_slice()]);
            Ok(())
        })
    }

    /// Loans memory for the data of the next message, at least `room` bytes with arbitrary contents.
    pub fn loan(&self, room: usize) -> Loan<M> {
        match &self.0.writer {
            BackendWriter::Cdr(writer, _) => Loan::block(writer.block(room)),
            #[cfg(feature = "rclrs")]
            BackendWriter::Rclrs(writer) => Loan(LoanMemory::Message(writer.loan(room))),
        }
    }

    /// Publishes the first `len` bytes of a loan, without a copy if this publisher made the loan.
    pub fn publish_loan(
        &self,
        head: &impl BulkHead<Message = M>,
        loan: Loan<M>,
        len: usize,
    ) -> Result<Outcome, RosError> {
        match (&self.0.writer, loan.0) {
            (BackendWriter::Cdr(writer, _), LoanMemory::Block(block, _)) => {
                with_scratch(|before| {
                    let tail = head.encode(before, len)?;
                    writer.write_block(block, before, len, &tail, &self.0.taps)
                })
            }
            #[cfg(feature = "rclrs")]
            (BackendWriter::Rclrs(writer), LoanMemory::Message(message)) => {
                if self.0.taps.is_open() {
                    self.offer(head, message.data().get(..len).unwrap_or_default())?;
                }
                writer.publish_loan(head, message, len)
            }
            #[cfg(feature = "rclrs")]
            (_, memory) => {
                let loan = Loan(memory);
                let data = loan.as_ref().get(..len).unwrap_or_default();
                self.publish(head, data)
            }
        }
    }

    /// As [`Publisher::subscribers`].
    pub fn subscribers(&self) -> usize {
        self.0.subscribers()
    }

    /// Counters since the publisher was created.
    pub fn stats(&self) -> WriterStats {
        self.0.stats()
    }

    /// Full name of the topic.
    pub fn topic(&self) -> &str {
        self.0.topic()
    }

    /// The offered QoS.
    pub fn qos(&self) -> Qos {
        self.0.qos()
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
