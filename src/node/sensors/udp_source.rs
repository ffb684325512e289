//! One UDP sensor on one thread: receive, reassemble, stamp, convert, publish.
use super::delayed_frames::{release_due, until_due};
use super::opened_sensor::{OpenedSensor, Successor};
use super::refusal_log::RefusalLog;
use crate::node::clock::{SimClock, host_now};
use crate::node::tasks::{self, PAUSE};
use crate::node::{cause::Cause, stats::SourceStats};
use crate::sensors::{Progress, SensorPipeline, SensorStream};
use crate::session::{DatagramBuffers, Reassembler};
use crate::time::{RosTime, SourceKind};
use crate::transport::{Received, StreamReceiver};
use std::io::{self, IoSliceMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long datagrams wait in the socket while the sensor has no subscriber: less than a frame period at 60 Hz.
const IDLE_PAUSE: Duration = Duration::from_millis(10);
/// Longest pause while the socket keeps only the heads of datagrams; also the longest wait of a new subscriber for reception.
const HEADS_PAUSE: Duration = Duration::from_millis(100);
/// Upper bound of the bytes of the receive buffer that a head uses.
const HEAD_BYTES: usize = 1024;
/// Maximum number of batches of datagrams between two checks of the stop flag.
const MAX_BATCHES: usize = 64;
/// Silence after which missing fragments count as lost, because a frame is sent without pauses.
const SILENCE: Duration = Duration::from_secs(1);

pub(super) struct UdpSource {
    receiver: StreamReceiver,
    stream: SensorStream,
    clock: Arc<SimClock>,
    stats: Arc<SourceStats>,
    /// State while the sensor has no subscriber.
    idle: IdleReception,
    /// The socket's loss counter at the last read.
    overflows: u32,
    refusals: RefusalLog,
    /// Buffer for coalesced datagrams without the first one.
    rest: Vec<u8>,
    successors: mpsc::Receiver<Successor>,
}

/// Spare room for a frame: a PNG of noise is a little larger than its pixels, and a list may be longer than expected.
const SPARE_FRAME_BYTES: usize = 1 << 20;

/// Creates a stream of frames of `len` bytes.
fn stream_of(sensor: SensorPipeline, len: usize, is_compressed: bool) -> SensorStream {
    SensorStream {
        reassembler: Reassembler::for_loans(2 * len + SPARE_FRAME_BYTES),
        sensor,
        compressed: is_compressed,
    }
}

/// Reception without subscribers: frames are only counted.
#[derive(Debug)]
struct IdleReception {
    /// Whether the receive buffer holds two frames.
    holds_two_frames: bool,
    /// Number of heads that the receive buffer holds.
    max_heads: usize,
    /// Whether the last read received only heads.
    is_active: bool,
    /// Whether the socket keeps only heads.
    keeps_heads: bool,
    pause: Duration,
}

impl IdleReception {
    /// `buffer_bytes`: size granted by the system.
    fn new(buffer_bytes: usize, frame_bytes: usize) -> Self {
        Self {
            holds_two_frames: buffer_bytes >= 2 * frame_bytes,
            max_heads: buffer_bytes / HEAD_BYTES,
            is_active: false,
            keeps_heads: false,
            pause: IDLE_PAUSE,
        }
    }

    /// Returns the pause after `count` datagrams in the previous pause. Arrival times stay exact: they are the kernel's.
    fn pause(&mut self, count: usize) -> Duration {
        if self.keeps_heads {
            self.pause = match count * 4 {
                few if few < self.max_heads => (self.pause * 2).min(HEADS_PAUSE),
                many if many > 2 * self.max_heads => (self.pause / 2).max(IDLE_PAUSE),
                _ => self.pause,
            };
            self.pause
        } else if self.holds_two_frames {
            IDLE_PAUSE
        } else {
            Duration::ZERO
        }
    }
}

impl UdpSource {
    pub(super) fn new(
        receiver: StreamReceiver,
        opened: OpenedSensor,
        stats: Arc<SourceStats>,
        successors: mpsc::Receiver<Successor>,
    ) -> Self {
        let len = *opened.lengths.end();
        Self {
            idle: IdleReception::new(receiver.buffer_bytes(), len),
            receiver,
            stream: stream_of(opened.sensor, len, opened.is_compressed),
            clock: opened.clock,
            stats,
            overflows: 0,
            refusals: RefusalLog::default(),
            rest: Vec::new(),
            successors,
        }
    }

    /// Replaces the sensor; the successor takes over the socket.
    fn replace(&mut self, (opened, replacing): Successor) {
        let len = *opened.lengths.end();
        let mut stream = stream_of(opened.sensor, len, opened.is_compressed);
        self.stream.reassembler.drop_incomplete();
        stream.reassembler.continue_counters(&self.stream.reassembler);
        self.stream = stream;
        self.clock = opened.clock;
        self.idle.holds_two_frames = self.receiver.buffer_bytes() >= 2 * len;
        self.refusals = RefusalLog::default();
        self.stats.rename(opened.name);
        drop(replacing);
    }

    /// Serves the sensor until `stop` is set; restarts after a panic.
    pub(super) fn serve(&mut self, stop: &AtomicBool) {
        while tasks::panics(|| self.run(stop)) {
            self.stats.lock().count(Cause::TaskFailed);
            // A panic may have left the partial frame inconsistent.
            self.stream.reassembler.drop_incomplete();
            std::thread::sleep(PAUSE);
        }
    }

    fn run(&mut self, stop: &AtomicBool) {
        let mut last = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if let Ok(successor) = self.successors.try_recv() {
                self.replace(successor);
            }
            release_due(&mut self.stream.sensor, &self.stats);
            let count = if self.stream.sensor.is_wanted() || self.receiver.needs_whole_datagrams() {
                self.receive()
            } else {
                self.receive_heads()
            };
            match count {
                Ok(true) => last = Instant::now(),
                Ok(false) => self.drop_after_silence(last),
                Err(_) => {
                    self.stats.lock().count(Cause::Socket);
                    // Keeps a permanently failing socket from spinning.
                    std::thread::sleep(IDLE_PAUSE);
                }
            }
        }
    }

    /// Waits for a datagram and handles it; false on timeout, or when a delayed frame is due.
    fn receive(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.idle.is_active) {
            self.receiver.keep_all();
            // Datagrams still queued have lost their payload.
            self.count_heads(false)?;
            self.receiver.coalesce(true);
        }
        if self.stream.sensor.due().is_some()
            && !self.receiver.wait(until_due(&self.stream.sensor))?
        {
            return Ok(false);
        }
        self.receive_one()
    }

    /// Receives a datagram, or several that the kernel coalesced; false on timeout.
    fn receive_one(&mut self) -> io::Result<bool> {
        let DatagramBuffers { header, payload } = self.stream.next_buffers();
        let received =
            self.receiver.recv(&mut [IoSliceMut::new(header), IoSliceMut::new(payload)])?;
        let Some(Received::Datagram(datagram)) = received else {
            received.into_iter().for_each(|refused| self.handle(refused));
            return Ok(received.is_some());
        };
        let Some(segment) = datagram.segment else {
            self.handle(Received::Datagram(datagram));
            return Ok(true);
        };
        // The first of the coalesced datagrams is in the buffers already; the others are copied.
        let mut rest = std::mem::take(&mut self.rest);
        rest.clear();
        rest.extend_from_slice(header.get(segment..).unwrap_or_default());
        let payload_rest =
            segment.saturating_sub(header.len())..datagram.len.saturating_sub(header.len());
        rest.extend_from_slice(payload.get(payload_rest).unwrap_or_default());
        self.handle(Received::Datagram(datagram.coalesced_part(segment)));
        for bytes in rest.chunks(segment) {
            let DatagramBuffers { header, payload } = self.stream.next_buffers();
            let (head, tail) = bytes.split_at(bytes.len().min(header.len()));
            header[..head.len()].copy_from_slice(head);
            payload[..tail.len()].copy_from_slice(tail);
            self.handle(Received::Datagram(datagram.coalesced_part(bytes.len())));
        }
        self.rest = rest;
        Ok(true)
    }

    /// Waits for datagrams and counts them; false on timeout. One wake-up serves all frames of a pause.
    fn receive_heads(&mut self) -> io::Result<bool> {
        if !std::mem::replace(&mut self.idle.is_active, true) {
            // Of coalesced datagrams only the first would be counted.
            self.receiver.coalesce(false);
            for _ in 0..MAX_BATCHES * StreamReceiver::BATCH {
                if !self.receiver.wait(Duration::ZERO)? {
                    break;
                }
                self.receive_one()?;
            }
            self.idle.keeps_heads = self.receiver.keep_heads();
        }
        let count = self.count_heads(true)?;
        if count > 0 {
            std::thread::sleep(self.idle.pause(count));
        }
        Ok(count > 0)
    }

    /// Reads the headers of the queued datagrams, up to a limit.
    fn count_heads(&mut self, may_wait: bool) -> io::Result<usize> {
        let mut count = 0;
        for _ in 0..MAX_BATCHES {
            let heads = self.receiver.recv_heads(may_wait && count == 0)?;
            count += heads.len();
            let is_last = heads.len() < StreamReceiver::BATCH;
            for (head, received) in heads {
                self.stream.reassembler.next_header_buffer().copy_from_slice(&head);
                self.handle(received);
            }
            if is_last {
                break;
            }
        }
        Ok(count)
    }

    fn drop_after_silence(&mut self, last: Instant) {
        if self.stream.reassembler.in_flight() > 0 && last.elapsed() >= SILENCE {
            self.stream.reassembler.drop_incomplete();
            let counters = self.stream.reassembler.counters();
            self.stats.lock().set_reassembly(counters);
        }
    }

    /// Handles the datagram in the buffers that the stream returned last.
    fn handle(&mut self, received: Received) {
        let Received::Datagram(datagram) = received else {
            return self.stats.lock().count(Cause::Refused);
        };
        if datagram.overflows != self.overflows {
            self.overflows = datagram.overflows;
            self.stats.lock().set_overflows(datagram.overflows);
        }
        let arrival = datagram.kernel_time.map_or_else(host_now, RosTime);
        let stamp = |sim_time, arrival| self.clock.stamp(sim_time, arrival, SourceKind::Image);
        let (info, result) = match self.stream.take(datagram.len, arrival, stamp) {
            Progress::Stored => return,
            Progress::Dropped => {
                let counters = self.stream.reassembler.counters();
                return self.stats.lock().set_reassembly(counters);
            }
            Progress::Counted(info) => (info, None),
            Progress::Frame(info, result) => (info, Some(result)),
        };
        if let Some(Err(error)) = &result {
            // A datagram of another sensor must not change the order of this one.
            if error.is_foreign() {
                self.stream.reassembler.revert_order();
            }
            self.refusals.log(self.stats.name(), error);
        }
        let mut figures = self.stats.lock();
        figures.set_reassembly(self.stream.reassembler.counters());
        figures.last_frame = Some(Instant::now());
        match result {
            Some(Ok(())) => {
                figures.converted += 1;
                figures.record_latency(host_now().0 - info.arrival.0);
            }
            Some(Err(error)) => figures.count(error.cause().into()),
            None => {}
        }
    }
}
