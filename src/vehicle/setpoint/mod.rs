//! Setpoints: ROS messages in ENU and FLU to MAVLink messages in NED and FRD. A message is converted and sent within its
//! callback; a refused one is counted by reason and logged at a limited rate.
mod accel;
mod attitude;
mod body;
mod companion;
mod debug;
mod estimate;
mod geometry;
mod height;
mod manual;
mod mount;
mod pairing;
mod position;
mod range;
mod raw;
mod reject;
mod subscriptions;
mod target;
mod trajectory;
mod velocity;

use super::service_table::{VehicleCall, services};
use super::{
    Autopilot, Counter, CounterKind, Fcu, Open, SetpointFrame, VehicleSettings, link::SendError,
};
use crate::msgs::mavros_msgs::srv::{SetMavFrame, SetMavFrameRequest, SetMavFrameResponse};
use crate::msgs::std_srvs::srv::{Trigger, TriggerResponse};
use crate::session::{KeepAlive, KeepAliveSettings, KeepAliveStep, RateLimit};
use crate::wire::mavlink::dialect::{
    ATTITUDE_TARGET_DATA, GLOBAL_POSITION_INT_DATA, LOCAL_POSITION_NED_DATA,
};
use crate::wire::mavlink::{MavMessage, MessageData as _, Outbound};
use crate::{config::TopicRow, ros::RosError, wire::mavlink::raw::SetAttitudeTarget};
use attitude::ThrustPairs;
use body::BodyStep;
use height::HeightHold;
use position::ReportedPosition;
use reject::{Checked, Reject};
use std::{collections::BTreeMap, fmt, time::Duration};
use target::{SetpointRules, SetpointTarget};
use trajectory::Trajectory;

/// Period of repeated setpoints; PX4 requires one every half second.
const REPEAT: Duration = Duration::from_millis(50);

macro_rules! parts {
    ($($part:ident)+) => {
        /// The topics of each file.
        pub(super) const TOPICS: &[&[TopicRow]] = &[$($part::TOPICS,)+];
        const OPEN: &[fn(&Open<'_>) -> Result<(), RosError>] = &[$($part::open,)+];
    };
}

parts! { accel attitude companion debug estimate height manual mount position range raw trajectory velocity }

/// State of the setpoint topics.
pub(super) struct Setpoints {
    pairs: ThrustPairs,
    trajectory: Trajectory,
    reported: ReportedPosition,
    /// Stamp in µs of the last vision pose sent.
    last_vision: Option<u64>,
    keep_alive: KeepAlive,
    /// Rate limit of each topic: a flood would fill the socket of the autopilot, and commands would be lost.
    limits: BTreeMap<&'static str, RateLimit>,
    /// The newest setpoint, with its topic, while it waits for the limit.
    held: Option<(&'static str, Checked<Outbound>)>,
    /// The last position relative to the body.
    step: Option<BodyStep>,
    hold: HeightHold,
}

impl Setpoints {
    /// Opens all subscriptions and their services.
    pub(super) fn open(topics: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        for open in OPEN {
            open(topics)?;
        }
        for service in SERVICES {
            (service.open)(topics)?;
        }
        Ok(Self {
            pairs: ThrustPairs::new(),
            trajectory: Trajectory::open(topics)?,
            reported: ReportedPosition::default(),
            last_vision: None,
            limits: BTreeMap::new(),
            held: None,
            step: None,
            hold: HeightHold::default(),
            keep_alive: KeepAlive::new(KeepAliveSettings {
                period: REPEAT,
                max_repetition: settings.keep_alive,
            }),
        })
    }

    /// Ids of the messages for [`Self::observe`].
    pub(super) const OBSERVED: [u32; 3] =
        [LOCAL_POSITION_NED_DATA::ID, GLOBAL_POSITION_INT_DATA::ID, ATTITUDE_TARGET_DATA::ID];

    /// Stores the vehicle's reported position or thrust, which arrived `at`.
    pub(super) fn observe(&mut self, message: &MavMessage, at: Duration) {
        self.hold.observe(message);
        self.reported.observe(message, at);
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        let held = self.held.as_ref().map(|(topic, _)| self.limits[topic].next());
        let due = [self.trajectory.deadline(), self.keep_alive.deadline(), held];
        due.into_iter().flatten().min()
    }
}

services! {
    SetMavFrame("setpoint_position/mav_frame", "frame of `setpoint_position/local`")
        => |call, request| set_frame(call, &request, |autopilot| &mut autopilot.fcu.settings.position_frame);
    SetMavFrame("setpoint_velocity/mav_frame", "frame of `setpoint_velocity/*`")
        => |call, request| set_frame(call, &request, |autopilot| &mut autopilot.fcu.settings.velocity_frame);
    SetMavFrame("setpoint_trajectory/mav_frame", "frame of `setpoint_trajectory/local`")
        => |call, request| set_frame(call, &request, |autopilot| &mut autopilot.setpoints.trajectory.frame);
    Trigger("setpoint_trajectory/reset", "deletes the trajectory") => |call, _| {
        call.autopilot.setpoints.trajectory.points.clear();
        call.responder.respond(TriggerResponse { success: true, ..TriggerResponse::default() });
    };
}

/// Sets the frame of a topic.
fn set_frame(
    call: VehicleCall<'_, SetMavFrame>,
    request: &SetMavFrameRequest,
    chosen: fn(&mut Autopilot) -> &mut SetpointFrame,
) {
    let VehicleCall { autopilot, name, responder } = call;
    let frame = SetpointFrame::from_number(request.mav_frame);
    let px4_checks = SetpointRules::of(&autopilot.fcu).px4_checks;
    let accepted = frame.filter(|frame| !(px4_checks && frame.is_offset()));
    match accepted {
        Some(frame) => *chosen(autopilot) = frame,
        None => {
            let remedy = "1 (LOCAL_NED) or 8 (BODY_NED)";
            autopilot.fcu.refuse(name, &Reject::Frame { frame: request.mav_frame, remedy });
        }
    }
    responder.respond(SetMavFrameResponse { success: accepted.is_some() });
}

impl Autopilot {
    /// Sends a setpoint, or reports its refusal. Beyond the limit of its topic, a setpoint waits, and a newer one replaces it.
    fn send_setpoint(
        &mut self,
        topic: &'static str,
        checked: Result<Checked<impl Into<Outbound>>, Reject>,
    ) {
        match checked {
            Ok(Checked { message, warning }) => {
                self.setpoints.step = None;
                let newest = (topic, Checked { message: message.into(), warning });
                if let Some((replaced, _)) = self.setpoints.held.replace(newest) {
                    self.fcu.report_rate_limited(replaced);
                }
                self.send_held_setpoint();
            }
            Err(reject) => self.fcu.refuse(topic, &reject),
        }
    }

    /// Sends the waiting setpoint if the limit of its topic allows it.
    fn send_held_setpoint(&mut self) {
        let now = self.fcu.now.mono;
        let Setpoints { held, limits, .. } = &mut self.setpoints;
        let due = held.take_if(|(topic, _)| limits.entry(topic).or_default().take(now));
        if let Some((topic, checked)) = due
            && let Some(sent) = self.send_checked(topic, Ok(checked), Fcu::send_ref)
            && !self.fcu.settings.keep_alive.is_zero()
        {
            self.setpoints.keep_alive.sent(now, sent);
        }
    }

    /// Whether the limit of a topic allows a message; reports it if not.
    fn take_rate(&mut self, topic: &'static str) -> bool {
        let may_send = self.setpoints.limits.entry(topic).or_default().take(self.fcu.now.mono);
        if !may_send {
            self.fcu.report_rate_limited(topic);
        }
        may_send
    }

    /// Sends a global setpoint, or reports its refusal.
    fn send_global_setpoint(&mut self, topic: &'static str, target: &SetpointTarget) {
        let checked = target.global(&SetpointRules::of(&self.fcu));
        self.send_setpoint(topic, checked);
    }

    /// Sends an attitude whose thrust is a change of the throttle, or reports its refusal.
    fn send_throttle(&mut self, topic: &'static str, checked: Result<SetAttitudeTarget, Reject>) {
        // A repetition would be another change, and the earlier setpoint is replaced.
        self.setpoints.keep_alive.clear();
        self.setpoints.step = None;
        self.setpoints.held = None;
        if checked.is_err() || self.take_rate(topic) {
            let checked = checked.map(Checked::without_warning);
            self.send_checked(topic, checked, Fcu::send_throttle_step);
        }
    }

    /// Sends a message that is no setpoint, or reports its refusal.
    fn pass(&mut self, topic: &'static str, message: Result<impl Into<Outbound>, Reject>) {
        if message.is_err() || self.take_rate(topic) {
            let message = message.map(|message| Checked::without_warning(message.into()));
            self.send_checked(topic, message, Fcu::send_ref);
        }
    }

    /// Sends a message, or reports its refusal; returns the sent message.
    fn send_checked<M>(
        &mut self,
        topic: &'static str,
        checked: Result<Checked<M>, Reject>,
        send: impl Fn(&mut Fcu, &M) -> Result<(), SendError>,
    ) -> Option<M> {
        let fcu = &mut self.fcu;
        match checked {
            Ok(Checked { message, warning }) => {
                if let Some(warning) = warning {
                    fcu.warn_about(topic, &warning);
                }
                let sent = send(fcu, &message);
                if let Err(refusal @ SendError::Unsupported { .. }) = sent {
                    fcu.warn_throttled(
                        topic,
                        Counter::Unsupported,
                        &format_args!("refused: {refusal}"),
                    );
                }
                // Other failures are counted by `send`.
                sent.ok().map(|()| message)
            }
            Err(reject) => {
                fcu.refuse(topic, &reject);
                None
            }
        }
    }

    /// Runs due work.
    pub(super) fn poll_setpoints(&mut self) {
        self.fly_trajectory();
        self.send_held_setpoint();
        let fcu = &mut self.fcu;
        match self.setpoints.keep_alive.tick(fcu.now.mono) {
            Some(KeepAliveStep::Repeat(message)) => {
                fcu.count(Counter::SetpointRepeated);
                // A failure is counted.
                let _counted = fcu.send(message);
            }
            Some(KeepAliveStep::Stopped) => {
                fcu.count(Counter::KeepAliveStopped);
                let (vehicle, after) = (fcu.settings.id, fcu.settings.keep_alive);
                if fcu.is_armed() {
                    tracing::warn!(
                        vehicle,
                        "no setpoint for {after:?}: the last one is no longer repeated, and the vehicle's own reaction to \
                         missing setpoints follows; restart the controller or change the mode"
                    );
                } else {
                    tracing::info!(vehicle, "no setpoint for {after:?}: no longer repeated");
                }
            }
            None => (),
        }
    }
}

impl Fcu {
    /// Counts a refused message and logs it at a limited rate.
    fn refuse(&mut self, topic: &'static str, reject: &Reject) {
        if reject.counter().kind() == CounterKind::Drop {
            self.count(Counter::SetpointRefused);
        }
        self.count(reject.counter());
        self.warn_throttled(topic, reject.counter(), &format_args!("refused: {reject}"));
    }

    /// Counts and logs a message beyond the limit of its topic.
    fn report_rate_limited(&mut self, topic: &'static str) {
        self.count(Counter::RateLimited);
        let what = "has more than 2000 messages a second: only the newest are sent";
        self.warn_throttled(topic, Counter::RateLimited, &what);
    }

    /// Counts and logs a doubtful message, which is sent.
    fn warn_about(&mut self, topic: &'static str, warning: &Reject) {
        self.count(Counter::SetpointDoubtful);
        self.warn_throttled(topic, warning.counter(), &format_args!("sent, but: {warning}"));
    }

    fn warn_throttled(&mut self, topic: &'static str, kind: Counter, what: &dyn fmt::Display) {
        if let Some(suppressed) = self.throttle.due(topic, kind.name(), self.now.mono) {
            let vehicle = self.settings.id;
            tracing::warn!(vehicle, suppressed, "{topic} {what}");
        }
    }
}
