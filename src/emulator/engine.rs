//! The render loop: at each tick all due sensors render the same instant of the world.
use super::faults::{FaultScope, Faults};
use super::sender::{DelayedSender, Sender};
use super::sensor::{LiveSensor, Tick};
use super::streams::{DueSensor, Streams};
use super::{clock::wall_ns, cloud_format::CloudFormat, pacer::Pacer, servers::coptersim};
use super::{servers::shm::SensorBlock, shared::SharedState, truth::Truth, world::Snapshot};
use crate::wire::SensorRequest;
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, net::UdpSocket, sync::Arc};

/// Transport mode of shared memory.
const SHARED_MEMORY: u16 = 0;

/// Shared-memory output of a live sensor; without a block its frames are sent over UDP.
#[derive(Default)]
struct SensorOutput {
    generation: u64,
    block: Option<SensorBlock>,
    /// Time of the next attempt to create the shared memory.
    claim_at: Option<Instant>,
}

pub(super) struct Engine {
    shared: Arc<SharedState>,
    windows: Vec<Arc<UdpSocket>>,
    delayed: Arc<DelayedSender>,
    pacer: Pacer,
    streams: Streams,
    outputs: BTreeMap<u16, SensorOutput>,
    truth: Truth,
    epoch: u64,
}

impl Engine {
    pub(super) fn new(
        shared: Arc<SharedState>,
        windows: Vec<Arc<UdpSocket>>,
        delayed: Arc<DelayedSender>,
        mut truth: Truth,
    ) -> Self {
        let streams = Streams::new(&shared.options);
        let link = shared.options.link_gbit_per_s;
        truth.log_start(&shared.clock(), &shared.options);
        Self {
            epoch: shared.epoch(),
            shared,
            windows,
            delayed,
            pacer: Pacer::new(link),
            streams,
            outputs: BTreeMap::new(),
            truth,
        }
    }

    pub(super) fn run(mut self) {
        while !self.shared.is_stopped() {
            let (epoch, tick) = next_tick(&self.shared);
            if self.epoch != epoch {
                self.epoch = epoch;
                self.streams.clear();
                self.outputs.clear();
                self.truth.log_start(&self.shared.clock(), &self.shared.options);
            }
            if let Some(tick) = tick {
                self.tick(&tick);
            }
            self.shared.stats.lock().rounds += 1;
        }
    }

    fn tick(&mut self, tick: &Tick) {
        let snapshot = self.shared.snapshot(tick.time);
        if let Some(socket) = self.windows.first() {
            coptersim::send_true_states(&self.shared, socket, (self.epoch, &snapshot));
        }
        let snapshot = self.shared.draw(snapshot);
        self.truth.log_map(&snapshot.scene);
        self.outputs.retain(|seq_id, _| tick.requests.contains_key(seq_id));
        let due = self.streams.begin(tick, &snapshot);
        let faults = *self.shared.faults.lock();
        let faults = if faults.scope == FaultScope::Imu { Faults::default() } else { faults };
        // Blocks come before frames, which take longer: readers look for a block soon after their request.
        for sensor in &due {
            self.prepare(&sensor.live);
        }
        for sensor in &due {
            self.frame(sensor, &snapshot, &faults);
        }
        self.truth.flush();
    }

    /// Handles a request: creates its block if needed.
    fn prepare(&mut self, live: &LiveSensor) {
        let clouds = self.shared.options.cloud_format;
        let output = self.outputs.entry(live.request.seq_id).or_default();
        if output.generation != live.generation {
            output.update(live, clouds);
        }
        if output.claim_at.is_some_and(|at| at <= Instant::now()) {
            output.claim(&live.request, clouds);
        }
    }

    fn frame(&mut self, due: &DueSensor, snapshot: &Snapshot, faults: &Faults) {
        let live = &due.live;
        let request = &live.request;
        let (Some(output), Some(socket), Some(mut frame)) = (
            self.outputs.get_mut(&request.seq_id),
            self.windows.get(live.window),
            self.streams.frame(due, snapshot),
        ) else {
            return;
        };
        let host_ns = wall_ns();
        let mut sender = Sender::new(socket, &self.delayed, live.destination);
        if self.shared.options.bursts {
            sender = sender.in_bursts();
        }
        let (harmed, busy) = match &mut output.block {
            Some(block) => (false, !block.write(snapshot.time, frame.sent)),
            None => {
                let pace = |bytes| self.pacer.pass(bytes);
                let send = |delay, bytes: [&[u8]; 2]| sender.send(delay, bytes);
                let harmed = frame.send(faults, pace, send);
                sender.flush();
                (harmed, false)
            }
        };
        if self.truth.is_enabled() {
            let times = [host_ns, self.shared.clock().wall_ns_at(snapshot.time)];
            self.truth.log_frame(due, snapshot, &frame, times, harmed || busy);
        }
        let mut stats = self.shared.stats.lock();
        let entry = stats.sensors.entry(request.seq_id).or_default();
        entry.type_id = request.type_id;
        entry.frames += 1;
        entry.harmed += u64::from(harmed);
        entry.busy += u64::from(busy);
        entry.datagrams += sender.sent.datagrams;
        entry.errors += sender.sent.errors;
        entry.bytes += frame.sent.len() as u64;
        entry.faults = frame.faults();
    }
}

impl SensorOutput {
    fn update(&mut self, live: &LiveSensor, clouds: CloudFormat) {
        self.generation = live.generation;
        let request = &live.request;
        self.claim_at = None;
        if request.send_protocol.mode != SHARED_MEMORY {
            self.block = None;
        } else if (self.block.as_ref()).is_none_or(|block| !block.fits(request, clouds)) {
            self.block = None; // dropped first: its name must be free for the new block
            self.claim(request, clouds);
        }
    }

    /// Creates the sensor's block; on failure continues over UDP and retries later.
    fn claim(&mut self, request: &SensorRequest, clouds: CloudFormat) {
        const RETRY: Duration = Duration::from_secs(1);
        let seq_id = request.seq_id;
        match SensorBlock::create(request, clouds) {
            Ok(block) => {
                self.block = Some(block);
                if self.claim_at.take().is_some() {
                    tracing::warn!(
                        seq_id,
                        "shared memory is available again; no longer sending over UDP"
                    );
                }
            }
            Err(error) => {
                if self.claim_at.is_none() {
                    tracing::warn!(seq_id, %error, "cannot create shared memory; sending over UDP until it is available");
                }
                self.claim_at = Some(Instant::now() + RETRY);
            }
        }
    }
}

/// Waits for the next tick; `None` after a timeout, so that the caller can check for stop. Also returns its
/// epoch: requests after a restart must not mix with state from before.
fn next_tick(shared: &SharedState) -> (u64, Option<Tick>) {
    const NAP: Duration = Duration::from_millis(20);
    let mut table = shared.sensors.lock();
    let epoch = shared.epoch();
    let clock = shared.clock();
    let now = clock.now();
    let skipped = table.skip(now);
    let tick = if clock.is_paused() { None } else { table.tick(now) };
    if tick.is_none() {
        let next = table.next().and_then(|t| clock.until(t));
        let nap = next.map_or(NAP, |d| d.min(NAP));
        shared.changed.wait_for(&mut table, nap);
    }
    drop(table);
    if !skipped.is_empty() {
        let mut stats = shared.stats.lock();
        for (seq_id, count) in skipped {
            stats.sensors.entry(seq_id).or_default().skipped += count;
        }
    }
    (epoch, tick)
}
