//! The vehicle simulator: requests, heartbeats, IMU samples, true states, outputs of models.
use super::collision::{CollisionWatch, target_id};
use super::{report, send_to_all, send_to_client};
use crate::emulator::autopilot::ControlMode;
use crate::emulator::autopilot::geo::Geo;
use crate::emulator::clock::wall_ms;
use crate::emulator::faults::{FaultInjector, FaultScope, Faults};
use crate::emulator::options::StatePacket;
use crate::emulator::random::SplitMix;
use crate::emulator::renderer::QUADROTOR;
use crate::emulator::sender::{DelayedSender, Sender};
use crate::emulator::shared::{ImuReader, SharedState, VehicleRequest};
use crate::emulator::world::{Pose, Snapshot, VEHICLE_HALF, Vec3};
use crate::wire::{
    CopterSimLoadPacket, CopterSimRequestPacket, FullStatePacket, HeartbeatPacket, ImuPacket,
    ImuRequestPacket, InputSet, MapCentrePacket, ModelInput, ModelOutputPacket, Packet,
    ShortStatePacket, TimedStatePacket, TrueState,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::{sync::Arc, time::Duration};
use zerocopy::IntoBytes as _;

/// Time between reports of the renderer in s; not documented.
const REPORT_PERIOD: f64 = 1.0;
/// Limit of IMU readers: a flood of requests must not cause a flood of samples.
const MAX_IMU_READERS: usize = 64;
/// Outputs of a model per second of simulation time, once it has inputs.
const OUTPUT_RATE: f64 = 30.0;
/// Standard deviation of the noise of an accelerometer in m/s² and of a gyroscope in rad/s, for a gain of 1.
const NOISE: [f64; 2] = [0.1, 0.01];
/// Check word of a heartbeat request.
const HEARTBEAT_REQUEST: i32 = 123_450;

/// Handles a datagram sent to the `CopterSim` of vehicle `id`.
pub(in crate::emulator) fn accept(
    shared: &SharedState,
    socket: &UdpSocket,
    id: u16,
    bytes: &[u8],
    source: SocketAddr,
) {
    if let Ok(request) = ImuRequestPacket::parse(bytes) {
        let port = match request.port.get() {
            0 => shared.options.ports.imu(id),
            port => port,
        };
        let ip = match request.ip {
            [127, 0, 0, 1] | [0, 0, 0, 0] => source.ip(),
            ip => IpAddr::V4(Ipv4Addr::from(ip)),
        };
        let reader = ImuReader {
            vehicle: id,
            rate_hz: request.rate_hz.get().max(1),
            to: SocketAddr::new(ip, port),
        };
        let mut readers = shared.imu_readers.lock();
        readers.retain(|r| r.to != reader.to);
        if readers.len() < MAX_IMU_READERS {
            readers.push(reader);
        }
    } else if bytes.len() == 8
        && bytes[..4] == HEARTBEAT_REQUEST.to_le_bytes()
        && matches!(bytes[4], 90 | 91)
    {
        let to = SocketAddr::new(source.ip(), shared.options.ports.heartbeat);
        let _ = socket.send_to(heartbeat(shared, id, 0).as_bytes(), to); // the sender may be gone
    } else if let Ok(input) = ModelInput::parse(bytes) {
        set_model_input(shared, socket, id, &input, bytes);
    } else if !execute_request(shared, socket, bytes, source) {
        shared.stats.lock().refused += 1;
    }
}

/// Passes an input to the model of vehicle `id`.
fn set_model_input(
    shared: &SharedState,
    socket: &UdpSocket,
    id: u16,
    input: &ModelInput<'_>,
    bytes: &[u8],
) {
    let outputs = shared.models.lock().entry(id).or_default().apply(input);
    if let Some(outputs) = outputs {
        shared.request(id, VehicleRequest::Outputs(outputs));
    }
    // `CopterSim` broadcasts the plain inputs.
    if matches!(input, ModelInput::Sil(sil) if sil.set() == Some(InputSet::Plain)) {
        let port = shared.options.ports.report;
        send_to_all(shared, socket, bytes, shared.broadcast_client(id), port);
    }
    shared.stats.lock().model_inputs += 1;
}

/// Loads another model of vehicles, or another map; `false` if the request addresses no vehicle, or there is no such map.
fn load(shared: &SharedState, packet: &CopterSimLoadPacket) -> bool {
    const MODEL: i32 = 1;
    const MAP: i32 = 2;
    let (to, index) = (packet.copter_id.get(), packet.index.get());
    let is_addressed = |id: u16| to == -1 || to == i32::from(id);
    let vehicles = shared.options.world.vehicles.iter().map(|v| v.id);
    let ids: Vec<u16> = vehicles.filter(|id| is_addressed(*id)).collect();
    let text = String::from_utf8_lossy(&packet.name);
    let name = text.trim_matches('\0').trim();
    if ids.is_empty() {
        return false;
    }
    match packet.what.get() {
        MODEL => {
            let model = if index >= 0 { index.to_string() } else { name.to_owned() };
            let is_wing = model.to_ascii_lowercase().contains("wing");
            for id in ids {
                shared.models.lock().entry(id).or_default().load(model.clone());
                shared.request(id, VehicleRequest::Model { is_wing });
            }
            true
        }
        MAP => {
            let loaded = shared.renderer.lock().load_map(name, index);
            if loaded {
                shared.sensors.lock().clear(None);
                for id in ids {
                    shared.models.lock().entry(id).or_default().restart();
                    shared.request(id, VehicleRequest::Origin);
                }
            }
            loaded
        }
        _ => false,
    }
}

/// Executes a request for a vehicle or for all; `false` if it is no request, or the vehicle does not exist.
pub(super) fn execute_request(
    shared: &SharedState,
    socket: &UdpSocket,
    bytes: &[u8],
    source: SocketAddr,
) -> bool {
    if let Ok(packet) = CopterSimLoadPacket::parse(bytes) {
        let done = load(shared, packet);
        shared.stats.lock().requests += u64::from(done);
        return done;
    }
    let Ok(packet) = CopterSimRequestPacket::parse(bytes) else { return false };
    let world = &shared.options.world;
    let id = u16::try_from(packet.copter_id.get()).ok();
    let Some(id) = id.filter(|id| world.vehicle(*id).is_some()) else { return false };
    if packet.reply_to_sender > 0 {
        shared.clients.lock().insert(id, source.ip());
        shared.request(id, VehicleRequest::Client(source.ip()));
    }
    if let Some(control) = ControlMode::from_number(packet.udp_mode.into()) {
        shared.request(id, VehicleRequest::Control(control));
    }
    let [x, y] = packet.xy.map(|v| v.get());
    let yaw_or_altitude = f64::from(packet.yaw.get());
    let place = |north: f64, east: f64, yaw: f64| {
        let [z, roll, pitch] = packet.z_roll_pitch.map(|v| f64::from(v.get()));
        let (down, roll, pitch) =
            if packet.stand > 0 { (z, roll, pitch) } else { (-VEHICLE_HALF.z, 0.0, 0.0) };
        let angles = [roll, pitch, yaw].map(f64::to_radians);
        shared.models.lock().entry(id).or_default().restart();
        shared.request(id, VehicleRequest::Place(Pose::new([north, east, down], angles)));
    };
    match packet.place {
        1 => place(x, y, yaw_or_altitude),
        2 => {
            let centre = [x, y, yaw_or_altitude];
            *shared.geo.lock() = Geo { centre };
            for vehicle in &world.vehicles {
                shared.request(vehicle.id, VehicleRequest::Origin);
                let packet = MapCentrePacket::new(vehicle.id.into(), centre);
                send_to_client(shared, socket, vehicle.id, packet.as_bytes());
            }
        }
        3 => {
            let geo = *shared.geo.lock();
            let position = geo.to_ned([x, y, geo.centre[2]]);
            place(position.x, position.y, yaw_or_altitude);
        }
        _ => {}
    }
    shared.stats.lock().requests += 1;
    true
}

fn heartbeat(shared: &SharedState, id: u16, count: i64) -> HeartbeatPacket {
    let start_ms = (shared.clock().start_ns / 1_000_000) as i64;
    HeartbeatPacket::new(id.into(), start_ms, wall_ms(), count)
}

/// Sends all data of CopterSim, and the reports of the renderer, at their own times until the emulator stops.
pub(in crate::emulator) fn run(
    shared: &SharedState,
    socket: &Arc<UdpSocket>,
    delayed: &DelayedSender,
) {
    let mut streams: Vec<ImuStream> = Vec::new();
    let mut epoch = shared.epoch();
    let (mut beat, mut state_number, mut report_due, mut output_due) = (0u64, 0u64, 0.0, 0.0);
    let mut collisions = CollisionWatch::default();
    while !shared.is_stopped() {
        if epoch != shared.epoch() {
            (epoch, beat, state_number, report_due, output_due) = (shared.epoch(), 0, 0, 0.0, 0.0);
            streams.clear();
            collisions = CollisionWatch::default();
        }
        update_streams(shared, &mut streams);
        let clock = shared.clock();
        if clock.is_paused() {
            std::thread::sleep(Duration::from_millis(5));
            continue;
        }
        let now = clock.now();
        let period = shared.options.heartbeat_period.max(1e-3);
        if now >= beat as f64 * period {
            send_heartbeats(shared, socket, beat);
            beat = (now / period).floor() as u64 + 1;
        }
        let rate = f64::from(shared.options.state_rate);
        if rate > 0.0 && now * rate >= state_number as f64 {
            let snapshot = shared.snapshot((now * rate).floor() / rate);
            send_true_states(shared, socket, (epoch, &snapshot));
            state_number = (now * rate).floor() as u64 + 1;
        }
        collisions.check(shared, socket, now);
        if now >= output_due {
            send_outputs(shared, socket, now);
            output_due = now + 1.0 / OUTPUT_RATE;
        }
        if now >= report_due || shared.reports.lock().is_new {
            let requests = {
                let mut requests = shared.reports.lock();
                requests.is_new = false;
                requests.clone()
            };
            report::send(shared, socket, &requests, now);
            report_due = now + REPORT_PERIOD;
        }
        streams.iter_mut().for_each(|stream| stream.send(shared, (socket, delayed), now));
        let state_due = if rate > 0.0 { state_number as f64 / rate } else { f64::INFINITY };
        let next =
            streams.iter().map(ImuStream::due).fold(state_due.min(beat as f64 * period), f64::min);
        if let Some(nap) = clock.until(next) {
            std::thread::sleep(nap.min(Duration::from_millis(10)));
        }
    }
}

/// Updates the streams from the list of IMU readers.
fn update_streams(shared: &SharedState, streams: &mut Vec<ImuStream>) {
    let readers = shared.imu_readers.lock().clone();
    streams.retain(|s| readers.contains(&s.reader));
    for reader in readers {
        if !streams.iter().any(|s| s.reader == reader) {
            let next =
                (shared.clock().now() * f64::from(reader.rate_hz)).floor().max(0.0) as u64 + 1;
            streams.push(ImuStream {
                reader,
                injector: FaultInjector::new(0x1_0000 + u64::from(reader.vehicle)),
                next,
                seq: 0,
            });
        }
    }
}

struct ImuStream {
    reader: ImuReader,
    injector: FaultInjector,
    next: u64,
    seq: i32,
}

impl ImuStream {
    fn due(&self) -> f64 {
        self.next as f64 / f64::from(self.reader.rate_hz)
    }

    /// Sends every due sample, without gaps unless the thread is more than a second late.
    fn send(
        &mut self,
        shared: &SharedState,
        (socket, delayed): (&Arc<UdpSocket>, &DelayedSender),
        now: f64,
    ) {
        let faults = *shared.faults.lock();
        let faults = if faults.scope == FaultScope::Images { Faults::default() } else { faults };
        if now - self.due() > 1.0 {
            self.next = (now * f64::from(self.reader.rate_hz)).floor() as u64;
        }
        while self.due() <= now {
            let Some(motion) = shared.motion(self.reader.vehicle, self.due()) else { return };
            let damage = shared.damage(self.reader.vehicle);
            let mut random = SplitMix::of_frame(
                shared.options.seed,
                0x1_0000 + u64::from(self.reader.vehicle),
                self.due(),
            );
            let mut noisy = |exact: &Vec3, deviation: f64| {
                exact.map(|x| if deviation > 0.0 { x + deviation * random.normal() } else { x })
            };
            let force = noisy(&motion.specific_force, damage.accelerometer * NOISE[0]);
            let force = shared.options.axes.acceleration.of_frd(&force);
            let rate = noisy(&motion.rate, damage.gyroscope * NOISE[1]);
            let sample = ImuPacket::new(self.seq, self.due(), narrow(&force), narrow(&rate));
            let mut sender = Sender::new(socket, delayed, self.reader.to);
            self.injector.pass(&faults, [sample.as_bytes(), &[]], |delay, bytes| {
                sender.send(delay, bytes);
            });
            self.seq = self.seq.wrapping_add(1);
            self.next += 1;
            let mut stats = shared.stats.lock();
            stats.imu_samples += 1;
            stats.imu_faults = self.injector.counts();
        }
    }
}

fn send_heartbeats(shared: &SharedState, socket: &UdpSocket, count: u64) {
    let options = &shared.options;
    for vehicle in &options.world.vehicles {
        let client = shared.broadcast_client(vehicle.id);
        if client.is_some() {
            let packet = heartbeat(shared, vehicle.id, count as i64);
            send_to_all(shared, socket, packet.as_bytes(), client, options.ports.heartbeat);
            shared.stats.lock().heartbeats += 1;
        }
    }
}

/// Sends the outputs of the models that have inputs.
fn send_outputs(shared: &SharedState, socket: &UdpSocket, now: f64) {
    let outputs: Vec<_> = {
        let models = shared.models.lock();
        let models = models.iter().filter(|(_, model)| model.count > 0);
        models.map(|(id, model)| (*id, model.outputs(now))).collect()
    };
    for (id, data) in outputs {
        let packet = ModelOutputPacket::new(id.into(), data);
        send_to_client(shared, socket, id, packet.as_bytes());
    }
}

/// Sends the true state of every vehicle in a snapshot of a run, unless a newer one was sent: a late renderer must not send
/// older states.
pub(in crate::emulator) fn send_true_states(
    shared: &SharedState,
    socket: &UdpSocket,
    (run, snapshot): (u64, &Snapshot),
) {
    let geo = *shared.geo.lock();
    let mut last = shared.last_state.lock();
    if (run, snapshot.time) < *last {
        return;
    }
    *last = (run, snapshot.time);
    for (id, motion) in &snapshot.vehicles {
        let pose = &motion.pose;
        let state = TrueState {
            copter_id: (*id).into(),
            vehicle_type: QUADROTOR,
            sim_time: snapshot.time,
            position: pose.position.into(),
            velocity: motion.velocity.into(),
            euler: pose.roll_pitch_yaw(),
            quaternion: Some(pose.wxyz()),
            rate: Some(motion.rate.into()),
            acc: Some(motion.specific_force.into()),
            motor_rpm: shared.motor_rpm(*id, snapshot.time),
            gps: geo.to_degrees(&pose.position),
            collided_with: shared.contact(*id).map(|contact| target_id(contact.with)),
        };
        let send = |bytes: &[u8]| send_to_client(shared, socket, *id, bytes);
        match shared.options.state_packet {
            StatePacket::Bytes200 => send(ShortStatePacket::from(&state).as_bytes()),
            StatePacket::Bytes168 => send(FullStatePacket::from(&state).as_bytes()),
            StatePacket::Bytes112 => send(TimedStatePacket::from(&state).as_bytes()),
        }
    }
    shared.stats.lock().true_states += snapshot.vehicles.len() as u64;
}

fn narrow(v: &Vec3) -> [f32; 3] {
    v.map(|x| x as f32).into()
}
