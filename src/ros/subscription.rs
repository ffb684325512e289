//! Samples in.
use super::RosError;
use crate::{msgs::Message, time::RosTime};
use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// One received sample.
#[derive(Clone, Copy, Debug)]
pub struct RawSample<'a> {
    /// CDR with its 4-byte encapsulation header.
    pub cdr: &'a [u8],
    /// When the writer published it, by the writer's clock.
    pub source_stamp: RosTime,
}

impl RawSample<'_> {
    /// Decodes the sample.
    pub fn decode<M: Message>(&self) -> Result<M, RosError> {
        decode(self.cdr)
    }
}

pub(super) type Callback = Box<dyn FnMut(&RawSample<'_>) + Send>;

/// A subscription; it ends when this is dropped. No callback runs after that.
pub struct Subscription {
    undecodable: Arc<AtomicU64>,
    _reader: Box<dyn Any + Send + Sync>,
}

impl Subscription {
    pub(super) fn new(reader: impl Any + Send + Sync) -> Self {
        Self {
            undecodable: Arc::default(),
            _reader: Box::new(reader),
        }
    }

    pub(super) fn with_undecodable(self, undecodable: Arc<AtomicU64>) -> Self {
        Self {
            undecodable,
            ..self
        }
    }

    /// Samples that were not what the type says.
    pub fn undecodable(&self) -> u64 {
        self.undecodable.load(Ordering::Relaxed)
    }
}

pub(super) fn decode<M: Message>(cdr: &[u8]) -> Result<M, RosError> {
    let error = |message: String| RosError::Decode {
        type_name: M::TYPE,
        message,
    };
    let (header, body) = cdr
        .split_at_checked(4)
        .ok_or_else(|| error(format!("{} bytes", cdr.len())))?;
    match header {
        [0, 1, ..] => cdr_encoding::from_bytes::<M, byteorder::LittleEndian>(body),
        [0, 0, ..] => cdr_encoding::from_bytes::<M, byteorder::BigEndian>(body),
        other => return Err(error(format!("unknown encapsulation {other:02x?}"))),
    }
    .map(|(message, _)| message)
    .map_err(|e| error(e.to_string()))
}
