//! Sensors in shared memory: one polling thread per block, because the simulator does not signal new frames.
use super::delayed_frames::{release_due, until_due};
use super::opened_sensor::{OpenedSensor, Successor};
use super::refusal_log::RefusalLog;
use crate::node::clock::{SimClock, host_now};
use crate::node::tasks::{self, PAUSE};
use crate::node::{cause::Cause, stats::SourceStats};
use crate::sensors::{FrameHead, FramePayload, SensorError, SensorPipeline};
use crate::time::{RosTime, SimTime, SourceKind};
use crate::transport::{PacketTapSlot, SharedBlock, ShmError};
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{io, ops::RangeInclusive};

/// Polling interval while a frame is due; the vendor's reader uses about 1 ms.
const POLL_PERIOD: Duration = Duration::from_micros(500);
/// Polling interval before the first frame, and after [`SILENCE`] without a frame.
const IDLE_POLL_PERIOD: Duration = Duration::from_millis(5);
const SILENCE: Duration = Duration::from_secs(1);
/// Longest pause after a frame.
const MAX_PAUSE: Duration = Duration::from_millis(50);
/// Interval of checks for a block that is missing or may have been re-created.
const CHECK_PERIOD: Duration = Duration::from_millis(200);
/// Time without a frame after which the log reports the cause.
const LOG_DELAY: Duration = Duration::from_secs(3);

/// Length in bytes of the time, which follows the flag.
const TIME_LEN: usize = SHM_HEADER_LEN - 1;

pub(super) struct ShmSource {
    name: String,
    lengths: RangeInclusive<usize>,
    sensor: SensorPipeline,
    clock: Arc<SimClock>,
    stats: Arc<SourceStats>,
    /// Tap that gets the unconverted frames.
    packet_tap: PacketTapSlot,
    successors: mpsc::Receiver<Successor>,
    reader: BlockReader,
    block: Option<SharedBlock>,
    next_check: Instant,
    /// Time of the last frame, or of the first attempt to open the block.
    silent_since: Instant,
    /// Cause of the silence as last logged.
    logged: Option<String>,
    /// Whether the log has reported that another program reads the block.
    is_sharing_logged: bool,
    refusals: RefusalLog,
}

/// Polling interval: longer while no frame is due, to save processor time.
#[derive(Debug, Default)]
pub struct PollInterval {
    last: Option<Instant>,
    /// Shortest recent time between two frames.
    period: Option<Duration>,
}

impl PollInterval {
    /// Returns the pause after a poll at `now`; `found`: the poll found a frame.
    pub fn pause(&mut self, now: Instant, found: bool) -> Duration {
        let since = self.last.map(|last| now.duration_since(last));
        if !found {
            return match since {
                Some(since) if since < SILENCE => POLL_PERIOD,
                _ => IDLE_POLL_PERIOD,
            };
        }
        self.last = Some(now);
        self.period = match (since, self.period) {
            (Some(step), Some(period)) if step > period => Some(period + (step - period) / 8),
            (step, _) => step,
        };
        self.period.map_or(POLL_PERIOD, |period| (period * 3 / 4).clamp(POLL_PERIOD, MAX_PAUSE))
    }
}

impl ShmSource {
    /// Creates a source for the block `name`, which is opened as soon as it exists.
    pub(super) fn new(
        (name, packet_tap): (String, PacketTapSlot),
        opened: OpenedSensor,
        stats: Arc<SourceStats>,
        successors: mpsc::Receiver<Successor>,
    ) -> Self {
        let now = Instant::now();
        Self {
            name,
            lengths: opened.lengths,
            sensor: opened.sensor,
            clock: opened.clock,
            stats,
            packet_tap,
            successors,
            reader: BlockReader::default(),
            block: None,
            next_check: now,
            silent_since: now,
            logged: None,
            is_sharing_logged: false,
            refusals: RefusalLog::default(),
        }
    }

    /// Serves the sensor until `stop` is set; restarts after a panic.
    pub(super) fn serve(&mut self, stop: &AtomicBool) {
        let mut interval = PollInterval::default();
        while !stop.load(Ordering::Relaxed) {
            if let Ok(successor) = self.successors.try_recv() {
                self.replace(successor);
            }
            let now = Instant::now();
            let mut found = false;
            if tasks::panics(|| found = self.poll(now)) {
                self.recover(now);
            }
            // The pause starts at the poll, so it includes the time spent on the frame.
            let next = now + interval.pause(now, found).min(until_due(&self.sensor));
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Replaces the sensor; the successor opens the block of this name again.
    fn replace(&mut self, (opened, replacing): Successor) {
        if let Some(block) = self.block.take() {
            release_block(&block);
        }
        (self.lengths, self.sensor, self.clock) = (opened.lengths, opened.sensor, opened.clock);
        self.next_check = Instant::now();
        self.reader = BlockReader::default();
        self.refusals = RefusalLog::default();
        self.stats.rename(opened.name);
        drop(replacing);
    }

    /// Closes the block after a panic, to reopen it after a pause; other sensors are not affected.
    fn recover(&mut self, now: Instant) {
        tracing::error!("{} panicked; restarting in {PAUSE:?}", self.stats.name());
        self.stats.lock().count(Cause::TaskFailed);
        if let Some(block) = self.block.take() {
            release_block(&block);
        }
        self.next_check = now + PAUSE;
    }

    /// Reads a frame if one is ready; false otherwise. Also publishes delayed frames that are due.
    fn poll(&mut self, now: Instant) -> bool {
        release_due(&mut self.sensor, &self.stats);
        if now >= self.next_check {
            self.next_check = now + CHECK_PERIOD;
            self.check_block(now);
        }
        let Some(block) = self.block.as_ref() else { return false };
        if block.flag() != ShmFlag::Ready as u8 {
            if self.reader.missed(block) {
                self.count_missed();
            }
            return false;
        }
        let arrival = host_now();
        self.packet_tap.with(|tap| {
            let mut bytes = vec![0; block.len()];
            block.copy_out(0, &mut bytes);
            tap.block(&self.name, arrival.0, &bytes);
        });
        let taken = self.reader.take(block, &mut self.sensor, arrival, |time| {
            self.clock.stamp(time, arrival, SourceKind::Image)
        });
        let Some(taken) = taken else { return false };
        let len = block.len();
        (self.silent_since, self.logged) = (now, None);
        if let BlockRead::Dropped(error) = &taken {
            self.refusals.log(self.stats.name(), error);
        }
        let mut figures = self.stats.lock();
        figures.received += 1;
        figures.bytes += len as u64;
        figures.last_frame = Some(now);
        figures.obstacle = None;
        match taken {
            BlockRead::Dropped(error) => {
                // The rate counts valid frames, also those dropped on purpose (`degrade.*`).
                figures.frames += u64::from(matches!(error, SensorError::OnPurpose));
                figures.count(error.cause().into());
            }
            BlockRead::Published => {
                figures.frames += 1;
                figures.converted += 1;
                figures.record_latency(host_now().0 - arrival.0);
            }
            BlockRead::Unwanted => figures.frames += 1,
        }
        true
    }

    /// Counts a frame that another program took; logs the first one.
    fn count_missed(&mut self) {
        self.stats.lock().count(Cause::TakenByOther);
        if !std::mem::replace(&mut self.is_sharing_logged, true) {
            tracing::warn!(
                source = %self.stats.name(),
                "another program reads /dev/shm/{} and takes its frames (drop_taken_by_other): a block has one reader. Give one \
                of the two programs another SeqID (docs/beside.md)",
                self.name
            );
        }
    }

    /// Closes a block that the simulator has replaced or shortened; opens the current one; records why no frame arrives.
    fn check_block(&mut self, now: Instant) {
        if let Some(block) = self.block.take_if(|block| !block.is_current())
            && block.is_lost()
        {
            self.stats.lock().count(Cause::ShmTruncated);
        }
        if self.block.is_some() && now.duration_since(self.silent_since) < CHECK_PERIOD {
            return;
        }
        let obstacle = match &self.block {
            Some(block) => describe_flag(&self.name, block.flag()),
            None => match SharedBlock::open_any(&self.name, self.lengths.clone()) {
                Ok(block) => {
                    let obstacle = describe_flag(&self.name, block.flag());
                    self.block = Some(block);
                    obstacle
                }
                Err(error) => with_remedy(&error),
            },
        };
        if now.duration_since(self.silent_since) >= LOG_DELAY
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
pub enum BlockRead {
    /// Converted and published.
    Published,
    /// The topic has no subscriber.
    Unwanted,
    /// Not published because of an error.
    Dropped(SensorError),
}

/// Reads frames by the flag protocol of the blocks: `Ready`, `Reading`, copy, `Released`.
#[derive(Default)]
pub struct BlockReader {
    /// Copy of data that the sensor parses: another process may write to the block at any time.
    copy: Vec<u8>,
    /// Time of the last frame that this program or another one took.
    last: Option<[u8; TIME_LEN]>,
}

impl BlockReader {
    /// Reads a frame if one is ready, and releases the block as soon as the frame is copied.
    pub fn take(
        &mut self,
        block: &SharedBlock,
        sensor: &mut SensorPipeline,
        arrival: RosTime,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Option<BlockRead> {
        if !block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8) {
            return None;
        }
        let taken = self.take_ready(block, sensor, arrival, stamp);
        // Does not overwrite a flag that another process has written meanwhile: the renderer may write the next frame by now.
        release_block(block);
        Some(taken.unwrap_or_else(BlockRead::Dropped))
    }

    /// Whether another program took a frame since this reader took one; true once per frame.
    pub fn missed(&mut self, block: &SharedBlock) -> bool {
        let is_released = || block.flag() == ShmFlag::Released as u8;
        let Some(last) = self.last.filter(|_| is_released()) else { return false };
        let time = time_of(block);
        // A changed flag means that the renderer has begun the next frame.
        let is_missed = time != last && is_released();
        if is_missed {
            self.last = Some(time);
        }
        is_missed
    }

    fn take_ready(
        &mut self,
        block: &SharedBlock,
        sensor: &mut SensorPipeline,
        arrival: RosTime,
        stamp: impl FnOnce(SimTime) -> Option<RosTime>,
    ) -> Result<BlockRead, SensorError> {
        let time = time_of(block);
        self.last = Some(time);
        let seconds = f64::from_le_bytes(time);
        if block.flag() != ShmFlag::Reading as u8 {
            return Err(SensorError::Torn);
        }
        let stamped = SimTime::checked_from_secs(seconds).and_then(|t| Some((t, stamp(t)?)));
        let (sim_time, stamp) = stamped.ok_or(SensorError::Time)?;
        if !sensor.is_wanted() {
            return Ok(BlockRead::Unwanted);
        }
        let head = FrameHead { stamp, sim_time, arrival, compressed: false };
        let is_intact = || release_block(block);
        let len = block.len().saturating_sub(SHM_HEADER_LEN);
        let result = if sensor.reads_shared(len) {
            block.lend(SHM_HEADER_LEN, |pixels| {
                sensor.accept(FramePayload::Shared { pixels, is_intact: &is_intact }, &head)
            })
        } else {
            self.copy.resize(len, 0);
            block.copy_out(SHM_HEADER_LEN, &mut self.copy);
            if !is_intact() {
                return Err(SensorError::Torn);
            }
            sensor.accept(FramePayload::Borrowed(&self.copy), &head)
        };
        result.map(|()| BlockRead::Published)
    }
}

/// Returns the simulation time of the frame in a block, as the bytes of an f64.
fn time_of(block: &SharedBlock) -> [u8; TIME_LEN] {
    let mut time = [0; TIME_LEN];
    block.copy_out(1, &mut time);
    time
}

/// Releases the block; false if another process had overwritten the flag or shortened the block.
fn release_block(block: &SharedBlock) -> bool {
    block.swap_flag(ShmFlag::Reading as u8, ShmFlag::Released as u8) && !block.is_lost()
}

fn describe_flag(name: &str, flag: u8) -> String {
    let what = match ShmFlag::try_from(flag) {
        Ok(ShmFlag::Empty) => "RflySim3D has not written to it yet".to_owned(),
        Ok(ShmFlag::Writing) => "RflySim3D is writing to it".to_owned(),
        Ok(ShmFlag::Ready) => "a frame is ready".to_owned(),
        Ok(ShmFlag::Reading) => {
            "another program reads it, or ended while it read it; a block has one reader".to_owned()
        }
        Ok(ShmFlag::Released) => "RflySim3D writes no further frame".to_owned(),
        Err(other) => format!("its first byte is {other}, which is not a flag of RflySim3D"),
    };
    format!("/dev/shm/{name} is open; {what}")
}

/// Remedy for a block that cannot be opened.
fn with_remedy(error: &ShmError) -> String {
    let remedy = match error {
        ShmError::Io { source, .. } => match source.kind() {
            io::ErrorKind::NotFound => {
                "RflySim3D creates it on its own host: run both programs on one host with the same /dev/shm (Docker: --ipc=host), or \
                use SendProtocol[0] 1 or 2"
            }
            io::ErrorKind::PermissionDenied => {
                "the bridge reads and writes it: run both programs as the same user, or change its mode"
            }
            _ => "RflySim3D creates it as a plain file",
        },
        ShmError::TooSmall { .. } => {
            "RflySim3D created it for another size: compare DataWidth and DataHeight (lists: otherParams[1]) with the \
            Config.json of the simulator, and restart RflySim3D"
        }
        _ => "remove it; RflySim3D creates it as a plain file",
    };
    format!("{error}; {remedy}")
}
