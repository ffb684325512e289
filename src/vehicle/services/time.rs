//! `timesync_status`, `time_reference`, and the estimated clock that stamps all telemetry.
use super::ServicePart;
use crate::ros::{Publisher, RosError};
use crate::session::{TimesyncEstimator, TimesyncOutcome, TimesyncSettings};
use crate::time::RosTime;
use crate::vehicle::fcu::boot_ns;
use crate::vehicle::link::Abilities;
use crate::vehicle::{Counter, Fcu, Open};
use crate::wire::mavlink::dialect::{
    ATTITUDE_DATA, ATTITUDE_QUATERNION_DATA, HIGHRES_IMU_DATA, LOCAL_POSITION_NED_DATA,
};
use crate::wire::mavlink::raw::{SystemTime, Timesync};
use crate::wire::mavlink::{Frame, MessageData as _};
use crate::{msgs::mavros_msgs::msg::TimesyncStatus, msgs::sensor_msgs::msg::TimeReference};
use std::time::Duration;

/// 2009 in UNIX time; an autopilot that sends less has no valid time.
const MIN_UNIX_US: u64 = 1_234_567_890_000_000;
/// A larger change of ROS time against the monotonic clock is a jump: the wall clock was set, or a simulation restarted.
const JUMP_NS: u64 = 100_000_000;
/// Longest delay of an answer to the autopilot's TIMESYNC: PX4 warns about round trips above 10 ms.
const MAX_REPLY_DELAY: Duration = Duration::from_millis(5);
/// Period of SYSTEM_TIME, as in mavros.
const SYSTEM_TIME_PERIOD: Duration = Duration::from_secs(1);

pub(super) struct TimePart {
    status: Publisher<TimesyncStatus>,
    reference: Publisher<TimeReference>,
    /// ROS time in ns at zero of the monotonic clock, and the estimator.
    estimator: Option<(i64, TimesyncEstimator)>,
    next_system_time: Duration,
}

impl ServicePart for TimePart {
    fn open(open: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self {
            status: open.publisher("timesync_status")?,
            reference: open.publisher("time_reference")?,
            estimator: None,
            next_system_time: Duration::ZERO,
        })
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        if fcu.abilities().timesync
            && let Some(boot_ns) = sample_boot_ns(fcu, frame)
        {
            self.add_sample(fcu, boot_ns);
        }
        handle!(frame {
            Timesync => |m| self.timesync(fcu, &m),
            SystemTime => |m| self.system_time(fcu, &m),
        })
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        if !fcu.abilities().timesync || !fcu.is_connected() {
            return Ok(());
        }
        let now = fcu.now.mono;
        if let Some(request) = self.update_estimator(fcu).tick(now) {
            let _counted = fcu.send(request); // a failure is counted
        }
        if now >= self.next_system_time {
            self.next_system_time = now + SYSTEM_TIME_PERIOD;
            let unix_us = u64::try_from(fcu.now.ros.0 / 1000).unwrap_or(0);
            let boot_ms = 0;
            let _counted = fcu.send(SystemTime { unix_us, boot_ms });
        }
        Ok(())
    }

    fn deadline(&self, fcu: &Fcu) -> Option<Duration> {
        let estimator = &self.estimator.as_ref().filter(|_| fcu.is_connected())?.1;
        let next = estimator.deadline();
        next.into_iter().chain([self.next_system_time]).min()
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.estimator = None;
        (fcu.clock, fcu.rough_clock) = (None, None);
        Ok(())
    }
}

impl TimePart {
    /// Returns the estimator for the present ROS time. TIMESYNC carries ROS time, because autopilots translate the bridge's stamps
    /// by the same offset. ROS time may run at another rate than the monotonic clock (simulation, NTP); a jump restarts the
    /// estimate.
    fn update_estimator(&mut self, fcu: &mut Fcu) -> &mut TimesyncEstimator {
        let mono = i64::try_from(fcu.now.mono.as_nanos()).unwrap_or(i64::MAX);
        let epoch = fcu.now.ros.0.saturating_sub(mono);
        let has_jumped = |known: i64| known.abs_diff(epoch) > JUMP_NS;
        match &mut self.estimator {
            Some((known, _)) if has_jumped(*known) => {
                tracing::warn!(
                    vehicle = fcu.settings.id,
                    "ROS time jumped: the autopilot's clock offset is estimated again"
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
        let new_estimator = || {
            let settings = TimesyncSettings::default();
            (epoch, TimesyncEstimator::new(settings, epoch))
        };
        &mut self.estimator.get_or_insert_with(new_estimator).1
    }

    fn timesync(&mut self, fcu: &mut Fcu, m: &Timesync) -> Result<(), RosError> {
        let arrival = fcu.arrival();
        let estimator = self.update_estimator(fcu);
        let outcome = estimator.receive(arrival, m);
        let line = estimator.line();
        let sample = match outcome {
            TimesyncOutcome::Reply(reply) => {
                if fcu.waited <= MAX_REPLY_DELAY {
                    // A failure is counted.
                    let _counted = fcu.send(reply);
                }
                return Ok(());
            }
            TimesyncOutcome::Ignored => {
                fcu.count(Counter::TimesyncIgnored);
                return Ok(());
            }
            TimesyncOutcome::Sample(sample) => sample,
            TimesyncOutcome::Restarted { sample, went_back } => {
                fcu.count(Counter::TimesyncRelearnt);
                fcu.has_restarted |= went_back;
                sample
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
        Ok(())
    }

    /// Passes a new sample's time since boot, in ns, to the estimator.
    fn add_sample(&mut self, fcu: &mut Fcu, boot_ns: i64) {
        let arrival = fcu.arrival();
        let estimator = self.update_estimator(fcu);
        let restarted = estimator.sample_time(arrival, boot_ns);
        fcu.rough_clock = estimator.coarse_line();
        if restarted {
            fcu.clock = None;
            fcu.has_restarted = true;
        }
    }

    fn system_time(&self, fcu: &Fcu, m: &SystemTime) -> Result<(), RosError> {
        if m.unix_us < MIN_UNIX_US {
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
}

/// Time since boot, in ns, of a message that the autopilot sends often, and at once after its measurement.
fn sample_boot_ns(fcu: &Fcu, frame: &Frame<'_>) -> Option<i64> {
    let from_ms = || fcu.boot_ns(u32::from_le_bytes(frame.bytes_at(0)));
    match frame.id {
        ATTITUDE_DATA::ID | ATTITUDE_QUATERNION_DATA::ID | LOCAL_POSITION_NED_DATA::ID => {
            Some(from_ms())
        }
        HIGHRES_IMU_DATA::ID => boot_ns(u64::from_le_bytes(frame.bytes_at(0))),
        _ => None,
    }
}
