use super::autopilot::rigid::{MotionSegment, RecentMotion};
use super::autopilot::{ControlMode, Damage};
use super::clock::{SimClock, Steps};
use super::faults::{FaultCounts, Faults};
use super::renderer::{Contact, Moment, RendererState};
use super::world::{Kinematics, Pose, ScriptedMotion, Snapshot};
use super::{autopilot::fence::FenceLimits, autopilot::geo::Geo, model::ModelState};
use super::{options::EmulatorOptions, report_requests::ReportRequests, sensor::SensorTable};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters of one sensor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct SensorStats {
    /// Sensor type.
    pub type_id: u16,
    /// Frames rendered, those in `harmed` and `busy` included.
    pub frames: u64,
    /// Frames with at least one datagram lost or corrupted by a fault.
    pub harmed: u64,
    /// Frames skipped because rendering was late.
    pub skipped: u64,
    /// Frames that found the shared-memory block still being read.
    pub busy: u64,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Datagrams the operating system refused.
    pub errors: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Faults applied.
    pub faults: FaultCounts,
}

/// Counters of the emulator.
#[derive(Clone, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct Stats {
    /// By SeqID; kept when a sensor is removed.
    pub sensors: BTreeMap<u16, SensorStats>,
    /// Accepted requests for sensors, and to `CopterSim`.
    pub requests: u64,
    /// Datagrams that were invalid or unwanted.
    pub refused: u64,
    /// Console commands received.
    pub commands: u64,
    /// Console commands unknown to the renderer.
    pub unknown_commands: u64,
    /// Console commands whose arguments are wrong or name nothing that exists.
    pub wrong_commands: u64,
    /// Packets with states, labels, attachments or inputs of blueprints that were executed.
    pub scene_packets: u64,
    /// Inputs applied to models.
    pub model_inputs: u64,
    /// Heartbeats sent.
    pub heartbeats: u64,
    /// IMU samples sent.
    pub imu_samples: u64,
    /// Faults applied to IMU samples.
    pub imu_faults: FaultCounts,
    /// True states sent.
    pub true_states: u64,
    /// Restarts of the simulation.
    pub restarts: u64,
    /// Completed iterations of the render loop, with or without a frame; each renders one tick at most.
    #[serde(skip)]
    pub rounds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ImuReader {
    pub(super) vehicle: u16,
    pub(super) rate_hz: u16,
    pub(super) to: SocketAddr,
}

/// Motion of a vehicle that does not follow its path.
#[derive(Clone, Debug)]
enum Course {
    Placed(ScriptedMotion),
    Flown(RecentMotion),
}

impl Course {
    fn at(&self, time: f64) -> Option<Kinematics> {
        match self {
            Self::Placed(motion) => Some(motion.at(time)),
            Self::Flown(motion) => motion.at(time),
        }
    }
}

/// A request about a vehicle, which the thread of the autopilots executes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VehicleRequest {
    /// Change the protocol to the controlling host.
    Control(ControlMode),
    Place(Pose),
    /// Load another model of the vehicle; a fixed wing, or a multirotor.
    Model {
        is_wing: bool,
    },
    /// Values for a model in the autopilot.
    Outputs([f32; 8]),
    Origin,
    Client(IpAddr),
    /// Override the battery level in percent; `None`: the simulated level.
    Battery(Option<f64>),
    Fence(FenceLimits),
}

/// State shared by the threads of the emulator. No lock is held while data are sent, except [`Self::last_state`].
pub(super) struct SharedState {
    pub(super) options: EmulatorOptions,
    pub(super) clock: Mutex<SimClock>,
    pub(super) sensors: Mutex<SensorTable>,
    pub(super) imu_readers: Mutex<Vec<ImuReader>>,
    pub(super) reports: Mutex<ReportRequests>,
    pub(super) renderer: Mutex<RendererState>,
    pub(super) contacts: Mutex<BTreeMap<u16, Contact>>,
    pub(super) models: Mutex<BTreeMap<u16, ModelState>>,
    courses: Mutex<BTreeMap<u16, Course>>,
    pub(super) requests: Mutex<Vec<(u16, VehicleRequest)>>,
    pub(super) clients: Mutex<BTreeMap<u16, IpAddr>>,
    pub(super) geo: Mutex<Geo>,
    pub(super) faults: Mutex<Faults>,
    pub(super) stats: Mutex<Stats>,
    /// Run and time of the newest true state; locked while true states are sent, because two threads send them.
    pub(super) last_state: Mutex<(u64, f64)>,
    /// Signals a change of sensors or of the clock.
    pub(super) changed: Condvar,
    stop: AtomicBool,
    epoch: AtomicU64,
}

impl SharedState {
    pub(super) fn new(options: EmulatorOptions, faults: Faults) -> Self {
        Self {
            clock: Mutex::new(SimClock::new(
                options.speed,
                options.clock_drift_ppm,
                options.autopilot.is_some() && !options.world.vehicles.is_empty(),
            )),
            renderer: Mutex::new(RendererState::new(
                &options.world.scene,
                options.world.vehicles.iter().map(|v| v.id).collect(),
            )),
            options,
            contacts: Mutex::default(),
            models: Mutex::default(),
            sensors: Mutex::default(),
            imu_readers: Mutex::default(),
            reports: Mutex::default(),
            courses: Mutex::default(),
            requests: Mutex::default(),
            clients: Mutex::default(),
            geo: Mutex::default(),
            faults: Mutex::new(faults),
            stats: Mutex::default(),
            last_state: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
        }
    }

    pub(super) fn clock(&self) -> SimClock {
        *self.clock.lock()
    }

    /// Returns the next step of run `run` to compute, if it is due.
    pub(super) fn due(&self, run: u64, steps: &mut Steps) -> Option<f64> {
        self.clock.lock().due(run, steps)
    }

    pub(super) fn set_clock(&self, change: impl FnOnce(&mut SimClock)) {
        change(&mut self.clock.lock());
        self.changed.notify_all();
    }

    /// Publishes the motion of a vehicle flown by its autopilot.
    pub(super) fn push_motion(&self, id: u16, segment: MotionSegment) {
        let mut courses = self.courses.lock();
        match courses.entry(id).or_insert_with(|| Course::Flown(RecentMotion::default())) {
            Course::Flown(motion) => motion.push(segment),
            placed @ Course::Placed(_) => {
                let mut motion = RecentMotion::default();
                motion.push(segment);
                *placed = Course::Flown(motion);
            }
        }
    }

    /// Places a vehicle that is not flown; `None`: it follows its path.
    pub(super) fn place_vehicle(&self, id: u16, placed: Option<ScriptedMotion>) {
        let mut courses = self.courses.lock();
        match placed {
            Some(motion) => drop(courses.insert(id, Course::Placed(motion))),
            None => drop(courses.remove(&id)),
        }
    }

    /// Motion of a vehicle, from any source.
    pub(super) fn motion(&self, id: u16, time: f64) -> Option<Kinematics> {
        let flown = self.courses.lock().get(&id).and_then(|c| c.at(time));
        flown.or_else(|| Some(self.options.world.vehicle(id)?.motion.at(time)))
    }

    /// Speeds of the four rotors of a vehicle in rpm; without an autopilot it hovers.
    pub(super) fn motor_rpm(&self, id: u16, time: f64) -> [f64; 8] {
        const HOVER_RPM: f64 = 5000.0;
        let thrust = match self.courses.lock().get(&id) {
            Some(Course::Placed(_)) => Some(0.0),
            Some(Course::Flown(motion)) => motion.thrust(time),
            None => None,
        };
        // Lift grows with the square of the speed; hovering needs half of the maximum thrust.
        let rpm = thrust.map_or(HOVER_RPM, |share| HOVER_RPM * (2.0 * share).sqrt());
        [rpm, rpm, rpm, rpm, 0.0, 0.0, 0.0, 0.0]
    }

    /// The world at an instant, before the renderer's changes.
    pub(super) fn snapshot(&self, time: f64) -> Snapshot {
        let courses = self.courses.lock();
        let motion = |id| courses.get(&id).and_then(|c| c.at(time));
        self.options.world.at_with(time, motion)
    }

    /// Runs `act` on the renderer's state at the present simulation time, with the motions of `CopterSim`'s vehicles.
    pub(super) fn with_renderer<T>(
        &self,
        act: impl FnOnce(&mut RendererState, Moment<'_>) -> T,
    ) -> T {
        let time = self.clock().now();
        act(&mut self.renderer.lock(), Moment { time, motion: &|id| self.motion(id, time) })
    }

    pub(super) fn draw(&self, snapshot: Snapshot) -> Snapshot {
        self.renderer.lock().draw(snapshot)
    }

    pub(super) fn contact(&self, id: u16) -> Option<Contact> {
        self.contacts.lock().get(&id).copied()
    }

    pub(super) fn damage(&self, id: u16) -> Damage {
        self.models.lock().get(&id).map(|model| model.damage).unwrap_or_default()
    }

    /// Queues a request for a vehicle's autopilot; drops duplicates of pending requests, which bounds a flood.
    pub(super) fn request(&self, id: u16, request: VehicleRequest) {
        let mut requests = self.requests.lock();
        if !requests.contains(&(id, request)) {
            requests.push((id, request));
        }
    }

    /// Host that receives the data of a vehicle's `CopterSim`; `None` if broadcasts are restricted and nobody has requested them.
    pub(super) fn client(&self, id: u16) -> Option<IpAddr> {
        let client = self.clients.lock().get(&id).copied();
        client.or_else(|| self.broadcast_client(id))
    }

    /// Host that receives the broadcasts of a vehicle's `CopterSim`; `None` if they are restricted and nobody has requested them.
    pub(super) fn broadcast_client(&self, id: u16) -> Option<IpAddr> {
        if self.options.restricted {
            self.clients.lock().get(&id).copied()
        } else {
            Some(self.options.client)
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Number of restarts, to detect state of an earlier run.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Restarts the simulation: time 0, no sensors, IMU readers and reports. Clients, map centre and faults stay.
    pub(super) fn restart(&self) {
        self.sensors.lock().clear(None);
        self.imu_readers.lock().clear();
        *self.reports.lock() = ReportRequests::default();
        self.courses.lock().clear();
        self.contacts.lock().clear();
        self.requests.lock().clear();
        self.models.lock().clear();
        self.renderer.lock().restart();
        self.set_clock(SimClock::restart);
        self.stats.lock().restarts += 1;
        self.epoch.fetch_add(1, Ordering::Release);
    }
}
