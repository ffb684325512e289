//! Small, frequent datagrams of a vehicle: IMU, true state, heartbeats. They share one thread of their own, so that
//! no image delays them.
use super::clock::{SimClock, SimClocks, host_now};
use super::heartbeat_directory::{Announcement, HeartbeatDirectory, Whereabouts};
use super::live::SettingsWatch;
use super::stats::SourceStats;
use super::supervisor::RESENDS;
use super::tasks::Source;
use crate::frames::{Attitude, Euler, FrameTree, Frd, Geodetic, Ned, Vector, VehiclePose};
use crate::msgs::sensor_msgs::msg::Imu;
use crate::msgs::tf2_msgs::msg::TFMessage;
use crate::ros::Publisher;
use crate::sensors::{AttitudeSample, ImuConverter};
use crate::session::{Mark, Order, Verdict};
use crate::time::{Heartbeat, RosTime, SimTime, SourceKind};
use crate::transport::{Datagram, Received, UdpReceiver, is_local_address};
use crate::vehicle::GroundTruth;
use crate::wire::{
    HeartbeatPacket, ImuPacket, ImuRequestPacket, Packet, ShortStatePacket, TrueState,
    TruthDatagram,
};
use std::collections::BTreeSet;
use std::io::IoSliceMut;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use zerocopy::IntoBytes as _;

/// Silence on the port of true states after which those on the autopilot's link count.
const OWN_PORT_SILENT: Duration = Duration::from_secs(2);
/// Longer than every datagram of these ports.
const BUFFER: usize = 2048;

/// The newest true attitude of a vehicle, from its true state to its IMU.
pub(crate) type SharedAttitude = Arc<Mutex<Option<AttitudeSample>>>;

/// The IMU of one vehicle.
pub(crate) struct ImuSource {
    pub(crate) receiver: UdpReceiver,
    pub(crate) request: ImuRequestPacket,
    pub(crate) simulator: SocketAddrV4,
    pub(crate) period: Duration,
    pub(crate) timeout: Duration,
    pub(crate) converter: ImuConverter,
    /// For the orientation, if the message shall have one.
    pub(crate) attitude: Option<SharedAttitude>,
    pub(crate) publisher: Publisher<Imu>,
    pub(crate) order: Order,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) settings: SettingsWatch,
    /// How many times a changed request is still to be sent; nothing acknowledges it.
    pub(crate) resend: u8,
    pub(crate) stats: Arc<SourceStats>,
}

impl Source for ImuSource {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    /// Asks for samples until they come, publishes them, and asks again when they stop.
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        let mut ask = tokio::time::interval(self.period);
        ask.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // What is due goes first: datagrams may come without end.
                biased;
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
                received = receive(&self.receiver, &mut buffer, &self.stats) => {
                    if let Some(datagram) = received {
                        self.sample(&buffer[..datagram.len.min(BUFFER)], &datagram);
                    }
                }
            }
        }
    }
}

impl ImuSource {
    /// Takes over what parameters have changed.
    fn take_over(&mut self) {
        let settings = self.settings.borrow_and_update();
        let params = &settings.params;
        (self.period, self.timeout) = (params.request.period, params.request.timeout);
        self.converter.set_covariances(&params.imu);
        let rate_hz = params.imu.rate_hz;
        self.stats.lock().asked_hz = Some(rate_hz.into());
        if self.request.rate_hz.get() != rate_hz {
            self.request.rate_hz = rate_hz.into();
            self.resend = RESENDS;
        }
    }

    fn sample(&mut self, bytes: &[u8], datagram: &Datagram) {
        let Ok(packet) = ImuPacket::parse(bytes) else {
            return self.stats.lock().drop_one("malformed");
        };
        let arrival = arrival(datagram);
        let mark = Mark {
            id: Some(packet.seq.get()),
            time: packet.sim_time.get(),
            arrival,
        };
        let stamp = in_order(&mut self.order, mark)
            .and_then(|time| self.clock.stamp(time, arrival, SourceKind::Imu).ok_or(TIME));
        let mut figures = self.stats.lock();
        figures.lost(self.order.lost());
        let stamp = match stamp {
            Ok(stamp) => stamp,
            Err(cause) => return figures.drop_one(cause),
        };
        drop(figures);
        let attitude = self.attitude.as_ref().and_then(|shared| *lock(shared));
        let Some(message) = self.converter.convert(packet, attitude, stamp) else {
            return self.stats.lock().drop_one(NOT_FINITE);
        };
        let result = self.publisher.publish(message);
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
    pub(crate) order: Order,
    pub(crate) tf: Option<Tf>,
    pub(crate) truth: GroundTruth,
    /// The same as CopterSim sends it on the autopilot's link.
    pub(crate) on_link: mpsc::Receiver<TrueState>,
    pub(crate) map_centre: MapCentre,
    pub(crate) attitude: SharedAttitude,
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
    /// Vehicles whose pose is known.
    pub(crate) posed: Arc<Mutex<BTreeSet<u16>>>,
}

impl Source for TruthSource {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    /// Publishes every state.
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        let mut last = None;
        let mut heard: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                received = receive(&self.receiver, &mut buffer, &self.stats) => {
                    if let Some(datagram) = received {
                        heard = Some(Instant::now());
                        self.state(&buffer[..datagram.len.min(BUFFER)], &datagram, &mut last);
                    }
                }
                Some(state) = self.on_link.recv() => {
                    // Where states come by themselves they have more in them.
                    if heard.is_none_or(|at| at.elapsed() >= OWN_PORT_SILENT) {
                        self.state_on_link(&state, &mut last);
                    }
                }
            }
        }
    }
}

impl TruthSource {
    fn state_on_link(&mut self, state: &TrueState, last: &mut Option<RosTime>) {
        self.stats.lock().received += 1;
        let now = host_now();
        self.publish(state, now, true, now, last);
    }

    fn state(&mut self, bytes: &[u8], datagram: &Datagram, last: &mut Option<RosTime>) {
        let state = match TruthDatagram::parse(bytes) {
            Ok(TruthDatagram::State(state)) if state.copter_id == i32::from(self.vehicle) => state,
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
        let lasting = bytes.len() == ShortStatePacket::LEN;
        // Everything of one tick has the same stamp, also where the clock's estimate is late.
        let latest = RosTime(i64::MAX);
        self.publish(&state, arrival(datagram), lasting, latest, last);
    }

    /// `lasting`: it says all the time with what the vehicle collides. No stamp is later than `latest`.
    fn publish(
        &mut self,
        state: &TrueState,
        arrival: RosTime,
        lasting: bool,
        latest: RosTime,
        last: &mut Option<RosTime>,
    ) {
        let mark = Mark {
            id: None,
            time: state.sim_time,
            arrival,
        };
        let stamp = match moves(state) {
            true => in_order(&mut self.order, mark)
                .and_then(|time| self.clock.stamp(time, arrival, SourceKind::Imu).ok_or(TIME)),
            false => Err(NOT_FINITE),
        };
        let stamp = match stamp {
            Ok(stamp) => stamp.min(latest),
            Err(cause) => return self.stats.lock().drop_one(cause),
        };
        if lasting {
            self.collision(state.collided_with, true, arrival);
        }
        if !self.truth.is_finite(state) {
            self.stats.lock().drop_one(NOT_FINITE);
        }
        let mut published = Ok(());
        if last.is_none_or(|last| stamp != last) {
            *last = Some(stamp);
            let pose = pose(self.vehicle, state);
            *lock(&self.attitude) = Some(AttitudeSample {
                at: SimTime::from_secs(state.sim_time),
                attitude: pose.attitude,
            });
            if let Some(tf) = &self.tf {
                tf.publish(&pose, stamp);
            }
            published = self.truth.publish(state, &pose, stamp);
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
    /// Returns how many vehicles have a pose.
    pub(crate) fn vehicles(&self) -> usize {
        self.posed().len()
    }

    fn posed(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.posed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the frames that move with a vehicle, while somebody listens.
    pub(crate) fn publish(&self, pose: &VehiclePose, stamp: RosTime) {
        let transforms = {
            let mut tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
            let transforms = tree.update(pose, stamp);
            (self.publisher.subscribers() > 0).then(|| transforms.to_vec())
        };
        if let Some(transforms) = transforms {
            // A failure is in the counters of the publisher.
            let _counted = self.publisher.publish(&TFMessage { transforms });
        }
        self.posed().insert(pose.vehicle);
    }
}

/// Clock heartbeats of all vehicles, also of those that are not served.
pub(crate) struct HeartbeatSource {
    pub(crate) receiver: UdpReceiver,
    pub(crate) clocks: SimClocks,
    pub(crate) announced: HeartbeatDirectory,
    /// Vehicles that are served.
    pub(crate) served: Vec<u16>,
    pub(crate) stats: Arc<SourceStats>,
}

impl Source for HeartbeatSource {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    /// Feeds the clocks.
    async fn run(&mut self) {
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
            Announcement::Served | Announcement::OfAnotherBridge => None,
            Announcement::NotServed { first } => {
                if first {
                    let mut vehicles: Vec<_> = self.served.iter().map(u16::to_string).collect();
                    vehicles.push(id.to_string());
                    tracing::warn!(
                        "vehicle {id} announces itself from {from} and is not served: vehicles are not added while the bridge \
                         runs. Start it again with vehicles:=[{}], or with control.discover_s; if another bridge serves it, \
                         say so with other_vehicles:=[{id}]",
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

fn lock(shared: &SharedAttitude) -> MutexGuard<'_, Option<AttitudeSample>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn receive(
    receiver: &UdpReceiver,
    buffer: &mut [u8; BUFFER],
    stats: &SourceStats,
) -> Option<Datagram> {
    match receiver.recv(&mut [IoSliceMut::new(buffer)]).await {
        Ok(Received::Refused) => {
            stats.lock().drop_one("refused");
            None
        }
        Ok(Received::Datagram(datagram)) => {
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

/// Whether everything that moves frames is a number.
fn moves(state: &TrueState) -> bool {
    let numbers = [state.position, state.velocity, state.euler].into_iter();
    let rate = state.rate.into_iter().flatten();
    let quaternion = state.quaternion.into_iter().flatten();
    let mut all = numbers.flatten().chain(rate).chain(quaternion);
    all.all(f64::is_finite)
}

/// What a sample is counted as whose time is not one of this simulation, or that holds what is not a number.
const TIME: &str = "time";
const NOT_FINITE: &str = "not_finite";

/// Returns the time of what goes on from what came before, or what it is counted as.
fn in_order(order: &mut Order, mark: Mark) -> Result<SimTime, &'static str> {
    let time = SimTime::checked_from_secs(mark.time).ok_or(TIME)?;
    match order.judge(mark) {
        // Several datagrams may tell the truth of one moment.
        Verdict::Same if mark.id.is_none() => Ok(time),
        Verdict::Next | Verdict::Restart => {
            order.advance(mark);
            Ok(time)
        }
        Verdict::Same | Verdict::Duplicate => Err("duplicate"),
        Verdict::Late => Err("late"),
        Verdict::Unconfirmed => Err("unconfirmed"),
    }
}
