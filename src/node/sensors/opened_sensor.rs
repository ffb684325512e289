//! An open sensor on its way to the thread that serves it.
use crate::node::clock::SimClock;
use crate::sensors::SensorPipeline;
use std::ops::RangeInclusive;
use std::sync::{Arc, mpsc};

/// An open sensor without its socket or block.
pub(super) struct OpenedSensor {
    /// Name in diagnostics.
    pub(super) name: String,
    pub(super) sensor: SensorPipeline,
    pub(super) clock: Arc<SimClock>,
    /// Whether images are compressed (transport mode 1 or 3).
    pub(super) is_compressed: bool,
    /// Allowed lengths of its block of shared memory; UDP uses the largest as the length of a raw frame.
    pub(super) lengths: RangeInclusive<usize>,
}

/// A sensor that replaces another one on its thread; the thread drops the sender after the replacement.
pub(super) type Successor = (OpenedSensor, mpsc::Sender<()>);
