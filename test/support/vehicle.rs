//! A vehicle of the bridge without a network: its topics are in the recorder; the test controls its time and its link. Used by
//! `fuzz/` as well.
use rfly_bridge::config::PluginLists;
use rfly_bridge::msgs::Message;
use rfly_bridge::ros::{Middleware, Options, Qos, Recorder};
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{
    Autopilot, Clock, Handle, Link, Now, Sink, VehicleInterface, VehicleNames, VehicleSettings,
};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Wall clock at the start.
pub const START: RosTime = RosTime(1_700_000_000_000_000_000);

/// One vehicle; its topics are below `/mavros`.
pub struct Opened {
    /// The middleware, for other nodes, too.
    pub ros: Middleware,
    /// What was published.
    pub recorder: Recorder,
    interface: VehicleInterface,
    now: Arc<Mutex<Now>>,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Opened {
    /// Creates a vehicle that has sent nothing yet; each of its topics has a subscriber.
    pub fn new(settings: VehicleSettings, link: impl FnOnce(Sink) -> Box<dyn Link>) -> Self {
        Self::with_plugins(settings, &PluginLists::default(), link)
    }

    /// Like [`Self::new`], with a part of mavros' plugins.
    pub fn with_plugins(
        settings: VehicleSettings,
        plugins: &PluginLists,
        link: impl FnOnce(Sink) -> Box<dyn Link>,
    ) -> Self {
        let (ros, recorder) = Middleware::recorder(&Options::new("bridge")).expect("a recorder");
        let sent = Arc::new(Mutex::new(Vec::new()));
        let taken = sent.clone();
        let link = link(Box::new(move |bytes: &[u8]| {
            taken.lock().unwrap().push(bytes.to_vec());
            true
        }));
        let now = Arc::new(Mutex::new(Now { mono: Duration::ZERO, ros: START }));
        let interface = VehicleInterface::open(
            &ros,
            VehicleNames { id: settings.id, prefix: "/mavros", plugins },
            &|_, _| Qos::DEFAULT,
            clock(&now),
            || (), // it is polled by hand
            |open| Autopilot::open(open, settings, link),
        )
        .expect("topics open");
        recorder.set_all_subscribers(1);
        Self { ros, recorder, interface, now, sent }
    }

    /// The autopilot.
    pub fn handle(&self) -> Handle {
        self.interface.handle()
    }

    /// Time since the start.
    pub fn now(&self) -> Duration {
        self.now.lock().unwrap().mono
    }

    /// The clock of the vehicle.
    pub fn clock(&self) -> Clock {
        clock(&self.now)
    }

    /// Advances the monotonic and the wall clock.
    pub fn advance(&self, time: Duration) {
        let mut now = self.now.lock().unwrap();
        now.mono += time;
        now.ros.0 += i64::try_from(time.as_nanos()).unwrap();
    }

    /// Sets the wall clock.
    pub fn set_wall_clock(&self, wall: RosTime) {
        self.now.lock().unwrap().ros = wall;
    }

    /// Does what is due; returns when the next work is due.
    pub fn poll(&self) -> Option<Duration> {
        self.handle().with(Autopilot::poll).flatten()
    }

    /// Handles bytes from the vehicle.
    pub fn receive(&self, bytes: &[u8]) {
        self.handle().with(|autopilot| autopilot.receive(bytes));
    }

    /// Datagrams sent to the vehicle, except those that the test has removed.
    pub fn sent(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.sent.lock().unwrap()
    }

    /// Publishes a message as another node would.
    pub fn publish<M: Message>(&self, topic: &str, message: &M) {
        let publisher = self.ros.publisher::<M>(topic, Qos::DEFAULT);
        let sent = publisher.expect("a publisher").publish(message);
        sent.expect("published");
    }
}

fn clock(now: &Arc<Mutex<Now>>) -> Clock {
    let now = now.clone();
    Arc::new(move || *now.lock().unwrap())
}
