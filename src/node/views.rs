//! Changes of running sensors, shared: `sensors` shows them with the first frame that has them, `frames` moves TF with it, and
//! `reports` says when the renderer has them.
use super::clock::host_now;
use super::settings::Settings;
use crate::config::params::Foreign;
use crate::frames::{FrameTree, SensorMount};
use crate::sensors::{FrameIds, Shown, View, ViewChange};
use crate::time::{RosTime, SimTime};
use crate::wire::{CameraDescription, SensorKind, SensorRequest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Called with the settings, the new mount and the stamp of the first frame that shows it.
type Follower = Box<dyn Fn(&Settings, &SensorMount, Option<RosTime>) + Send>;

/// Called with what a pod camera reports.
type PodFollower = Box<dyn Fn(&SensorRequest) + Send>;

/// Descriptions in a row that show another field of view than `camera_info`, until it is believed.
const DESCRIPTIONS: u8 = 2;
/// Greater differences are not those of [`marked`], in degrees.
const SAME_FOV_DEG: f32 = 0.001;
/// A sensor whose last frame is older, in ns, does not flow.
const FLOWS_NS: i64 = 2_000_000_000;

/// The views of all sensors.
#[derive(Clone, Default)]
pub(super) struct Views(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Frames of the sensors.
    frames: Mutex<BTreeMap<u16, FrameIds>>,
    slots: BTreeMap<u16, Arc<Slot>>,
    followers: Mutex<Vec<Follower>>,
    pods: Mutex<Vec<PodFollower>>,
}

/// The view of one sensor, as it is asked for.
pub(super) struct Slot {
    seq_id: u16,
    /// Counts changes; unchanged as long as nothing is to be done.
    changes: AtomicU64,
    /// How many times the sensor was opened again.
    opened: AtomicU64,
    /// The renderer was asked to describe the camera.
    describes: AtomicBool,
    /// It is to be asked for the sensor again.
    lost: AtomicBool,
    /// Arrival of the last frame that somebody reads.
    last_frame: AtomicI64,
    state: Mutex<State>,
}

struct State {
    /// What was asked for.
    asked: View,
    /// What frames show: another program may have asked for something else.
    view: View,
    /// Another field of view that the renderer describes, and how often in a row.
    other: Option<(f32, u8)>,
    /// Requests for other views so far.
    requests: u64,
    /// Until a frame shows the view.
    pending: Option<Pending>,
}

struct Pending {
    change: ViewChange,
    /// `None`: it was not moved.
    moved: Option<(Arc<Settings>, SensorMount)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Views {
    pub(super) fn new(settings: &Settings, tree: &FrameTree) -> Self {
        let seq_ids = || settings.sensors.iter().map(|sensor| sensor.seq_id);
        let frames = frames_of(settings, tree);
        let slot = |seq_id| {
            let view = view_of(settings, seq_id, &frames)?;
            let state = State {
                asked: view.clone(),
                view,
                other: None,
                requests: 0,
                pending: None,
            };
            let slot = Slot {
                seq_id,
                changes: AtomicU64::new(0),
                opened: AtomicU64::new(0),
                describes: AtomicBool::new(false),
                lost: AtomicBool::new(false),
                last_frame: AtomicI64::new(i64::MIN),
                state: Mutex::new(state),
            };
            Some((seq_id, Arc::new(slot)))
        };
        Self(Arc::new(Inner {
            slots: seq_ids().filter_map(slot).collect(),
            frames: Mutex::new(frames),
            followers: Mutex::default(),
            pods: Mutex::default(),
        }))
    }

    /// Calls `follower` for each mount as soon as frames show it.
    pub(super) fn follow(&self, follower: Follower) {
        lock(&self.0.followers).push(follower);
    }

    /// Calls `follower` for each report of a pod camera.
    pub(super) fn follow_pods(&self, follower: PodFollower) {
        lock(&self.0.pods).push(follower);
    }

    /// Takes the report of a pod camera; false if nobody wants to know.
    pub(super) fn pod(&self, pod: &SensorRequest) -> bool {
        let followers = lock(&self.0.pods);
        followers.iter().for_each(|follower| follower(pod));
        !followers.is_empty()
    }

    /// Link frame of a sensor, as of the last change.
    pub(super) fn link(&self, seq_id: u16) -> String {
        let frames = lock(&self.0.frames);
        frames
            .get(&seq_id)
            .map_or_else(String::new, |f| f.link.clone())
    }

    pub(super) fn slot(&self, seq_id: u16) -> Option<&Arc<Slot>> {
        self.0.slots.get(&seq_id)
    }

    /// Takes over other settings before the renderer is asked for them; some sensors were opened again, with frames of this
    /// tree. From now on nothing is published that a sensor opened before takes.
    pub(super) fn change(&self, before: &Settings, now: &Arc<Settings>, opened: Option<&Reopened>) {
        let (old, new) = (before.mounts(), now.mounts());
        if let Some(opened) = opened {
            *lock(&self.0.frames) = frames_of(now, &opened.tree);
        }
        let frames = lock(&self.0.frames).clone();
        for slot in self.0.slots.values() {
            let mount = new.iter().find(|m| m.seq_id == slot.seq_id);
            let again = opened.is_some_and(|opened| opened.sensors.contains(&slot.seq_id));
            let moved = mount.filter(|mount| again || !old.contains(mount));
            let Some(view) = view_of(now, slot.seq_id, &frames) else {
                continue;
            };
            let mut state = lock(&slot.state);
            if moved.is_none() && state.asked == view {
                continue;
            }
            // What a pair changes in the messages of its other camera is no request.
            let asked = moved.is_some() || state.asked.fov_deg != view.fov_deg;
            state.requests += u64::from(asked);
            let at = host_now();
            let before = state.pending.take();
            let moves = moved.is_some() || before.as_ref().is_some_and(|p| p.moved.is_some());
            let mut change = match before {
                Some(mut pending) if !again => {
                    if asked {
                        pending.change.again(at);
                    }
                    pending.change
                }
                _ => ViewChange::new(at),
            };
            if !asked {
                change.described(true, SimTime(i64::MIN), at);
            }
            (state.asked, state.view, state.other) = (view.clone(), view, None);
            let mount = mount.filter(|_| moves).cloned();
            state.pending = Some(Pending {
                change,
                moved: mount.map(|mount| (now.clone(), mount)),
            });
            slot.opened.fetch_add(again.into(), Ordering::Release);
            slot.changes.fetch_add(1, Ordering::Release);
        }
    }

    /// Takes the description of a camera. If another program has asked for another field of view, `camera_info` follows, or the
    /// own is asked for again.
    pub(super) fn described(&self, camera: &CameraDescription, arrival: RosTime, foreign: Foreign) {
        let seq_id = u16::try_from(camera.seq_id).ok();
        let Some(slot) = seq_id.and_then(|seq_id| self.slot(seq_id)) else {
            return;
        };
        let Some(at) = SimTime::checked_from_secs(camera.sim_time) else {
            return;
        };
        let mut state = lock(&slot.state);
        let asked = marked(state.asked.fov_deg, state.requests);
        if let Some(pending) = &mut state.pending {
            let new = camera.fov_deg.to_bits() == asked.to_bits();
            pending.change.described(new, at, arrival);
            return;
        }
        // A pod zooms by itself.
        if camera.type_id == i32::from(SensorKind::Pod.type_id()) {
            return;
        }
        let Some(shown) = state.other_fov(camera.fov_deg) else {
            return;
        };
        let (seq_id, own) = (slot.seq_id, state.asked.fov_deg);
        if same_fov(shown, own) {
            tracing::info!(
                "sensor{seq_id} shows the field of view again that was asked for, {own} degrees"
            );
        } else {
            let then = match foreign {
                Foreign::Follow | Foreign::Yield => {
                    "camera_info follows; request.foreign:=restore asks for ours again"
                }
                Foreign::Restore => "ours is asked for again",
            };
            tracing::warn!(
                "sensor{seq_id} shows a field of view of {shown} degrees, {own} were asked for: another program has asked for SeqID \
                 {seq_id}, too. {then}"
            );
            if foreign == Foreign::Restore {
                slot.lost.store(true, Ordering::Relaxed);
                return;
            }
        }
        state.view.fov_deg = shown;
        let mut change = ViewChange::new(arrival);
        change.described(true, at, arrival);
        state.pending = Some(Pending {
            change,
            moved: None,
        });
        slot.changes.fetch_add(1, Ordering::Release);
    }

    /// The sensors that the renderer was asked to describe, or is to be: those that change, and those whose frames are read,
    /// because another program may change them.
    pub(super) fn to_describe(&self) -> Vec<u16> {
        let now = host_now();
        let due = |slot: &&Arc<Slot>| {
            let asked = slot.describes.swap(false, Ordering::Relaxed);
            let flows = now
                .0
                .saturating_sub(slot.last_frame.load(Ordering::Relaxed))
                < FLOWS_NS;
            asked || flows || lock(&slot.state).pending.is_some()
        };
        let due = self.0.slots.values().filter(due);
        due.map(|slot| slot.seq_id).collect()
    }

    /// The frames show the pending view, from the one with this stamp on.
    fn show(&self, pending: &Pending, stamp: Option<RosTime>) {
        if let Some((settings, mount)) = &pending.moved {
            for follower in lock(&self.0.followers).iter() {
                follower(settings, mount, stamp);
            }
        }
    }

    /// Judges a frame; if it is the first one of the new view, everything follows before this returns.
    pub(super) fn judge(
        &self,
        slot: &Slot,
        (time, arrival, stamp): (SimTime, RosTime, RosTime),
    ) -> (Shown, Option<View>) {
        let mut state = lock(&slot.state);
        let shown = match &state.pending {
            Some(pending) => pending.change.judge(time, arrival),
            None => Shown::New,
        };
        if shown != Shown::New {
            return (shown, None);
        }
        if let Some(pending) = state.pending.take() {
            self.show(&pending, Some(stamp));
        }
        (shown, Some(state.view.clone()))
    }

    /// Moves TF of a sensor whose frames nobody reads, or that sends none.
    pub(super) fn settle(&self, slot: &Slot) {
        let mut state = lock(&slot.state);
        let now = host_now();
        if let Some(pending) = state.pending.take_if(|p| p.change.is_known(now)) {
            self.show(&pending, None);
        }
    }
}

impl Slot {
    /// The view, as of the last change.
    pub(super) fn view(&self) -> View {
        lock(&self.state).view.clone()
    }

    /// How many times the sensor was opened again.
    pub(super) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Acquire)
    }

    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    pub(super) fn is_pending(&self) -> bool {
        lock(&self.state).pending.is_some()
    }

    /// The field of view to ask for.
    pub(super) fn marked(&self, fov_deg: f32) -> f32 {
        marked(fov_deg, lock(&self.state).requests)
    }

    /// A frame is read.
    pub(super) fn flows(&self, arrival: RosTime) {
        self.last_frame.store(arrival.0, Ordering::Relaxed);
    }

    /// Whether the sensor is to be asked for again; once.
    pub(super) fn take_lost(&self) -> bool {
        self.lost.swap(false, Ordering::Relaxed)
    }

    /// The renderer is asked to describe the camera.
    pub(super) fn asked_to_describe(&self) {
        self.describes.store(true, Ordering::Relaxed);
    }
}

impl State {
    /// Another field of view than frames are published with, once it was described often enough.
    fn other_fov(&mut self, described: f32) -> Option<f32> {
        if !described.is_finite() || described <= 0.0 || same_fov(described, self.view.fov_deg) {
            self.other = None;
            return None;
        }
        let before = self.other.filter(|(fov, _)| same_fov(*fov, described));
        let times = before.map_or(1, |(_, times)| times + 1);
        self.other = (times < DESCRIPTIONS).then_some((described, times));
        self.other.is_none().then_some(described)
    }
}

fn same_fov(a: f32, b: f32) -> bool {
    (a - b).abs() < SAME_FOV_DEG
}

/// Sensors that were opened again.
pub(super) struct Reopened {
    pub(super) sensors: BTreeSet<u16>,
    /// All frames, as they will be.
    pub(super) tree: FrameTree,
}

fn frames_of(settings: &Settings, tree: &FrameTree) -> BTreeMap<u16, FrameIds> {
    let seq_ids = settings.sensors.iter().map(|sensor| sensor.seq_id);
    let frames = |seq_id| (seq_id, frame_ids(tree, seq_id));
    seq_ids.map(frames).collect()
}

/// Returns the frame ids of a sensor.
pub(super) fn frame_ids(tree: &FrameTree, seq_id: u16) -> FrameIds {
    let world = tree.names().map.clone();
    match tree.sensor(seq_id) {
        Some(f) => FrameIds {
            optical: f.optical.clone(),
            link: f.link.clone(),
            world,
        },
        None => FrameIds::new("", seq_id),
    }
}

/// Returns the view of a sensor in these settings.
fn view_of(settings: &Settings, seq_id: u16, frames: &BTreeMap<u16, FrameIds>) -> Option<View> {
    let sensor = settings.sensors.iter().find(|s| s.seq_id == seq_id)?;
    let shared = settings.pairs.frame_of(seq_id);
    Some(View {
        fov_deg: sensor.fov_deg,
        fisheye_factor: settings.fisheye_factor(sensor),
        calibration: settings.calibrations.of(seq_id).cloned(),
        baseline_m: settings.pairs.baseline_m(seq_id),
        frame_id: frames.get(&shared)?.optical.clone(),
    })
}

/// Every other request for a view has a field of view that is the next larger number, less than 0.00002 degrees: the
/// renderer's description repeats it, which tells a request from the one before.
fn marked(fov_deg: f32, requests: u64) -> f32 {
    let odd = requests % 2 == 1 && fov_deg.is_finite() && fov_deg >= 0.0;
    f32::from_bits(fov_deg.to_bits() + u32::from(odd))
}
