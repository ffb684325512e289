//! What the thread of a sensor is given.
use crate::node::clock::SimClock;
use crate::sensors::Sensor;
use std::ops::RangeInclusive;
use std::sync::{Arc, mpsc};

/// A sensor without what it is received with.
pub(super) struct Opened {
    /// In diagnostics.
    pub(super) name: String,
    pub(super) sensor: Box<dyn Sensor>,
    pub(super) clock: Arc<SimClock>,
    /// The transport is mode 1 or 3.
    pub(super) compressed: bool,
    /// Lengths that its block of shared memory may have; the last one is that of a raw frame.
    pub(super) lens: RangeInclusive<usize>,
}

/// A sensor that takes the place of the one before, and who waits until it has.
pub(super) type Successor = (Opened, mpsc::Sender<()>);
