//! Stamps of the autopilot's messages in ROS time.
use super::Fcu;
use crate::vehicle::Stamp;
use crate::{msgs::std_msgs::msg::Header, time::RosTime};

impl Fcu {
    /// Returns the stamp of a boot time of the autopilot in ns; the present if the boot time or the clock is unknown.
    fn stamp(&self, boot_ns: Option<i64>) -> Stamp {
        let clock = self.clock.or(self.rough_clock);
        let stamp = clock
            .zip(boot_ns)
            .and_then(|(clock, boot)| Some(clock.host_ns(boot)).filter(|stamp| *stamp >= 0));
        Stamp::new(stamp.map_or(self.now.ros, RosTime), self.now.ros)
    }

    /// Returns the stamp of a boot time in milliseconds.
    pub fn stamp_ms(&self, boot_ms: u32) -> Stamp {
        self.stamp(Some(self.boot_ns(boot_ms)))
    }

    /// Returns the stamp of microseconds since boot; the present for microseconds since 1970, which autopilots send, too.
    pub fn stamp_us(&self, time_us: u64) -> Stamp {
        self.stamp(boot_ns(time_us))
    }

    /// The stamp of a message without a time.
    pub fn stamp_now(&self) -> Stamp {
        Stamp::new(self.now.ros, self.now.ros)
    }

    /// Boot time in ns of 32-bit milliseconds, which wrap after 49.7 days: the candidate nearest to the present.
    pub(in crate::vehicle) fn boot_ns(&self, boot_ms: u32) -> i64 {
        const TURN_MS: i64 = 1 << 32;
        let turns = self.clock.map_or(0, |clock| {
            let now_ms = clock.remote_ns(self.now.ros.0) / 1_000_000;
            let ahead = now_ms.saturating_sub(boot_ms.into());
            ahead.saturating_add(TURN_MS / 2).div_euclid(TURN_MS).max(0)
        });
        let ms = TURN_MS.saturating_mul(turns).saturating_add(boot_ms.into());
        ms.saturating_mul(1_000_000)
    }

    /// A header with the present time.
    pub fn header_now(&self, frame: &str) -> Header {
        Header { stamp: self.now.ros.to_msg(), frame_id: frame.to_owned() }
    }
}

/// Microseconds since boot to ns; `None` if they count from 1970.
pub(in crate::vehicle) fn boot_ns(time_us: u64) -> Option<i64> {
    /// 2001 in UNIX time; no boot time is that large.
    const UNIX_US: u64 = 1_000_000_000_000_000;
    let us = i64::try_from(time_us).ok().filter(|_| time_us < UNIX_US)?;
    Some(us * 1000)
}
