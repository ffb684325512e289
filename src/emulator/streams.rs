//! Sensor data of a tick as values: rendered, encoded, fragmented and with faults. No socket and no clock, so that
//! a test of the whole path needs neither.
use super::faults::{FaultCounts, FaultInjector, Faults};
use super::options::EmulatorOptions;
use super::render::{PayloadId, Renderer, encode, encoding_of};
use super::sensor::{LiveSensor, Tick, world_pose};
use super::world::{Pose, Snapshot};
use crate::wire::{HeaderVariant, MAX_FRAGMENT_PAYLOAD, fragments};
use std::{collections::BTreeMap, time::Duration};

/// Cached data of a live sensor.
struct Stream {
    generation: u64,
    frame_id: i32,
    injector: FaultInjector,
    /// Identifies the payload in `raw` and `file`.
    payload_id: Option<PayloadId>,
    /// Uncompressed payload.
    raw: Vec<u8>,
    /// Compressed payload.
    file: Vec<u8>,
}

/// A due sensor with its pose.
#[derive(Clone, Debug)]
pub struct DueSensor {
    /// The sensor.
    pub live: LiveSensor,
    pub(super) pose: Pose,
    pub(super) carrier: Option<u16>,
}

/// One frame of one sensor.
pub struct SensorFrame<'a> {
    /// Frame id.
    pub id: i32,
    /// Payload before encoding.
    pub raw: &'a [u8],
    /// Payload as sent.
    pub sent: &'a [u8],
    pub(super) encoding: &'static str,
    sim_time: f64,
    header: HeaderVariant,
    piece: usize,
    injector: &'a mut FaultInjector,
}

/// The streams of all sensors.
pub struct Streams {
    renderer: Renderer,
    options: EmulatorOptions,
    streams: BTreeMap<u16, Stream>,
}

impl Streams {
    /// Streams without any data sent.
    pub fn new(options: &EmulatorOptions) -> Self {
        Self {
            renderer: Renderer::new(options),
            options: options.clone(),
            streams: BTreeMap::new(),
        }
    }

    /// Forgets all streams, so that frame ids restart with the simulation.
    pub fn clear(&mut self) {
        self.streams.clear();
    }

    /// Begins a tick of the world `snapshot`, and returns the sensors to render, except those whose vehicle or carrying sensor
    /// does not exist.
    pub fn begin(&mut self, tick: &Tick, snapshot: &Snapshot) -> Vec<DueSensor> {
        self.streams.retain(|seq_id, _| tick.requests.contains_key(seq_id));
        self.renderer.begin(snapshot);
        let sensor = |live: &LiveSensor| {
            let (pose, carrier) =
                world_pose(&tick.requests, &live.request, snapshot, self.options.angle_unit)?;
            Some(DueSensor { live: *live, pose, carrier })
        };
        tick.due.iter().filter_map(sensor).collect()
    }

    /// Renders the frame of a sensor at the current tick; `None` if it cannot be encoded.
    pub fn frame(&mut self, sensor: &DueSensor, snapshot: &Snapshot) -> Option<SensorFrame<'_>> {
        let request = &sensor.live.request;
        let stream = self.streams.entry(request.seq_id).or_insert_with(|| Stream {
            generation: 0,
            frame_id: 0,
            injector: FaultInjector::new(request.seq_id.into()),
            payload_id: None,
            raw: Vec::new(),
            file: Vec::new(),
        });
        if stream.generation != sensor.live.generation {
            stream.generation = sensor.live.generation;
            stream.payload_id = None;
            stream.file.clear();
        }
        stream.frame_id = stream.frame_id.wrapping_add(1);
        let payload_id = self.renderer.payload(
            snapshot,
            request,
            (&sensor.pose, sensor.carrier),
            stream.payload_id,
            &mut stream.raw,
        );
        let encoding = encoding_of(request, self.options.swap_codecs);
        let compressed = encoding.is_compressed();
        if compressed
            && stream.payload_id != Some(payload_id)
            && (stream.file.is_empty() || !self.options.pattern)
        {
            let size = (request.width, request.height);
            if let Err(error) = encode(encoding, size, &stream.raw, &mut stream.file) {
                tracing::warn!(%error, seq_id = request.seq_id, "cannot encode an image");
                return None;
            }
        }
        stream.payload_id = Some(payload_id);
        Some(SensorFrame {
            id: stream.frame_id,
            raw: &stream.raw,
            sent: if compressed { &stream.file } else { &stream.raw },
            encoding: encoding.codec.into(),
            sim_time: snapshot.time,
            header: self.options.header,
            piece: match request.send_protocol.piece_bytes {
                0 => self.options.piece_bytes,
                bytes => usize::from(bytes).min(MAX_FRAGMENT_PAYLOAD),
            },
            injector: &mut stream.injector,
        })
    }
}

impl SensorFrame<'_> {
    /// Applies the faults to the frame's datagrams, and passes each to `send` with its delay, in two parts. Calls `pace` with the
    /// length of each datagram first. Returns whether a datagram was lost or corrupted.
    ///
    /// Like the vendor's forwarder, ends a frame whose length is a multiple of the fragment size with an empty fragment.
    pub fn send(
        &mut self,
        faults: &Faults,
        mut pace: impl FnMut(usize),
        mut send: impl FnMut(Duration, [&[u8]; 2]),
    ) -> bool {
        let mut harmed = false;
        for fragment in fragments(self.sent, self.piece, self.header, self.id, self.sim_time) {
            pace(fragment.datagram_len());
            let parts = [fragment.header.as_bytes(), fragment.payload];
            harmed |= self.injector.pass(faults, parts, &mut send);
        }
        harmed
    }

    /// Faults applied to the stream so far.
    pub fn faults(&self) -> FaultCounts {
        self.injector.counts()
    }
}
