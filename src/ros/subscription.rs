//! Received samples and subscriptions.
use super::RosError;
use crate::msgs::{Message, begins_with_header, builtin_interfaces::msg::Time};
use crate::time::RosTime;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{any::Any, sync::Arc};

/// One received sample.
#[derive(Clone, Copy, Debug)]
pub struct RawSample<'a> {
    /// CDR with its 4-byte encapsulation header.
    pub cdr: &'a [u8],
    /// Publication time by the writer's clock.
    pub source_stamp: RosTime,
}

impl RawSample<'_> {
    /// Decodes the sample.
    pub fn decode<M: Message>(&self) -> Result<M, RosError> {
        decode(self.cdr)
    }
}

pub(super) type Callback = Box<dyn FnMut(&RawSample<'_>) + Send>;

/// Size and stamp of a message whose type is known only at run time, for tools.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Watched {
    /// Size as CDR.
    pub bytes: usize,
    /// Stamp of the header, if the type begins with one.
    pub stamp: Option<RosTime>,
}

impl Watched {
    /// Reads the stamp if the type begins with a header.
    pub(super) fn of_cdr(cdr: &[u8], type_name: &str) -> Self {
        let stamp = begins_with_header(type_name).then(|| decode::<Time>(cdr).ok()).flatten();
        Self { bytes: cdr.len(), stamp: stamp.as_ref().map(RosTime::from_msg) }
    }
}

/// A subscription; ends on drop. No callback runs after that.
pub struct Subscription {
    undecodable: Arc<AtomicU64>,
    /// On drop ends the callback and the delivery inside this process; dropped before the reader.
    _local: Option<Box<dyn Any + Send + Sync>>,
    _reader: Box<dyn Any + Send + Sync>,
}

impl Subscription {
    pub(super) fn new(reader: impl Any + Send + Sync) -> Self {
        Self { undecodable: Arc::default(), _local: None, _reader: Box::new(reader) }
    }

    pub(super) fn with_undecodable(self, undecodable: Arc<AtomicU64>) -> Self {
        Self { undecodable, ..self }
    }

    pub(super) fn with_local(self, local: impl Any + Send + Sync) -> Self {
        Self { _local: Some(Box::new(local)), ..self }
    }

    /// Samples that did not decode.
    pub fn undecodable(&self) -> u64 {
        self.undecodable.load(Ordering::Relaxed)
    }
}

pub(super) fn decode<M: Message>(cdr: &[u8]) -> Result<M, RosError> {
    let error = |message: String| RosError::Decode { type_name: M::TYPE, message };
    let (header, body) =
        cdr.split_at_checked(4).ok_or_else(|| error(format!("{} bytes", cdr.len())))?;
    match header {
        [0, 1, ..] => cdr_encoding::from_bytes::<M, byteorder::LittleEndian>(body),
        [0, 0, ..] => cdr_encoding::from_bytes::<M, byteorder::BigEndian>(body),
        other => return Err(error(format!("unknown encapsulation {other:02x?}"))),
    }
    .map(|(message, _)| message)
    .map_err(|e| error(e.to_string()))
}
