//! Whether pictures show the configured field of view: of cameras that somebody reads, now and then some small pictures are compared.
//! How is in `doctor/optics.rs`.
use super::glance::{About, Form, Glance, Glanced, Note, Pixels};
use crate::config::SensorConfig;
use crate::doctor::{Content, Evidence, Motion, Verdict};
use crate::frames::{FrameTree, Mount, SensorMount, Transform, VehiclePose};
use crate::node::pose_history::{PoseAt, PoseDemand, PoseHistory};
use crate::node::section::{Finding, Level, Section, value};
use crate::node::settings::Settings;
use crate::node::tasks::{self, Endless};
use crate::sensors::Sensor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Pictures that are compared with one another.
const TOGETHER: usize = 14;
/// Pairs of them, and pairs after which others are no use.
const PAIRS: usize = 8;
const ENOUGH: usize = 24;
/// How long a picture waits for the pose of its instant, and how often it is looked whether it is there.
const WAIT: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(20);
/// After so long without a picture nobody reads the camera any more.
const OVER: Duration = Duration::from_secs(2);
/// Rest after which it is tried again, in ns: the first one where nothing could be told, the longest one, and that after all
/// agreed, which then changes with the renderer only.
const SOON_NS: i64 = 1_000_000_000;
const LATE_NS: i64 = 60_000_000_000;
const AGREED_NS: i64 = 600_000_000_000;
/// Pictures of all cameras on their way.
const QUEUE: usize = 64;

/// What is known of a camera.
#[derive(Debug)]
struct Known {
    configured: f32,
    evidence: Evidence,
    last: Verdict,
    /// Another field of view, found twice.
    shown: Option<f64>,
    /// Rest after a look that told nothing, in ns.
    rest: i64,
}

impl Known {
    fn new(content: Content, configured: f32) -> Self {
        Self {
            configured,
            evidence: Evidence::new(content, f64::from(configured)),
            last: Verdict::Unknown,
            shown: None,
            rest: SOON_NS,
        }
    }

    /// Judges the pairs so far, of which `more` are new; returns how long to rest, in ns.
    fn judge(&mut self, content: Content, more: usize) -> i64 {
        let verdict = self.evidence.verdict();
        if verdict == Verdict::Unknown && more > 0 && self.evidence.pairs() < ENOUGH {
            return SOON_NS;
        }
        self.evidence = Evidence::new(content, f64::from(self.configured));
        let rest = match verdict {
            Verdict::Unknown => {
                let rest = self.rest;
                self.rest = (2 * rest).min(LATE_NS);
                return rest;
            }
            Verdict::Agrees => {
                self.shown = None;
                AGREED_NS
            }
            Verdict::Differs(found) => {
                // What is wrong once is not wrong twice in the same way.
                let before = std::mem::replace(&mut self.last, verdict);
                let again = matches!(before, Verdict::Differs(before) if (before / found - 1.0).abs() < 0.1);
                if !again {
                    return SOON_NS;
                }
                self.shown = Some(found);
                LATE_NS
            }
        };
        self.last = verdict;
        self.rest = SOON_NS;
        rest
    }

    /// As `doctor` reads it.
    fn text(&self) -> String {
        match (self.shown, self.last) {
            (Some(shown), _) => format!("differs: {shown:.0}, configured {}", self.configured),
            (None, Verdict::Agrees) => format!("agrees: {}", self.configured),
            (None, _) => "not told yet".to_owned(),
        }
    }
}

/// By the number of the sensor.
type Shared = Arc<Mutex<BTreeMap<u16, Known>>>;

fn lock(shared: &Shared) -> MutexGuard<'_, BTreeMap<u16, Known>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A camera, and its pictures that wait to be compared.
struct Camera {
    about: Arc<About>,
    /// Without the pose of their instant yet, and since when.
    waiting: Vec<(Glance, Instant)>,
    placed: Vec<(Glance, Transform)>,
    /// Pictures so far, with or without a pose.
    seen: usize,
    /// When the last one came.
    newest: Instant,
}

/// Compares the pictures of all cameras.
pub(super) struct Lenses {
    /// That told of a picture.
    cameras: BTreeMap<u16, Camera>,
    poses: PoseHistory,
    want: PoseDemand,
    notes: mpsc::Receiver<Note>,
    glass: Glass,
}

/// Where cameras are opened.
#[derive(Clone)]
pub(super) struct Glass {
    tree: Arc<Mutex<FrameTree>>,
    known: Shared,
    notes: mpsc::Sender<Note>,
}

impl Glass {
    /// Returns the sensor so that it tells of its frames, if it is a camera that turns as the vehicle does.
    pub(super) fn around(
        &self,
        sensor: Box<dyn Sensor>,
        settings: &Settings,
        config: &SensorConfig,
    ) -> Box<dyn Sensor> {
        let (Some(form), Some(vehicle)) = (Form::of(config), settings.vehicle_of(config)) else {
            return sensor;
        };
        if !is_rigid(config.seq_id, &settings.mounts()) {
            return sensor;
        }
        let notes = self.notes.clone();
        Box::new(Glanced::new(sensor, (form, vehicle), config, notes))
    }

    /// Sensors were opened again, in other frames.
    pub(super) fn change(&self, sensors: &BTreeSet<u16>, tree: FrameTree) {
        lock(&self.known).retain(|seq_id, _| !sensors.contains(seq_id));
        *self.tree() = tree;
    }

    /// To be called when frames show a sensor elsewhere.
    pub(super) fn moved(&self) -> impl Fn(&SensorMount) + Send + 'static {
        let sender = self.notes.clone();
        move |mount| {
            let _full = sender.try_send(Note::Mount(Box::new(mount.clone())));
        }
    }

    /// Down in the frame of a sensor on a vehicle with this pose.
    pub(super) fn down(&self, seq_id: u16, pose: &VehiclePose) -> Option<[f64; 3]> {
        let tree = self.tree();
        let mount = tree.lookup(&tree.base_link(pose.vehicle), &tree.sensor(seq_id)?.link)?;
        let sensor = tree.names().world.pose(pose.position, pose.attitude) * mount;
        Some(sensor.inverse().rotate([0.0, 0.0, -1.0]))
    }

    /// The status in `/diagnostics`.
    pub(super) fn report(&self) -> Box<dyn Section> {
        Box::new(Report(self.known.clone()))
    }

    fn tree(&self) -> MutexGuard<'_, FrameTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lenses {
    pub(super) fn new(tree: FrameTree, poses: PoseHistory) -> Self {
        let (sender, notes) = mpsc::channel(QUEUE);
        Self {
            cameras: BTreeMap::new(),
            want: poses.demand(),
            poses,
            notes,
            glass: Glass {
                tree: Arc::new(Mutex::new(tree)),
                known: Shared::default(),
                notes: sender,
            },
        }
    }

    pub(super) fn glass(&self) -> Glass {
        self.glass.clone()
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Mount(mount) => {
                (self.glass.tree()).remount(mount.seq_id, mount.position_frd, mount.orientation);
                // Others may be carried by it.
                self.cameras.values_mut().for_each(Camera::forget);
            }
            Note::Picture(seq_id, glance) => {
                let camera = self.cameras.entry(seq_id);
                let camera = camera.or_insert_with(|| Camera::new(glance.camera.clone()));
                let mut known = lock(&self.glass.known);
                if !Arc::ptr_eq(&camera.about, &glance.camera) {
                    *camera = Camera::new(glance.camera.clone());
                    known.remove(&seq_id);
                }
                let (content, fov_deg) = (camera.about.form.content, glance.fov_deg);
                let new = || Known::new(content, fov_deg);
                let known = known.entry(seq_id).or_insert_with(new);
                if known.configured != fov_deg {
                    *known = new();
                    camera.forget();
                }
                // Those that are on their way when enough are there.
                if camera.seen < TOGETHER {
                    camera.seen += 1;
                    camera.newest = Instant::now();
                    camera.waiting.push((glance, Instant::now()));
                }
            }
        }
    }

    /// Finds out where cameras were, and has whole sets of pictures compared.
    fn place(&mut self) {
        let tree = self.glass.tree();
        for (seq_id, camera) in &mut self.cameras {
            let base = tree.base_link(camera.about.vehicle);
            let optical = tree.sensor(*seq_id);
            let Some(mount) = optical.and_then(|frames| tree.lookup(&base, &frames.optical)) else {
                continue;
            };
            for (glance, since) in std::mem::take(&mut camera.waiting) {
                match self.poses.at(camera.about.vehicle, glance.time) {
                    PoseAt::Known(pose) => {
                        let world = tree.names().world;
                        let body = world.pose(pose.position, pose.attitude);
                        camera.placed.push((glance, body * mount));
                    }
                    PoseAt::NotYet if since.elapsed() < WAIT => {
                        camera.waiting.push((glance, since))
                    }
                    PoseAt::NotYet | PoseAt::Unknown => {}
                }
            }
            let whole = camera.seen >= TOGETHER;
            if whole && camera.waiting.is_empty() {
                compare(*seq_id, camera, &self.glass.known);
            } else if !whole && camera.newest.elapsed() >= OVER {
                camera.forget();
            }
        }
        let busy = |camera: &Camera| camera.seen > 0;
        self.want.set(self.cameras.values().any(busy));
    }
}

impl Camera {
    fn new(about: Arc<About>) -> Self {
        Self {
            about,
            waiting: Vec::new(),
            placed: Vec::new(),
            seen: 0,
            newest: Instant::now(),
        }
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.placed.clear();
        self.seen = 0;
    }
}

/// Whether a sensor and what carries it is fixed to a vehicle.
fn is_rigid(seq_id: u16, mounts: &[SensorMount]) -> bool {
    let mut next = seq_id;
    // A circle of carriers is refused elsewhere.
    for _ in mounts {
        let Some(mount) = mounts.iter().find(|mount| mount.seq_id == next) else {
            return false;
        };
        match mount.mount {
            _ if mount.moving => return false,
            Mount::VehicleCentre(_) | Mount::VehicleBottom(_) => return true,
            Mount::Sensor(carrier) => next = carrier,
            Mount::Ground(_) | Mount::VehicleLevel(_) => return false,
        }
    }
    false
}

/// Compares the pictures of a camera on a thread of its own: it takes some tenths of a second.
fn compare(seq_id: u16, camera: &mut Camera, known: &Shared) {
    let glances = std::mem::take(&mut camera.placed);
    let (about, known) = (camera.about.clone(), known.clone());
    camera.forget();
    // Meanwhile none is due.
    let until = about.due.swap(i64::MAX, Ordering::Relaxed);
    let again = about.clone();
    let work = move || {
        let rest = look(again.form, seq_id, &glances, &known);
        again
            .due
            .store(until.saturating_add(rest), Ordering::Relaxed);
    };
    if let Err(error) = tasks::spawn_once("rfly-lens", work) {
        tracing::warn!("sensor{seq_id}: {error}");
        about
            .due
            .store(until.saturating_add(LATE_NS), Ordering::Relaxed);
    }
}

/// Adds what pictures tell; returns how long to rest, in ns.
fn look(form: Form, seq_id: u16, glances: &[(Glance, Transform)], known: &Shared) -> i64 {
    let Some((Glance { fov_deg, .. }, _)) = glances.first() else {
        return SOON_NS;
    };
    let pairs = pairs(form.content, glances);
    let mut pictures = BTreeMap::new();
    for i in pairs
        .iter()
        .flat_map(|(first, second, _)| [*first, *second])
    {
        let new = || match &glances[i].0.pixels {
            Pixels::Small(picture) => Some(picture.clone()),
            Pixels::File(file) => form.decoded(file),
        };
        pictures.entry(i).or_insert_with(new);
    }
    // Without the lock, which is held while `/diagnostics` are made.
    let mut evidence = match lock(known).get_mut(&seq_id) {
        Some(known) if known.configured == *fov_deg => {
            let empty = Evidence::new(form.content, f64::from(*fov_deg));
            std::mem::replace(&mut known.evidence, empty)
        }
        _ => return SOON_NS,
    };
    let before = evidence.pairs();
    for (first, second, motion) in &pairs {
        if let (Some(first), Some(second)) = (&pictures[first], &pictures[second]) {
            evidence.add(first, second, motion);
        }
    }
    let more = evidence.pairs() - before;
    match lock(known).get_mut(&seq_id) {
        Some(known) if known.configured == *fov_deg => {
            known.evidence = evidence;
            known.judge(form.content, more)
        }
        _ => SOON_NS,
    }
}

/// Which pictures to compare, and the motion between them.
fn pairs(content: Content, glances: &[(Glance, Transform)]) -> Vec<(usize, usize, Motion)> {
    let later = |first: usize| {
        let mut later = glances.iter().enumerate().skip(first + 1);
        later.find_map(|(second, (_, to))| {
            let motion = motion(&(to.inverse() * glances[first].1));
            motion.tells(content).then_some((first, second, motion))
        })
    };
    (0..glances.len()).filter_map(later).take(PAIRS).collect()
}

fn motion(between: &Transform) -> Motion {
    let columns =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| between.rotate(axis));
    Motion {
        rotation: std::array::from_fn(|row| columns.map(|column| column[row])),
        translation: between.translation(),
    }
}

impl Endless for Lenses {
    fn name(&self) -> String {
        "fields of view".to_owned()
    }

    async fn work(&mut self) {
        loop {
            let mut cameras = self.cameras.values();
            let waits = cameras.any(|camera| !camera.waiting.is_empty());
            let pause = if waits { LOOK } else { OVER / 4 };
            let note = match self.want.is_set() {
                true => tokio::time::timeout(pause, self.notes.recv()).await.ok(),
                false => Some(self.notes.recv().await),
            };
            if let Some(Some(note)) = note {
                self.take(note);
            }
            self.place();
        }
    }
}

/// The status in `/diagnostics`.
struct Report(Shared);

impl Section for Report {
    fn name(&self) -> &'static str {
        "fields of view"
    }

    fn check(&mut self) -> Finding {
        let known = lock(&self.0);
        let differ = known.values().filter(|known| known.shown.is_some()).count();
        Finding {
            level: if differ > 0 { Level::Warn } else { Level::Ok },
            message: match differ {
                0 => "none is seen to differ".to_owned(),
                n => format!("{n} cameras show another field of view than is configured"),
            },
            values: known
                .iter()
                .map(|(seq_id, known)| value(format!("sensor{seq_id}"), known.text()))
                .collect(),
        }
    }
}
