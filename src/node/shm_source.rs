//! Sensors in shared memory: one thread polls all blocks, as the simulator has no way to signal.
use super::clock::{SimClock, host_now};
use super::live::FovWatch;
use super::stats::SourceStats;
use crate::sensors::{Frame, Sensor};
use crate::time::{SimTime, Stream};
use crate::transport::SharedBlock;
use crate::wire::{SHM_HEADER_LEN, ShmFlag};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Pause between two rounds over all blocks; the vendor's reader uses about 1 ms.
const POLL: Duration = Duration::from_micros(500);
/// Pause between two looks for a block that is not there, or may have been re-created.
const LOOK: Duration = Duration::from_millis(200);

/// One sensor's block.
pub(crate) struct ShmSource {
    pub(crate) name: String,
    pub(crate) len: usize,
    pub(crate) sensor: Box<dyn Sensor>,
    pub(crate) fov: FovWatch,
    pub(crate) clock: Arc<SimClock>,
    pub(crate) stats: Arc<SourceStats>,
    pub(crate) block: Option<SharedBlock>,
    pub(crate) next_look: Instant,
}

/// Polls until `stop` is set.
pub(crate) fn poll(mut sources: Vec<ShmSource>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        for source in &mut sources {
            source.poll(now);
        }
        std::thread::sleep(POLL);
    }
}

impl ShmSource {
    fn poll(&mut self, now: Instant) {
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.look();
        }
        let Some(block) = &self.block else { return };
        if !block.swap_flag(ShmFlag::Ready as u8, ShmFlag::Reading as u8) {
            return;
        }
        let arrival = host_now();
        let mut time = [0; 8];
        block.copy_out(1, &mut time);
        let seconds = f64::from_le_bytes(time);
        let result = if !seconds.is_finite() {
            Some(Err("malformed"))
        } else {
            let sim_time = SimTime::from_secs(seconds);
            let stamp = self.clock.stamp(sim_time, arrival, Stream::Image);
            let sensor = &mut self.sensor;
            if let Some(fov_deg) = self.fov.changed() {
                sensor.set_fov(fov_deg);
            }
            sensor.wanted().then(|| {
                let intact = || block.flag() == ShmFlag::Reading as u8;
                block.lend(SHM_HEADER_LEN, |payload| {
                    let frame = Frame {
                        payload,
                        stamp,
                        sim_time,
                        compressed: false,
                        intact: &intact,
                    };
                    sensor.accept(&frame).map_err(|e| e.cause())
                })
            })
        };
        // Only what is still ours is given back; a simulator that wrote meanwhile keeps its own flag.
        block.swap_flag(ShmFlag::Reading as u8, ShmFlag::Released as u8);
        let mut figures = self.stats.lock();
        figures.received += 1;
        figures.bytes += self.len as u64;
        figures.last_frame = Some(now);
        match result {
            Some(Err(cause)) => figures.drop_one(cause),
            Some(Ok(())) => {
                figures.frames += 1;
                figures.converted += 1;
                figures.took(host_now().0 - arrival.0);
            }
            None => figures.frames += 1,
        }
    }

    /// Opens the block, or lets go of one that the simulator has replaced.
    fn look(&mut self) {
        if self.block.as_ref().is_some_and(|block| !block.is_current()) {
            self.block = None;
        }
        if self.block.is_none() {
            match SharedBlock::open(&self.name, self.len) {
                Ok(block) => self.block = Some(block),
                Err(crate::transport::ShmError::TooSmall { .. }) => {
                    self.stats.lock().drop_one("shm_too_small")
                }
                // Not there yet: the link state of the source says so.
                Err(_) => {}
            }
        }
    }
}
