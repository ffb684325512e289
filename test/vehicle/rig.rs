//! A vehicle without a network: frames in by hand, topics in the recorder, time by hand.
use super::json::{decode, plain};
use rfly_bridge::msgs::{Message, Service};
use rfly_bridge::ros::{Asked, Middleware, Options, Qos, Recorder};
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{
    Autopilot, Counter, Handle, Interface, Link, MavlinkLink, Now, Sink, VehicleSettings,
};
use rfly_bridge::wire::mavlink::raw::{SetPositionTargetGlobalInt, SetPositionTargetLocalNed};
use rfly_bridge::wire::mavlink::{Encoder, Frame, MavMessage, Outbound, frames};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Wall clock at the beginning.
pub(super) const START: RosTime = RosTime(1_700_000_000_000_000_000);

/// One vehicle; topics are below `/mavros`.
pub(super) struct Rig {
    pub(super) ros: Middleware,
    pub(super) recorder: Recorder,
    pub(super) interface: Interface,
    sent: Arc<Mutex<Vec<u8>>>,
    now: Arc<Mutex<Duration>>,
    /// Wall clock at the beginning.
    start: Arc<Mutex<RosTime>>,
    fcu: Encoder,
}

/// The answer of a service, once it is there.
pub(super) struct Answer<R: Message>(Asked<R>);

impl<R: Message> Answer<R> {
    /// The answer if it was given.
    pub(super) fn get(&self) -> Option<R> {
        self.0.response()
    }

    /// The answer that was given.
    pub(super) fn expect(&self) -> R {
        self.get().expect("an answer")
    }
}

impl Rig {
    /// A vehicle behind MAVLink, which has sent nothing yet.
    pub(super) fn new(settings: VehicleSettings) -> Self {
        Self::with_link(settings, |sink| Box::new(MavlinkLink::new(sink)))
    }

    /// A vehicle behind another link.
    pub(super) fn with_link(
        settings: VehicleSettings,
        link: impl FnOnce(Sink) -> Box<dyn Link>,
    ) -> Self {
        let (ros, recorder) = Middleware::recorder(&Options::new("bridge")).expect("a recorder");
        let sent = Arc::new(Mutex::new(Vec::new()));
        let now = Arc::new(Mutex::new(Duration::ZERO));
        let taken = sent.clone();
        let sink: Sink = Box::new(move |bytes| {
            taken.lock().unwrap().extend_from_slice(bytes);
            true
        });
        let start = Arc::new(Mutex::new(START));
        let (time, wall) = (now.clone(), start.clone());
        let clock = Arc::new(move || {
            let mono = *time.lock().unwrap();
            let start = wall.lock().unwrap().0;
            let ros = RosTime(start + i64::try_from(mono.as_nanos()).unwrap());
            Now { mono, ros }
        });
        let link = link(sink);
        let system = u8::try_from(settings.id).unwrap();
        let interface = Interface::open(
            &ros,
            settings.id,
            "/mavros",
            &|_, _| Qos::DEFAULT,
            clock,
            || (), // `poll` is called by hand
            |open| Autopilot::open(open, settings, link),
        )
        .expect("topics open");
        recorder.set_all_subscribers(1);
        Self {
            ros,
            recorder,
            interface,
            sent,
            now,
            start,
            fcu: Encoder::new(system, 1),
        }
    }

    /// The autopilot.
    pub(super) fn handle(&self) -> Handle {
        self.interface.handle()
    }

    /// Lets time pass, in steps of 10 ms, as the task of the bridge would.
    pub(super) fn pass(&self, time: Duration) {
        let end = *self.now.lock().unwrap() + time;
        loop {
            self.poll();
            let mut now = self.now.lock().unwrap();
            if *now >= end {
                break;
            }
            *now = end.min(*now + Duration::from_millis(10));
        }
        self.poll();
    }

    /// The wall clock is set.
    pub(super) fn set_wall_clock(&self, wall: RosTime) {
        let mono = i64::try_from(self.now.lock().unwrap().as_nanos()).unwrap();
        *self.start.lock().unwrap() = RosTime(wall.0 - mono);
        self.poll();
    }

    /// Does what is due.
    pub(super) fn poll(&self) {
        self.handle().with(Autopilot::poll);
    }

    /// Bytes from the vehicle.
    pub(super) fn receive(&self, bytes: &[u8]) {
        self.handle().with(|autopilot| autopilot.receive(bytes));
        self.poll();
    }

    /// A message from the vehicle.
    pub(super) fn say(&mut self, message: impl Into<Outbound>) {
        let packet = self.fcu.encode(&message.into());
        self.receive(packet.as_bytes());
    }

    /// Bytes that were sent to the vehicle since the last call.
    pub(super) fn sent_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }

    /// Whether nothing was sent since the last call of those that take it.
    pub(super) fn nothing_sent(&self) -> bool {
        self.sent.lock().unwrap().is_empty()
    }

    /// Messages that were sent to the vehicle since the last call.
    pub(super) fn sent(&self) -> Vec<MavMessage> {
        let bytes = self.sent_bytes();
        frames(&bytes)
            .map(|frame| frame.expect("a frame").message().expect("a message"))
            .collect()
    }

    /// How often this was counted, by its name in `/diagnostics`.
    pub(super) fn counted(&self, name: &str) -> u64 {
        let counter = Counter::ALL.iter().find(|counter| counter.name() == name);
        let counter = counter.expect("a counter");
        let counts = self.handle().with(|a| a.fcu.counts().get(counter).copied());
        counts.expect("an autopilot").unwrap_or(0)
    }

    /// Publishes a message as another node would; the topic is below `/mavros`.
    pub(super) fn publish<M: Message>(&self, topic: &str, message: &M) {
        let publisher = self
            .ros
            .publisher::<M>(&format!("/mavros/{topic}"), Qos::DEFAULT)
            .expect("a publisher");
        publisher.publish(message).expect("published");
    }

    /// The same, from the recorded form of a message.
    pub(super) fn publish_json<M: Message + Default>(&self, topic: &str, message: &Value) {
        self.publish::<M>(topic, &decode(message));
    }

    /// Calls a service that answers at once; the name is below `/mavros`.
    pub(super) fn call<S: Service>(&self, service: &str, request: &S::Request) -> S::Response {
        self.recorder
            .call::<S>(&format!("/mavros/{service}"), request)
            .expect("a service")
    }

    /// Calls a service that may answer later.
    pub(super) fn call_later<S: Service>(
        &self,
        service: &str,
        request: S::Request,
    ) -> Answer<S::Response> {
        let name = format!("/mavros/{service}");
        Answer(self.recorder.ask::<S>(&name, &request).expect("a service"))
    }

    /// What was published on a topic below `/mavros` since the last [`Recorder::clear`], as plain JSON.
    pub(super) fn published<M: Message>(&self, topic: &str) -> Vec<Value> {
        self.messages::<M>(topic).iter().map(plain).collect()
    }

    /// What was published on a topic below `/mavros` since the last [`Recorder::clear`].
    pub(super) fn messages<M: Message>(&self, topic: &str) -> Vec<M> {
        self.recorder
            .messages(&format!("/mavros/{topic}"))
            .expect("decodes")
    }
}

/// Says whether two frames say the same: integers exactly, reals within `tolerance` relative to the greater of 1 and
/// the value. Sequence numbers do not count.
pub(super) fn same_frame(
    ours: &Frame<'_>,
    theirs: &Frame<'_>,
    tolerance: f64,
) -> Result<(), String> {
    if (ours.id, ours.system, ours.component) != (theirs.id, theirs.system, theirs.component) {
        return Err(format!(
            "message {} of {}/{} instead of {} of {}/{}",
            ours.id, ours.system, ours.component, theirs.id, theirs.system, theirs.component
        ));
    }
    if let (Some(a), Some(b)) = (raw_setpoint(ours), raw_setpoint(theirs)) {
        return same_text(&a, &b, tolerance);
    }
    match (ours.message(), theirs.message()) {
        (Ok(a), Ok(b)) => same_text(&format!("{a:?}"), &format!("{b:?}"), tolerance),
        _ if ours.payload == theirs.payload => Ok(()),
        _ => Err(format!(
            "payload {:02x?}\n  instead of {:02x?}",
            ours.payload, theirs.payload
        )),
    }
}

/// Setpoints whose frame or mask the dialect does not know.
fn raw_setpoint(frame: &Frame<'_>) -> Option<String> {
    let local = SetPositionTargetLocalNed::parse(frame).map(|m| format!("{m:?}"));
    local.or_else(|| SetPositionTargetGlobalInt::parse(frame).map(|m| format!("{m:?}")))
}

/// Bytes of a recorded frame.
pub(super) fn hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex"))
        .collect()
}

fn same_text(ours: &str, theirs: &str, tolerance: f64) -> Result<(), String> {
    let tokens = |text: &str| -> Vec<String> {
        text.split(|c: char| " ,:[](){}".contains(c))
            .filter(|token| !token.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (a, b) = (tokens(ours), tokens(theirs));
    let same = a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| {
            a == b
                || match (a.parse::<f64>(), b.parse::<f64>()) {
                    (Ok(x), Ok(y)) if a.contains(['.', 'e']) || b.contains(['.', 'e']) => {
                        (x - y).abs() <= tolerance * x.abs().max(y.abs()).max(1.0)
                    }
                    _ => false,
                }
        });
    if same {
        Ok(())
    } else {
        Err(format!("{ours}\n  instead of {theirs}"))
    }
}
