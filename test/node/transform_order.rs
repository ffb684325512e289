//! The transform of a tick is published before the data of the tick, even while the thread that reads true states is held up.
use super::rig::{IMAGE, IMU, INFO, Rig, start};
use crate::support::wait::wait_until;
use rfly_bridge::msgs::Message;
use rfly_bridge::msgs::builtin_interfaces::msg::Time;
use rfly_bridge::msgs::sensor_msgs::msg::{Image, Imu};
use rfly_bridge::msgs::tf2_msgs::msg::TFMessage;
use rfly_bridge::ros::{Middleware, Qos, Subscription};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Topics and stamps in ns in the order of publication.
#[derive(Clone, Default)]
struct Order(Arc<Mutex<Vec<(&'static str, i64)>>>);

impl Order {
    /// A subscriber of the recorder runs in the thread that publishes.
    fn follow<M: Message>(
        &self,
        middleware: &Middleware,
        topic: &'static str,
        stamp: impl Fn(M) -> Time + Send + 'static,
        then: impl Fn() + Send + 'static,
    ) -> Subscription {
        let order = self.clone();
        let add = move |message: M| {
            let stamp = stamp(message);
            let nanoseconds = i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec);
            order.0.lock().unwrap().push((topic, nanoseconds));
            then();
        };
        middleware.subscribe(topic, Qos::SENSOR_DATA, add).unwrap()
    }

    fn all(&self) -> Vec<(&'static str, i64)> {
        self.0.lock().unwrap().clone()
    }

    fn stamps(&self, topic: &str) -> Vec<i64> {
        let all = self.all().into_iter();
        all.filter(|(other, _)| *other == topic).map(|(_, stamp)| stamp).collect()
    }

    /// Asserts that a transform covers each of these messages when it is published.
    fn assert_known(&self, topic: &str, is_meant: impl Fn(usize, i64) -> bool) {
        let (mut newest, mut seen) = (i64::MIN, 0);
        for (index, (other, stamp)) in self.all().into_iter().enumerate() {
            if other == "/tf" {
                newest = newest.max(stamp);
            } else if other == topic && is_meant(index, stamp) {
                seen += 1;
                let missing = stamp - newest;
                assert!(missing <= 0, "{topic}: the newest transform is {missing} ns older");
            }
        }
        assert!(seen >= 5, "{seen} messages of {topic}");
    }
}

/// Where the thread that publishes the IMU and reads the true states is held up.
#[derive(Default)]
struct Gate {
    is_closed: AtomicBool,
    holds: AtomicBool,
}

impl Gate {
    fn pass(&self) {
        while self.is_closed.load(Ordering::SeqCst) {
            self.holds.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Opens the gate at the end: a failed test must not wait for the thread.
struct Hold(Arc<Gate>);

impl Hold {
    fn begin(&self) {
        self.0.is_closed.store(true, Ordering::SeqCst);
        wait_until(|| self.0.holds.load(Ordering::SeqCst));
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.is_closed.store(false, Ordering::SeqCst);
    }
}

/// A bridge, the order of what it publishes, and the subscriptions that observe it.
fn observed(images: usize) -> (Rig, Order, Hold, Vec<Subscription>) {
    let (order, gate, mut subscriptions) = (Order::default(), Arc::<Gate>::default(), Vec::new());
    let rig = start(&[], |middleware, recorder| {
        for topic in [IMAGE, INFO] {
            recorder.set_subscribers(topic, images);
        }
        let transform = |tf: TFMessage| tf.transforms[0].header.stamp.clone();
        subscriptions.push(order.follow(middleware, "/tf", transform, || ()));
        let passed = gate.clone();
        let pass = move || passed.pass();
        subscriptions.push(order.follow(middleware, IMU, |imu: Imu| imu.header.stamp, pass));
        if images > 0 {
            let stamp = |image: Image| image.header.stamp;
            subscriptions.push(order.follow(middleware, IMAGE, stamp, || ()));
        }
    });
    wait_until(|| !order.stamps("/tf").is_empty() && order.stamps(IMU).len() > 5);
    (rig, order, Hold(gate), subscriptions)
}

#[test]
fn an_image_finds_the_transform_of_its_tick_while_the_thread_of_the_states_is_held_up() {
    let (rig, order, hold, subscriptions) = observed(1);
    wait_until(|| !order.stamps(IMAGE).is_empty());
    hold.begin();
    let begin = order.all().len();
    let before = order.stamps(IMAGE).len();
    wait_until(|| order.stamps(IMAGE).len() > before + 5);
    order.assert_known(IMAGE, |index, _| index >= begin);
    drop((hold, subscriptions, rig));
}

#[test]
fn samples_of_the_imu_that_waited_find_the_transforms_of_states_that_waited() {
    const CHECKED_NS: i64 = 100_000_000;
    let (rig, order, hold, subscriptions) = observed(0);
    hold.begin();
    let held = *order.stamps(IMU).last().unwrap();
    let states = || rig.emulator.stats().true_states;
    // 100 per second: they reach further than the samples that are checked.
    let before = states();
    wait_until(|| states() > before + 20);
    drop(hold);
    wait_until(|| order.stamps(IMU).last().is_some_and(|last| *last > held + CHECKED_NS));
    order.assert_known(IMU, |_, stamp| stamp > held && stamp <= held + CHECKED_NS);
    drop((subscriptions, rig));
}
