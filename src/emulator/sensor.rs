use super::options::AngleUnit;
use super::world::{Pose, Quat, Snapshot, VEHICLE_HALF, Vec3};
use crate::wire::{Optics, RequestLayout, SensorKind, SensorRequest, check_freq_hz};
use nalgebra::Quaternion;
use std::{collections::BTreeMap, net::SocketAddr};

/// The simulator's limit per PC.
pub(super) const MAX_SENSORS: usize = 32;

/// Maximum pixels or points of one sensor: 8192 x 2048. A corrupt request must not exhaust the memory.
const MAX_RAYS: usize = 1 << 24;

const MASK_FOV: u32 = 1 << 6;
const MASK_EULER: u32 = 1 << 7;
const MASK_QUATERNION: u32 = 1 << 8;

/// A requested sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveSensor {
    /// The request.
    pub request: SensorRequest,
    /// Window that received the request.
    pub(super) window: usize,
    pub(super) destination: SocketAddr,
    /// Number of its next frame, counted from simulation time 0.
    next: u64,
    /// Changes with every request, to invalidate cached data.
    pub(super) generation: u64,
}

impl LiveSensor {
    fn rate(&self) -> f64 {
        rate(&self.request)
    }

    /// Simulation time of the next frame; a quotient of integers, so that equal times of two sensors are equal to the bit.
    fn due(&self) -> f64 {
        self.next as f64 / self.rate()
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SensorRefusal {
    /// Unknown sensor type.
    UnknownType,
    /// The simulator's limit of sensors is reached.
    TooMany,
    /// No pixels, or too many.
    Size,
}

/// One instant at which sensors are due.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Simulation time in s.
    pub time: f64,
    /// Due sensors.
    pub due: Vec<LiveSensor>,
    /// Requests of all sensors by SeqID: a sensor may be mounted on another one.
    pub requests: BTreeMap<u16, SensorRequest>,
}

/// All live sensors by SeqID.
#[derive(Debug, Default)]
pub struct SensorTable {
    pub(super) live: BTreeMap<u16, LiveSensor>,
    generation: u64,
}

impl SensorTable {
    /// Adds the sensor that `source` requested, or updates the live sensor of that SeqID; `now` is simulation time.
    ///
    /// # Errors
    /// Why the request is refused.
    pub fn request(
        &mut self,
        mut request: SensorRequest,
        window: usize,
        source: SocketAddr,
        now: f64,
    ) -> Result<(), SensorRefusal> {
        let kind = SensorKind::from_type_id(request.type_id).ok_or(SensorRefusal::UnknownType)?;
        let rays = usize::from(request.width) * usize::from(request.height);
        let has_fixed_size = matches!(kind.row().optics, Optics::None | Optics::Mid360);
        if !has_fixed_size && !(1..=MAX_RAYS).contains(&rays) {
            return Err(SensorRefusal::Size);
        }
        let old = self.live.get(&request.seq_id);
        if old.is_none() && self.live.len() >= MAX_SENSORS {
            return Err(SensorRefusal::TooMany);
        }
        if let (Some(old), 1..) = (old, request.bitmask) {
            request = masked_update(&old.request, &request);
        }
        self.generation += 1;
        let rate = rate(&request);
        let kept_next = old.filter(|o| o.request.check_freq == request.check_freq).map(|o| o.next);
        let live = LiveSensor {
            request,
            window,
            destination: destination(&request, source),
            next: kept_next.unwrap_or((now * rate).floor().max(0.0) as u64 + 1),
            generation: self.generation,
        };
        self.live.insert(request.seq_id, live);
        Ok(())
    }

    /// Removes one sensor, or all.
    pub fn clear(&mut self, seq_id: Option<u16>) {
        match seq_id {
            Some(seq_id) => drop(self.live.remove(&seq_id)),
            None => self.live.clear(),
        }
    }

    /// Returns the simulation time in s of the next tick.
    pub fn next(&self) -> Option<f64> {
        self.live.values().map(LiveSensor::due).reduce(f64::min)
    }

    /// Skips frames that are over a period late at simulation time `now`, as a slow renderer does; returns counts by SeqID.
    pub fn skip(&mut self, now: f64) -> Vec<(u16, u64)> {
        let mut skipped = Vec::new();
        for (seq_id, live) in &mut self.live {
            let latest = (now * live.rate()).floor().max(0.0) as u64;
            if live.next < latest {
                skipped.push((*seq_id, latest - live.next));
                live.next = latest;
            }
        }
        skipped
    }

    /// Returns the next tick, if it is due, and advances to the one after it.
    pub fn tick(&mut self, now: f64) -> Option<Tick> {
        let time = self.next().filter(|time| *time <= now)?;
        let requests = self.live.iter().map(|(id, live)| (*id, live.request));
        let requests = requests.collect();
        let due = |live: &&mut LiveSensor| live.due() <= time;
        let step = |live: &mut LiveSensor| {
            let current = *live;
            live.next += 1;
            current
        };
        Some(Tick { time, due: self.live.values_mut().filter(due).map(step).collect(), requests })
    }
}

/// Rate in Hz.
pub(super) fn rate(request: &SensorRequest) -> f64 {
    check_freq_hz(request.check_freq).into()
}

/// Applies a masked update, which changes only the fields in its mask.
fn masked_update(old: &SensorRequest, update: &SensorRequest) -> SensorRequest {
    let mut new = SensorRequest { layout: update.layout, bitmask: update.bitmask, ..*old };
    if update.bitmask & MASK_FOV != 0 {
        new.fov_deg = update.fov_deg;
    }
    if update.bitmask & MASK_EULER != 0 {
        (new.euler, new.eular_or_quat) = (update.euler, 0.0);
    }
    if update.bitmask & MASK_QUATERNION != 0 {
        (new.quaternion, new.eular_or_quat) = (update.quaternion, 1.0);
    }
    new
}

/// 0.0.0.0 and 127.0.0.1 mean the source of the request.
fn destination(request: &SensorRequest, source: SocketAddr) -> SocketAddr {
    let protocol = &request.send_protocol;
    let ip = protocol.ip.map(|b| b as u8);
    let port =
        if protocol.port == 0 { 9999u16.saturating_add(request.seq_id) } else { protocol.port };
    match ip {
        [0, 0, 0, 0] | [127, 0, 0, 1] => SocketAddr::new(source.ip(), port),
        ip => SocketAddr::from((ip, port)),
    }
}

/// Returns the orientation of a requested sensor relative to its mount.
fn orientation(request: &SensorRequest, unit: AngleUnit) -> Quat {
    if request.layout != RequestLayout::Old && request.eular_or_quat > 0.5 {
        let [w, x, y, z] = request.quaternion.map(f64::from);
        return Quat::try_new(Quaternion::new(w, x, y, z), 1e-9).unwrap_or_default();
    }
    let in_degrees = unit == AngleUnit::Degrees || request.type_id == SensorKind::Pod.type_id();
    let [roll, pitch, yaw] =
        request.euler.map(f64::from).map(|a| if in_degrees { a.to_radians() } else { a });
    Quat::from_euler_angles(roll, pitch, yaw)
}

/// Resolves mounts: the pose of a sensor in the world, and its carrying vehicle.
///
/// Returns `None` if the vehicle or the carrying sensor does not exist, if sensors carry each other, or for an unknown mount.
pub(super) fn world_pose(
    sensors: &BTreeMap<u16, SensorRequest>,
    request: &SensorRequest,
    snapshot: &Snapshot,
    unit: AngleUnit,
) -> Option<(Pose, Option<u16>)> {
    let mounted = |request: &SensorRequest| Pose {
        position: Vec3::from(request.position.map(f64::from)),
        attitude: orientation(request, unit),
    };
    let mut chain = vec![mounted(request)];
    let mut base = request;
    while base.mount_type == 4 {
        if chain.len() > MAX_SENSORS {
            return None;
        }
        base = sensors.get(&base.target_copter)?;
        chain.push(mounted(base));
    }
    let last = chain.pop()?;
    let target = base.target_copter;
    let (root, carrier) = match base.mount_type {
        0 => (snapshot.vehicle(target)?.pose.then(&last), Some(target)),
        1 => {
            let below = last.position + Vec3::new(0.0, 0.0, VEHICLE_HALF.z);
            let below = Pose { position: below, ..last };
            (snapshot.vehicle(target)?.pose.then(&below), Some(target))
        }
        2 => (last, None),
        3 => {
            let position = snapshot.vehicle(target)?.pose.position + last.position;
            (Pose { position, attitude: last.attitude }, Some(target))
        }
        _ => return None,
    };
    Some((chain.iter().rev().fold(root, |pose, mounted| pose.then(mounted)), carrier))
}
