//! `param/*`: the vehicle's parameters, as mavros' services and as ROS parameters of a node with that name.
//!
//! The whole list is read some time after the connection, or when a client needs it before that.
mod ros;
mod value;

pub(super) use ros::SERVICES;

use super::ServicePart;
use crate::msgs::mavros_msgs::srv::{
    ParamPull, ParamPullRequest, ParamPullResponse, ParamSetV2, ParamSetV2Request,
    ParamSetV2Response,
};
use crate::ros::{NodeHandle, Publisher, RosError};
use crate::session::{
    Parameter, ParameterClient, ParameterEncoding, ParameterError, ParameterEvent, ParameterKind,
    ParameterName, ParameterSettings, ParameterValue,
};
use crate::vehicle::link::{Abilities, SendError};
use crate::vehicle::service_table::VehicleCall;
use crate::vehicle::{Autopilot, Counter, Fcu, Open};
use crate::wire::mavlink::dialect::MavProtocolCapability;
use crate::wire::mavlink::numbers::MAV_AUTOPILOT_ARDUPILOTMEGA;
use crate::wire::mavlink::raw::{AutopilotVersion, ParamError, ParamSet, ParamValue};
use crate::{msgs::mavros_msgs::msg::ParamEvent, wire::mavlink::Frame};
use std::time::Duration;

/// Limit of the characters of an invalid name in the log.
const MAX_NAME_CHARS: usize = 40;
/// Limit of the indices of missing parameters in one text.
const LISTED: usize = 20;

/// Callback with one parameter.
type ParameterCallback =
    Box<dyn FnOnce(&mut ParameterPart, &mut Fcu, Result<Parameter, ParameterError>) + Send>;
/// Callback with the number of parameters of the whole list.
type ListCallback =
    Box<dyn FnOnce(&mut ParameterPart, &mut Fcu, Result<usize, ParameterError>) + Send>;

enum ParameterWaiter {
    One(ParameterCallback),
    All(ListCallback),
}

pub(super) struct ParameterPart {
    machine: ParameterClient<ParameterWaiter>,
    event: Publisher<ParamEvent>,
    /// The autopilot reported that it casts integers to float on the wire.
    uses_cast: bool,
    /// When to read the whole list, unless it is requested before.
    read_at: Option<Duration>,
    /// `None` if the plugin is not served.
    node: Option<NodeHandle>,
}

impl ServicePart for ParameterPart {
    fn open(open: &Open<'_>, _: Abilities) -> Result<Self, RosError> {
        Ok(Self {
            machine: ParameterClient::new(ParameterSettings::default(), 1, 1),
            event: open.publisher("param/event")?,
            uses_cast: false,
            read_at: None,
            node: open.node("param")?,
        })
    }

    fn frame(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> Result<(), RosError> {
        handle!(frame {
            ParamValue => |m| {
                self.set_target(fcu);
                self.machine.value(fcu.now.mono, &m);
                self.run(fcu)
            },
            ParamError => |m| {
                self.machine.error(fcu.now.mono, &m);
                self.run(fcu)
            },
            AutopilotVersion => |m| {
                self.set_capabilities(fcu, m.capabilities);
                Ok(())
            },
        })
    }

    fn connected(&mut self, fcu: &Fcu) {
        let after = fcu.settings.read_parameters;
        let is_read = self.node.is_some() && !after.is_zero() && is_reachable(fcu);
        self.read_at = is_read.then_some(fcu.now.mono + after);
    }

    fn poll(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let now = fcu.now.mono;
        if self.read_at.take_if(|at| *at <= now).is_some()
            && !self.machine.is_complete()
            && !self.machine.is_pulling()
        {
            self.set_target(fcu);
            self.machine.pull(now, None);
        }
        self.machine.tick(now);
        self.run(fcu)
    }

    fn lost(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        self.read_at = None;
        self.machine.lose_link();
        self.machine.forget();
        self.run(fcu)
    }

    fn restarted(&mut self, fcu: &Fcu) {
        self.machine.forget();
        self.connected(fcu);
    }

    fn deadline(&self, _: &Fcu) -> Option<Duration> {
        let deadline = self.machine.deadline();
        deadline.into_iter().chain(self.read_at).min()
    }
}

impl ParameterPart {
    fn set_capabilities(&mut self, fcu: &Fcu, capabilities: u64) {
        let cast = MavProtocolCapability::MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST;
        self.uses_cast = capabilities & cast.bits() != 0;
        self.set_target(fcu);
    }

    fn set_target(&mut self, fcu: &Fcu) {
        let ardupilot = fcu.heartbeat.is_some_and(|h| h.autopilot == MAV_AUTOPILOT_ARDUPILOTMEGA);
        let encoding = if self.uses_cast || ardupilot {
            ParameterEncoding::Cast
        } else {
            ParameterEncoding::Bytewise
        };
        self.machine.set_target(fcu.system, fcu.component, encoding);
    }

    /// Handles the events of the state machine: sends messages, publishes values, calls the callbacks.
    fn run(&mut self, fcu: &mut Fcu) -> Result<(), RosError> {
        let mut published = Ok(());
        while let Some(event) = self.machine.next_event() {
            match event {
                ParameterEvent::Send(message) => {
                    // A failure is counted; the caller gets a timeout after some tries.
                    let _counted = fcu.send(message);
                }
                ParameterEvent::Value { parameter, .. } => {
                    let header = fcu.header_now("");
                    let event = self.event.publish(&ParamEvent {
                        header,
                        param_id: parameter.name.as_str().to_owned(),
                        value: value::to_ros(parameter.value),
                        param_index: parameter.index.unwrap_or(u16::MAX),
                        param_count: parameter.count,
                    });
                    published = published.and(event.map(drop));
                }
                ParameterEvent::Progress { received, total } => {
                    tracing::debug!(vehicle = fcu.settings.id, received, total, "parameters");
                }
                ParameterEvent::Missing(indices) => {
                    let shown: Vec<_> = indices.iter().take(LISTED).map(u16::to_string).collect();
                    let rest = match indices.len() {
                        ..=LISTED => String::new(),
                        all => format!(" and {} more", all - LISTED),
                    };
                    let text = format!("no answer for the indices {}{rest}", shown.join(", "));
                    warn_failed(fcu, "parameters", &text);
                }
                ParameterEvent::Pulled { token, result } => match (token, result) {
                    (Some(ParameterWaiter::All(then)), result) => then(self, fcu, result),
                    (_, Err(error)) => log_failed(fcu, "parameters", &describe(error)),
                    (_, Ok(count)) => {
                        tracing::debug!(vehicle = fcu.settings.id, count, "parameters are read");
                    }
                },
                ParameterEvent::Done { token, result, .. } => {
                    if let ParameterWaiter::One(then) = token {
                        then(self, fcu, result);
                    }
                }
            }
        }
        published
    }

    /// Passes the size of the whole list to `then`, after a download if needed or with `force`.
    fn list(&mut self, fcu: &mut Fcu, force: bool, then: ListCallback) {
        if self.machine.is_complete() && !force {
            let known = self.machine.known().len();
            then(self, fcu, Ok(known));
        } else if is_reachable(fcu) {
            self.set_target(fcu);
            self.machine.pull(fcu.now.mono, Some(ParameterWaiter::All(then)));
        } else {
            then(self, fcu, Err(ParameterError::LinkLost));
        }
    }

    /// Passes a parameter to `then`, after a download if needed.
    fn get(&mut self, fcu: &mut Fcu, name: ParameterName, then: ParameterCallback) {
        if let Some(known) = self.machine.known().get(&name).copied() {
            then(self, fcu, Ok(known));
        } else if self.machine.is_complete() {
            then(self, fcu, Err(ParameterError::TimedOut));
        } else if is_reachable(fcu) {
            self.set_target(fcu);
            self.machine.read(fcu.now.mono, name, ParameterWaiter::One(then));
        } else {
            then(self, fcu, Err(ParameterError::LinkLost));
        }
    }

    /// Sets a parameter that the vehicle has; with `force` also one that is not known.
    fn set(
        &mut self,
        fcu: &mut Fcu,
        name: ParameterName,
        value: ParameterValue,
        force: bool,
        then: ParameterCallback,
    ) {
        let at_once = if fcu.settings.read_only {
            Some(Err(ParameterError::ReadOnly))
        } else if !fcu.is_connected() {
            Some(Err(ParameterError::LinkLost))
        } else {
            (!fcu.abilities().services).then(|| set_unconfirmed(fcu, name, value))
        };
        if let Some(result) = at_once {
            return then(self, fcu, result);
        }
        self.set_target(fcu);
        if force || self.machine.known().contains_key(&name) {
            let now = fcu.now.mono;
            return self.machine.set(now, name, value, ParameterWaiter::One(then));
        }
        // The type must be known first.
        let read: ParameterCallback = Box::new(move |part, fcu, result| match result {
            Ok(_) => {
                let now = fcu.now.mono;
                part.machine.set(now, name, value, ParameterWaiter::One(then));
            }
            Err(error) => then(part, fcu, Err(error)),
        });
        self.get(fcu, name, read);
    }
}

/// Answers `param/pull`.
fn pull(call: VehicleCall<'_, ParamPull>, request: ParamPullRequest) {
    let VehicleCall { autopilot, name, responder } = call;
    let then: ListCallback = Box::new(move |_, fcu, result| {
        let received = match result {
            Ok(received) | Err(ParameterError::Incomplete { received, .. }) => received,
            Err(_) => 0,
        };
        if let Err(error) = result {
            warn_failed(fcu, name, &describe(error));
        }
        responder.respond(ParamPullResponse {
            success: result.is_ok(),
            param_received: u32::try_from(received).unwrap_or(u32::MAX),
        });
    });
    with(autopilot, |part, fcu| part.list(fcu, request.force_pull, then));
}

/// Answers `param/set`.
fn set_v2(call: VehicleCall<'_, ParamSetV2>, request: ParamSetV2Request) {
    let VehicleCall { autopilot, name: service, responder } = call;
    let (name, wanted) = match value::check(&request.param_id, &request.value) {
        Ok(wanted) => wanted,
        Err(why) => {
            let name: String = request.param_id.chars().take(MAX_NAME_CHARS).collect();
            warn_failed(&mut autopilot.fcu, service, &format!("{name:?}: {why}"));
            return responder.respond(ParamSetV2Response::default());
        }
    };
    let then: ParameterCallback = Box::new(move |part, fcu, result| {
        if let Err(error) = result {
            warn_failed(fcu, service, &format!("{name}: {}", describe(error)));
        }
        let present = result.ok().or_else(|| part.machine.known().get(&name).copied());
        responder.respond(ParamSetV2Response {
            success: result.is_ok(),
            value: present.map_or_else(Default::default, |p| value::to_ros(p.value)),
        });
    });
    with(autopilot, |part, fcu| part.set(fcu, name, wanted, request.force_set, then));
}

/// Calls `f`, then handles the events that it caused.
fn with(autopilot: &mut Autopilot, f: impl FnOnce(&mut ParameterPart, &mut Fcu)) {
    let part = &mut autopilot.services.parameters;
    f(part, &mut autopilot.fcu);
    let published = part.run(&mut autopilot.fcu);
    autopilot.count_unpublished(published);
}

/// Sets one of the few parameters that a link without the parameter protocol carries; nothing confirms it.
fn set_unconfirmed(
    fcu: &mut Fcu,
    name: ParameterName,
    value: ParameterValue,
) -> Result<Parameter, ParameterError> {
    // All these parameters have this type.
    let kind = ParameterKind::Real32;
    let fitting = kind.adapt(value).and_then(|value| {
        let field = kind.encode(value, ParameterEncoding::Bytewise)?;
        Some((value, field))
    });
    let (value, field) = fitting.ok_or(ParameterError::DoesNotFit(kind))?;
    let sent = fcu.send(ParamSet {
        value: field,
        target_system: fcu.system,
        target_component: fcu.component,
        id: name.field(),
        kind: kind as u8,
    });
    match sent {
        Ok(()) => Ok(Parameter { name, value, kind, index: None, count: 0, raw: field }),
        Err(SendError::Unsupported { why, .. }) => Err(ParameterError::NotCarried(why)),
        Err(SendError::Io) => Err(ParameterError::NotSent),
    }
}

fn is_reachable(fcu: &Fcu) -> bool {
    fcu.abilities().services && fcu.is_connected()
}

fn log_failed(fcu: &mut Fcu, what: &'static str, why: &str) {
    tracing::warn!(vehicle = fcu.settings.id, "{what}: {why}");
    fcu.count(Counter::ParameterFailed);
}

/// As `log_failed`, and as a notice, because the answer has no field for the reason.
fn warn_failed(fcu: &mut Fcu, what: &'static str, why: &str) {
    fcu.warn(format!("{what}: {why}"));
    fcu.count(Counter::ParameterFailed);
}

/// The error as text.
fn describe(error: ParameterError) -> String {
    match error {
        ParameterError::TimedOut => "no answer; the vehicle may not have this parameter".to_owned(),
        ParameterError::Kept(ParameterValue::Int(int)) => format!("the vehicle kept {int}"),
        ParameterError::Kept(ParameterValue::Float(float)) => format!("the vehicle kept {float}"),
        ParameterError::Refused(error) => {
            format!("the vehicle refused it (MAV_PARAM_ERROR {error})")
        }
        ParameterError::DoesNotFit(kind) => format!("the value does not fit into {kind:?}"),
        ParameterError::NotFinite => value::NOT_FINITE.to_owned(),
        ParameterError::Incomplete { received, total } => {
            format!("only {received} of {total} arrived")
        }
        ParameterError::ReadOnly => "control.read_only is true".to_owned(),
        ParameterError::TooMany => "too many requests are waiting".to_owned(),
        ParameterError::LinkLost => {
            "the vehicle is not connected, or its link carries no parameters".to_owned()
        }
        ParameterError::NotCarried(why) => why.to_owned(),
        ParameterError::NotSent => SendError::Io.to_string(),
    }
}
