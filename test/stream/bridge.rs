//! The bridge's side of one camera, without its socket: put together, stamp, convert, publish.
use crate::support::sensor::{Rig, config};
use rfly_bridge::msgs::sensor_msgs::msg::Image;
use rfly_bridge::ros::{Middleware, Recorder};
use rfly_bridge::sensors::{Options, Progress, SensorError, SensorStream};
use rfly_bridge::session::{DatagramBuffers, LOAN_SPARE, Reassembler, ReassemblyCounters};
use rfly_bridge::time::{RosTime, SourceKind, TimeAligner};

/// Longest payload of a datagram, and header.
const DATAGRAM: usize = 65_536;

/// What became of frames that were put together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) published: u64,
    /// Nobody subscribed.
    pub(super) unwatched: u64,
    /// No stamp: its time is not, or not yet, of this simulation.
    pub(super) unstamped: u64,
}

pub(super) struct Bridge {
    stream: SensorStream,
    topic: String,
    recorder: Recorder,
    _middleware: Middleware,
    frame_len: usize,
    pub(super) figures: Figures,
}

impl Bridge {
    pub(super) fn new((width, height, _): (u16, u16, u16)) -> Self {
        let frame_len = usize::from(width) * usize::from(height) * 3;
        let opened = Rig::open(&config(1, width, height, 2, &[]), Options::default());
        Self {
            stream: SensorStream {
                reassembler: Reassembler::for_loans(frame_len),
                sensor: opened.sensor,
                compressed: opened.compressed,
            },
            topic: opened.main,
            recorder: opened.recorder,
            _middleware: opened.middleware,
            frame_len,
            figures: Figures::default(),
        }
    }

    pub(super) fn watch(&self, watched: bool) {
        self.recorder.set_all_subscribers(watched.into());
    }

    pub(super) fn counters(&self) -> &ReassemblyCounters {
        self.stream.reassembler.counters()
    }

    /// Nothing has come for long.
    pub(super) fn abandon(&mut self) {
        self.stream.reassembler.drop_incomplete();
    }

    /// Takes a datagram as `node/sensors/udp_source.rs` does; returns the image that it made the bridge publish.
    pub(super) fn take(
        &mut self,
        datagram: &[u8],
        arrival: RosTime,
        aligner: &mut TimeAligner,
    ) -> Option<Image> {
        let figures = &mut self.figures;
        if self.stream.sensor.is_wanted() {
            let DatagramBuffers { header, payload } = self.stream.next_buffers();
            let (head, body) = datagram.split_at(header.len().min(datagram.len()));
            header[..head.len()].copy_from_slice(head);
            payload[..body.len()].copy_from_slice(body);
        } else {
            let header = self.stream.reassembler.next_header_buffer();
            let len = header.len().min(datagram.len());
            header[..len].copy_from_slice(&datagram[..len]);
        }
        let stamp = |sim_time, arrival| aligner.receive(sim_time, arrival, SourceKind::Image);
        match self.stream.take(datagram.len(), arrival, stamp) {
            Progress::Stored | Progress::Dropped => return None,
            Progress::Counted(_) => {
                figures.unwatched += 1;
                return None;
            }
            Progress::Frame(_, Err(SensorError::Time)) => {
                figures.unstamped += 1;
                return None;
            }
            Progress::Frame(_, accepted) => accepted.expect("an image of this camera"),
        }
        let image = self.recorder.messages(&self.topic).expect("decodes").pop();
        self.recorder.clear();
        match image {
            Some(_) => figures.published += 1,
            None => figures.unwatched += 1,
        }
        image
    }

    /// Memory is bounded whatever comes.
    pub(super) fn check_memory(&self) {
        let most = 2 * (self.frame_len + LOAN_SPARE) + 2 * DATAGRAM;
        let held = self.stream.reassembler.memory();
        assert!(held <= most, "{held} of {most} bytes");
        assert!(self.stream.reassembler.in_flight() <= 2);
    }
}
