//! The true state of a vehicle: published on `ground_truth/*`, and source of the vehicle's frames in TF.
use super::{map_centre::MapCentre, model_output::ModelOutputs, source_choice::SourceChoice};
use crate::config::params::{ImuOrientation, TfSource};
use crate::doctor::SourceRole;
use crate::frames::{Attitude, Euler, Frd, Geodetic, Ned, Vector, VehiclePose};
use crate::node::clock::{SimClock, host_now};
use crate::node::datagrams::{BUFFER, advance_order, arrival, count_received, take_next};
use crate::node::tasks::{self, CountedTask};
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError,
    pose_history::PoseHistory, presence::Presence, shared_scene::SharedScene, stats::SourceStats,
    tf::Tf,
};
use crate::scene::{EntityMotion, MapPose};
use crate::sensors::{AttitudeSample, ForceMeter, TrueForce};
use crate::session::{StreamOrder, StreamPosition};
use crate::time::{RosTime, SimTime, SourceKind};
use crate::transport::{BindOptions, Datagram, Received, UdpReader, UdpReceiver};
use crate::vehicle::{GpsReceiver, GroundTruth, TruthPublishers};
use crate::wire::{ModelOutputPacket, Packet as _, ShortStatePacket, TrueState, TruthDatagram};
use parking_lot::Mutex;
use std::io::{self, IoSliceMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;

/// The newest true motion of a vehicle, for its IMU.
#[derive(Default)]
pub(super) struct TrueMotion {
    pub(super) newest: Mutex<MotionSample>,
    /// Whether the IMU needs the true motion.
    is_wanted: AtomicBool,
}

/// The part of the true motion that the IMU reads.
#[derive(Clone, Copy, Default)]
pub(super) struct MotionSample {
    pub(super) attitude: Option<AttitudeSample>,
    pub(super) force: Option<TrueForce>,
}

impl TrueMotion {
    pub(super) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::Relaxed);
    }
}

/// Publishes the true states that arrive on a vehicle's autopilot link, on the thread that receives them: a replay that waits
/// for this thread has then handled them.
#[derive(Clone)]
pub(super) struct TruthRelay(Arc<Mutex<TruthStates>>);

impl TruthRelay {
    /// Publishes a state, unless the true-state port delivers states: they have more fields.
    pub(super) fn publish(&self, state: &TrueState, arrival: RosTime) {
        let mut states = self.0.lock();
        let mut is_used = states.source.hear_link(arrival);
        if is_used {
            // Under load the port is not silent, its datagrams are queued.
            states.take_queued(MAX_QUEUED);
            is_used = states.source.hear_link(arrival);
        }
        if is_used {
            states.stats.lock().received += 1;
            states.publish(state, arrival, true, arrival);
        }
    }

    /// Passes true states also to the autopilot, for a link without states of its own.
    pub(super) fn feed(&self, autopilot: crate::vehicle::Handle) {
        self.0.lock().autopilot = Some(autopilot);
    }

    /// Whether a state must be read as soon as it arrives.
    pub(super) fn is_wanted(&self) -> bool {
        let states = self.0.lock();
        states.source.uses_link() && states.are_wanted()
    }
}

/// State shared by the sources of one vehicle.
pub(super) struct VehicleContext {
    pub(super) id: u16,
    pub(super) clock: Arc<SimClock>,
    pub(super) motion: Arc<TrueMotion>,
}

/// Opens the true state of a vehicle; returns the relay for states on its autopilot's link.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
    shared: &VehicleContext,
    map_centre: &MapCentre,
) -> Result<Option<TruthRelay>, NodeError> {
    let vehicle = shared.id;
    let params = &context.settings.params;
    if !params.true_state_enabled {
        return Ok(None);
    }
    let name = format!("true state of vehicle {vehicle}");
    let port = context.settings.ports.true_state(vehicle);
    let options =
        BindOptions { reuse: true, copy_to: params.forward_to, ..context.senders.port(port) };
    let Some(receiver) = assembly.binder.bind(&options, &name) else { return Ok(None) };
    let stats = assembly.add_source_of(SourceRole::TrueState(vehicle), name);
    let imu = &context.settings.params.imu;
    let reader = Arc::new(receiver.reader());
    let truth_states = Arc::new(Mutex::new(TruthStates {
        vehicle,
        reader: Arc::downgrade(&reader),
        clock: shared.clock.clone(),
        tf: match context.settings.params.frames.tf_source {
            TfSource::Truth => context.tf.clone(),
            TfSource::Estimate | TfSource::External => None,
        },
        poses: context.poses.clone(),
        truth: open_ground_truth(context, vehicle)?,
        scene: context.scene.clone(),
        autopilot: None,
        map_centre: map_centre.clone(),
        presence: context.presence.clone(),
        outputs: ModelOutputs::open(context, vehicle)?,
        order: StreamOrder::default(),
        motion: shared.motion.clone(),
        force: ForceMeter::default(),
        imu_has_orientation: imu.enabled && imu.orientation == ImuOrientation::Truth,
        stats: stats.clone(),
        source: SourceChoice::default(),
        last_stamp: None,
    }));
    let tf = truth_states.lock().tf.clone();
    if let Some(tf) = tf {
        let states = Arc::downgrade(&truth_states);
        tf.set_queue(vehicle, move || {
            // If another thread is handling the datagrams, they are not waited for.
            if let Some(states) = states.upgrade()
                && let Some(mut states) = states.try_lock()
            {
                states.take_queued(MAX_CAUGHT_UP);
            }
        });
    }
    let source = TruthSource { receiver, _reader: reader, states: truth_states.clone(), stats };
    tasks::start_counted(runtime, source.stats.clone(), source);
    Ok(Some(TruthRelay(truth_states)))
}

/// Opens the topics of a vehicle's true state.
fn open_ground_truth(context: &Context<'_>, vehicle: u16) -> Result<GroundTruth, NodeError> {
    let names = context.tree.names();
    let publishers = TruthPublishers::open(
        context.middleware,
        |topic| context.settings.vehicle_topic(vehicle, topic),
        |group, topic| context.qos(group, topic),
    )?;
    let params = &context.settings.params;
    let receiver = GpsReceiver::open(&params.degrade, vehicle, |topic| {
        context.publisher(topic.group, &context.settings.vehicle_topic(vehicle, topic.name))
    })?;
    let truth = GroundTruth::new(
        publishers,
        names.world,
        names.map.clone(),
        context.tree.base_link(vehicle),
        params.control.geoid,
    );
    Ok(truth.with_receiver(receiver))
}

/// Maximum number of queued datagrams that are handled before other data of the vehicle is published.
const MAX_CAUGHT_UP: usize = 16;
/// Maximum number of queued datagrams that are handled before a state of the autopilot's link: several seconds of states, but a
/// flood of the port does not hold up the link's thread.
const MAX_QUEUED: usize = 1024;

/// Reads the true states of one vehicle.
struct TruthSource {
    receiver: UdpReceiver,
    /// Keeps the reader alive while this task runs. Other threads hold weak references, so the port closes with the task.
    _reader: Arc<UdpReader>,
    /// Locked while a datagram is read and handled, because two threads read.
    states: Arc<Mutex<TruthStates>>,
    stats: Arc<SourceStats>,
}

impl CountedTask for TruthSource {
    async fn run(&mut self) {
        let states = &self.states;
        loop {
            let is_wanted = || states.lock().are_wanted();
            let take = |receiver: &UdpReceiver| states.lock().take_next(|to| receiver.try_recv(to));
            let _counted = take_next(&mut self.receiver, &self.stats, is_wanted, take).await;
        }
    }
}

struct TruthStates {
    vehicle: u16,
    reader: Weak<UdpReader>,
    clock: Arc<SimClock>,
    order: StreamOrder,
    tf: Option<Tf>,
    poses: PoseHistory,
    truth: GroundTruth,
    scene: SharedScene,
    /// Autopilot that also gets the true state.
    autopilot: Option<crate::vehicle::Handle>,
    map_centre: MapCentre,
    presence: Presence,
    outputs: ModelOutputs,
    motion: Arc<TrueMotion>,
    force: ForceMeter,
    /// Whether the IMU publishes the true attitude.
    imu_has_orientation: bool,
    stats: Arc<SourceStats>,
    source: SourceChoice,
    last_stamp: Option<RosTime>,
}

impl TruthStates {
    fn are_wanted(&self) -> bool {
        self.imu_has_orientation
            || self.autopilot.is_some()
            || self.motion.is_wanted.load(Ordering::Relaxed)
            || self.truth.is_read()
            || self.outputs.is_read()
            || self.clock.is_read()
            || self.poses.are_wanted()
            || self.tf.as_ref().is_some_and(Tf::is_read)
    }

    /// Handles at most `limit` queued datagrams.
    fn take_queued(&mut self, limit: usize) {
        let Some(reader) = self.reader.upgrade() else { return };
        for _ in 0..limit {
            match self.take_next(|to| reader.try_recv(to)) {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(_) => return self.stats.lock().count(Cause::Socket),
            }
        }
    }

    /// Handles a queued datagram; `None` if there is none.
    fn take_next(
        &mut self,
        receive: impl FnOnce(&mut [IoSliceMut<'_>]) -> io::Result<Option<Received>>,
    ) -> io::Result<Option<()>> {
        let mut buffer = [0; BUFFER];
        let Some(received) = receive(&mut [IoSliceMut::new(&mut buffer)])? else {
            return Ok(None);
        };
        if let Some(datagram) = count_received(received, &self.stats) {
            self.source.hear_port(arrival(&datagram));
            self.handle(&buffer[..datagram.len.min(BUFFER)], &datagram);
        }
        Ok(Some(()))
    }

    fn handle(&mut self, bytes: &[u8], datagram: &Datagram) {
        let state = match TruthDatagram::parse(bytes) {
            Ok(TruthDatagram::State(state)) if state.copter_id == i32::from(self.vehicle) => state,
            Ok(TruthDatagram::Collision { copter_id, with }) => {
                let is_own = copter_id.is_none_or(|id| id == i32::from(self.vehicle));
                return if is_own {
                    self.handle_collision(with, copter_id.is_none(), arrival(datagram));
                } else {
                    self.stats.lock().count(Cause::OtherVehicle);
                };
            }
            Ok(TruthDatagram::MapCentre(packet)) => {
                let [latitude, longitude, altitude] = packet.gps.map(|x| x.get());
                let centre = Geodetic::new(latitude, longitude, altitude);
                return if centre.is_known() {
                    self.map_centre.set(centre);
                } else {
                    self.stats.lock().count(Cause::Malformed);
                };
            }
            Ok(TruthDatagram::ModelOutput(packet)) => {
                return self.publish_output(packet, arrival(datagram));
            }
            _ => return self.stats.lock().count(Cause::Malformed),
        };
        let is_periodic = bytes.len() == ShortStatePacket::LEN;
        // All data of one tick has the same stamp, even if the clock's estimate lags.
        let latest = RosTime(i64::MAX);
        self.publish(&state, arrival(datagram), is_periodic, latest);
    }

    /// `is_periodic`: each state says whether the vehicle is in a collision. No stamp is later than `latest`.
    fn publish(&mut self, state: &TrueState, arrival: RosTime, is_periodic: bool, latest: RosTime) {
        let position = StreamPosition { id: None, time: state.sim_time, arrival };
        let stamp = if is_usable(state) {
            advance_order(&mut self.order, position).and_then(|time| {
                self.clock.stamp(time, arrival, SourceKind::Imu).ok_or(Cause::Time)
            })
        } else {
            Err(Cause::NotFinite)
        };
        let stamp = match stamp {
            Ok(stamp) => stamp.min(latest),
            Err(cause) => return self.stats.lock().count(cause),
        };
        if is_periodic {
            self.handle_collision(state.collided_with, true, arrival);
        }
        if !self.truth.is_finite(state) {
            self.stats.lock().count(Cause::NotFinite);
        }
        let mut published = Ok(());
        if self.last_stamp != Some(stamp) {
            self.last_stamp = Some(stamp);
            let pose = pose_of(self.vehicle, state);
            let [north, east, _] = state.position;
            self.presence.record_position(self.vehicle, [north, east, pose.attitude.euler().yaw]);
            let (at, attitude) = (SimTime::from_secs(state.sim_time), pose.attitude);
            *self.motion.newest.lock() = MotionSample {
                attitude: Some(AttitudeSample { at, attitude }),
                force: (self.force).take(at, Vector::from(state.velocity), attitude),
            };
            self.poses.push(at, &pose);
            if let Some(tf) = &self.tf {
                tf.publish(&pose, stamp);
            }
            let motion = EntityMotion {
                pose: MapPose { position: pose.position, attitude },
                velocity: Vector::from(state.velocity),
                rate: state.rate.map(Vector::from),
                stamp,
            };
            self.scene.lock().entities.set_motion(self.vehicle.into(), motion);
            if let Some(autopilot) = &self.autopilot {
                autopilot.tell(|autopilot| autopilot.true_state(state));
            }
            published = self.truth.publish(state, &pose, stamp);
        }
        let mut figures = self.stats.lock();
        if published.is_err() {
            figures.count(Cause::Publish);
        }
        figures.count_frame();
        figures.converted += 1;
        figures.record_latency(host_now().0 - arrival.0);
    }

    /// Publishes values of the model, with the time of arrival: the datagram has no time.
    fn publish_output(&self, packet: &ModelOutputPacket, arrival: RosTime) {
        if packet.copter_id.get() != i32::from(self.vehicle) {
            self.stats.lock().count(Cause::OtherVehicle);
        } else if !self.outputs.publish(packet, arrival) {
            self.stats.lock().count(Cause::Publish);
        }
    }

    fn handle_collision(&mut self, with: Option<i32>, is_periodic: bool, now: RosTime) {
        match self.truth.collision(with, is_periodic, now) {
            Ok(true) => self.stats.lock().count(Cause::Collision),
            Ok(false) => {}
            Err(_) => self.stats.lock().count(Cause::Publish),
        }
    }
}

fn pose_of(vehicle: u16, state: &TrueState) -> VehiclePose {
    let [x, y, z] = state.position;
    let [roll, pitch, yaw] = state.euler;
    let attitude = state
        .quaternion
        .and_then(Attitude::<Frd, Ned>::from_wxyz)
        .unwrap_or_else(|| Attitude::from_euler(Euler { roll, pitch, yaw }));
    VehiclePose { vehicle, position: Vector::new(x, y, z), attitude }
}

/// Whether pose and velocities are finite.
fn is_usable(state: &TrueState) -> bool {
    let numbers = [state.position, state.velocity, state.euler].into_iter();
    let rate = state.rate.into_iter().flatten();
    let quaternion = state.quaternion.into_iter().flatten();
    let mut all = numbers.flatten().chain(rate).chain(quaternion);
    all.all(f64::is_finite)
}
