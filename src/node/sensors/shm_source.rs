//! Sensors in shared memory: a thread for each block polls it, as the simulator has no way to signal.
use super::fov::FovWatch;
use crate::node::clock::{SimClock, host_now};
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, PAUSE};
use crate::sensors::{ForeignFrame, Frame, Sensor, SensorError};
use crate::time::{RosTime, SimTime, SourceKind};
use crate::transport::{SharedBlock, ShmError};
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pause between two looks at the flag when a frame is due; the vendor's reader uses about 1 ms.
const POLL: Duration = Duration::from_micros(500);
/// ... when none has come for [`SILENCE`].
const IDLE_POLL: Duration = Duration::from_millis(5);
const SILENCE: Duration = Duration::from_secs(1);
/// The longest pause after a frame.
const REST: Duration = Duration::from_millis(50);
/// Pause between two looks for a block that is not there, or may have been re-created.
const LOOK: Duration = Duration::from_millis(200);
/// After this time without a frame the log says what is in the way.
const PATIENCE: Duration = Duration::from_secs(3);

/// One sensor's block.
pub(super) struct ShmSource {
    name: String,
    len: usize,
    sensor: Box<dyn Sensor>,
    fov: FovWatch,
    clock: Arc<SimClock>,
    stats: Arc<SourceStats>,
    reader: BlockReader,
    block: Option<SharedBlock>,
    next_look: Instant,
    /// When the last frame was taken, or the block was looked for first.
    silent_since: Instant,
    /// What the log has said of the silence.
    said: Option<String>,
}

/// When to look for the next frame: seldom while none is due, so that the processor rests between frames.
#[derive(Debug, Default)]
pub struct Rhythm {
    last: Option<Instant>,
    /// Shortest time between two frames, lately.
    period: Option<Duration>,
}

impl Rhythm {
    /// Returns how long to pause after a look at `now`, which found a frame if `came`.
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
    /// Looks for the block `name` of `len` bytes from now on.
    pub(super) fn new(
        (name, len): (String, usize),
        sensor: Box<dyn Sensor>,
        fov: FovWatch,
        clock: Arc<SimClock>,
        stats: Arc<SourceStats>,
    ) -> Self {
        let now = Instant::now();
        Self {
            name,
            len,
            sensor,
            fov,
            clock,
            stats,
            reader: BlockReader::default(),
            block: None,
            next_look: now,
            silent_since: now,
            said: None,
        }
    }

    /// Serves the sensor until `stop` is set; goes on after a panic.
    pub(super) fn serve(&mut self, stop: &AtomicBool) {
        let mut rhythm = Rhythm::default();
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            let mut came = false;
            if tasks::panics(|| came = self.poll(now)) {
                self.failed(now);
            }
            std::thread::sleep(rhythm.pause(now, came));
        }
    }

    /// After a panic the block is opened anew, a little later; the other sensors go on.
    fn failed(&mut self, now: Instant) {
        tracing::error!("{} panicked; it goes on in {PAUSE:?}", self.stats.name);
        self.stats.lock().drop_one("task_failed");
        if let Some(block) = self.block.take() {
            give_back(&block);
        }
        self.next_look = now + PAUSE;
    }

    /// Takes a frame if one is ready; false if none was.
    fn poll(&mut self, now: Instant) -> bool {
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.look(now);
        }
        let Some(block) = self
            .block
            .as_ref()
            .filter(|block| block.flag() == ShmFlag::Ready as u8)
        else {
            return false;
        };
        if let Some(fov_deg) = self.fov.changed() {
            self.sensor.set_fov(fov_deg);
        }
        let arrival = host_now();
        let taken = self.reader.take(block, &mut *self.sensor, |time| {
            self.clock.stamp(time, arrival, SourceKind::Image)
        });
        let Some(taken) = taken else { return false };
        (self.silent_since, self.said) = (now, None);
        let mut figures = self.stats.lock();
        figures.received += 1;
        figures.bytes += self.len as u64;
        figures.last_frame = Some(now);
        figures.obstacle = None;
        match taken {
            Taken::Dropped(cause) => figures.drop_one(cause),
            Taken::Published => {
                figures.frames += 1;
                figures.converted += 1;
                figures.took(host_now().0 - arrival.0);
            }
            Taken::Unwanted => figures.frames += 1,
        }
        true
    }

    /// Opens the block, or lets go of one that the simulator has replaced or made shorter; notes what is in the way.
    fn look(&mut self, now: Instant) {
        if let Some(block) = self.block.take_if(|block| !block.is_current())
            && block.is_lost()
        {
            self.stats.lock().drop_one("shm_truncated");
        }
        if self.block.is_some() && now.duration_since(self.silent_since) < LOOK {
            return;
        }
        let obstacle = match &self.block {
            Some(block) => flag_says(&self.name, block.flag()),
            None => match SharedBlock::open(&self.name, self.len) {
                Ok(block) => {
                    let obstacle = flag_says(&self.name, block.flag());
                    self.block = Some(block);
                    obstacle
                }
                Err(error) => advice(&error),
            },
        };
        if now.duration_since(self.silent_since) >= PATIENCE
            && self.said.as_ref() != Some(&obstacle)
        {
            tracing::warn!(source = self.stats.name, "no data: {obstacle}");
            self.said = Some(obstacle.clone());
        }
        self.stats.lock().obstacle = Some(obstacle);
    }
}

/// What became of a block that was ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Taken {
    /// Converted and published.
    Published,
    /// Nobody subscribes.
    Unwanted,
    /// Not published, for the reason to count.
    Dropped(&'static str),
}

/// Takes frames out of blocks by their flag protocol: ready, reading, copied, released.
#[derive(Default)]
pub struct BlockReader {
    /// What a sensor has to look at is copied before; another process may write to the block at any moment.
    copy: Vec<u8>,
}

impl BlockReader {
    /// Takes a frame if one is ready, and gives the block back as soon as it is copied.
    pub fn take(
        &mut self,
        block: &SharedBlock,
        sensor: &mut dyn Sensor,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Option<Taken> {
        if !block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8) {
            return None;
        }
        let taken = self.take_ready(block, sensor, stamp);
        // Whoever overwrote the flag keeps it; mostly this was done after the copy.
        give_back(block);
        Some(taken.unwrap_or_else(Taken::Dropped))
    }

    fn take_ready(
        &mut self,
        block: &SharedBlock,
        sensor: &mut dyn Sensor,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Result<Taken, &'static str> {
        let mut time = [0; 8];
        block.copy_out(1, &mut time);
        let seconds = f64::from_le_bytes(time);
        if block.flag() != ShmFlag::Reading as u8 {
            return Err("torn");
        }
        let stamped = SimTime::checked_from_secs(seconds).and_then(|t| Some((t, stamp(t)?)));
        let (sim_time, stamp) = stamped.ok_or(SensorError::Time.cause())?;
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
                    return Err("torn");
                }
                sensor.accept(&Frame {
                    payload: &self.copy,
                    stamp,
                    sim_time,
                    compressed: false,
                })
            }
        };
        result.map_or_else(|error| Err(error.cause()), |()| Ok(Taken::Published))
    }
}

/// Whether the block was still ours, which it is no longer.
fn give_back(block: &SharedBlock) -> bool {
    block.swap_flag(ShmFlag::Reading as u8, ShmFlag::Released as u8) && !block.is_lost()
}

/// What a block waits for whose flag does not say that a frame is ready.
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

/// What to do about a block that cannot be opened.
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
