//! Changes of running sensors: `reports` detects when the renderer has made a change, `sensors` finds the first frame that
//! shows it, and `frames` moves TF with that frame.
use super::view_log::{log_described_view, log_misread_pose};
use super::{clock::host_now, pose_history::PoseHistory, settings::Settings};
use crate::frames::{
    FrameTree, Mount, MountOrientation, SensorMount, Transform, WorldConvention, mount_transform,
    pose_in_mount,
};
use crate::sensors::{
    CameraView, DescribedFov, DescribedMount, FrameHead, FrameIds, MountDescription, PoseChange,
    ShownView, ViewChange,
};
use crate::time::{RosTime, SimTime};
use crate::wire::{CameraDescription, SensorKind, SensorRequest};
use crate::{config, config::params::Foreign};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Called with the settings, the new mount and the stamp of the first frame that shows it.
type Follower = Box<dyn Fn(&Settings, &SensorMount, Option<RosTime>) + Send>;

/// Called with each report of a pod camera.
type PodFollower = Box<dyn Fn(&SensorRequest) + Send>;

/// Largest delay of a description behind the true state, in ns; motion of the vehicle in this time is tolerated.
const MAX_DELAY_NS: i64 = 100_000_000;
/// Largest age in ns of the last frame of a sensor that delivers.
const MAX_FRAME_AGE_NS: i64 = 2_000_000_000;

#[derive(Clone)]
pub(super) struct SensorViews(Arc<SharedViews>);

struct SharedViews {
    /// The tree with the frames of the sensors.
    tree: Mutex<FrameTree>,
    slots: Mutex<BTreeMap<u16, Arc<SensorView>>>,
    world: WorldConvention,
    bottom_m: f64,
    followers: Mutex<Vec<Follower>>,
    pods: Mutex<Vec<PodFollower>>,
}

pub(super) struct SensorView {
    seq_id: u16,
    changes: AtomicU64,
    /// How many times the sensor was opened again.
    reopenings: AtomicU64,
    /// Whether a description of the camera was requested.
    description_requested: AtomicBool,
    must_repeat_request: AtomicBool,
    /// Arrival of the last frame with a subscriber.
    last_frame: AtomicI64,
    state: Mutex<ViewState>,
}

struct ViewState {
    requested: CameraView,
    /// The view of the current frames, or of the frames after the `pending` change; another program may have requested it.
    view: CameraView,
    fov: DescribedFov,
    mount: SensorMount,
    pose: DescribedMount,
    requests: u64,
    /// Change that no frame shows yet.
    pending: Option<PendingChange>,
}

struct PendingChange {
    change: ViewChange,
    /// `None` if the sensor was not moved.
    new_mount: Option<(Arc<Settings>, SensorMount)>,
}

impl SensorViews {
    pub(super) fn new(settings: &Settings, tree: &FrameTree) -> Self {
        let views = Self(Arc::new(SharedViews {
            tree: Mutex::new(tree.clone()),
            slots: Mutex::default(),
            world: tree.names().world,
            bottom_m: tree.names().bottom_m,
            followers: Mutex::default(),
            pods: Mutex::default(),
        }));
        settings.sensors.iter().for_each(|sensor| views.add(settings, tree, sensor.seq_id));
        views
    }

    /// Adds the view of a sensor.
    pub(super) fn add(&self, settings: &Settings, tree: &FrameTree, seq_id: u16) {
        let view = view_of(settings, seq_id, tree);
        let mut mounts = settings.mounts().into_iter();
        let mount = mounts.find(|mount| mount.seq_id == seq_id);
        if let Some((view, mount)) = view.zip(mount) {
            let pose = self.described_mount(&mount);
            let slot = || Arc::new(SensorView::new(view, mount, pose));
            self.0.slots.lock().entry(seq_id).or_insert_with(slot);
        }
    }

    /// Returns the pose that a sensor's request contains.
    fn described_mount(&self, sensor: &SensorMount) -> DescribedMount {
        let SensorMount { mount, position_frd, orientation, .. } = *sensor;
        let (world, bottom_m) = (self.0.world, self.0.bottom_m);
        let (_, pose) = mount_transform(mount, position_frd, orientation, world, bottom_m);
        DescribedMount::new(pose, matches!(mount, Mount::VehicleBottom(_)))
    }

    /// Calls `follower` for each new mount, as soon as frames show it.
    pub(super) fn follow(&self, follower: Follower) {
        self.0.followers.lock().push(follower);
    }

    /// Calls `follower` for each report of a pod camera.
    pub(super) fn follow_pods(&self, follower: PodFollower) {
        self.0.pods.lock().push(follower);
    }

    /// Passes the report of a pod camera to the followers; false without followers.
    pub(super) fn report_pod(&self, pod: &SensorRequest) -> bool {
        let followers = self.0.pods.lock();
        followers.iter().for_each(|follower| follower(pod));
        !followers.is_empty()
    }

    /// Link frame of a sensor, as of the last change.
    pub(super) fn link_frame(&self, seq_id: u16) -> String {
        frame_ids(&self.0.tree.lock(), seq_id).link
    }

    pub(super) fn slot(&self, seq_id: u16) -> Option<Arc<SensorView>> {
        self.0.slots.lock().get(&seq_id).cloned()
    }

    fn slots(&self) -> Vec<Arc<SensorView>> {
        self.0.slots.lock().values().cloned().collect()
    }

    /// Prepares new settings before they are requested from the renderer. The previous instances of `reopened` sensors publish
    /// nothing from now on.
    pub(super) fn change(&self, old: &Settings, new: &Arc<Settings>, reopened: Option<&Reopened>) {
        let (old_mounts, new_mounts) = (old.mounts(), new.mounts());
        if let Some(reopened) = reopened {
            *self.0.tree.lock() = reopened.tree.clone();
        }
        let tree = self.0.tree.lock().clone();
        for slot in self.slots() {
            let view = view_of(new, slot.seq_id, &tree);
            let mount = new_mounts.iter().find(|m| m.seq_id == slot.seq_id);
            let Some((view, mount)) = view.zip(mount) else { continue };
            let is_reopened = reopened.is_some_and(|r| r.sensors.contains(&slot.seq_id));
            let is_moved = is_reopened || !old_mounts.contains(mount);
            let mut state = slot.state.lock();
            if !is_moved && state.requested == view {
                continue;
            }
            // A change that only concerns the other camera of a pair needs no request.
            let needs_request = is_moved || state.requested.fov_deg != view.fov_deg;
            state.requests += u64::from(needs_request);
            let at = host_now();
            let previous = state.pending.take();
            // The request undoes a move by another program.
            let undoes = needs_request && state.pose.shown() != state.pose.requested();
            let was_moved = previous.as_ref().is_some_and(|p| p.new_mount.is_some());
            let mut change = match previous {
                Some(mut pending) if !is_reopened => {
                    if needs_request {
                        pending.change.renew(at);
                    }
                    pending.change
                }
                _ => ViewChange::new(at),
            };
            let mut shown = view.clone();
            if needs_request {
                state.fov = DescribedFov::default();
                state.pose = self.described_mount(mount);
                state.mount = mount.clone();
            } else {
                change.described(true, SimTime(i64::MIN), at);
                shown.fov_deg = state.view.fov_deg;
            }
            (state.requested, state.view) = (view, shown);
            let new_mount = is_moved || undoes || was_moved;
            let new_mount = new_mount.then(|| (new.clone(), mount.clone()));
            state.pending = Some(PendingChange { change, new_mount });
            slot.reopenings.fetch_add(is_reopened.into(), Ordering::Release);
            slot.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// Evaluates the description of a camera, and its pose in the map. If another program has requested a different view,
    /// messages and TF follow it, or the bridge requests its own view again (`request.foreign`).
    pub(super) fn evaluate_description(
        &self,
        (camera, pose): (&CameraDescription, Option<Transform>),
        arrival: RosTime,
        settings: &Settings,
        poses: &PoseHistory,
    ) {
        let seq_id = u16::try_from(camera.seq_id).ok();
        let Some(slot) = seq_id.and_then(|seq_id| self.slot(seq_id)) else { return };
        let Some(at) = SimTime::checked_from_secs(camera.sim_time) else { return };
        let mount = pose.and_then(|pose| self.shown_mount(&slot, &pose, at, poses));
        let foreign = settings.params.request.foreign;
        let (new_pose, changes) = {
            let mut state = slot.state.lock();
            let requested = marked_fov(state.requested.fov_deg, state.requests);
            if let Some(pending) = &mut state.pending {
                let is_new = camera.fov_deg.to_bits() == requested.to_bits();
                pending.change.described(is_new, at, arrival);
                return;
            }
            // A pod zooms and turns by itself.
            if camera.type_id == i32::from(SensorKind::Pod.type_id()) {
                return;
            }
            let new_pose = match mount.map(|mount| state.pose.described(&mount)) {
                None | Some(PoseChange::Same) => None,
                Some(PoseChange::Moved(pose)) => Some(pose),
                Some(PoseChange::Misread(pose)) => {
                    log_misread_pose(slot.seq_id, &pose, &state.pose.requested());
                    None
                }
            };
            let fovs = (state.requested.fov_deg, state.view.fov_deg);
            let fov = state.fov.described(camera.fov_deg, fovs);
            if fov.is_none() && new_pose.is_none() {
                return;
            }
            let requested = (state.requested.fov_deg, state.pose.requested());
            let is_requested = log_described_view(slot.seq_id, (fov, new_pose), requested, foreign);
            if !is_requested && foreign == Foreign::Restore {
                slot.must_repeat_request.store(true, Ordering::Relaxed);
                return;
            }
            if let Some(fov) = fov {
                state.view.fov_deg = fov;
            }
            if let Some(pose) = new_pose {
                state.pose.follow(pose);
            }
            (new_pose, slot.changes())
        };
        let new_mount = new_pose.and_then(|_| self.as_shown(settings, slot.seq_id));
        let mut state = slot.state.lock();
        // Meanwhile a parameter has changed the view.
        if slot.changes() != changes {
            return;
        }
        let mut change = ViewChange::new(arrival);
        change.described(true, at, arrival);
        state.pending = Some(PendingChange { change, new_mount });
        slot.changes.fetch_add(1, Ordering::Release);
    }

    /// Returns a described pose relative to the parent of the sensor's `_link`; `None` if the parent's pose is not known.
    fn shown_mount(
        &self,
        slot: &SensorView,
        pose: &Transform,
        at: SimTime,
        poses: &PoseHistory,
    ) -> Option<MountDescription> {
        let (mount, shown) = {
            let state = slot.state.lock();
            (state.mount.mount, state.pose.shown())
        };
        let parent = self.parent_pose(mount, at, poses)?;
        let earlier = SimTime(at.0.checked_sub(MAX_DELAY_NS)?);
        let earlier = self.parent_pose(mount, earlier, poses)? * shown;
        Some(MountDescription {
            pose: parent.inverse() * *pose,
            slack_m: earlier.distance_to(&(parent * shown)),
            slack_rad: earlier.angle_to(&(parent * shown)),
        })
    }

    /// Returns the pose in the map of the parent of a `_link` at a time.
    fn parent_pose(&self, mut mount: Mount, at: SimTime, poses: &PoseHistory) -> Option<Transform> {
        let mut below = Transform::identity();
        // The configuration refuses cycles of carriers.
        let sensors = self.0.slots.lock().len();
        for _ in 0..=sensors {
            let carrier = match mount {
                Mount::Ground(_) => return Some(below),
                Mount::VehicleCentre(id) | Mount::VehicleBottom(id) => {
                    let vehicle = poses.latest_at(id, at)?;
                    let pose = self.0.world.pose(vehicle.position, vehicle.attitude);
                    return Some(pose * below);
                }
                Mount::VehicleLevel(id) => {
                    let vehicle = poses.latest_at(id, at)?;
                    return Some(below.shifted(self.0.world.vector(vehicle.position)));
                }
                Mount::Sensor(carrier) => self.slot(carrier)?,
            };
            let carrier = carrier.state.lock();
            if carrier.mount.moving {
                return None;
            }
            below = carrier.pose.shown() * below;
            mount = carrier.mount.mount;
        }
        None
    }

    /// Returns the settings with the poses that frames show, and the mount of one sensor in them.
    fn as_shown(&self, settings: &Settings, seq_id: u16) -> Option<(Arc<Settings>, SensorMount)> {
        let mut settings = settings.clone();
        for sensor in &mut settings.sensors {
            let slot = self.slot(sensor.seq_id)?;
            let state = slot.state.lock();
            let shown = state.pose.shown();
            if shown != state.pose.requested()
                && let Some((position, MountOrientation::Quaternion(wxyz))) =
                    pose_in_mount(sensor.mount, &shown, self.0.world, self.0.bottom_m)
            {
                sensor.position_frd = position;
                sensor.orientation = config::MountOrientation::Quaternion(wxyz);
            }
        }
        let mut mounts = settings.mounts().into_iter();
        let mount = mounts.find(|mount| mount.seq_id == seq_id)?;
        Some((Arc::new(settings), mount))
    }

    /// Returns the sensors whose descriptions are needed: those with a requested description or a pending change, and those
    /// that deliver, because another program may change them. Resets the requests.
    pub(super) fn needing_description(&self) -> Vec<u16> {
        let now = host_now();
        let is_needed = |slot: &&Arc<SensorView>| {
            let requested = slot.description_requested.swap(false, Ordering::Relaxed);
            let age_ns = now.0.saturating_sub(slot.last_frame.load(Ordering::Relaxed));
            let delivers = age_ns < MAX_FRAME_AGE_NS;
            requested || delivers || slot.state.lock().pending.is_some()
        };
        self.slots().iter().filter(is_needed).map(|slot| slot.seq_id).collect()
    }

    /// Returns the sensors whose described field of view is not the requested one, with (requested, described) in degrees.
    pub(super) fn differing_fields_of_view(&self) -> Vec<(u16, (f32, f32))> {
        let field = |slot: &Arc<SensorView>| {
            let state = slot.state.lock();
            let fields = (state.requested.fov_deg, state.view.fov_deg);
            (fields.0 != fields.1).then_some((slot.seq_id, fields))
        };
        self.slots().iter().filter_map(field).collect()
    }

    /// Calls the followers: frames show the pending view from this stamp on.
    fn notify_followers(&self, pending: &PendingChange, stamp: Option<RosTime>) {
        if let Some((settings, mount)) = &pending.new_mount {
            for follower in self.0.followers.lock().iter() {
                follower(settings, mount, stamp);
            }
        }
    }

    /// Returns which view a frame shows, and the view itself if it is `New`. Calls the followers at the first such frame.
    pub(super) fn judge(
        &self,
        slot: &SensorView,
        frame: &FrameHead,
    ) -> (ShownView, Option<CameraView>) {
        let mut state = slot.state.lock();
        let shown = match &state.pending {
            Some(pending) => pending.change.judge(frame.sim_time, frame.arrival),
            None => ShownView::New,
        };
        if shown != ShownView::New {
            return (shown, None);
        }
        if let Some(pending) = state.pending.take() {
            self.notify_followers(&pending, Some(frame.stamp));
        }
        (shown, Some(state.view.clone()))
    }

    /// Calls the followers for a sensor without subscribers or frames, once the renderer has made the change.
    pub(super) fn settle(&self, slot: &SensorView) {
        let mut state = slot.state.lock();
        let now = host_now();
        if let Some(pending) = state.pending.take_if(|p| p.change.is_known(now)) {
            self.notify_followers(&pending, None);
        }
    }
}

impl SensorView {
    fn new(view: CameraView, mount: SensorMount, pose: DescribedMount) -> Self {
        let (seq_id, fov) = (mount.seq_id, DescribedFov::default());
        let requested = view.clone();
        let state = ViewState { requested, view, fov, mount, pose, requests: 0, pending: None };
        Self {
            seq_id,
            changes: AtomicU64::new(0),
            reopenings: AtomicU64::new(0),
            description_requested: AtomicBool::new(false),
            must_repeat_request: AtomicBool::new(false),
            last_frame: AtomicI64::new(i64::MIN),
            state: Mutex::new(state),
        }
    }

    /// Returns the view, as of the last change.
    pub(super) fn view(&self) -> CameraView {
        self.state.lock().view.clone()
    }

    pub(super) fn reopenings(&self) -> u64 {
        self.reopenings.load(Ordering::Acquire)
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    pub(super) fn is_pending(&self) -> bool {
        self.state.lock().pending.is_some()
    }

    /// Returns the field of view for the next request.
    pub(super) fn request_fov(&self, fov_deg: f32) -> f32 {
        marked_fov(fov_deg, self.state.lock().requests)
    }

    /// Records the arrival of a frame with a subscriber.
    pub(super) fn record_frame(&self, arrival: RosTime) {
        self.last_frame.store(arrival.0, Ordering::Relaxed);
    }

    /// Returns whether the sensor must be requested again, and resets this.
    pub(super) fn take_repeat(&self) -> bool {
        self.must_repeat_request.swap(false, Ordering::Relaxed)
    }

    pub(super) fn record_description_request(&self) {
        self.description_requested.store(true, Ordering::Relaxed);
    }
}

pub(super) struct Reopened {
    pub(super) sensors: BTreeSet<u16>,
    pub(super) tree: FrameTree,
}

pub(super) fn frame_ids(tree: &FrameTree, seq_id: u16) -> FrameIds {
    let world = tree.names().map.clone();
    match tree.sensor(seq_id) {
        Some(f) => FrameIds { optical: f.optical.clone(), link: f.link.clone(), world },
        None => FrameIds::new("", seq_id),
    }
}

/// Returns the view of a sensor in these settings.
fn view_of(settings: &Settings, seq_id: u16, tree: &FrameTree) -> Option<CameraView> {
    let sensor = settings.sensors.iter().find(|s| s.seq_id == seq_id)?;
    let frame_sensor = settings.pairs.frame_owner(seq_id);
    Some(CameraView {
        fov_deg: sensor.fov_deg,
        fisheye_factor: settings.fisheye_factor(sensor),
        calibration: settings.calibrations.of(seq_id).cloned(),
        baseline_m: settings.pairs.baseline_m(seq_id),
        frame_id: frame_ids(tree, frame_sensor).optical,
    })
}

/// Returns the field of view for a request. Every second request has the next larger `f32`, at most 0.00003 degrees more: the
/// renderer repeats the number in its description, which identifies the request.
fn marked_fov(fov_deg: f32, requests: u64) -> f32 {
    let is_marked = requests % 2 == 1 && fov_deg.is_finite() && fov_deg >= 0.0;
    f32::from_bits(fov_deg.to_bits() + u32::from(is_marked))
}
