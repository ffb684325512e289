//! Stamps are the autopilot's own sample times, also while a simulation runs slower than real time.
use super::rig::{Rig, START};
use rfly_bridge::msgs::builtin_interfaces::msg::Time;
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::sensor_msgs::msg::Imu;
use rfly_bridge::vehicle::VehicleSettings;
use rfly_bridge::wire::mavlink::dialect::{
    ATTITUDE_DATA, HIGHRES_IMU_DATA, HighresImuUpdatedFlags, LOCAL_POSITION_NED_DATA,
};
use rfly_bridge::wire::mavlink::raw::Timesync;
use rfly_bridge::wire::mavlink::{MavMessage, frames};
use std::time::Duration;

/// The autopilot's clock at our time 0.
const BOOT_US: f64 = 7e6;

/// A vehicle whose clock runs at `speed`, for so many ms of ours; each way takes about 1 ms.
struct Flight {
    rig: Rig,
    speed: f64,
    ms: u64,
    questions: Vec<(u64, Timesync)>,
    /// Stamps of IMU samples and of positions, and when these were taken, in ms of ours.
    imu: Vec<(f64, f64)>,
    positions: Vec<(f64, f64)>,
}

impl Flight {
    fn new(speed: f64) -> Self {
        let mut rig = Rig::new(VehicleSettings::default());
        rig.beat();
        Self { rig, speed, ms: 0, questions: Vec::new(), imu: Vec::new(), positions: Vec::new() }
    }

    /// The autopilot's clock in us at a time of ours in ms.
    fn shows(&self, ms: f64) -> f64 {
        BOOT_US + self.speed * ms * 1e3
    }

    /// Our time in ms at which the autopilot's clock shows so many us.
    fn when(&self, us: u64) -> f64 {
        (us as f64 - BOOT_US) / self.speed / 1e3
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.rig.pass(Duration::from_millis(1));
            self.ms += 1;
            if self.ms.is_multiple_of(1000) {
                self.rig.beat();
            }
            self.exchange();
            // What is taken now arrives now: the way of a sample must not matter, and here it does not.
            let us = self.shows(self.ms as f64) as u64;
            if self.ms.is_multiple_of(4) {
                self.rig.say(MavMessage::HIGHRES_IMU(HIGHRES_IMU_DATA {
                    time_usec: us,
                    fields_updated: HighresImuUpdatedFlags::from_bits_retain(63),
                    ..HIGHRES_IMU_DATA::default()
                }));
                let stamp = self.last::<Imu>("imu/data_raw", |m| m.header.stamp);
                self.imu.push((stamp, self.when(us)));
            }
            if self.ms.is_multiple_of(33) {
                let time_boot_ms = (us / 1000) as u32;
                self.rig.say(MavMessage::ATTITUDE(ATTITUDE_DATA {
                    time_boot_ms,
                    ..ATTITUDE_DATA::default()
                }));
                self.rig.say(MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
                    time_boot_ms,
                    ..LOCAL_POSITION_NED_DATA::default()
                }));
                let stamp = self.last::<PoseStamped>("local_position/pose", |m| m.header.stamp);
                let taken = self.when(u64::from(time_boot_ms) * 1000);
                self.positions.push((stamp, taken));
            }
            self.rig.recorder.clear();
        }
    }

    /// Takes questions, and answers those of 2 ms ago with the time of 1 ms ago, give or take some.
    fn exchange(&mut self) {
        let bytes = self.rig.sent_bytes();
        let asked = frames(&bytes).filter_map(|frame| Timesync::parse(&frame.ok()?));
        let asked = asked.filter(|question| question.tc1 == 0);
        self.questions.extend(asked.map(|question| (self.ms, question)));
        let due = |(at, _): &mut (u64, Timesync)| *at + 2 <= self.ms;
        let due: Vec<_> = self.questions.extract_if(.., due).collect();
        for (at, question) in due {
            let noise = 0.2 * ((at / 7 % 5) as f64 - 2.0) / 2.0;
            let tc1 = (self.shows(at as f64 + 1.0 + noise) * 1e3) as i64;
            self.rig.say(Timesync { tc1, ..question });
        }
    }

    /// The stamp of the only message on a topic, in ms of ours.
    fn last<M: rfly_bridge::msgs::Message>(&self, topic: &str, stamp: fn(M) -> Time) -> f64 {
        let mut messages = self.rig.messages::<M>(topic);
        assert_eq!(messages.len(), 1, "{topic}");
        let stamp = stamp(messages.remove(0));
        let nanoseconds = i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec);
        (nanoseconds - START.0) as f64 * 1e-6
    }
}

#[test]
fn stamps_between_two_exchanges_hold_when_the_autopilots_clock_runs_slow() {
    for speed in [0.97, 1.0, 1.03] {
        let mut flight = Flight::new(speed);
        flight.run(1000);
        let settled = (flight.imu.len(), flight.positions.len());
        flight.run(9000);
        let imu = flight.imu.iter().skip(settled.0);
        let positions = flight.positions.iter().skip(settled.1);
        let worst = |errors: Vec<f64>| errors.into_iter().fold(0.0, f64::max);
        let imu = worst(imu.map(|(stamp, taken)| (stamp - taken).abs()).collect());
        let positions = worst(positions.map(|(stamp, taken)| (stamp - taken).abs()).collect());
        assert!(imu < 0.5, "speed {speed}: {imu} ms");
        // The same moment in whole milliseconds of the autopilot is no less exact.
        assert!(positions < 0.5, "speed {speed}: {positions} ms");
    }
}

#[test]
fn stamps_go_on_evenly_when_the_line_is_fitted_again() {
    let mut flight = Flight::new(0.97);
    flight.run(1000);
    let settled = flight.imu.len();
    flight.run(9000);
    // One exchange in 25 samples: each step is what the autopilot's clock says, never back.
    for pair in flight.imu[settled..].windows(2) {
        let [(before, at), (after, next)] = pair else { panic!("two of them") };
        let off = (after - before) - (next - at);
        assert!(off.abs() < 0.2, "at {at} ms: {off} ms");
    }
}
