use super::clock::SimClock;
use super::faults::{FaultCounts, Faults};
use super::options::EmulatorOptions;
use super::sensor::SensorTable;
use super::servers::report::Wanted;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What was sent for one sensor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SensorStats {
    /// Sensor type.
    pub type_id: u16,
    /// Frames rendered and sent, or written to shared memory.
    pub frames: u64,
    /// Frames of which at least one datagram was lost or damaged by a fault.
    pub harmed: u64,
    /// Ticks left out because rendering was late.
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
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stats {
    /// By sensor number; kept when a sensor is forgotten.
    pub sensors: BTreeMap<u16, SensorStats>,
    /// Sensor requests taken.
    pub requests: u64,
    /// Datagrams that were not understood or not wanted.
    pub refused: u64,
    /// Console commands received.
    pub commands: u64,
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
}

/// Somebody who wants IMU samples of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ImuReader {
    pub(super) vehicle: u16,
    pub(super) rate_hz: u16,
    pub(super) to: SocketAddr,
}

/// What the threads of the emulator have in common. No lock is held while data are sent.
pub(super) struct Shared {
    pub(super) options: EmulatorOptions,
    clock: Mutex<SimClock>,
    sensors: Mutex<SensorTable>,
    imu: Mutex<Vec<ImuReader>>,
    reports: Mutex<Wanted>,
    faults: Mutex<Faults>,
    stats: Mutex<Stats>,
    /// Signals a change of sensors or of the clock.
    pub(super) changed: Condvar,
    stop: AtomicBool,
    epoch: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(options: EmulatorOptions, faults: Faults) -> Self {
        Self {
            clock: Mutex::new(SimClock::new(options.speed, options.clock_drift_ppm)),
            options,
            sensors: Mutex::default(),
            imu: Mutex::default(),
            reports: Mutex::default(),
            faults: Mutex::new(faults),
            stats: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            epoch: AtomicU64::new(0),
        }
    }

    pub(super) fn clock(&self) -> SimClock {
        *lock(&self.clock)
    }

    pub(super) fn set_clock(&self, change: impl FnOnce(&mut SimClock)) {
        change(&mut lock(&self.clock));
        self.changed.notify_all();
    }

    pub(super) fn sensors(&self) -> MutexGuard<'_, SensorTable> {
        lock(&self.sensors)
    }

    pub(super) fn imu_readers(&self) -> MutexGuard<'_, Vec<ImuReader>> {
        lock(&self.imu)
    }

    pub(super) fn reports(&self) -> MutexGuard<'_, Wanted> {
        lock(&self.reports)
    }

    pub(super) fn faults(&self) -> Faults {
        *lock(&self.faults)
    }

    pub(super) fn set_faults(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut lock(&self.faults));
    }

    pub(super) fn stats(&self) -> MutexGuard<'_, Stats> {
        lock(&self.stats)
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Number of restarts; whoever keeps state per run compares it.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Starts the simulation anew: time 0, nobody has asked for anything.
    pub(super) fn restart(&self) {
        self.sensors().clear(None);
        self.imu_readers().clear();
        *self.reports() = Wanted::default();
        self.set_clock(SimClock::restart);
        self.stats().restarts += 1;
        self.epoch.fetch_add(1, Ordering::Release);
    }
}
