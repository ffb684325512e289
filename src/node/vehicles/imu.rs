//! The IMU of a vehicle: requested, stamped, published.
use super::truth::{TrueMotion, VehicleContext};
use crate::config::params::{ImuOrientation, QosGroup};
use crate::node::clock::{SimClock, host_now};
use crate::node::datagrams::{BUFFER, advance_order, arrival, receive};
use crate::node::settings::{RESENDS, SettingsWatch};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, axes::AxesReport, cause::Cause, context::Context, error::NodeError,
    stats::SourceStats, tf::Tf,
};
use crate::sensors::{AccelerationAxesFinder, ImuConverter, TrueForce, Verdict};
use crate::session::{StreamOrder, StreamPosition};
use crate::time::{SimTime, SourceKind};
use crate::transport::{BindOptions, Datagram, UdpReceiver, UdpSender};
use crate::wire::{ImuPacket, ImuRequestPacket, Packet as _};
use crate::{doctor::SourceRole, msgs::sensor_msgs::msg::Imu, noise::Draws, ros::Publisher};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::{sync::Arc, time::Duration};
use tokio::runtime::Handle;
use zerocopy::IntoBytes as _;

/// Axes that were found are checked again for CHECK_TIME_NS at the start of each CHECK_PERIOD_NS of simulation time.
const CHECK_TIME_NS: i64 = 5_000_000_000;
const CHECK_PERIOD_NS: i64 = 60_000_000_000;
/// A sample is compared with the true specific force if their times differ by less than this, in ns.
const MAX_DIFFERENCE_NS: u64 = 50_000_000;

/// Opens the IMU of a vehicle. With `imu.orientation: truth`, the vehicle's true attitude is the orientation.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
    shared: VehicleContext,
) -> Result<(), NodeError> {
    let vehicle = shared.id;
    let params = &context.settings.params;
    let ports = &context.settings.ports;
    let port = ports.imu(vehicle);
    let what = format!("IMU of vehicle {vehicle}");
    let options = BindOptions { copy_to: params.forward_to, ..context.senders.port(port) };
    let Some(receiver) = assembly.binder.bind(&options, &what) else { return Ok(()) };
    let stats =
        assembly.add_source_of(SourceRole::Imu(vehicle), format!("imu of vehicle {vehicle}"));
    stats.lock().asked_hz = Some(params.imu.rate_hz.into());
    let reply_to = params.receive_address.unwrap_or(Ipv4Addr::LOCALHOST);
    let topic = context.settings.vehicle_topic(vehicle, &params.imu.topic);
    let draws = Draws::new(params.degrade.seed, vehicle);
    let frame = context.settings.imu_frame(&context.tree, vehicle);
    let mut converter = ImuConverter::new(&params.imu, &frame, params.frames.world);
    converter.set_noise(&params.imu, draws);
    let source = ImuSource {
        sender: receiver.sender(),
        receiver,
        request: ImuRequestPacket::new(params.imu.rate_hz, reply_to.octets(), port),
        simulator: SocketAddrV4::new(params.copter_sim(vehicle), ports.coptersim(vehicle)),
        period: params.request.period,
        timeout: params.request.timeout,
        converter,
        draws,
        has_orientation: params.imu.orientation == ImuOrientation::Truth,
        motion: shared.motion,
        axes: AccelerationAxesFinder::new(params.imu.acceleration_axes),
        reported: String::new(),
        axes_report: context.axes_report.clone(),
        vehicle,
        tf: context.tf.clone(),
        publisher: context.publisher(QosGroup::Imu, &topic)?,
        clock: shared.clock,
        order: StreamOrder::default(),
        settings: context.watch(),
        resend: 0,
        stats,
    };
    tasks::start_counted(runtime, source.stats.clone(), source);
    Ok(())
}

struct ImuSource {
    receiver: UdpReceiver,
    sender: UdpSender,
    request: ImuRequestPacket,
    simulator: SocketAddrV4,
    period: Duration,
    timeout: Duration,
    converter: ImuConverter,
    draws: Draws,
    /// Whether samples contain the true orientation.
    has_orientation: bool,
    motion: Arc<TrueMotion>,
    axes: AccelerationAxesFinder,
    /// Text about the axes as last reported.
    reported: String,
    axes_report: AxesReport,
    vehicle: u16,
    tf: Option<Tf>,
    publisher: Publisher<Imu>,
    order: StreamOrder,
    clock: Arc<SimClock>,
    settings: SettingsWatch,
    /// How many times to repeat a changed request; requests are not acknowledged.
    resend: u8,
    stats: Arc<SourceStats>,
}

impl CountedTask for ImuSource {
    /// Requests samples until they arrive, publishes them, and requests them again when they stop.
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        let mut request_timer = tokio::time::interval(self.period);
        request_timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Timed work first: datagrams may arrive without a gap.
                biased;
                Ok(()) = self.settings.changed() => {
                    self.apply_settings();
                    // The first tick is immediate.
                    request_timer = tokio::time::interval(self.period);
                    request_timer.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                }
                _ = request_timer.tick() => {
                    let last = self.stats.lock().last_frame;
                    let is_silent = last.is_none_or(|at| at.elapsed() >= self.timeout);
                    if (is_silent || self.resend > 0)
                        && self.sender.send_to(self.request.as_bytes(), self.simulator).is_err()
                    {
                        self.stats.lock().count(Cause::RequestNotSent);
                    }
                    self.resend = self.resend.saturating_sub(1);
                }
                // Samples are read as soon as they arrive if the IMU or `/clock` has a subscriber.
                received = receive(&mut self.receiver, &mut buffer, &self.stats, || self.publisher.subscribers() > 0 || self.clock.is_read()) => {
                    if let Some(datagram) = received {
                        self.handle_sample(&buffer[..datagram.len.min(BUFFER)], &datagram);
                    }
                }
            }
        }
    }
}

impl ImuSource {
    fn apply_settings(&mut self) {
        let settings = self.settings.borrow_and_update();
        let params = &settings.params;
        (self.period, self.timeout) = (params.request.period, params.request.timeout);
        self.converter.set_noise(&params.imu, self.draws);
        let rate_hz = params.imu.rate_hz;
        self.stats.lock().asked_hz = Some(rate_hz.into());
        if self.request.rate_hz.get() != rate_hz {
            self.request.rate_hz = rate_hz.into();
            self.resend = RESENDS;
        }
    }

    /// Compares a measured acceleration with the true specific force; once the axes are found, only during the checks.
    fn compare(&mut self, packet: &ImuPacket, truth: Option<TrueForce>) {
        let at = SimTime::from_secs(packet.sim_time.get());
        let due = self.axes.verdict() != Verdict::Found
            || at.0.rem_euclid(CHECK_PERIOD_NS) < CHECK_TIME_NS;
        self.motion.set_wanted(due && self.publisher.subscribers() > 0);
        if due
            && let Some(truth) = truth
            && at.0.abs_diff(truth.at.0) < MAX_DIFFERENCE_NS
        {
            let acceleration = packet.acc.map(|v| f64::from(v.get()));
            self.axes.add(at, acceleration, truth.force);
        }
        let text = self.axes.text();
        if text != self.reported {
            let what = format!("imu of vehicle {}", self.vehicle);
            let verdict = self.axes.verdict();
            (self.axes_report).report(what, verdict, &text, "imu.acceleration_axes");
            self.reported = text;
        }
    }

    fn handle_sample(&mut self, bytes: &[u8], datagram: &Datagram) {
        let Ok(packet) = ImuPacket::parse(bytes) else {
            return self.stats.lock().count(Cause::Malformed);
        };
        let arrival = arrival(datagram);
        let position =
            StreamPosition { id: Some(packet.seq.get()), time: packet.sim_time.get(), arrival };
        let stamp = advance_order(&mut self.order, position)
            .and_then(|time| self.clock.stamp(time, arrival, SourceKind::Imu).ok_or(Cause::Time));
        let mut figures = self.stats.lock();
        figures.set_lost(self.order.lost());
        let stamp = match stamp {
            Ok(stamp) => stamp,
            Err(cause) => return figures.count(cause),
        };
        drop(figures);
        if let Some(tf) = &self.tf {
            tf.catch_up(self.vehicle);
        }
        let newest = *self.motion.newest.lock();
        self.compare(packet, newest.force);
        let attitude = newest.attitude.filter(|_| self.has_orientation);
        let axes = self.axes.in_use();
        let Some(message) = self.converter.convert(packet, axes, attitude, stamp) else {
            return self.stats.lock().count(Cause::NotFinite);
        };
        let result = self.publisher.publish(message);
        let mut figures = self.stats.lock();
        figures.count_frame();
        match result {
            Ok(_) => {
                figures.converted += 1;
                figures.record_latency(host_now().0 - arrival.0);
            }
            Err(_) => figures.count(Cause::Publish),
        }
    }
}
