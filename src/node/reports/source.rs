//! Requests, receives and publishes the reports of the renderer.
use super::topics::{COLLISIONS, Collisions, SceneTopics};
use crate::config::params::{QosGroup, ReportDemand};
use crate::node::clock::{HeaderClock, SimClocks, host_now};
use crate::node::datagrams::{BUFFER, arrival, receive};
use crate::node::pose_history::{PoseDemand, PoseHistory};
use crate::node::settings::{Settings, SettingsWatch};
use crate::node::stats::{LinkState, SourceStats};
use crate::node::tasks::{CountedTask, next_moment};
use crate::node::{
    cause::Cause, context::Context, error::NodeError, sensor_views::SensorViews,
    shared_reports::SharedReports,
};
use crate::reports::{
    CollisionState, MapConversion, ReportRequester, ReportSubject, ReportedEntity, camera_report,
    collision, vehicle_report,
};
use crate::ros::RosError;
use crate::sensors::{FrameKind, spec_of};
use crate::time::{RosTime, SimTime};
use crate::transport::{UdpReceiver, UdpSender};
use crate::wire::{
    CONSOLE_LONG_LEN, CameraDescription, CrashPacket, EntityDescription, SceneReport,
    VehicleReportPacket, console_command,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use std::{net::SocketAddrV4, sync::Arc};

/// Interval of checks for readers while reports are requested. Boxes are published at most once per interval.
const CHECK_PERIOD: Duration = Duration::from_millis(100);
/// Interval of these checks while no report is requested.
const IDLE_CHECK_PERIOD: Duration = Duration::from_millis(200);

pub(super) struct ReportSource {
    receiver: UdpReceiver,
    sender: UdpSender,
    renderer: SocketAddrV4,
    topics: SceneTopics,
    vehicles: BTreeMap<u16, VehicleCollisions>,
    reported: SharedReports,
    views: SensorViews,
    /// True poses, which are stored while descriptions of cameras are requested.
    poses: (PoseHistory, PoseDemand),
    requester: ReportRequester,
    conversion: MapConversion,
    map: String,
    clocks: SimClocks,
    headers: HeaderClock,
    settings: SettingsWatch,
    start: Instant,
    /// Whether a description of a vehicle or object arrived after boxes were last published.
    has_changed: bool,
    stats: Arc<SourceStats>,
}

/// The collisions of a served vehicle.
struct VehicleCollisions {
    topic: Collisions,
    collision: CollisionState,
    /// Restarts of its clock so far: each ends the collision.
    restarts: u64,
}

impl ReportSource {
    pub(super) fn open(
        context: &Context<'_>,
        receiver: UdpReceiver,
        stats: Arc<SourceStats>,
    ) -> Result<Self, NodeError> {
        let params = &context.settings.params;
        let vehicle = |id: u16| {
            let name = context.settings.vehicle_topic(id, COLLISIONS);
            let vehicle = VehicleCollisions {
                topic: Collisions::open(context, QosGroup::Latched, &name)?,
                collision: CollisionState::default(),
                restarts: 0,
            };
            Ok((id, vehicle))
        };
        let vehicles = context.settings.vehicles().into_iter().map(vehicle);
        let names = context.tree.names();
        let source = Self {
            sender: receiver.sender(),
            receiver,
            renderer: context.settings.renderer(),
            topics: SceneTopics::open(context)?,
            vehicles: vehicles.collect::<Result<_, NodeError>>()?,
            reported: context.reported.clone(),
            views: context.views.clone(),
            poses: (context.poses.clone(), context.poses.demand()),
            requester: ReportRequester::default(),
            conversion: MapConversion { convention: names.world, bounds: params.reports.bounds },
            map: names.map.clone(),
            clocks: context.clocks.clone(),
            headers: context.clocks.headers(None),
            settings: context.watch(),
            start: context.start,
            has_changed: false,
            stats,
        };
        // Latched, so that a subscriber learns at once that there is no collision.
        for id in source.vehicles.keys() {
            source.publish_collision(*id, source.headers.now())?;
        }
        Ok(source)
    }

    fn publish_collision(&self, id: u16, stamp: RosTime) -> Result<(), RosError> {
        let Some(vehicle) = self.vehicles.get(&id) else { return Ok(()) };
        let message = collision(id, &vehicle.collision, &self.conversion, (&self.map, stamp));
        vehicle.topic.publish(&message)
    }

    /// Subjects whose reports have a reader, or all of them with `reports.demand:=always`.
    fn wanted_subjects(&self) -> BTreeSet<ReportSubject> {
        let settings = self.settings.borrow();
        let reports = &settings.params.reports;
        let always = reports.demand == ReportDemand::Always;
        let has_reader = always || self.reported.is_read();
        let mut wanted = BTreeSet::new();
        let collisions = self.vehicles.values().any(|vehicle| vehicle.topic.has_subscribers());
        if always || collisions || self.topics.vehicle_reports.has_subscribers() {
            wanted.insert(ReportSubject::Vehicles);
        }
        if always || self.topics.cameras.has_subscribers() {
            wanted.extend(cameras(&settings).map(ReportSubject::Camera));
        }
        if has_reader || self.topics.wants_vehicles() {
            let served = self.vehicles.keys().copied().map(i32::from);
            let named = reports.vehicles.iter().copied();
            wanted.extend(served.chain(named).map(ReportSubject::Vehicle));
        }
        if has_reader || self.topics.wants_objects() {
            let named = reports.objects.iter().cloned();
            wanted.extend(named.map(ReportSubject::Object));
        }
        wanted
    }

    /// Sends requests, publishes the boxes, removes silent subjects.
    fn update(&mut self) {
        let mut wanted = self.wanted_subjects();
        // Without requests, no report is expected. Camera descriptions do not count here: older renderers send none.
        self.stats.lock().state = wanted.is_empty().then_some(LinkState::Idle);
        let cameras = self.views.needing_description();
        let (_, pose_demand) = &mut self.poses;
        pose_demand.set(!cameras.is_empty());
        wanted.extend(cameras.into_iter().map(ReportSubject::Camera));
        self.requester.set_wanted(wanted);
        let (period, timeout) = {
            let settings = self.settings.borrow();
            let request = &settings.params.request;
            (request.period, request.timeout)
        };
        let now = self.start.elapsed();
        for command in self.requester.take_due(now, period, timeout) {
            self.send_command(&command);
        }
        // Leaves time for the answer to a second request.
        let silence = (2 * timeout + period).as_nanos();
        let since = host_now().0.saturating_sub(i64::try_from(silence).unwrap_or(i64::MAX));
        let mut reported = self.reported.lock();
        let removed = reported.forget(RosTime(since));
        if std::mem::take(&mut self.has_changed) || !removed.is_empty() {
            let published = self.topics.publish(&reported, &removed);
            drop(reported);
            self.count_failure(published);
        }
    }

    /// Ends the collisions of vehicles whose simulation restarted.
    fn end_collisions_after_restart(&mut self) {
        let mut ended = Vec::new();
        for (id, vehicle) in &mut self.vehicles {
            let restarts = self.clocks.get(*id).map_or(0, |clock| clock.status().restarts);
            if restarts != std::mem::replace(&mut vehicle.restarts, restarts)
                && vehicle.collision.end()
            {
                ended.push(*id);
            }
        }
        for id in ended {
            self.count_failure(self.publish_collision(id, self.headers.now()));
        }
    }

    fn send_command(&self, text: &str) {
        let mut buffer = [0; CONSOLE_LONG_LEN];
        let datagram = console_command(text, &mut buffer);
        let sent =
            datagram.is_some_and(|datagram| self.sender.send_to(datagram, self.renderer).is_ok());
        if !sent {
            self.stats.lock().count(Cause::RequestNotSent);
        }
    }

    fn count_failure(&self, published: Result<(), RosError>) {
        if published.is_err() {
            self.stats.lock().count(Cause::Publish);
        }
    }

    fn handle(&mut self, bytes: &[u8], arrival: RosTime) {
        let handled = match SceneReport::parse(bytes) {
            Ok(SceneReport::Collision(event)) => self.on_collision(event, arrival),
            Ok(SceneReport::Vehicle(report)) => self.on_vehicle(report, arrival),
            Ok(SceneReport::Camera(camera)) => self.on_camera(&camera, arrival),
            Ok(SceneReport::Entity(entity)) => self.on_entity(&entity, arrival),
            Ok(SceneReport::Pod(pod)) if self.views.report_pod(&pod) => Ok(()),
            // The bridge does not use these.
            Ok(SceneReport::ModelInputs(_) | SceneReport::Pod(_)) => Err(Cause::NotRead),
            Err(_) => Err(Cause::Malformed),
        };
        self.stats.count_result(handled);
    }

    /// The stamp of a report. A report whose time is not of this simulation gets the current time and is counted.
    fn stamp(&self, sim_time: f64, vehicle: Option<u16>, arrival: RosTime) -> RosTime {
        let clock = self.clocks.of(vehicle);
        let time = SimTime::checked_from_secs(sim_time);
        let stamp = clock.zip(time).and_then(|(clock, time)| clock.stamp_of(time, arrival));
        stamp.unwrap_or_else(|| {
            self.stats.lock().count(Cause::StampedOnArrival);
            self.headers.now()
        })
    }

    fn on_collision(&mut self, event: &CrashPacket, arrival: RosTime) -> Result<(), Cause> {
        let id = u16::try_from(event.copter_id.get()).ok();
        let vehicle = id.and_then(|id| self.vehicles.get_mut(&id));
        let (Some(id), Some(vehicle)) = (id, vehicle) else { return Err(Cause::OtherVehicle) };
        if vehicle.collision.event(event) {
            // The datagram has no time.
            let stamp = self.clocks.headers(Some(id)).now().min(arrival);
            self.count_failure(self.publish_collision(id, stamp));
        }
        Ok(())
    }

    fn on_vehicle(&mut self, report: &VehicleReportPacket, arrival: RosTime) -> Result<(), Cause> {
        self.requester.answered(&ReportSubject::Vehicles, self.start.elapsed());
        let id = u16::try_from(report.copter_id.get()).ok();
        let stamp = self.stamp(report.sim_time.get(), id, arrival);
        if self.topics.vehicle_reports.has_subscribers() {
            let message = vehicle_report(report, &self.conversion, (&self.map, stamp))
                .ok_or(Cause::NotFinite)?;
            self.count_failure(self.topics.vehicle_reports.publish(&message));
        }
        if let Some((id, vehicle)) = id.and_then(|id| Some((id, self.vehicles.get_mut(&id)?)))
            && vehicle.collision.report(report)
        {
            self.count_failure(self.publish_collision(id, stamp));
        }
        Ok(())
    }

    fn on_camera(&mut self, camera: &CameraDescription, arrival: RosTime) -> Result<(), Cause> {
        if let Ok(seq_id) = u16::try_from(camera.seq_id) {
            let subject = ReportSubject::Camera(seq_id);
            self.requester.answered(&subject, self.start.elapsed());
        }
        let pose = self.conversion.pose(&camera.pose);
        let settings = self.settings.borrow().clone();
        let description = (camera, pose);
        self.views.evaluate_description(description, arrival, &settings, &self.poses.0);
        let stamp = self.stamp(camera.sim_time, None, arrival);
        let message = {
            let mut reported = self.reported.lock();
            let described = reported.describe_camera(camera, &self.conversion, (stamp, arrival));
            camera_report(described.ok_or(Cause::NotFinite)?, &self.map)
        };
        if self.topics.cameras.has_subscribers() {
            self.count_failure(self.topics.cameras.publish(&message));
        }
        Ok(())
    }

    fn on_entity(&mut self, entity: &EntityDescription, arrival: RosTime) -> Result<(), Cause> {
        let stamp = self.stamp(entity.sim_time, None, arrival);
        let described = {
            let mut reported = self.reported.lock();
            reported.describe(entity, &self.conversion, (stamp, arrival))
        };
        let subject = match described.ok_or(Cause::Malformed)? {
            ReportedEntity::Vehicle(id) => ReportSubject::Vehicle(id),
            ReportedEntity::Object(name) => ReportSubject::Object(name),
        };
        self.requester.answered(&subject, self.start.elapsed());
        self.has_changed = true;
        Ok(())
    }
}

/// The sensors that the renderer describes as cameras.
fn cameras(settings: &Settings) -> impl Iterator<Item = u16> {
    let is_optical =
        |kind| spec_of(kind).topics.iter().any(|topic| topic.frame == FrameKind::Optical);
    let sensors = settings.sensors.iter();
    sensors.filter(move |sensor| is_optical(sensor.kind)).map(|sensor| sensor.seq_id)
}

impl CountedTask for ReportSource {
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        let mut next = tokio::time::Instant::now();
        loop {
            tokio::select! {
                // Timed work first: datagrams may arrive without a gap.
                biased;
                () = tokio::time::sleep_until(next) => {
                    self.end_collisions_after_restart();
                    self.update();
                    let period = if self.requester.is_idle() { IDLE_CHECK_PERIOD } else { CHECK_PERIOD };
                    next = tokio::time::Instant::now() + next_moment(period);
                }
                received = receive(&mut self.receiver, &mut buffer, &self.stats, || true) => {
                    if let Some(datagram) = received {
                        self.handle(&buffer[..datagram.len.min(BUFFER)], arrival(&datagram));
                    }
                }
            }
        }
    }
}

/// Ends all requests at the renderer.
impl Drop for ReportSource {
    fn drop(&mut self) {
        for command in self.requester.end() {
            self.send_command(&command);
            // The renderer's socket would drop a long burst.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
