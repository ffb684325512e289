//! The render loop: at each tick every due sensor looks at the same instant of the world.
use super::clock::wall_ns;
use super::faults::{FaultScope, Faults};
use super::pacer::Pacer;
use super::render::{PayloadId, Renderer, encode, encoding_of};
use super::sender::{Postman, Sender, Sent};
use super::sensor::{Live, world_pose};
use super::servers::coptersim;
use super::servers::shm::Block;
use super::shared::Shared;
use super::truth::{FrameTruth, Truth};
use super::world::{Pose, Snapshot};
use crate::wire::SensorRequest;
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Transport mode of shared memory.
const SHARED_MEMORY: u16 = 0;

/// What the loop keeps for a live sensor.
struct Stream {
    generation: u64,
    frame_id: i32,
    sender: Sender,
    block: Option<Block>,
    /// When to try again, if there was no shared memory.
    claim_at: Option<Instant>,
    /// What `raw` and `file` show.
    shown: Option<PayloadId>,
    /// Uncompressed payload.
    raw: Vec<u8>,
    /// Compressed payload.
    file: Vec<u8>,
}

/// One instant at which sensors are due.
struct Tick {
    time: f64,
    due: Vec<Live>,
    requests: BTreeMap<u16, SensorRequest>,
}

pub(super) struct Engine {
    shared: Arc<Shared>,
    windows: Vec<Arc<UdpSocket>>,
    postman: Arc<Postman>,
    pacer: Pacer,
    renderer: Renderer,
    streams: BTreeMap<u16, Stream>,
    truth: Truth,
    epoch: u64,
}

impl Engine {
    pub(super) fn new(
        shared: Arc<Shared>,
        windows: Vec<Arc<UdpSocket>>,
        postman: Arc<Postman>,
        mut truth: Truth,
    ) -> Self {
        let renderer = Renderer::new(shared.options.pattern);
        let link = shared.options.link_gbit_per_s;
        truth.start(shared.clock().start_ns(), &shared.options);
        Self {
            epoch: shared.epoch(),
            shared,
            windows,
            postman,
            pacer: Pacer::new(link),
            renderer,
            streams: BTreeMap::new(),
            truth,
        }
    }

    pub(super) fn run(mut self) {
        while !self.shared.stopped() {
            let (epoch, tick) = next_tick(&self.shared);
            if self.epoch != epoch {
                self.epoch = epoch;
                self.streams.clear();
                self.truth
                    .start(self.shared.clock().start_ns(), &self.shared.options);
            }
            if let Some(tick) = tick {
                self.tick(&tick);
            }
            self.shared.stats().rounds += 1;
        }
    }

    fn tick(&mut self, tick: &Tick) {
        let snapshot = self.shared.snapshot(tick.time);
        if let Some(socket) = self.windows.first() {
            coptersim::send_true_states(&self.shared, socket, &snapshot);
        }
        self.streams
            .retain(|seq_id, _| tick.requests.contains_key(seq_id));
        self.renderer.begin(&snapshot);
        let faults = self.shared.faults();
        let faults = if faults.scope == FaultScope::Imu {
            Faults::default()
        } else {
            faults
        };
        let unit = self.shared.options.angle_unit;
        // A sensor on a vehicle or sensor that does not exist shows nothing, and comes to life with its carrier.
        let seen = |live: &Live| world_pose(&tick.requests, &live.request, &snapshot, unit);
        let due: Vec<_> = tick
            .due
            .iter()
            .filter_map(|live| Some((live, seen(live)?)))
            .collect();
        // First all blocks, then the frames, which take their time: readers look for blocks soon after their request.
        for (live, _) in &due {
            self.prepare(live);
        }
        for (live, (pose, own)) in &due {
            self.frame(live, &snapshot, (pose, *own), &faults);
        }
        self.truth.flush();
    }

    /// Follows a request: whom its frames go to, or into which block.
    fn prepare(&mut self, live: &Live) {
        let Some(socket) = self.windows.get(live.window) else {
            return;
        };
        let seq_id = live.request.seq_id;
        let stream = self.streams.entry(seq_id).or_insert_with(|| Stream {
            generation: 0,
            frame_id: 0,
            sender: Sender::new(Arc::clone(socket), Arc::clone(&self.postman), seq_id.into()),
            block: None,
            claim_at: None,
            shown: None,
            raw: Vec::new(),
            file: Vec::new(),
        });
        if stream.generation != live.generation {
            stream.renew(live);
        }
        if stream.claim_at.is_some_and(|at| at <= Instant::now()) {
            stream.claim(&live.request);
        }
    }

    fn frame(
        &mut self,
        live: &Live,
        snapshot: &Snapshot,
        (pose, own): (&Pose, Option<u16>),
        faults: &Faults,
    ) {
        let request = &live.request;
        let options = &self.shared.options;
        let Some(stream) = self.streams.get_mut(&request.seq_id) else {
            return;
        };
        stream.frame_id = stream.frame_id.wrapping_add(1);
        let shown = self.renderer.payload(
            snapshot,
            request,
            (pose, own),
            stream.shown,
            &mut stream.raw,
        );
        let encoding = encoding_of(request, options.swap_codecs);
        let compressed = encoding.is_compressed();
        if compressed && stream.shown != Some(shown) && (stream.file.is_empty() || !options.pattern)
        {
            let encoded = encode(
                encoding,
                (request.width, request.height),
                &stream.raw,
                &mut stream.file,
            );
            if let Err(error) = encoded {
                tracing::warn!(%error, seq_id = request.seq_id, "cannot encode an image");
                return;
            }
        }
        stream.shown = Some(shown);
        let payload = if compressed {
            &stream.file
        } else {
            &stream.raw
        };
        let host_ns = wall_ns();
        let (sent, busy) = match &mut stream.block {
            Some(block) => (Sent::default(), !block.write(snapshot.time, payload)),
            None => {
                let (to, id) = (live.destination, stream.frame_id);
                (
                    stream.sender.frame(
                        to,
                        options.header,
                        id,
                        snapshot.time,
                        payload,
                        (faults, &mut self.pacer),
                    ),
                    false,
                )
            }
        };
        if self.truth.wanted() {
            self.truth.frame(&FrameTruth {
                request,
                window: live.window,
                frame_id: stream.frame_id,
                sim_time: snapshot.time,
                host_ns,
                due_ns: self.shared.clock().wall_ns_at(snapshot.time),
                pose,
                vehicle: own.and_then(|id| Some((id, snapshot.vehicle(id)?))),
                encoding: encoding.name(),
                raw: &stream.raw,
                sent: payload,
                harmed: sent.harmed || busy,
            });
        }
        let mut stats = self.shared.stats();
        let entry = stats.sensors.entry(request.seq_id).or_default();
        entry.type_id = request.type_id;
        entry.frames += 1;
        entry.harmed += u64::from(sent.harmed);
        entry.busy += u64::from(busy);
        entry.datagrams += sent.datagrams;
        entry.errors += sent.errors;
        entry.bytes += payload.len() as u64;
        entry.faults = stream.sender.counts();
    }
}

impl Stream {
    /// Follows a changed request.
    fn renew(&mut self, live: &Live) {
        self.generation = live.generation;
        self.shown = None;
        self.file.clear();
        let request = &live.request;
        self.claim_at = None;
        if request.send_protocol.mode != SHARED_MEMORY {
            self.block = None;
        } else if self.block.as_ref().is_none_or(|block| !block.fits(request)) {
            self.block = None; // first: its name must be free for the new one
            self.claim(request);
        }
    }

    /// Creates the sensor's block, or goes on without and tries again later.
    fn claim(&mut self, request: &SensorRequest) {
        const AGAIN: Duration = Duration::from_secs(1);
        let seq_id = request.seq_id;
        match Block::create(request) {
            Ok(block) => {
                self.block = Some(block);
                if self.claim_at.take().is_some() {
                    tracing::warn!(
                        seq_id,
                        "there is shared memory again: data no longer go over UDP"
                    );
                }
            }
            Err(error) => {
                if self.claim_at.is_none() {
                    tracing::warn!(seq_id, %error, "data go over UDP until there is shared memory");
                }
                self.claim_at = Some(Instant::now() + AGAIN);
            }
        }
    }
}

/// Waits for the next due instant; `None` after a while without one, so that the caller can look around. With it the
/// epoch that it belongs to: what is asked for after a restart must not meet what was kept before.
fn next_tick(shared: &Shared) -> (u64, Option<Tick>) {
    const NAP: Duration = Duration::from_millis(20);
    let mut table = shared.sensors();
    let epoch = shared.epoch();
    let clock = shared.clock();
    let now = clock.now();
    let mut skipped: Vec<(u16, u64)> = Vec::new();
    for (seq_id, live) in &mut table.live {
        // A frame that is more than a period late is left out, as a slow renderer does.
        let latest = (now * live.rate()).floor().max(0.0) as u64;
        if live.next < latest {
            skipped.push((*seq_id, latest - live.next));
            live.next = latest;
        }
    }
    let time = table.live.values().map(Live::due).reduce(f64::min);
    let ready = time.filter(|t| *t <= now && !clock.is_paused());
    let tick = ready.map(|time| {
        let requests = table
            .live
            .iter()
            .map(|(id, live)| (*id, live.request))
            .collect();
        let due: Vec<Live> = table
            .live
            .values()
            .filter(|l| l.due() <= time)
            .copied()
            .collect();
        table
            .live
            .values_mut()
            .filter(|l| l.due() <= time)
            .for_each(|l| l.next += 1);
        Tick {
            time,
            due,
            requests,
        }
    });
    if tick.is_none() {
        let nap = time
            .and_then(|t| clock.until(t))
            .map_or(NAP, |d| d.min(NAP));
        drop(
            shared
                .changed
                .wait_timeout(table, nap)
                .unwrap_or_else(PoisonError::into_inner),
        );
    } else {
        drop(table);
    }
    if !skipped.is_empty() {
        let mut stats = shared.stats();
        skipped
            .iter()
            .for_each(|(seq_id, count)| stats.sensors.entry(*seq_id).or_default().skipped += count);
    }
    (epoch, tick)
}
