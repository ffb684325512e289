//! Drops or delays frames on purpose, then passes them through a list of steps to the sensor.
use super::{CameraView, FrameDegrader, FrameHead, FramePayload, Sensor, SensorError};
use crate::time::RosTime;
use crate::{config::params::DegradeParams, msgs::sensor_msgs::msg::Image, ros::Loan};

/// A step that gets each frame of a sensor before and after it is published.
pub trait FrameStep: Send {
    /// Whether this step needs frames although no topic of the sensor has a subscriber.
    fn needs_frames(&self) -> bool {
        false
    }

    /// Called before each frame while no topic of the sensor has a subscriber.
    fn unsubscribed(&self) {}

    /// Admits or refuses a frame before it is published; may change the sensor's view.
    fn before(&mut self, _head: &FrameHead, _sensor: &mut dyn Sensor) -> Result<(), SensorError> {
        Ok(())
    }

    /// Called after a frame was published. `payload`: `None` if it was in a loan or in shared memory.
    fn after(&mut self, _head: &FrameHead, _payload: Option<&[u8]>) {}
}

/// A sensor and the steps of its frames; allocates nothing for a frame.
pub struct SensorPipeline {
    sensor: Box<dyn Sensor>,
    degrader: Option<FrameDegrader>,
    steps: Vec<Box<dyn FrameStep>>,
}

impl SensorPipeline {
    /// Creates a pipeline without steps.
    pub fn new(sensor: Box<dyn Sensor>) -> Self {
        Self { sensor, degrader: None, steps: Vec::new() }
    }

    /// Appends a step.
    pub fn add_step(&mut self, step: Box<dyn FrameStep>) {
        self.steps.push(step);
    }

    /// Drops and delays frames before all steps, as the parameters demand for sensor `source`.
    pub fn degrade(&mut self, params: &DegradeParams, source: u16) {
        self.degrader = FrameDegrader::new(params, source);
    }

    /// Whether frames are needed.
    pub fn is_wanted(&self) -> bool {
        let is_subscribed = self.sensor.is_wanted();
        if !is_subscribed {
            self.steps.iter().for_each(|step| step.unsubscribed());
        }
        is_subscribed || self.steps.iter().any(|step| step.needs_frames())
    }

    /// Publishes a frame, drops it, or delays it until [`Self::release`].
    pub fn accept(&mut self, data: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        if let Some(degrader) = &mut self.degrader {
            if degrader.is_dropped(head) {
                return Err(SensorError::OnPurpose);
            }
            if degrader.has_delay() {
                return degrader.hold(data.bytes(), head);
            }
        }
        self.publish(data, head)
    }

    /// [`Sensor::lend`]; nothing is lent for frames that are delayed.
    pub fn lend(&self) -> Option<Loan<Image>> {
        if self.has_delay() { None } else { self.sensor.lend() }
    }

    /// [`Sensor::reads_shared`]; false if frames are delayed.
    pub fn reads_shared(&self, len: usize) -> bool {
        !self.has_delay() && self.sensor.reads_shared(len)
    }

    /// Returns the host time at which the next delayed frame is to be published.
    pub fn due(&self) -> Option<RosTime> {
        self.degrader.as_ref()?.due()
    }

    /// Publishes a delayed frame that is due at `now`; `None` if there is none.
    pub fn release(&mut self, now: RosTime) -> Option<Result<(), SensorError>> {
        let (head, payload) = self.degrader.as_mut()?.release(now)?;
        let result = self.publish(FramePayload::Borrowed(&payload), &head);
        if let Some(degrader) = &mut self.degrader {
            degrader.reuse(payload);
        }
        Some(result)
    }

    /// [`Sensor::set_view`].
    pub fn set_view(&mut self, view: &CameraView) {
        self.sensor.set_view(view);
    }

    fn has_delay(&self) -> bool {
        self.degrader.as_ref().is_some_and(FrameDegrader::has_delay)
    }

    fn publish(&mut self, payload: FramePayload<'_>, head: &FrameHead) -> Result<(), SensorError> {
        for step in &mut self.steps {
            step.before(head, &mut *self.sensor)?;
        }
        let bytes = if let FramePayload::Borrowed(bytes) = payload { Some(bytes) } else { None };
        self.sensor.accept(payload, head)?;
        self.steps.iter_mut().for_each(|step| step.after(head, bytes));
        Ok(())
    }
}
