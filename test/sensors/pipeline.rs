//! Steps of a sensor's frames.
use super::{
    allocation::allocations,
    cameras::pattern,
    rig::{Rig, config},
};
use rfly_bridge::{
    config::params::DegradeParams,
    msgs::sensor_msgs::msg::Image,
    sensors::{FrameHead, FramePayload, FrameStep, Options, Sensor, SensorError, SensorPipeline},
    time::RosTime,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
use std::time::Duration;

#[derive(Default)]
pub struct StepCounts {
    before: AtomicU64,
    after: AtomicU64,
    after_with_payload: AtomicU64,
    unsubscribed: AtomicU64,
    refuses: AtomicBool,
    needs_frames: AtomicBool,
}

impl StepCounts {
    /// Frames before and after they were published, and those of the latter with a payload.
    pub fn counts(&self) -> [u64; 3] {
        [&self.before, &self.after, &self.after_with_payload].map(|n| n.load(Ordering::Relaxed))
    }
}

pub struct CountingStep(pub Arc<StepCounts>);

impl FrameStep for CountingStep {
    fn needs_frames(&self) -> bool {
        self.0.needs_frames.load(Ordering::Relaxed)
    }

    fn unsubscribed(&self) {
        self.0.unsubscribed.fetch_add(1, Ordering::Relaxed);
    }

    fn before(&mut self, _: &FrameHead, _: &mut dyn Sensor) -> Result<(), SensorError> {
        self.0.before.fetch_add(1, Ordering::Relaxed);
        match self.0.refuses.load(Ordering::Relaxed) {
            true => Err(SensorError::ViewUnknown),
            false => Ok(()),
        }
    }

    fn after(&mut self, _: &FrameHead, payload: Option<&[u8]>) {
        self.0.after.fetch_add(1, Ordering::Relaxed);
        self.0.after_with_payload.fetch_add(payload.is_some().into(), Ordering::Relaxed);
    }
}

/// A raw camera of 64x48 pixels with two steps.
fn stepped() -> (Rig, [Arc<StepCounts>; 2]) {
    let mut rig = Rig::open(&config(1, 64, 48, 2, &[]), Options::default());
    let seen = [Arc::new(StepCounts::default()), Arc::new(StepCounts::default())];
    for seen in &seen {
        rig.sensor.add_step(Box::new(CountingStep(seen.clone())));
    }
    (rig, seen)
}

#[test]
fn a_frame_that_a_step_refuses_reaches_neither_the_later_steps_nor_a_topic() {
    let pixels = pattern(64 * 48 * 3);
    let (mut rig, [first, second]) = stepped();
    first.refuses.store(true, Ordering::Relaxed);
    let refused = rig.accept(&pixels);
    assert!(matches!(refused, Err(SensorError::ViewUnknown)), "{refused:?}");
    assert_eq!((first.counts(), second.counts()), ([1, 0, 0], [0, 0, 0]));
    assert_eq!(rig.published::<Image>("img_rgb").len(), 0);
    first.refuses.store(false, Ordering::Relaxed);
    rig.accept(&pixels).unwrap();
    assert_eq!((first.counts(), second.counts()), ([2, 1, 1], [1, 1, 1]));
    assert_eq!(rig.only::<Image>("img_rgb").data, pixels);
    // What the sensor refuses is not reported as published.
    assert!(rig.accept(&pixels[1..]).is_err());
    assert_eq!((first.counts(), second.counts()), ([3, 1, 1], [2, 1, 1]));
}

#[test]
fn a_step_may_need_frames_of_a_sensor_without_subscribers() {
    let (rig, [first, second]) = stepped();
    assert!(rig.sensor.is_wanted());
    assert_eq!(first.unsubscribed.load(Ordering::Relaxed), 0);
    rig.recorder.set_all_subscribers(0);
    assert!(!rig.sensor.is_wanted());
    second.needs_frames.store(true, Ordering::Relaxed);
    assert!(rig.sensor.is_wanted());
    for seen in [first, second] {
        assert_eq!(seen.unsubscribed.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn steps_allocate_nothing_for_borrowed_loaned_and_delayed_frames() {
    let pixels = pattern(64 * 48 * 3);
    let head = FrameHead::new(RosTime(5_000_000), false);
    let borrowed =
        |sensor: &mut SensorPipeline| sensor.accept(FramePayload::Borrowed(&pixels), &head);
    let loaned = |sensor: &mut SensorPipeline| {
        let (mut loan, len) = (sensor.lend().expect("raw pixels"), pixels.len());
        loan.as_mut()[..len].copy_from_slice(&pixels);
        sensor.accept(FramePayload::Loaned { loan, len }, &head)
    };
    let delayed = |sensor: &mut SensorPipeline| {
        sensor.accept(FramePayload::Borrowed(&pixels), &head)?;
        sensor.release(RosTime(8_000_000)).expect("a frame that is due")
    };
    type Take<'a> = &'a dyn Fn(&mut SensorPipeline) -> Result<(), SensorError>;
    let ways: [(u64, Take<'_>, u64); 3] =
        [(0, &borrowed, 110), (0, &loaned, 0), (1, &delayed, 110)];
    for (latency_ms, take, with_payload) in ways {
        let (mut rig, seen) = stepped();
        rig.recorder.count_only();
        let latency = Duration::from_millis(latency_ms);
        rig.sensor.degrade(&DegradeParams { latency, ..DegradeParams::default() }, 3);
        assert_eq!(allocations(|| take(&mut rig.sensor).unwrap()), 0);
        for seen in seen {
            assert_eq!(seen.counts(), [110, 110, with_payload]);
        }
    }
}
