//! Cost of a second of telemetry of 50 vehicles inside the bridge, without a network: `cargo bench --bench telemetry`.
//!
//! One item is one datagram of an autopilot: parsed, converted, published to the recorder (which only counts), and polled. One
//! sample is the 19,700 datagrams that 50 vehicles send in a second at these rates, so its time in s is the share of one core.
//! Allocations are those of a whole sample.
use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use rfly_bridge::config::PluginLists;
use rfly_bridge::frames::Geoid;
use rfly_bridge::ros::{Middleware, Options, Qos, Recorder};
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{
    Autopilot, Clock, MavlinkLink, Now, Sink, TOPICS, VehicleInterface, VehicleNames,
    VehicleSettings,
};
use rfly_bridge::wire::mavlink::frames;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const VEHICLES: u16 = 50;
/// Message and rate in Hz of PX4 1.16 on an onboard link.
const RATES: [(u32, u32); 21] = [
    (30, 100),
    (31, 50),
    (105, 50),
    (33, 50),
    (32, 30),
    (331, 30),
    (111, 10),
    (141, 10),
    (83, 10),
    (85, 10),
    (36, 10),
    (74, 10),
    (24, 8),
    (245, 5),
    (1, 5),
    (0, 1),
    (230, 1),
    (29, 1),
    (2, 1),
    (147, 1),
    (242, 1),
];
/// Topics that nearly every controller reads.
const A_TOPICS: [&str; 12] = [
    "state",
    "extended_state",
    "local_position/pose",
    "local_position/odom",
    "local_position/velocity_local",
    "local_position/velocity_body",
    "imu/data",
    "global_position/global",
    "global_position/rel_alt",
    "global_position/compass_hdg",
    "battery",
    "home_position/home",
];

fn main() {
    divan::main();
}

fn hex(text: &str) -> Vec<u8> {
    let digits = |at: usize| text.get(at..at + 2).and_then(|d| u8::from_str_radix(d, 16).ok());
    (0..text.len()).step_by(2).filter_map(digits).collect()
}

/// Returns the frames that one vehicle sends in a second: recorded ones, evenly spread at their rates.
fn second() -> Vec<Vec<u8>> {
    const RECORDED: &str = include_str!("../test/fixtures/golden/mavros/from_fcu.json");
    let recorded: Value = serde_json::from_str(RECORDED).expect("JSON");
    let mut by_id = BTreeMap::new();
    for case in recorded["cases"].as_array().expect("cases") {
        let bytes = hex(case["frames"][0].as_str().unwrap_or_default());
        let own = case["sysid"] == 1 && case["compid"] == 1;
        if let (true, Some(Ok(frame))) = (own, frames(&bytes).next()) {
            by_id.insert(frame.id, bytes.clone());
        }
    }
    let mut timed: Vec<(f64, Vec<u8>)> = Vec::new();
    for (id, rate) in RATES {
        let frame = by_id.get(&id).expect("a recorded frame");
        let times = (0..rate).map(|n| (f64::from(n) + 0.5) / f64::from(rate));
        timed.extend(times.map(|time| (time, frame.clone())));
    }
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    timed.into_iter().map(|(_, frame)| frame).collect()
}

struct Fleet {
    vehicles: Vec<VehicleInterface>,
    now: Arc<AtomicU64>,
    recorder: Recorder,
}

impl Fleet {
    fn new() -> Self {
        let options = Options::new("bench");
        let (ros, recorder) = Middleware::recorder(&options).expect("a recorder");
        let now = Arc::new(AtomicU64::new(0));
        let time = now.clone();
        let clock: Clock = Arc::new(move || {
            let ns = time.load(Ordering::Relaxed);
            Now {
                mono: Duration::from_nanos(ns),
                ros: RosTime(1_700_000_000_000_000_000 + ns as i64),
            }
        });
        let vehicles = (1..=VEHICLES)
            .map(|id| {
                let sink: Sink = Box::new(|_| true);
                let settings = VehicleSettings {
                    id,
                    system: Some(1),
                    adopt_system: true,
                    geoid: Geoid::Constant(17.0), // EGM96 is cached for 1 km; the recorded positions are farther apart
                    ..VehicleSettings::default()
                };
                VehicleInterface::open(
                    &ros,
                    VehicleNames {
                        id,
                        prefix: &format!("/v{id}/mavros"),
                        plugins: &PluginLists::default(),
                    },
                    &|_, _| Qos::DEFAULT,
                    clock.clone(),
                    || (),
                    |open| Autopilot::open(open, settings, Box::new(MavlinkLink::new(sink))),
                )
                .expect("topics open")
            })
            .collect();
        recorder.count_only();
        Self { vehicles, now, recorder }
    }

    fn subscribe(&self, topics: impl Iterator<Item = &'static str>) {
        for topic in topics {
            for id in 1..=VEHICLES {
                let name = format!("/v{id}/mavros/{topic}");
                self.recorder.set_subscribers(&name, 1);
            }
        }
    }

    fn run(&self, second: &[Vec<u8>]) {
        let step = 1_000_000_000 / second.len() as u64;
        for datagram in second {
            self.now.fetch_add(step, Ordering::Relaxed);
            for vehicle in &self.vehicles {
                vehicle.handle().with(|autopilot| {
                    autopilot.receive(datagram);
                    autopilot.poll()
                });
            }
        }
    }
}

fn measure(bencher: Bencher<'_, '_>, topics: impl Iterator<Item = &'static str>) {
    let (fleet, second) = (Fleet::new(), second());
    fleet.subscribe(topics);
    fleet.run(&second);
    bencher
        .counter(ItemsCount::new(second.len() * usize::from(VEHICLES)))
        .bench_local(|| fleet.run(&second));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn nobody_subscribes(bencher: Bencher<'_, '_>) {
    measure(bencher, std::iter::empty());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn one_subscriber_on_each_a_topic(bencher: Bencher<'_, '_>) {
    measure(bencher, A_TOPICS.into_iter());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn one_subscriber_on_every_topic(bencher: Bencher<'_, '_>) {
    let relative = TOPICS.iter().map(|topic| topic.name);
    measure(bencher, relative.filter(|name| !name.starts_with('/')));
}
