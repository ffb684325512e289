//! `timesync_status`, `time_reference`, and the clock by which everything else is stamped.
use crate::msgs::mavros_msgs::msg::TimesyncStatus;
use crate::msgs::sensor_msgs::msg::TimeReference;
use crate::ros::{Publisher, RosError};
use crate::session::{TimesyncEstimator, TimesyncOutcome, TimesyncSettings};
use crate::time::RosTime;
use crate::vehicle::{Counter, Fcu, Open};
use crate::wire::mavlink::raw::{SystemTime, Timesync};
use std::time::Duration;

/// 2009; an autopilot that says less does not know the time.
const LEAST_UNIX_US: u64 = 1_234_567_890_000_000;
/// ROS time jumps when the wall clock is set or a simulation restarts; everything is then counted from its new zero.
const STEP_NS: u64 = 100_000_000;
/// Between two SYSTEM_TIME, as mavros.
const SYSTEM_TIME: Duration = Duration::from_secs(1);

pub(super) struct TimePart {
    status: Publisher<TimesyncStatus>,
    reference: Publisher<TimeReference>,
    estimator: Option<(i64, TimesyncEstimator)>,
    next_system_time: Duration,
}

impl TimePart {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        Ok(Self {
            status: open.publisher("timesync_status")?,
            reference: open.publisher("time_reference")?,
            estimator: None,
            next_system_time: Duration::ZERO,
        })
    }

    /// Our clock on the wire is that of ROS: autopilots translate our stamps by the same offset. It may run at another
    /// speed than the monotonic one (the clock of a simulation, NTP); only when it jumps, what was learnt is void.
    fn estimator(&mut self, fcu: &mut Fcu) -> &mut TimesyncEstimator {
        let mono = i64::try_from(fcu.now.mono.as_nanos()).unwrap_or(i64::MAX);
        let epoch = fcu.now.ros.0.saturating_sub(mono);
        let stepped = |known: i64| known.abs_diff(epoch) > STEP_NS;
        match &mut self.estimator {
            Some((known, _)) if stepped(*known) => {
                tracing::warn!(
                    vehicle = fcu.settings.id,
                    "ROS time jumped: the autopilot's clock is compared anew"
                );
                fcu.count(Counter::RosTimeJumped);
                (fcu.clock, fcu.rough_clock) = (None, None);
                self.estimator = None;
            }
            Some((known, estimator)) => {
                *known = epoch;
                estimator.set_epoch(epoch);
            }
            None => {}
        }
        let make = || {
            let settings = TimesyncSettings::default();
            (epoch, TimesyncEstimator::new(settings, epoch))
        };
        &mut self.estimator.get_or_insert_with(make).1
    }

    /// Returns whether the autopilot restarted.
    pub(super) fn timesync(&mut self, fcu: &mut Fcu, m: &Timesync) -> Result<bool, RosError> {
        let now = fcu.now.mono;
        let estimator = self.estimator(fcu);
        let outcome = estimator.receive(now, m);
        let line = estimator.line();
        let (sample, restarted) = match outcome {
            TimesyncOutcome::Reply(reply) => {
                // A failure is in the counters.
                let _counted = fcu.send(reply);
                return Ok(false);
            }
            TimesyncOutcome::Ignored => {
                fcu.count(Counter::TimesyncIgnored);
                return Ok(false);
            }
            TimesyncOutcome::Sample(sample) => (sample, false),
            TimesyncOutcome::Relearnt { sample, went_back } => {
                fcu.count(Counter::TimesyncRelearnt);
                (sample, went_back)
            }
        };
        fcu.clock = line;
        if self.status.subscribers() > 0 {
            let mut status = TimesyncStatus {
                remote_timestamp_ns: sample.remote_ns.unsigned_abs(),
                observed_offset_ns: sample.observed_ns,
                estimated_offset_ns: sample.estimated_ns,
                round_trip_time_ms: sample.round_trip.as_secs_f32() * 1e3,
                ..TimesyncStatus::default()
            };
            status.header.stamp = fcu.now.ros.to_msg();
            self.status.publish(&status)?;
        }
        Ok(restarted)
    }

    /// The autopilot took a sample at this boot time in ns. Returns whether it restarted.
    pub(super) fn hear(&mut self, fcu: &mut Fcu, boot_ns: i64) -> bool {
        let now = fcu.now.mono;
        let estimator = self.estimator(fcu);
        let restarted = estimator.hear(now, boot_ns);
        fcu.rough_clock = estimator.rough();
        if restarted {
            fcu.clock = None;
        }
        restarted
    }

    pub(super) fn system_time(&self, fcu: &Fcu, m: &SystemTime) -> Result<(), RosError> {
        if m.unix_us < LEAST_UNIX_US {
            return Ok(());
        }
        let unix_ns = i64::try_from(m.unix_us).unwrap_or(0).saturating_mul(1000);
        let mut reference = TimeReference {
            time_ref: RosTime(unix_ns).to_msg(),
            source: "fcu".to_owned(),
            ..TimeReference::default()
        };
        reference.header.stamp = fcu.now.ros.to_msg();
        self.reference.publish(&reference).map(drop)
    }

    pub(super) fn poll(&mut self, fcu: &mut Fcu) {
        if !fcu.abilities().timesync || !fcu.connected() {
            return;
        }
        let now = fcu.now.mono;
        if let Some(question) = self.estimator(fcu).tick(now) {
            let _counted = fcu.send(question);
        }
        if now >= self.next_system_time {
            self.next_system_time = now + SYSTEM_TIME;
            let unix_us = u64::try_from(fcu.now.ros.0 / 1000).unwrap_or(0);
            let boot_ms = 0;
            let _counted = fcu.send(SystemTime { unix_us, boot_ms });
        }
    }

    pub(super) fn deadline(&self, fcu: &Fcu) -> Option<Duration> {
        let estimator = &self.estimator.as_ref().filter(|_| fcu.connected())?.1;
        let next = estimator.deadline();
        next.into_iter().chain([self.next_system_time]).min()
    }

    /// What comes back may be another run of the autopilot.
    pub(super) fn lost(&mut self, fcu: &mut Fcu) {
        self.estimator = None;
        (fcu.clock, fcu.rough_clock) = (None, None);
    }
}
