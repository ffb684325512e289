//! The emulator's side: its renderer and what it sends, on a clock that is told.
use super::conditions::Conditions;
use rfly_bridge::emulator::world::{ScriptedMotion, World};
use rfly_bridge::emulator::{EmulatorOptions, Faults, SensorTable, Streams};
use rfly_bridge::wire::{FragmentHeader, RequestLayout, SendProtocol, SensorRequest};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// Frames that a late one may be compared with.
pub(super) const REMEMBERED: usize = 200;

/// A frame of one camera as it was rendered.
pub(super) struct Rendered {
    /// Which camera.
    pub(super) camera: usize,
    /// Restarts and jumps of the simulator's time before it.
    pub(super) stretch: u32,
    /// Simulation time in s.
    pub(super) time: f64,
    /// The bridge's time at the tick.
    pub(super) truth: Duration,
    pub(super) pixels: Vec<u8>,
}

/// A datagram on its way.
pub(super) struct Sent {
    pub(super) camera: usize,
    /// The frame that it is of, which may be the one before if it was held back.
    pub(super) serial: u64,
    pub(super) delay: Duration,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Simulator {
    table: SensorTable,
    streams: Streams,
    world: World,
    requests: Vec<SensorRequest>,
    stretch: u32,
    /// Frames so far, and the last one of each camera and time.
    rendered: u64,
    serials: BTreeMap<(usize, u64), u64>,
    speed: f64,
    /// Simulation time in s at an instant of the bridge's clock in s, from where it goes on.
    anchor: (f64, f64),
    running: bool,
}

impl Simulator {
    pub(super) fn new(conditions: &Conditions) -> Self {
        let options = EmulatorOptions { header: conditions.header, ..EmulatorOptions::default() };
        let request = |(seq_id, (width, height, rate)): (u16, (u16, u16, u16))| SensorRequest {
            layout: RequestLayout::New,
            seq_id,
            bitmask: 0,
            type_id: 1,
            target_copter: 1,
            mount_type: 0,
            width,
            height,
            check_freq: rate,
            send_protocol: SendProtocol {
                mode: 2,
                ip: [127, 0, 0, 1],
                port: 0,
                piece_bytes: 0,
                segmentation: 0,
            },
            fov_deg: 90.0,
            position: [0.5, 0.0, 0.0],
            eular_or_quat: 0.0,
            euler: [0.0, -20.0, 0.0],
            quaternion: [1.0, 0.0, 0.0, 0.0],
            other_params: [0.0; 16],
        };
        let mut simulator = Self {
            table: SensorTable::default(),
            streams: Streams::new(&options),
            world: World::flying(1),
            requests: (0..).zip(conditions.cameras).map(request).collect(),
            stretch: 0,
            rendered: 0,
            serials: BTreeMap::new(),
            speed: 1.0 + conditions.drift_ppm * 1e-6,
            anchor: (0.0, 0.0),
            running: true,
        };
        simulator.ask();
        simulator
    }

    /// The bridge asks for its sensors.
    fn ask(&mut self) {
        let source = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        for request in &self.requests {
            let taken = self.table.request(*request, 0, source, self.anchor.0);
            assert_eq!(taken, Ok(()));
        }
    }

    fn time(&self, now: Duration) -> f64 {
        self.anchor.0 + (now.as_secs_f64() - self.anchor.1) * self.speed
    }

    /// It stops.
    pub(super) fn stop(&mut self, now: Duration) {
        self.anchor = (self.time(now), now.as_secs_f64());
        self.running = false;
    }

    /// It goes on where it was stopped.
    pub(super) fn go_on(&mut self, now: Duration) {
        self.anchor.1 = now.as_secs_f64();
        self.running = true;
    }

    /// Its time is another by so many s; never before its start.
    pub(super) fn jump(&mut self, now: Duration, seconds: f64) {
        let time = (self.time(now) + seconds).max(0.0);
        self.stretch += 1;
        self.anchor = (time, now.as_secs_f64());
        self.table.clear(None);
        self.ask();
    }

    /// It starts anew, in another world: no two of its runs show the same.
    pub(super) fn restart(&mut self, now: Duration) {
        self.stretch += 1;
        self.anchor = (0.0, now.as_secs_f64());
        self.running = true;
        self.streams.clear();
        self.table.clear(None);
        self.ask();
        if let ScriptedMotion::Lap(route) = &mut self.world.vehicles[0].motion {
            route.phase += 0.31;
        }
    }

    /// Renders what is due and gives what is sent to `send`.
    pub(super) fn step(
        &mut self,
        now: Duration,
        faults: &Faults,
        mut send: impl FnMut(Sent),
    ) -> Vec<Rendered> {
        let mut rendered = Vec::new();
        let time = self.time(now);
        if !self.running {
            return rendered;
        }
        self.table.skip(time);
        while let Some(tick) = self.table.tick(time) {
            let snapshot = self.world.at(tick.time);
            let host = self.anchor.1 + (tick.time - self.anchor.0) / self.speed;
            for seen in self.streams.begin(&tick, &snapshot) {
                let mut frame = self.streams.frame(&seen, &snapshot).expect("raw pixels");
                let camera = usize::from(seen.live.request.seq_id);
                self.rendered += 1;
                self.serials.insert((camera, tick.time.to_bits()), self.rendered);
                rendered.push(Rendered {
                    camera,
                    stretch: self.stretch,
                    time: tick.time,
                    truth: Duration::from_secs_f64(host.max(0.0)),
                    pixels: frame.raw.to_vec(),
                });
                let pass = |delay, parts: [&[u8]; 2]| {
                    let bytes = parts.concat();
                    let header = FragmentHeader::parse(&bytes, bytes.len()).expect("a fragment");
                    let serial = self.serials[&(camera, header.sim_time.to_bits())];
                    send(Sent { camera, serial, delay, bytes });
                };
                frame.send(faults, |_| (), pass);
            }
        }
        rendered
    }
}
