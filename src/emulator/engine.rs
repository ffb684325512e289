//! The render loop: at each tick every due sensor looks at the same instant of the world.
use super::faults::{FaultScope, Faults, Lane};
use super::render::Renderer;
use super::sender::{Postman, Sender};
use super::sensor::{Live, world_pose};
use super::servers::coptersim;
use super::shared::Shared;
use crate::wire::SensorRequest;
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// What the loop keeps for a live sensor.
struct Stream {
    generation: u64,
    frame_id: i32,
    sender: Sender,
    payload: Vec<u8>,
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
    renderer: Renderer,
    streams: BTreeMap<u16, Stream>,
    epoch: u64,
}

impl Engine {
    pub(super) fn new(
        shared: Arc<Shared>,
        windows: Vec<Arc<UdpSocket>>,
        postman: Arc<Postman>,
    ) -> Self {
        let renderer = Renderer::new(shared.options.pattern);
        Self {
            epoch: shared.epoch(),
            shared,
            windows,
            postman,
            renderer,
            streams: BTreeMap::new(),
        }
    }

    pub(super) fn run(mut self) {
        while !self.shared.stopped() {
            if self.epoch != self.shared.epoch() {
                self.epoch = self.shared.epoch();
                self.streams.clear();
            }
            if let Some(tick) = next_tick(&self.shared) {
                self.render(&tick);
            }
        }
    }

    fn render(&mut self, tick: &Tick) {
        let options = &self.shared.options;
        let snapshot = options.world.at(tick.time);
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
        for live in &tick.due {
            let request = &live.request;
            let Some(socket) = self.windows.get(live.window) else {
                continue;
            };
            let Some((pose, own)) =
                world_pose(&tick.requests, request, &snapshot, options.angle_unit)
            else {
                continue;
            };
            let stream = self
                .streams
                .entry(request.seq_id)
                .or_insert_with(|| Stream {
                    generation: 0,
                    frame_id: 0,
                    sender: Sender::new(
                        Arc::clone(socket),
                        Arc::clone(&self.postman),
                        Lane::new(faults.seed, request.seq_id.into()),
                    ),
                    payload: Vec::new(),
                });
            stream.generation = live.generation;
            stream.frame_id = stream.frame_id.wrapping_add(1);
            self.renderer
                .payload(&snapshot, request, &pose, own, &mut stream.payload);
            let sent = stream.sender.frame(
                live.destination,
                options.header,
                stream.frame_id,
                tick.time,
                &stream.payload,
                &faults,
            );
            let mut stats = self.shared.stats();
            let entry = stats.sensors.entry(request.seq_id).or_default();
            entry.type_id = request.type_id;
            entry.frames += 1;
            entry.harmed += u64::from(sent.harmed);
            entry.datagrams += sent.datagrams;
            entry.errors += sent.errors;
            entry.bytes += stream.payload.len() as u64;
            entry.faults = stream.sender.counts();
        }
    }
}

/// Waits for the next due instant; `None` after a while without one, so that the caller can look around.
fn next_tick(shared: &Shared) -> Option<Tick> {
    const NAP: Duration = Duration::from_millis(20);
    let mut table = shared.sensors();
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
    let Some(time) = ready else {
        let nap = time
            .and_then(|t| clock.until(t))
            .map_or(NAP, |d| d.min(NAP));
        drop(
            shared
                .changed
                .wait_timeout(table, nap)
                .unwrap_or_else(PoisonError::into_inner),
        );
        return None;
    };
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
    drop(table);
    let mut stats = shared.stats();
    skipped
        .iter()
        .for_each(|(seq_id, count)| stats.sensors.entry(*seq_id).or_default().skipped += count);
    Some(Tick {
        time,
        due,
        requests,
    })
}
