//! Sensors in shared memory: one polling thread per block, because the simulator does not signal.
use super::held::{release, until_due};
use super::opened::{Opened, Successor};
use super::refusals::RefusalLog;
use crate::node::cause::Cause;
use crate::node::clock::{SimClock, host_now};
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, PAUSE};
use crate::sensors::{ForeignFrame, Frame, Sensor, SensorError};
use crate::time::{RosTime, SimTime, SourceKind};
use crate::transport::{PacketTapSlot, SharedBlock, ShmError};
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::io;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Polling interval when a frame is due; the vendor's reader uses about 1 ms.
const POLL: Duration = Duration::from_micros(500);
/// Polling interval after [`SILENCE`] without a frame.
const IDLE_POLL: Duration = Duration::from_millis(5);
const SILENCE: Duration = Duration::from_secs(1);
/// Longest pause after a frame.
const REST: Duration = Duration::from_millis(50);
/// Interval of checks for a block that is missing or may have been re-created.
const LOOK: Duration = Duration::from_millis(200);
/// After this time without a frame the log names the cause.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes of the time behind the flag.
const TIME_LEN: usize = SHM_HEADER_LEN - 1;

/// One sensor's block.
pub(super) struct ShmSource {
    name: String,
    lens: RangeInclusive<usize>,
    sensor: Box<dyn Sensor>,
    clock: Arc<SimClock>,
    stats: Arc<SourceStats>,
    /// Place of who sees the frames as they are.
    packet_tap: PacketTapSlot,
    /// Sensors that take the place of this one.
    successors: mpsc::Receiver<Successor>,
    reader: BlockReader,
    block: Option<SharedBlock>,
    next_look: Instant,
    /// Time of the last frame, or of the first attempt to open the block.
    silent_since: Instant,
    /// Cause of the silence as last logged.
    logged: Option<String>,
    /// It was said that another program reads the block.
    shared: bool,
    refusals: RefusalLog,
}

/// Polling times: rare while no frame is due, to save processor time between frames.
#[derive(Debug, Default)]
pub struct Rhythm {
    last: Option<Instant>,
    /// Shortest recent time between two frames.
    period: Option<Duration>,
}

impl Rhythm {
    /// Returns the pause after a poll at `now`; `came`: it found a frame.
    pub fn pause(&mut self, now: Instant, came: bool) -> Duration {
        let since = self.last.map(|last| now.duration_since(last));
        if !came {
            return match since {
                Some(since) if since < SILENCE => POLL,
                _ => IDLE_POLL,
            };
        }
        self.last = Some(now);
        self.period = match (since, self.period) {
            (Some(step), Some(period)) if step > period => Some(period + (step - period) / 8),
            (step, _) => step,
        };
        self.period
            .map_or(POLL, |period| (period * 3 / 4).clamp(POLL, REST))
    }
}

impl ShmSource {
    /// A source for the block `name`; opens it when it exists.
    pub(super) fn new(
        (name, packet_tap): (String, PacketTapSlot),
        opened: Opened,
        stats: Arc<SourceStats>,
        successors: mpsc::Receiver<Successor>,
    ) -> Self {
        let now = Instant::now();
        Self {
            name,
            lens: opened.lens,
            sensor: opened.sensor,
            clock: opened.clock,
            stats,
            packet_tap,
            successors,
            reader: BlockReader::default(),
            block: None,
            next_look: now,
            silent_since: now,
            logged: None,
            shared: false,
            refusals: RefusalLog::default(),
        }
    }

    /// Serves the sensor until `stop` is set; restarts after a panic.
    pub(super) fn serve(&mut self, stop: &AtomicBool) {
        let mut rhythm = Rhythm::default();
        while !stop.load(Ordering::Relaxed) {
            if let Ok(successor) = self.successors.try_recv() {
                self.succeed(successor);
            }
            let now = Instant::now();
            let mut came = false;
            if tasks::panics(|| came = self.poll(now)) {
                self.failed(now);
            }
            // From the look on: what was done with the frame is part of the pause.
            let next = now + rhythm.pause(now, came).min(until_due(&*self.sensor));
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Ends the sensor; the next one has a block of its own, under the same name.
    fn succeed(&mut self, (opened, taking): Successor) {
        if let Some(block) = self.block.take() {
            give_back(&block);
        }
        (self.lens, self.sensor, self.clock) = (opened.lens, opened.sensor, opened.clock);
        self.next_look = Instant::now();
        self.reader = BlockReader::default();
        self.refusals = RefusalLog::default();
        self.stats.rename(opened.name);
        drop(taking);
    }

    /// After a panic reopens the block, after a pause; other sensors are not affected.
    fn failed(&mut self, now: Instant) {
        tracing::error!("{} panicked; restarting in {PAUSE:?}", self.stats.name());
        self.stats.lock().drop_one(Cause::TaskFailed);
        if let Some(block) = self.block.take() {
            give_back(&block);
        }
        self.next_look = now + PAUSE;
    }

    /// Takes a frame if one is ready; false otherwise. Publishes those that were held back until now.
    fn poll(&mut self, now: Instant) -> bool {
        release(&mut *self.sensor, &self.stats);
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.look(now);
        }
        let Some(block) = self.block.as_ref() else {
            return false;
        };
        if block.flag() != ShmFlag::Ready as u8 {
            if self.reader.missed(block) {
                self.missed();
            }
            return false;
        }
        let arrival = host_now();
        self.packet_tap.with(|tap| {
            let mut bytes = vec![0; block.len()];
            block.copy_out(0, &mut bytes);
            tap.block(&self.name, arrival.0, &bytes);
        });
        let taken = self.reader.take(block, &mut *self.sensor, arrival, |time| {
            self.clock.stamp(time, arrival, SourceKind::Image)
        });
        let Some(taken) = taken else { return false };
        let len = block.len();
        (self.silent_since, self.logged) = (now, None);
        if let Taken::Dropped(error) = &taken {
            self.refusals.tell(self.stats.name(), error);
        }
        let mut figures = self.stats.lock();
        figures.received += 1;
        figures.bytes += len as u64;
        figures.last_frame = Some(now);
        figures.obstacle = None;
        match taken {
            Taken::Dropped(error) => {
                // It came, which is what the rate counts.
                figures.frames += u64::from(matches!(error, SensorError::OnPurpose));
                figures.drop_one(error.cause().into());
            }
            Taken::Published => {
                figures.frames += 1;
                figures.converted += 1;
                figures.took(host_now().0 - arrival.0);
            }
            Taken::Unwanted => figures.frames += 1,
        }
        true
    }

    /// Counts a frame that another program took, and says so once.
    fn missed(&mut self) {
        self.stats.lock().drop_one(Cause::TakenByOther);
        if !std::mem::replace(&mut self.shared, true) {
            tracing::warn!(
                source = %self.stats.name(),
                "another program reads /dev/shm/{} and takes frames of it (drop_taken_by_other): one block has one reader. Give one \
                 of the two another SeqID (docs/beside.md)",
                self.name
            );
        }
    }

    /// Opens the block, or closes one that the simulator has replaced or shortened; records why it is unusable.
    fn look(&mut self, now: Instant) {
        if let Some(block) = self.block.take_if(|block| !block.is_current())
            && block.is_lost()
        {
            self.stats.lock().drop_one(Cause::ShmTruncated);
        }
        if self.block.is_some() && now.duration_since(self.silent_since) < LOOK {
            return;
        }
        let obstacle = match &self.block {
            Some(block) => flag_says(&self.name, block.flag()),
            None => match SharedBlock::open_any(&self.name, self.lens.clone()) {
                Ok(block) => {
                    let obstacle = flag_says(&self.name, block.flag());
                    self.block = Some(block);
                    obstacle
                }
                Err(error) => advice(&error),
            },
        };
        if now.duration_since(self.silent_since) >= PATIENCE
            && self.logged.as_ref() != Some(&obstacle)
        {
            tracing::warn!(source = %self.stats.name(), "no data: {obstacle}");
            self.logged = Some(obstacle.clone());
        }
        self.stats.lock().obstacle = Some(obstacle);
    }
}

/// Result of reading a ready block.
#[derive(Debug)]
pub enum Taken {
    /// Converted and published.
    Published,
    /// Nobody subscribes.
    Unwanted,
    /// Not published, for this cause.
    Dropped(SensorError),
}

/// Reads frames by the flag protocol of the blocks: ready, reading, copied, released.
#[derive(Default)]
pub struct BlockReader {
    /// Copy of data that the sensor parses: another process may write to the block at any time.
    copy: Vec<u8>,
    /// Time of the last frame that was taken, or seen to be taken by another program.
    last: Option<[u8; TIME_LEN]>,
}

impl BlockReader {
    /// Takes a frame if one is ready, and releases the block as soon as it is copied.
    pub fn take(
        &mut self,
        block: &SharedBlock,
        sensor: &mut dyn Sensor,
        arrival: RosTime,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Option<Taken> {
        if !block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8) {
            return None;
        }
        let taken = self.take_ready(block, sensor, arrival, stamp);
        // If another process overwrote the flag, it stays; usually that happened after the copy.
        give_back(block);
        Some(taken.unwrap_or_else(Taken::Dropped))
    }

    /// Whether a block that was read before has a frame that another program has taken; once for each frame.
    pub fn missed(&mut self, block: &SharedBlock) -> bool {
        let released = || block.flag() == ShmFlag::Released as u8;
        let Some(last) = self.last.filter(|_| released()) else {
            return false;
        };
        let time = time_of(block);
        // Unless the renderer began the next frame meanwhile.
        let missed = time != last && released();
        if missed {
            self.last = Some(time);
        }
        missed
    }

    fn take_ready(
        &mut self,
        block: &SharedBlock,
        sensor: &mut dyn Sensor,
        arrival: RosTime,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Result<Taken, SensorError> {
        let time = time_of(block);
        self.last = Some(time);
        let seconds = f64::from_le_bytes(time);
        if block.flag() != ShmFlag::Reading as u8 {
            return Err(SensorError::Torn);
        }
        let stamped = SimTime::checked_from_secs(seconds).and_then(|t| Some((t, stamp(t)?)));
        let (sim_time, stamp) = stamped.ok_or(SensorError::Time)?;
        if !sensor.wanted() {
            return Ok(Taken::Unwanted);
        }
        let intact = || give_back(block);
        let direct = block.lend(SHM_HEADER_LEN, |pixels| {
            let frame = ForeignFrame {
                pixels,
                stamp,
                intact: &intact,
            };
            sensor.accept_foreign(&frame)
        });
        let result = match direct {
            Some(result) => result,
            None => {
                self.copy
                    .resize(block.len().saturating_sub(SHM_HEADER_LEN), 0);
                block.copy_out(SHM_HEADER_LEN, &mut self.copy);
                if !intact() {
                    return Err(SensorError::Torn);
                }
                sensor.accept(&Frame {
                    payload: &self.copy,
                    stamp,
                    sim_time,
                    arrival,
                    compressed: false,
                })
            }
        };
        result.map(|()| Taken::Published)
    }
}

/// Simulation time of the frame in a block, f64.
fn time_of(block: &SharedBlock) -> [u8; TIME_LEN] {
    let mut time = [0; TIME_LEN];
    block.copy_out(1, &mut time);
    time
}

/// Releases the block; false if another process had overwritten the flag.
fn give_back(block: &SharedBlock) -> bool {
    block.swap_flag(ShmFlag::Reading as u8, ShmFlag::Released as u8) && !block.is_lost()
}

/// Explains the flag of a block without a ready frame.
fn flag_says(name: &str, flag: u8) -> String {
    let what = match ShmFlag::try_from(flag) {
        Ok(ShmFlag::Empty) => "RflySim3D has not written to it yet".to_owned(),
        Ok(ShmFlag::Writing) => "RflySim3D is writing to it".to_owned(),
        Ok(ShmFlag::Ready) => "a frame is ready".to_owned(),
        Ok(ShmFlag::Reading) => {
            "another program reads it, or did so when it ended; one block has one reader".to_owned()
        }
        Ok(ShmFlag::Released) => "RflySim3D writes no further frame".to_owned(),
        Err(other) => format!("its first byte is {other}, which is no flag of RflySim3D"),
    };
    format!("/dev/shm/{name} is open; {what}")
}

/// Remedy for a block that cannot be opened.
fn advice(error: &ShmError) -> String {
    let remedy = match error {
        ShmError::Io { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => {
                "RflySim3D makes it on its own host: run both on one host with the same /dev/shm (Docker: --ipc=host), or \
                 take SendProtocol[0] 1 or 2"
            }
            io::ErrorKind::PermissionDenied => {
                "the bridge reads and writes it: run both as the same user, or change its mode"
            }
            _ => "RflySim3D makes it as a plain file",
        },
        ShmError::TooSmall { .. } => {
            "RflySim3D made it for another size: compare DataWidth and DataHeight (lists: otherParams[1]) with the \
             Config.json that the simulator was given, and restart RflySim3D"
        }
        _ => "remove it; RflySim3D makes it as a plain file",
    };
    format!("{error}; {remedy}")
}
