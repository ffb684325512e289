//! Both ends of a link, and a controller that flies as users do: over topics and services below `/mavros`.
use super::line::{Conditions, Line};
use crate::support::random::Random;
use crate::support::vehicle::{Opened, START};
use rfly_bridge::emulator::autopilot::{
    Autopilot as Pilot, ControlMode, DatagramQueue, STEP, VehicleSetup,
};
use rfly_bridge::emulator::world::{Kinematics, Pose, ScriptedMotion, VEHICLE_HALF};
use rfly_bridge::msgs::geometry_msgs::msg::PoseStamped;
use rfly_bridge::msgs::mavros_msgs::msg::{State, StatusText};
use rfly_bridge::msgs::mavros_msgs::srv::{
    CommandBool, CommandBoolRequest, SetMode, SetModeRequest,
};
use rfly_bridge::msgs::std_msgs::msg::Header;
use rfly_bridge::msgs::{Message, Service};
use rfly_bridge::ros::{Middleware, PendingResponse, Publisher, Qos, Subscription};
use rfly_bridge::vehicle::{Clock, MavlinkLink, UdpFullLink, UdpSimpleLink, VehicleSettings};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The bridge looks at its deadlines, and the line at its datagrams, so often.
const TICK: Duration = Duration::from_millis(5);
/// Between two setpoints of the controller.
const SETPOINTS: Duration = Duration::from_millis(50);

/// The newest message of a topic. Stamps never go back, and are never later than now.
struct Watch<M> {
    seen: Arc<Mutex<Vec<M>>>,
    _subscription: Subscription,
}

impl<M: Message + Clone> Watch<M> {
    fn new(ros: &Middleware, topic: &'static str, clock: Clock, header: fn(&M) -> &Header) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let taken = seen.clone();
        let mut last = i64::MIN;
        let check = move |message: M| {
            let stamp = &header(&message).stamp;
            let stamp = i64::from(stamp.sec) * 1_000_000_000 + i64::from(stamp.nanosec);
            let now = clock().ros.0;
            assert!(stamp >= last, "{topic}: {} ns back", last - stamp);
            assert!(stamp <= now, "{topic}: {} ns in the future", stamp - now);
            last = stamp;
            taken.lock().unwrap().push(message);
        };
        let topic = format!("/mavros/{topic}");
        let subscription = ros.subscribe(&topic, Qos::DEFAULT, check).expect("a topic");
        Self { seen, _subscription: subscription }
    }

    fn last(&self) -> Option<M> {
        self.seen.lock().unwrap().last().cloned()
    }
}

pub(super) struct Pair {
    // The bridge's side.
    bridge: Opened,
    deadline: Duration,
    // The vehicle's side.
    pub(super) pilot: Pilot,
    setup: VehicleSetup,
    standing: Kinematics,
    out: DatagramQueue,
    /// Simulation time in s.
    simulated: f64,
    steps: u64,
    powered: bool,
    // Between them.
    pub(super) conditions: Conditions,
    random: Random,
    up: Line,
    down: Line,
    // The controller.
    state: Watch<State>,
    pose: Watch<PoseStamped>,
    texts: Watch<StatusText>,
    setpoints: Publisher<PoseStamped>,
    target: Option<[f64; 3]>,
    next_setpoint: Duration,
}

impl Pair {
    /// A vehicle that was just switched on, and a bridge that was just started.
    pub(super) fn new(
        control: ControlMode,
        settings: VehicleSettings,
        conditions: Conditions,
        seed: u64,
    ) -> Self {
        let bridge = Opened::new(settings, |sink| match control {
            ControlMode::UdpFull => Box::new(UdpFullLink::new(1, sink)),
            ControlMode::UdpSimple => Box::new(UdpSimpleLink::new(1, sink)),
            _ => Box::new(MavlinkLink::new(sink)),
        });
        let standing =
            ScriptedMotion::Hover(Pose::new([0.0, 0.0, -VEHICLE_HALF.z], [0.0; 3])).at(0.0);
        let setup = VehicleSetup::new(1, (START.0 / 1000) as u64, control);
        let (ros, clock) = (&bridge.ros, bridge.clock());
        Self {
            state: Watch::new(ros, "state", clock.clone(), |m| &m.header),
            pose: Watch::new(ros, "local_position/pose", clock.clone(), |m| &m.header),
            texts: Watch::new(ros, "statustext/recv", clock, |m| &m.header),
            setpoints: ros
                .publisher("/mavros/setpoint_position/local", Qos::DEFAULT)
                .expect("a topic"),
            bridge,
            deadline: Duration::ZERO,
            pilot: Pilot::new(setup, 0.0, &standing),
            setup,
            standing,
            out: DatagramQueue::default(),
            simulated: 0.0,
            steps: 0,
            powered: true,
            conditions,
            random: Random(seed),
            up: Line::default(),
            down: Line::default(),
            target: None,
            next_setpoint: Duration::ZERO,
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.bridge.now()
    }

    /// Both go on by one tick.
    fn tick(&mut self) {
        self.bridge.advance(TICK);
        let now = self.now();
        if let Some([x, y, z]) = self.target.filter(|_| now >= self.next_setpoint) {
            self.next_setpoint = now + SETPOINTS;
            let mut pose = PoseStamped::default();
            let p = &mut pose.pose.position;
            (p.x, p.y, p.z) = (x, y, z);
            pose.pose.orientation.w = 1.0;
            self.setpoints.publish(&pose).expect("published");
        }
        let mut busy = now >= self.deadline;
        while let Some(datagram) = self.down.arrived(now) {
            self.bridge.receive(&datagram);
            busy = true;
        }
        if busy {
            self.poll();
        }
        for datagram in std::mem::take(&mut *self.bridge.sent()) {
            self.up.send(now, &datagram, &self.conditions, &mut self.random);
        }
        while let Some(datagram) = self.up.arrived(now) {
            if self.powered {
                self.pilot.receive(&datagram, &mut self.out);
            }
        }
        self.simulated += TICK.as_secs_f64() * (1.0 + self.conditions.drift_ppm * 1e-6);
        while self.powered && self.steps as f64 * STEP <= self.simulated {
            let at = self.steps as f64 * STEP;
            self.pilot.step(at, &self.standing, &mut self.out);
            self.steps += 1;
        }
        for datagram in self.out.datagrams() {
            self.down.send(now, datagram, &self.conditions, &mut self.random);
        }
        self.out.clear();
    }

    fn poll(&mut self) {
        let due = self.bridge.poll();
        // At once for ever would be a bridge that never sleeps.
        self.deadline = due.map_or(Duration::MAX, |due| due.max(self.now() + TICK));
    }

    pub(super) fn pass(&mut self, seconds: f64) {
        let end = self.now() + Duration::from_secs_f64(seconds);
        while self.now() < end {
            self.tick();
        }
    }

    /// Goes on until `done`; fails after so many virtual seconds.
    pub(super) fn until(&mut self, seconds: f64, what: &str, done: impl Fn(&Self) -> bool) {
        let end = self.now() + Duration::from_secs_f64(seconds);
        while !done(self) {
            let state = self.state.last();
            assert!(
                self.now() < end,
                "after {seconds} s not {what}: {state:?}, at {:?}, truth {}, {:?}, said {:?}",
                self.position(),
                self.pilot.local(),
                self.conditions,
                self.said()
            );
            self.tick();
        }
    }

    pub(super) fn state(&self) -> State {
        self.state.last().unwrap_or_default()
    }

    /// What the bridge says where the vehicle is, ENU in m from where it was switched on.
    pub(super) fn position(&self) -> Option<[f64; 3]> {
        let pose = self.pose.last()?;
        let p = pose.pose.position;
        Some([p.x, p.y, p.z])
    }

    pub(super) fn said(&self) -> Vec<String> {
        let texts = self.texts.seen.lock().unwrap();
        texts.iter().map(|m| m.text.clone()).collect()
    }

    /// Streams a position from now on; `None` ends that.
    pub(super) fn aim(&mut self, target: Option<[f64; 3]>) {
        self.target = target;
    }

    pub(super) fn near(&self, target: [f64; 3], metres: f64) -> bool {
        self.position().is_some_and(|at| {
            let squares = at.iter().zip(target).map(|(a, b)| (a - b).powi(2));
            squares.sum::<f64>().sqrt() < metres
        })
    }

    pub(super) fn ask<S: Service>(
        &self,
        service: &str,
        request: &S::Request,
    ) -> PendingResponse<S::Response> {
        let name = format!("/mavros/{service}");
        self.bridge.recorder.ask::<S>(&name, request).expect("a service")
    }

    /// Calls a service; every call is answered, whatever the line does.
    pub(super) fn call<S: Service>(&mut self, service: &str, request: &S::Request) -> S::Response {
        let asked = self.ask::<S>(service, request);
        let end = self.now() + Duration::from_secs(30);
        loop {
            if let Some(response) = asked.response() {
                return response;
            }
            assert!(self.now() < end, "{service} is not answered");
            self.tick();
        }
    }

    /// As controllers do: sets mode and arms again and again until the state says so.
    pub(super) fn engage(&mut self) {
        for _ in 0..20 {
            if self.state().mode != "OFFBOARD" {
                let custom_mode = "OFFBOARD".to_owned();
                let request = SetModeRequest { custom_mode, ..Default::default() };
                self.call::<SetMode>("set_mode", &request);
            } else if !self.state().armed {
                self.call::<CommandBool>("cmd/arming", &CommandBoolRequest { value: true });
            } else {
                return;
            }
            self.pass(1.0);
        }
        panic!("never armed: {:?}, said {:?}", self.state(), self.said());
    }

    /// The vehicle loses power, and gets it back where it stands, now or when [`Self::switch_on`] is called.
    pub(super) fn switch_off(&mut self) {
        self.powered = false;
        self.down.lose_all();
    }

    pub(super) fn switch_on(&mut self) {
        self.powered = true;
        self.steps = 0;
        self.simulated = 0.0;
        self.pilot = Pilot::new(self.setup, 0.0, &self.standing);
    }
}
