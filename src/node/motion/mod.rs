//! Simulates vehicles in the bridge (`vehicle<id>.model`): a task replaces CopterSim on this host, and receives and sends the
//! same datagrams.
use crate::config::params::{VehicleModel, VehicleParams};
use crate::frames::{Geodetic, WorldConvention};
use crate::motion::{Airframe, Ignored, OwnVehicle, Start, Terrain};
use crate::node::clock::{SimClock, host_now};
use crate::node::datagrams::{BUFFER, receive};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError, stats::SourceStats,
};
use crate::transport::{BindOptions, UdpReceiver, UdpSender};
use crate::wire::{HeartbeatPacket, ImuPacket, ImuRequestPacket, IntoBytes as _, Packet as _};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::MissedTickBehavior;

const THREAD: &str = "rfly-motion";
/// Time between steps; also the shortest time between IMU samples.
const STEP: Duration = Duration::from_millis(5);
const STEPS_PER_STATE: u64 = 2;
const STEPS_PER_HEARTBEAT: u64 = 200;
/// Largest difference between the time of the vehicle and that of the renderer, which stamps its images.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_millis(200);

/// Opens no topics.
pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: |_: &mut TopicPage| {} };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let params = &context.settings.params;
    for id in context.settings.vehicles() {
        if let Some(config) = params.per_vehicle.get(&id)
            && config.is_flown_here()
        {
            open_vehicle(context, assembly, id, config)?;
        }
    }
    Ok(())
}

fn open_vehicle(
    context: &Context<'_>,
    assembly: &mut Assembly,
    id: u16,
    config: &VehicleParams,
) -> Result<(), NodeError> {
    let ports = &context.settings.ports;
    let runtime = assembly.threads.runtime(THREAD)?;
    let _entered = runtime.enter();
    let mut bind = |what: &str, port: u16| {
        let options = BindOptions { address: Ipv4Addr::LOCALHOST, ..context.senders.port(port) };
        let what = format!("the model of vehicle {id} in CopterSim's place: {what}");
        assembly.binder.bind(&options, &what)
    };
    let control = bind("control", ports.autopilot(id));
    let requests = bind("requests", ports.coptersim(id));
    let (Some(control), Some(requests)) = (control, requests) else { return Ok(()) };
    let sender = UdpSender::open()
        .map_err(|source| NodeError::Start { what: "the socket of a model", source })?;
    let local = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    let airframe = match config.model {
        Some(VehicleModel::FixedWing) => Airframe::FixedWing,
        _ => Airframe::PointMass,
    };
    let start = start_pose(config, context.tree.names().world);
    let mut vehicle = OwnVehicle::new(id, airframe, config.model_type, start, Geodetic::MAP_CENTRE);
    if let Some(map) = context.settings.origin.terrain.clone() {
        vehicle = vehicle.on_terrain(Terrain::new(move |position| map.height(position)));
    }
    let task = ModelTask {
        id,
        vehicle,
        control,
        requests,
        sender,
        clock: context.clocks.of(Some(id)),
        time: Duration::ZERO,
        steps: 0,
        imu: None,
        estimate: local(ports.autopilot_client(id)),
        truth: local(ports.true_state(id)),
        heartbeat: local(ports.heartbeat),
        windows: context.settings.draw_windows(),
        stats: assembly.add_source(format!("model of vehicle {id}")),
    };
    tasks::start_counted(&runtime, task.stats.clone(), task);
    Ok(())
}

/// Returns the start position and heading from the parameters.
fn start_pose(config: &VehicleParams, world: WorldConvention) -> Start {
    let yaw = config.start_yaw_deg.to_radians();
    let wxyz = [(yaw / 2.0).cos(), 0.0, 0.0, (yaw / 2.0).sin()];
    Start {
        position: world.ned(config.start),
        yaw: world.ned_attitude(wxyz).map_or(0.0, |attitude| attitude.euler().yaw),
    }
}

struct ImuStream {
    to: SocketAddrV4,
    period: Duration,
    due: Duration,
    count: i32,
}

/// Simulates one vehicle.
struct ModelTask {
    id: u16,
    vehicle: OwnVehicle,
    control: UdpReceiver,
    requests: UdpReceiver,
    sender: UdpSender,
    clock: Option<Arc<SimClock>>,
    /// Simulation time.
    time: Duration,
    steps: u64,
    imu: Option<ImuStream>,
    estimate: SocketAddrV4,
    truth: SocketAddrV4,
    heartbeat: SocketAddrV4,
    windows: Vec<SocketAddrV4>,
    stats: Arc<SourceStats>,
}

impl CountedTask for ModelTask {
    async fn run(&mut self) {
        let (mut commands, mut requests) = ([0; BUFFER], [0; BUFFER]);
        let mut ticks = tokio::time::interval(STEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut last = Instant::now();
        loop {
            tokio::select! {
                // Steps have priority, because datagrams may arrive without a gap.
                biased;
                _ = ticks.tick() => {
                    let now = Instant::now();
                    self.step(now.duration_since(std::mem::replace(&mut last, now)));
                }
                received = receive(&mut self.control, &mut commands, &self.stats, || true) => {
                    if let Some(datagram) = received {
                        let read = self.vehicle.command(&commands[..datagram.len.min(BUFFER)]);
                        self.count_ignored(read);
                    }
                }
                received = receive(&mut self.requests, &mut requests, &self.stats, || true) => {
                    if let Some(datagram) = received {
                        let read = self.request(&requests[..datagram.len.min(BUFFER)]);
                        self.count_ignored(read);
                    }
                }
            }
        }
    }
}

impl ModelTask {
    fn count_ignored(&self, read: Result<(), Ignored>) {
        if let Err(ignored) = read {
            self.stats.lock().count(Cause::Motion(ignored));
        }
    }

    fn request(&mut self, bytes: &[u8]) -> Result<(), Ignored> {
        let Ok(request) = ImuRequestPacket::parse(bytes) else {
            return self.vehicle.request(bytes);
        };
        let rate = f64::from(request.rate_hz.get().max(1));
        self.imu = Some(ImuStream {
            to: SocketAddrV4::new(request.ip.into(), request.port.get()),
            period: Duration::from_secs_f64(1.0 / rate),
            due: self.time,
            count: self.imu.as_ref().map_or(0, |imu| imu.count),
        });
        Ok(())
    }

    fn step(&mut self, dt: Duration) {
        self.time += dt;
        self.follow_clock();
        self.vehicle.step(dt);
        self.send_imu();
        if self.steps.is_multiple_of(STEPS_PER_STATE) {
            self.send_states();
        }
        if self.steps.is_multiple_of(STEPS_PER_HEARTBEAT) {
            self.send_heartbeat();
        }
        self.steps += 1;
    }

    /// Sets the time to that of a renderer that already runs, because the renderer stamps its images with it.
    fn follow_clock(&mut self) {
        if let Some(time) = self.clock.as_ref().and_then(|clock| clock.sim_time_at(host_now())) {
            let time = Duration::from_nanos(u64::try_from(time.0).unwrap_or(0));
            if time.abs_diff(self.time) > MAX_CLOCK_DIFFERENCE {
                self.time = time;
            }
        }
    }

    fn send_imu(&mut self) {
        let Some(imu) = &mut self.imu else { return };
        // After the clock was set back, the next sample is not delayed by more than a period.
        if self.time < imu.due && imu.due - self.time <= imu.period {
            return;
        }
        imu.due = self.time + imu.period - STEP.min(imu.period) / 2;
        imu.count = imu.count.wrapping_add(1);
        let truth = self.vehicle.truth(self.time);
        let sample = ImuPacket::new(
            imu.count,
            self.time.as_secs_f64(),
            truth.acc.map(|value| value.get()),
            truth.rate.map(|value| value.get()),
        );
        if self.sender.send_to(sample.as_bytes(), imu.to).is_err() {
            self.stats.lock().count(Cause::NotSent);
        }
    }

    fn send_states(&self) {
        let truth = self.vehicle.truth(self.time);
        let estimate = self.vehicle.estimate();
        let renderer_state = self.vehicle.renderer_state(self.time);
        let mut failed = 0;
        let mut send = |bytes: &[u8], to: SocketAddrV4| {
            failed += u64::from(self.sender.send_to(bytes, to).is_err());
        };
        send(truth.as_bytes(), self.truth);
        send(estimate.as_bytes(), self.estimate);
        for window in &self.windows {
            send(renderer_state.as_bytes(), *window);
        }
        let mut figures = self.stats.lock();
        figures.count_frame();
        figures.converted += 1;
        figures.count_many(Cause::NotSent, failed);
    }

    fn send_heartbeat(&self) {
        let now_ms = host_now().0 / 1_000_000;
        let elapsed_ms = i64::try_from(self.time.as_millis()).unwrap_or(0);
        let count = i64::try_from(self.steps / STEPS_PER_HEARTBEAT).unwrap_or(0);
        let beat = HeartbeatPacket::new(self.id.into(), now_ms - elapsed_ms, now_ms, count);
        let centre = self.vehicle.map_centre();
        let sent = [
            self.sender.send_to(beat.as_bytes(), self.heartbeat),
            self.sender.send_to(centre.as_bytes(), self.truth),
        ];
        if sent.iter().any(Result::is_err) {
            self.stats.lock().count(Cause::NotSent);
        }
    }
}
