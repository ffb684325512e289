//! Frames that are dropped or late on purpose.
use super::super::{Frame, LentFrame, Sensor, SensorError, View};
use crate::{
    config::params::DegradeParams,
    msgs::sensor_msgs::msg::Image,
    noise::{Draws, Purpose},
    ros::Loan,
    time::RosTime,
};
use std::collections::VecDeque;

/// Most bytes that one sensor holds back, besides its newest frame.
pub const HOLD_BYTES: usize = 128 << 20;

/// A sensor that drops frames, or publishes them later.
pub struct Unreliable {
    sensor: Box<dyn Sensor>,
    draws: Draws,
    drop: f64,
    latency_ns: i64,
    jitter_ns: i64,
    held: VecDeque<Held>,
    bytes: usize,
    /// Memory of frames that are published.
    spare: Vec<Vec<u8>>,
}

struct Held {
    due: RosTime,
    frame: LentFrame,
    payload: Vec<u8>,
}

impl Unreliable {
    /// Returns the sensor itself if the parameters do not ask for this.
    pub fn around(sensor: Box<dyn Sensor>, params: &DegradeParams, source: u16) -> Box<dyn Sensor> {
        let ns = |duration: std::time::Duration| i64::try_from(duration.as_nanos()).unwrap_or(0);
        let (latency_ns, jitter_ns) = (ns(params.latency), ns(params.jitter));
        if params.drop == 0.0 && latency_ns + jitter_ns == 0 {
            return sensor;
        }
        Box::new(Self {
            sensor,
            draws: Draws::new(params.seed, source),
            drop: params.drop,
            latency_ns,
            jitter_ns,
            held: VecDeque::new(),
            bytes: 0,
            spare: Vec::new(),
        })
    }

    fn holds(&self) -> bool {
        self.latency_ns + self.jitter_ns > 0
    }

    fn drops(&self, frame: &LentFrame) -> bool {
        let mut numbers = self.draws.at(Purpose::Drop, frame.sim_time.0);
        numbers.unit() < self.drop
    }

    fn hold(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        if self.bytes > HOLD_BYTES {
            return Err(SensorError::HeldTooMany);
        }
        let mut numbers = self.draws.at(Purpose::Jitter, frame.sim_time.0);
        let late = self.latency_ns + (self.jitter_ns as f64 * numbers.unit()) as i64;
        let before = self.held.back().map_or(i64::MIN, |last| last.due.0);
        let mut payload = self.spare.pop().unwrap_or_default();
        payload.clear();
        payload.extend_from_slice(frame.payload);
        self.bytes += payload.len();
        self.held.push_back(Held {
            // In order.
            due: RosTime(frame.arrival.0.saturating_add(late).max(before)),
            frame: frame.lent(),
            payload,
        });
        Ok(())
    }
}

impl Sensor for Unreliable {
    fn wanted(&self) -> bool {
        self.sensor.wanted()
    }

    fn accept(&mut self, frame: &Frame<'_>) -> Result<(), SensorError> {
        if self.drops(&frame.lent()) {
            return Err(SensorError::OnPurpose);
        }
        match self.holds() {
            true => self.hold(frame),
            false => self.sensor.accept(frame),
        }
    }

    fn lend(&self) -> Option<Loan<Image>> {
        match self.holds() {
            true => None,
            false => self.sensor.lend(),
        }
    }

    fn accept_loan(&mut self, loan: Loan<Image>, frame: &LentFrame) -> Result<(), SensorError> {
        match self.drops(frame) {
            true => Err(SensorError::OnPurpose),
            false => self.sensor.accept_loan(loan, frame),
        }
    }

    fn due(&self) -> Option<RosTime> {
        self.held.front().map(|first| first.due)
    }

    fn release(&mut self, now: RosTime) -> Option<Result<(), SensorError>> {
        let due = self.due()?;
        // Beyond the longest delay the host's clock was set back.
        let waits = 0..=self.latency_ns + self.jitter_ns;
        if due > now && waits.contains(&due.0.saturating_sub(now.0)) {
            return None;
        }
        let first = self.held.pop_front()?;
        self.bytes -= first.payload.len();
        let result = self.sensor.accept(&first.frame.with(&first.payload));
        if self.spare.len() <= self.held.len() {
            self.spare.push(first.payload);
        }
        Some(result)
    }

    fn set_view(&mut self, view: &View) {
        self.sensor.set_view(view);
    }
}
