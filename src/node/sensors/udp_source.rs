//! One sensor over UDP: receive, put together, stamp, convert, publish, on one thread.
use super::fov::FovWatch;
use crate::msgs::sensor_msgs::msg::Image;
use crate::node::clock::{SimClock, host_now};
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, PAUSE};
use crate::ros::Loan;
use crate::sensors::{LentFrame, Sensor, SensorError};
use crate::session::{Landing, Outcome, Reassembler};
use crate::time::{RosTime, SimTime, SourceKind};
use crate::transport::{Received, StreamReceiver};
use std::io::{self, IoSliceMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Less than the time between two frames at 60 Hz.
const IDLE_PAUSE: Duration = Duration::from_millis(10);
/// Batches of datagrams that are taken before the thread looks again whether it is to end.
const MAX_BATCHES: usize = 64;
/// The pieces of a frame are sent in one go: when nothing has come for so long, the rest of it is lost.
const SILENCE: Duration = Duration::from_secs(1);

/// One sensor's stream.
pub(super) struct UdpSource {
    pub(super) receiver: StreamReceiver,
    pub(super) reassembler: Reassembler<Loan<Image>>,
    pub(super) sensor: Box<dyn Sensor>,
    pub(super) fov: FovWatch,
    pub(super) compressed: bool,
    pub(super) clock: Arc<SimClock>,
    pub(super) stats: Arc<SourceStats>,
    /// How long datagrams that nobody wants may wait in the socket.
    pub(super) idle_pause: Option<Duration>,
    /// What the socket said of its losses last.
    pub(super) overflows: u32,
    /// What was refused and said already.
    pub(super) said: Vec<&'static str>,
}

/// Returns how long datagrams may wait in a receive buffer that the system granted: not at all if it holds less than
/// two frames, as then the pause would lose what it only wants to count.
pub(super) fn idle_pause(buffer_bytes: usize, frame_bytes: usize) -> Option<Duration> {
    (buffer_bytes >= 2 * frame_bytes).then_some(IDLE_PAUSE)
}

impl UdpSource {
    /// Serves the sensor until `stop` is set; goes on after a panic.
    pub(super) fn serve(&mut self, stop: &AtomicBool) {
        while tasks::panics(|| self.run(stop)) {
            self.stats.lock().drop_one("task_failed");
            // What was being put together is not trusted.
            self.reassembler.abandon();
            std::thread::sleep(PAUSE);
        }
    }

    fn run(&mut self, stop: &AtomicBool) {
        let mut last = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            match self.step() {
                Ok(true) => last = Instant::now(),
                Ok(false) => self.look_for_silence(last),
                Err(_) => self.failed(),
            }
            if !self.sensor.wanted()
                && let Some(pause) = self.idle_pause
            {
                // One wake-up for all datagrams of a frame; their arrival is known from the kernel.
                std::thread::sleep(pause);
                if self.count_waiting().is_err() {
                    self.failed();
                }
            }
        }
    }

    /// The socket failed; what fails at once does not take a core.
    fn failed(&self) {
        self.stats.lock().drop_one("socket");
        std::thread::sleep(IDLE_PAUSE);
    }

    /// Takes the headers of what has come meanwhile, but not without end.
    fn count_waiting(&mut self) -> io::Result<()> {
        for _ in 0..MAX_BATCHES {
            let waiting = self.receiver.try_recv_heads()?;
            if waiting.is_empty() {
                break;
            }
            for (head, received) in waiting {
                self.reassembler.landing_for_header().copy_from_slice(&head);
                self.take(received);
            }
        }
        Ok(())
    }

    /// The rest of a frame that has not come for long is lost.
    fn look_for_silence(&mut self, last: Instant) {
        if self.reassembler.in_flight() > 0 && last.elapsed() >= SILENCE {
            self.reassembler.abandon();
            let counters = self.reassembler.counters();
            self.stats.lock().set_reassembly(counters);
        }
    }

    /// Waits for a datagram and handles it; false if none came.
    fn step(&mut self) -> io::Result<bool> {
        let received = if self.sensor.wanted() {
            let Landing { header, payload } = self.reassembler.landing_in(|| self.sensor.lend());
            self.receiver
                .recv(&mut [IoSliceMut::new(header), IoSliceMut::new(payload)])?
        } else {
            // Nobody subscribes: the kernel copies 32 bytes instead of 60,000.
            self.receiver
                .recv(&mut [IoSliceMut::new(self.reassembler.landing_for_header())])?
        };
        let came = received.is_some();
        if let Some(received) = received {
            self.take(received);
        }
        Ok(came)
    }

    /// Handles the datagram that was read into the last landing.
    fn take(&mut self, received: Received) {
        let Received::Datagram(datagram) = received else {
            return self.stats.lock().drop_one("refused");
        };
        if datagram.overflows != self.overflows {
            self.overflows = datagram.overflows;
            self.stats.lock().overflowed(datagram.overflows);
        }
        let arrival = datagram.kernel_time.map_or_else(host_now, RosTime);
        let (info, result) = match self.reassembler.commit(datagram.len, arrival) {
            Outcome::Stored => return,
            Outcome::Dropped(_) => {
                let counters = self.reassembler.counters();
                return self.stats.lock().set_reassembly(counters);
            }
            Outcome::Counted(info) => {
                if let Some(time) = SimTime::checked_from_secs(info.sim_time) {
                    self.clock.stamp(time, info.arrival, SourceKind::Image);
                }
                (info, None)
            }
            Outcome::Complete(whole) => {
                if let Some(fov_deg) = self.fov.changed() {
                    self.sensor.set_fov(fov_deg);
                }
                let arrival = whole.info.arrival;
                let time = SimTime::checked_from_secs(whole.info.sim_time);
                let stamped = time.and_then(|sim_time| {
                    let stamp = self.clock.stamp(sim_time, arrival, SourceKind::Image)?;
                    Some((sim_time, stamp))
                });
                let (info, payload) = (whole.info, (!whole.lent).then_some(whole.payload));
                let accepted = match stamped {
                    Some((sim_time, stamp)) => {
                        let frame = LentFrame {
                            len: info.len,
                            stamp,
                            sim_time,
                            compressed: self.compressed,
                        };
                        match payload {
                            Some(payload) => self.sensor.accept(&frame.with(payload)),
                            None => match self.reassembler.take_loan() {
                                Some(loan) => self.sensor.accept_loan(loan, &frame),
                                None => Ok(()), // it was lent a moment ago
                            },
                        }
                    }
                    None => Err(SensorError::Time),
                };
                (info, Some(accepted))
            }
        };
        if let Some(Err(error)) = &result {
            self.refused(error);
        }
        let mut figures = self.stats.lock();
        figures.set_reassembly(self.reassembler.counters());
        figures.last_frame = Some(Instant::now());
        match result {
            Some(Ok(())) => {
                figures.converted += 1;
                figures.took(host_now().0 - info.arrival.0);
            }
            Some(Err(error)) => figures.drop_one(error.cause()),
            None => {}
        }
    }

    /// What is not of this sensor says nothing of its order either; why it is refused is said once.
    fn refused(&mut self, error: &SensorError) {
        if !error.is_foreign() {
            return;
        }
        self.reassembler.disown();
        let cause = error.cause();
        if !self.said.contains(&cause) {
            self.said.push(cause);
            tracing::warn!(
                "{}: {error} (further ones: drop_{cause} in /diagnostics)",
                self.stats.name
            );
        }
    }
}
