//! Small, frequent datagrams of a vehicle: IMU, true state, heartbeats. They share one thread of their own, so that
//! no image delays them.
use super::announced::{Announced, Announcement, Whereabouts};
use super::clock::{SimClock, SimClocks, host_now};
use super::live::SettingsWatch;
use super::stats::SourceStats;
use super::supervisor::RESENDS;
use crate::frames::{Attitude, Euler, FrameTree, Frd, Geodetic, Ned, Vector, VehiclePose};
use crate::msgs::sensor_msgs::msg::Imu;
use crate::msgs::tf2_msgs::msg::TFMessage;
use crate::ros::Publisher;
use crate::sensors::ImuConverter;
use crate::time::{Heartbeat, RosTime, SimTime, Stream};
use crate::transport::{Datagram, UdpReceiver, is_local_address};
use crate::vehicle::GroundTruth;
use crate::wire::{
    HeartbeatPacket, ImuPacket, ImuRequestPacket, Packet, ShortStatePacket, TrueState,
    TruthDatagram,
};
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zerocopy::IntoBytes as _;

/// Longer than every datagram of these ports.
const BUFFER: usize = 2048;

/// The IMU of one vehicle.
pub(crate) struct ImuSource {
    pub(crate) receiver: UdpReceiver,
    pub(crate) request: ImuRequestPacket,
    pub(crate) simulator: SocketAddrV4,
    pub(crate) period: Duration,
    pub(crate) timeout: Duration,
    pub(crate) converter: ImuConverter,
    pub(crate) publisher: Publisher<Imu>,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) settings: SettingsWatch,
    /// How many times a changed request is still to be sent; nothing acknowledges it.
    pub(crate) resend: u8,
    pub(crate) stats: Arc<SourceStats>,
}

impl ImuSource {
    /// Asks for samples until they come, publishes them, and asks again when they stop.
    pub(crate) async fn run(mut self) {
        let mut buffer = [0; BUFFER];
        let mut ask = tokio::time::interval(self.period);
        ask.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                received = receive(&self.receiver, &mut buffer, &self.stats) => {
                    if let Some(datagram) = received {
                        self.sample(&buffer[..datagram.len.min(BUFFER)], &datagram);
                    }
                }
                Ok(()) = self.settings.changed() => {
                    self.take_over();
                    // The first tick is at once.
                    ask = tokio::time::interval(self.period);
                    ask.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                }
                _ = ask.tick() => {
                    let last = self.stats.lock().last_frame;
                    let silent = last.is_none_or(|at| at.elapsed() >= self.timeout);
                    if (silent || self.resend > 0)
                        && self.receiver.send_to(self.request.as_bytes(), self.simulator).is_err()
                    {
                        self.stats.lock().drop_one("request_not_sent");
                    }
                    self.resend = self.resend.saturating_sub(1);
                }
            }
        }
    }

    /// Takes over what parameters have changed.
    fn take_over(&mut self) {
        let settings = self.settings.borrow_and_update();
        let params = &settings.params;
        (self.period, self.timeout) = (params.request.period, params.request.timeout);
        self.converter.set_covariances(&params.imu);
        let rate_hz = params.imu.rate_hz;
        if self.request.rate_hz.get() != rate_hz {
            self.request.rate_hz = rate_hz.into();
            self.resend = RESENDS;
        }
    }

    fn sample(&mut self, bytes: &[u8], datagram: &Datagram) {
        let Ok(packet) = ImuPacket::parse(bytes) else {
            return self.stats.lock().drop_one("malformed");
        };
        let seconds = packet.sim_time.get();
        if !seconds.is_finite() {
            return self.stats.lock().drop_one("malformed");
        }
        let arrival = arrival(datagram);
        let sim_time = SimTime::from_secs(seconds);
        let stamp = self.clock.stamp(sim_time, arrival, Stream::Imu);
        let result = self
            .publisher
            .publish(self.converter.convert(packet, stamp));
        let mut figures = self.stats.lock();
        figures.frames += 1;
        figures.last_frame = Some(Instant::now());
        match result {
            Ok(_) => {
                figures.converted += 1;
                figures.took(host_now().0 - arrival.0);
            }
            Err(_) => figures.drop_one("publish"),
        }
    }
}

/// The true state of one vehicle, which moves its frames.
pub(crate) struct TruthSource {
    pub(crate) vehicle: u16,
    pub(crate) receiver: UdpReceiver,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) tf: Option<Tf>,
    pub(crate) truth: GroundTruth,
    pub(crate) map_centre: MapCentre,
    pub(crate) stats: Arc<SourceStats>,
}

/// Where the origin of the simulator's map is on the earth: estimates are relative to home, the truth to this.
#[derive(Clone)]
pub(crate) struct MapCentre(Arc<Mutex<Geodetic>>);

impl Default for MapCentre {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Geodetic::MAP_CENTRE)))
    }
}

impl MapCentre {
    /// Further from the map's origin than this is another map.
    const REACH_M: f64 = 100_000.0;

    /// The simulator says where it is.
    fn set(&self, centre: Geodetic) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != centre {
            tracing::info!(
                latitude = centre.latitude_deg,
                longitude = centre.longitude_deg,
                altitude = centre.altitude_m,
                "the origin of the simulator's map"
            );
            *current = centre;
        }
    }

    /// Where something is in the map; `None` if it is not in it.
    pub(super) fn position_of(&self, place: Geodetic) -> Option<Vector<Ned>> {
        let centre = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = Geodetic::home_offset(place, centre)?;
        (position.norm() <= Self::REACH_M).then_some(position)
    }
}

/// The moving part of TF, shared by all vehicles.
#[derive(Clone)]
pub(crate) struct Tf {
    pub(crate) tree: Arc<Mutex<FrameTree>>,
    pub(crate) publisher: Arc<Publisher<TFMessage>>,
}

impl TruthSource {
    /// Publishes every state.
    pub(crate) async fn run(mut self) {
        let mut buffer = [0; BUFFER];
        let mut last = None;
        loop {
            if let Some(datagram) = receive(&self.receiver, &mut buffer, &self.stats).await {
                self.state(&buffer[..datagram.len.min(BUFFER)], &datagram, &mut last);
            }
        }
    }

    fn state(&mut self, bytes: &[u8], datagram: &Datagram, last: &mut Option<RosTime>) {
        let state = match TruthDatagram::parse(bytes) {
            Ok(TruthDatagram::State(state))
                if state.copter_id == i32::from(self.vehicle) && is_finite(&state) =>
            {
                state
            }
            Ok(TruthDatagram::Collision { copter_id, with }) => {
                let own = copter_id.is_none_or(|id| id == i32::from(self.vehicle));
                return if own {
                    self.collision(with, copter_id.is_none(), arrival(datagram));
                } else {
                    self.stats.lock().drop_one("other_vehicle");
                };
            }
            Ok(TruthDatagram::MapCentre(packet)) => {
                let [latitude, longitude, altitude] = packet.gps.map(|x| x.get());
                let centre = Geodetic::new(latitude, longitude, altitude);
                return if centre.is_known() {
                    self.map_centre.set(centre);
                } else {
                    self.stats.lock().drop_one("malformed");
                };
            }
            // Nobody but the author of the model knows what it means.
            Ok(TruthDatagram::ModelOutput(_)) => {
                return self.stats.lock().drop_one("not_a_state");
            }
            _ => return self.stats.lock().drop_one("malformed"),
        };
        if bytes.len() == ShortStatePacket::LEN {
            self.collision(state.collided_with, true, arrival(datagram));
        }
        let arrival = arrival(datagram);
        let sim_time = SimTime::from_secs(state.sim_time);
        let stamp = self.clock.stamp(sim_time, arrival, Stream::Imu);
        let mut published = Ok(());
        if last.is_none_or(|last| stamp != last) {
            *last = Some(stamp);
            let pose = pose(self.vehicle, &state);
            if let Some(tf) = &self.tf {
                tf.publish(&pose, stamp);
            }
            published = self.truth.publish(&state, &pose, stamp);
        }
        let mut figures = self.stats.lock();
        if published.is_err() {
            figures.drop_one("publish");
        }
        figures.frames += 1;
        figures.converted += 1;
        figures.last_frame = Some(Instant::now());
        figures.took(host_now().0 - arrival.0);
    }
}

impl TruthSource {
    fn collision(&mut self, with: Option<i32>, lasting: bool, now: RosTime) {
        match self.truth.collision(with, lasting, now) {
            Ok(true) => self.stats.lock().drop_one("collision"),
            Ok(false) => {}
            Err(_) => self.stats.lock().drop_one("publish"),
        }
    }
}

impl Tf {
    /// Publishes the frames that move with a vehicle.
    pub(crate) fn publish(&self, pose: &VehiclePose, stamp: RosTime) {
        let transforms = {
            let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
            tree.update(pose, stamp).to_vec()
        };
        // A failure is in the counters of the publisher.
        let _counted = self.publisher.publish(&TFMessage { transforms });
    }
}

/// Clock heartbeats of all vehicles, also of those that are not served.
pub(crate) struct HeartbeatSource {
    pub(crate) receiver: UdpReceiver,
    pub(crate) clocks: SimClocks,
    pub(crate) announced: Announced,
    /// Vehicles that are served.
    pub(crate) served: Vec<u16>,
    pub(crate) stats: Arc<SourceStats>,
}

impl HeartbeatSource {
    /// Feeds the clocks.
    pub(crate) async fn run(mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            let Some(datagram) = receive(&self.receiver, &mut buffer, &self.stats).await else {
                continue;
            };
            let Ok(packet) = HeartbeatPacket::parse(&buffer[..datagram.len.min(BUFFER)]) else {
                self.stats.lock().drop_one("malformed");
                continue;
            };
            let (id, from) = (packet.copter_id.get(), *datagram.from.ip());
            if let Some(cause) = self.announce(id, from) {
                self.stats.lock().drop_one(cause);
            }
            let clock = u16::try_from(id).ok().and_then(|id| self.clocks.get(id));
            let Some(clock) = clock else {
                continue;
            };
            clock.heartbeat(Heartbeat {
                start_ms: packet.start_ms.get(),
                now_ms: packet.now_ms.get(),
                host: arrival(&datagram),
                local: is_local_address(*datagram.from.ip()),
            });
            let mut figures = self.stats.lock();
            figures.frames += 1;
            figures.last_frame = Some(Instant::now());
        }
    }
}

impl HeartbeatSource {
    /// Says, once, that a vehicle is not served, or not where it is; returns what the heartbeat is counted as.
    fn announce(&mut self, id: i32, from: Ipv4Addr) -> Option<&'static str> {
        let local = is_local_address(from);
        let place = Whereabouts {
            address: from,
            local,
        };
        match self.announced.hear(id, place) {
            Announcement::Served => None,
            Announcement::NotServed { first } => {
                if first {
                    let mut vehicles: Vec<_> = self.served.iter().map(u16::to_string).collect();
                    vehicles.push(id.to_string());
                    tracing::warn!(
                        "vehicle {id} announces itself from {from} and is not served: vehicles are not added while the bridge \
                         runs. Start it again with vehicles:=[{}], or with control.discover_s",
                        vehicles.join(", ")
                    );
                }
                Some("other_vehicle")
            }
            Announcement::Elsewhere { sent_to, first } => {
                if first {
                    tracing::warn!(
                        "heartbeats of vehicle {id} come from {from}, but the bridge sends to {sent_to}: set \
                         vehicle{id}.address:={from}, or simulator_address if all vehicles are there"
                    );
                }
                Some("other_address")
            }
        }
    }
}

async fn receive(
    receiver: &UdpReceiver,
    buffer: &mut [u8; BUFFER],
    stats: &SourceStats,
) -> Option<Datagram> {
    match receiver.recv(&mut [IoSliceMut::new(buffer)]).await {
        Ok(datagram) => {
            let mut figures = stats.lock();
            figures.received += 1;
            figures.bytes += datagram.len as u64;
            if datagram.overflows > 0 {
                figures.overflowed(datagram.overflows);
            }
            Some(datagram)
        }
        Err(_) => {
            stats.lock().drop_one("socket");
            // A socket that fails at once must not spin.
            tokio::time::sleep(Duration::from_millis(10)).await;
            None
        }
    }
}

fn arrival(datagram: &Datagram) -> RosTime {
    datagram.kernel_time.map_or_else(host_now, RosTime)
}

fn pose(vehicle: u16, state: &TrueState) -> VehiclePose {
    let [x, y, z] = state.position;
    let [roll, pitch, yaw] = state.euler;
    let attitude = state
        .quaternion
        .and_then(Attitude::<Frd, Ned>::from_wxyz)
        .unwrap_or_else(|| Attitude::from_euler(Euler { roll, pitch, yaw }));
    VehiclePose {
        vehicle,
        position: Vector::new(x, y, z),
        attitude,
    }
}

fn is_finite(state: &TrueState) -> bool {
    let numbers = [state.position, state.velocity, state.euler].into_iter();
    let rate = state.rate.into_iter().flatten();
    let quaternion = state.quaternion.into_iter().flatten();
    state.sim_time.is_finite()
        && numbers
            .flatten()
            .chain(rate)
            .chain(quaternion)
            .all(f64::is_finite)
}
