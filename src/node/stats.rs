//! Figures of each source.
pub use crate::doctor::LinkState;
use crate::node::cause::Cause;
use crate::session::{DropCause, ReassemblyCounters};
use crate::{doctor::SourceRole, vehicle::CounterKind};
use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// Figures of one source (a sensor, an IMU, a true state, the heartbeats).
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Kind of data, for `doctor`.
    pub(super) kind: SourceRole,
    /// Datagrams or blocks received, good and bad.
    pub(super) received: u64,
    /// Bytes received.
    pub(super) bytes: u64,
    /// Whole frames or samples.
    pub(super) frames: u64,
    /// Frames that were converted, because the topic has a subscriber.
    pub(super) converted: u64,
    /// Counted events by cause; not all of them are losses ([`Cause::kind`]).
    pub(super) counts: BTreeMap<Cause, u64>,
    /// Time from the first byte to the end of publishing, in µs, since the last report.
    latency_us: Latencies,
    /// When the last frame was complete.
    pub(super) last_frame: Option<Instant>,
    /// Requested rate, in Hz of simulation time.
    pub(super) asked_hz: Option<f64>,
    /// State, if the source is supervised.
    pub(super) state: Option<LinkState>,
    /// Known cause why the source delivers nothing.
    pub(super) obstacle: Option<String>,
    /// Probable cause if the source delivers nothing or too little.
    pub(super) hint: Option<&'static str>,
}

/// Largest latency the histogram resolves, one minute.
const MAX_LATENCY_US: u64 = 60_000_000;

/// Latencies in µs.
#[derive(Clone, Debug)]
struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // 1 µs to one minute with two digits: 30 kB; the constructor accepts these bounds.
        let histogram = Histogram::new_with_bounds(1, MAX_LATENCY_US, 2);
        Self(histogram.unwrap_or_else(|_| unreachable!()))
    }
}

impl Figures {
    /// Sets the count of samples missing by sequence number.
    pub(super) fn set_lost(&mut self, count: u64) {
        if count > 0 {
            self.counts.insert(Cause::Frame(DropCause::Lost), count);
        }
    }

    pub(super) fn count(&mut self, cause: Cause) {
        self.count_many(cause, 1);
    }

    pub(super) fn count_many(&mut self, cause: Cause, count: u64) {
        if count > 0 {
            *self.counts.entry(cause).or_default() += count;
        }
    }

    /// Sets the socket's count of datagrams lost to a full receive buffer.
    pub(super) fn set_overflows(&mut self, count: u32) {
        self.counts.insert(Cause::SocketOverflow, count.into());
    }

    pub(super) fn set_reassembly(&mut self, counters: &ReassemblyCounters) {
        self.received = counters.datagrams;
        self.bytes = counters.bytes;
        self.frames = counters.frames;
        for &cause in DropCause::ALL {
            let count = counters.dropped(cause);
            if count > 0 {
                self.counts.insert(Cause::Frame(cause), count);
            }
        }
    }

    /// Losses by cause.
    pub(super) fn drops(&self) -> impl Iterator<Item = (Cause, u64)> {
        let counts = self.counts.iter().map(|(cause, count)| (*cause, *count));
        counts.filter(|(cause, _)| cause.kind() == CounterKind::Drop)
    }

    /// Returns a quantile of the latencies since the last report in s; NaN if there are none.
    pub(super) fn latency_s(&self, quantile: f64) -> f64 {
        if self.latency_us.0.is_empty() {
            f64::NAN
        } else {
            self.latency_us.0.value_at_quantile(quantile) as f64 * 1e-6
        }
    }

    /// Returns the known and probable causes why the source delivers nothing or too little.
    pub(super) fn reason(&self) -> Option<String> {
        let causes: Vec<_> = self.obstacle.as_deref().into_iter().chain(self.hint).collect();
        (!causes.is_empty()).then(|| causes.join("; "))
    }

    /// Counts a whole frame or sample.
    pub(super) fn count_frame(&mut self) {
        self.frames += 1;
        self.last_frame = Some(Instant::now());
    }

    pub(super) fn record_latency(&mut self, nanoseconds: i64) {
        let us = u64::try_from(nanoseconds / 1000).unwrap_or(0).clamp(1, MAX_LATENCY_US);
        self.latency_us.0.saturating_record(us);
    }
}

/// Figures that the source's task writes and the health task reads.
#[derive(Debug)]
pub(super) struct SourceStats {
    /// Name at the start, which identifies the source.
    pub(super) key: String,
    name: Mutex<Arc<str>>,
    figures: Mutex<Figures>,
}

impl SourceStats {
    pub(super) fn new(kind: SourceRole, key: String) -> Self {
        let figures = Mutex::new(Figures { kind, ..Figures::default() });
        Self { name: Mutex::new(key.as_str().into()), key, figures }
    }

    /// Name in diagnostics, for example `sensor0 img_rgb`.
    pub(super) fn name(&self) -> Arc<str> {
        self.name.lock().clone()
    }

    pub(super) fn rename(&self, name: String) {
        *self.name.lock() = name.into();
    }

    /// Locks the figures; never held across I/O.
    pub(super) fn lock(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock()
    }

    /// Counts a handled datagram as a frame, or by the cause why it is none.
    pub(super) fn count_result(&self, result: Result<(), Cause>) {
        let mut figures = self.lock();
        match result {
            Ok(()) => figures.count_frame(),
            Err(cause) => figures.count(cause),
        }
    }

    /// Returns a copy and resets the latency histogram.
    pub(super) fn take_report(&self) -> Figures {
        let mut figures = self.lock();
        let copy = figures.clone();
        figures.latency_us.0.reset();
        copy
    }
}

/// All sources in the order of `/diagnostics`; sensors may be added at run time.
#[derive(Clone, Default)]
pub(super) struct Sources(Arc<Mutex<Vec<Arc<SourceStats>>>>);

impl Sources {
    pub(super) fn push(&self, stats: Arc<SourceStats>) {
        self.0.lock().push(stats);
    }

    pub(super) fn all(&self) -> Vec<Arc<SourceStats>> {
        self.0.lock().clone()
    }
}
