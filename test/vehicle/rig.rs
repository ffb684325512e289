//! A vehicle without a network: frames in by hand, answers and messages out.
use super::json::{decode, plain};
use crate::support::vehicle::Opened;
pub(super) use crate::support::vehicle::START;
use rfly_bridge::config::PluginLists;
use rfly_bridge::msgs::{Message, Service};
use rfly_bridge::ros::PendingResponse;
use rfly_bridge::time::RosTime;
use rfly_bridge::vehicle::{Counter, Link, MavlinkLink, Sink, VehicleSettings};
use rfly_bridge::wire::mavlink::raw::{
    Heartbeat, SetPositionTargetGlobalInt, SetPositionTargetLocalNed,
};
use rfly_bridge::wire::mavlink::{Encoder, Frame, MavMessage, Outbound, frames};
use serde_json::Value;
use std::ops::Deref;
use std::time::Duration;

/// One vehicle; topics are below `/mavros`.
pub(super) struct Rig {
    opened: Opened,
    fcu: Encoder,
}

impl Deref for Rig {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

/// The answer of a service, once it is there.
pub(super) struct Answer<R: Message>(PendingResponse<R>);

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
        let system = u8::try_from(settings.id).unwrap();
        Self { opened: Opened::new(settings, link), fcu: Encoder::new(system, 1) }
    }

    /// Vehicle 1 with a part of mavros' plugins.
    pub(super) fn with_plugins(plugins: &PluginLists) -> Self {
        let link = |sink| -> Box<dyn Link> { Box::new(MavlinkLink::new(sink)) };
        let opened = Opened::with_plugins(VehicleSettings::default(), plugins, link);
        Self { opened, fcu: Encoder::new(1, 1) }
    }

    /// Lets time pass, in steps of 10 ms, as the task of the bridge would.
    pub(super) fn pass(&self, time: Duration) {
        let end = self.now() + time;
        loop {
            self.poll();
            let left = end - self.now();
            if left.is_zero() {
                break;
            }
            self.advance(left.min(Duration::from_millis(10)));
        }
        self.poll();
    }

    /// The wall clock is set.
    pub(super) fn set_wall_clock(&self, wall: RosTime) {
        self.opened.set_wall_clock(wall);
        self.poll();
    }

    /// Bytes from the vehicle.
    pub(super) fn receive(&self, bytes: &[u8]) {
        self.opened.receive(bytes);
        self.poll();
    }

    /// A message from the vehicle.
    pub(super) fn say(&mut self, message: impl Into<Outbound>) {
        let packet = self.fcu.encode(&message.into());
        self.receive(packet.as_bytes());
    }

    /// A heartbeat of PX4.
    pub(super) fn beat(&mut self) {
        self.say(Heartbeat { autopilot: 12, ..Heartbeat::default() });
    }

    /// A message that arrived a while ago and is read now.
    pub(super) fn say_late(&mut self, message: impl Into<Outbound>, waited: Duration) {
        let packet = self.fcu.encode(&message.into());
        self.handle().with(|autopilot| {
            autopilot.fcu.waited = waited;
            autopilot.receive(packet.as_bytes());
        });
    }

    /// Bytes that were sent to the vehicle since the last call.
    pub(super) fn sent_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut *self.opened.sent()).concat()
    }

    /// Whether nothing was sent since the last call of those that take it.
    pub(super) fn nothing_sent(&self) -> bool {
        self.opened.sent().is_empty()
    }

    /// Messages that were sent to the vehicle since the last call.
    pub(super) fn sent(&self) -> Vec<MavMessage> {
        let bytes = self.sent_bytes();
        frames(&bytes).map(|frame| frame.expect("a frame").message().expect("a message")).collect()
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
        self.opened.publish(&format!("/mavros/{topic}"), message);
    }

    /// The same, from the recorded form of a message.
    pub(super) fn publish_json<M: Message + Default>(&self, topic: &str, message: &Value) {
        self.publish::<M>(topic, &decode(message));
    }

    /// Calls a service that answers at once; the name is below `/mavros`.
    pub(super) fn call<S: Service>(&self, service: &str, request: &S::Request) -> S::Response {
        self.recorder.call::<S>(&format!("/mavros/{service}"), request).expect("a service")
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
        self.recorder.messages(&format!("/mavros/{topic}")).expect("decodes")
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
        _ => Err(format!("payload {:02x?}\n  instead of {:02x?}", ours.payload, theirs.payload)),
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
    if same { Ok(()) } else { Err(format!("{ours}\n  instead of {theirs}")) }
}
