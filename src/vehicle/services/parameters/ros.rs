//! The six parameter services of a ROS node, for the vehicle's parameters.
use super::{ParameterPart, describe, log_failed, pull, set_v2, value, with};
use crate::msgs::Service;
use crate::msgs::mavros_msgs::srv::{ParamPull, ParamSetV2};
use crate::msgs::rcl_interfaces::msg::{
    ListParametersResult, Parameter, ParameterDescriptor, SetParametersResult,
};
use crate::msgs::rcl_interfaces::srv::*;
use crate::session::{self, ParameterName};
use crate::vehicle::Fcu;
use crate::vehicle::service_table::{VehicleCall, services};
use parking_lot::Mutex;
use std::sync::Arc;

/// Limit of names or values in one call; more are not requested.
const MAX_PARTS: usize = 2048;

/// Callback with an answer for each part of a call; `None` for a part without an answer.
type AnswersCallback<T> = Box<dyn FnOnce(Vec<Option<T>>) + Send>;

/// Collects the answers to all parts of a call, in order; after the last one, `then` gets them.
struct AnswerCollector<T> {
    answers: Vec<Option<T>>,
    missing: usize,
    then: Option<AnswersCallback<T>>,
}

impl<T: Send + 'static> AnswerCollector<T> {
    /// Creates a collector. Without parts calls `then` at once and returns `None`.
    fn of(
        parts: usize,
        then: impl FnOnce(Vec<Option<T>>) + Send + 'static,
    ) -> Option<Arc<Mutex<Self>>> {
        if parts == 0 {
            then(Vec::new());
            return None;
        }
        Some(Arc::new(Mutex::new(Self {
            answers: std::iter::repeat_with(|| None).take(parts).collect(),
            missing: parts,
            then: Some(Box::new(then)),
        })))
    }

    fn put(this: &Mutex<Self>, at: usize, answer: Option<T>) {
        let mut collector = this.lock();
        if let Some(slot) = collector.answers.get_mut(at) {
            *slot = answer;
        }
        collector.missing = collector.missing.saturating_sub(1);
        if collector.missing == 0
            && let Some(then) = collector.then.take()
        {
            let answers = std::mem::take(&mut collector.answers);
            drop(collector);
            then(answers);
        }
    }
}

impl ParameterPart {
    /// Looks up at most [`MAX_PARTS`] names; unknown ones are `None`.
    fn look_up(
        &mut self,
        fcu: &mut Fcu,
        names: &[String],
        then: impl FnOnce(Vec<Option<session::Parameter>>) + Send + 'static,
    ) {
        let names = names.get(..names.len().min(MAX_PARTS)).unwrap_or_default();
        let Some(collector) = AnswerCollector::of(names.len(), then) else { return };
        for (at, name) in names.iter().enumerate() {
            let Some(name) = ParameterName::new(name) else {
                AnswerCollector::put(&collector, at, None);
                continue;
            };
            let collector = collector.clone();
            let one = move |_: &mut Self, _: &mut Fcu, found: Result<_, _>| {
                AnswerCollector::put(&collector, at, found.ok());
            };
            self.get(fcu, name, Box::new(one));
        }
    }

    /// Sets all values; each result has the reason of a failure.
    fn set_all(
        &mut self,
        fcu: &mut Fcu,
        parameters: &[Parameter],
        then: impl FnOnce(Vec<SetParametersResult>) + Send + 'static,
    ) {
        let results = |answers: Vec<Option<SetParametersResult>>| {
            then((answers.into_iter()).map(|answer| answer.unwrap_or_else(too_many)).collect());
        };
        let Some(collector) = AnswerCollector::of(parameters.len(), results) else { return };
        for (at, parameter) in parameters.iter().enumerate() {
            let (name, wanted) = match value::check(&parameter.name, &parameter.value) {
                Ok(wanted) if at < MAX_PARTS => wanted,
                Ok(_) => {
                    AnswerCollector::put(&collector, at, None);
                    continue;
                }
                Err(why) => {
                    AnswerCollector::put(&collector, at, Some(refused(why)));
                    continue;
                }
            };
            let collector = collector.clone();
            let one = move |_: &mut Self, fcu: &mut Fcu, result: Result<_, _>| {
                let result = match result {
                    Ok(_) => SetParametersResult { successful: true, ..Default::default() },
                    Err(error) => {
                        let why = describe(error);
                        log_failed(fcu, "param/set_parameters", &format!("{name}: {why}"));
                        refused(&why)
                    }
                };
                AnswerCollector::put(&collector, at, Some(result));
            };
            self.set(fcu, name, wanted, false, Box::new(one));
        }
    }
}

fn too_many() -> SetParametersResult {
    refused(&format!("not set: more than {MAX_PARTS} parameters in one call"))
}

fn refused(why: &str) -> SetParametersResult {
    SetParametersResult { successful: false, reason: why.to_owned() }
}

/// Answers with the result of `answer` for each name, in order.
fn answer_names<S: Service, T: 'static>(
    call: VehicleCall<'_, S>,
    names: Vec<String>,
    answer: fn(String, Option<session::Parameter>) -> T,
    reply: fn(Vec<T>) -> S::Response,
) {
    let (requested, responder) = (names.clone(), call.responder);
    let then = move |found: Vec<Option<session::Parameter>>| {
        let answers = requested.into_iter().zip(found).map(|(name, found)| answer(name, found));
        responder.respond(reply(answers.collect()));
    };
    with(call.autopilot, |part, fcu| part.look_up(fcu, &names, then));
}

services! {
    ParamPull("param/pull", "reads all parameters") => pull;
    ParamSetV2("param/set", "sets a parameter; waits for the vehicle's confirmation (none in the UDP modes)") => set_v2;
    GetParameters("param/get_parameters", "parameters of the vehicle as ROS parameters") => |call, request| {
        let value = |_, found: Option<session::Parameter>| found.map_or_else(Default::default, |p| value::to_ros(p.value));
        answer_names(call, request.names, value, |values| GetParametersResponse { values });
    };
    GetParameterTypes("param/get_parameter_types", "parameters of the vehicle as ROS parameters") => |call, request| {
        answer_names(call, request.names, |_, found| kind(found), |types| GetParameterTypesResponse { types });
    };
    DescribeParameters("param/describe_parameters", "parameters of the vehicle as ROS parameters") => |call, request| {
        answer_names(call, request.names, describe_one, |descriptors| DescribeParametersResponse { descriptors });
    };
    ListParameters("param/list_parameters", "parameters of the vehicle as ROS parameters") => |call, request| {
        let then = move |part: &mut ParameterPart, fcu: &mut Fcu, result: Result<usize, _>| {
            if let Err(error) = result {
                log_failed(fcu, call.name, &describe(error));
            }
            // A partial list is listed, too.
            let names = part.machine.known().keys().map(ParameterName::as_str);
            let names = names.filter(|name| is_below(name, &request.prefixes)).map(str::to_owned);
            let result = ListParametersResult { names: names.collect(), prefixes: Vec::new() };
            call.responder.respond(ListParametersResponse { result });
        };
        with(call.autopilot, |part, fcu| part.list(fcu, false, Box::new(then)));
    };
    SetParameters("param/set_parameters", "parameters of the vehicle as ROS parameters") => |call, request| {
        let then = move |results| call.responder.respond(SetParametersResponse { results });
        with(call.autopilot, |part, fcu| part.set_all(fcu, &request.parameters, then));
    };
    SetParametersAtomically("param/set_parameters_atomically", "parameters of the vehicle as ROS parameters") => |call, request| {
        // MAVLink sets one parameter after the other; number and values are validated before the first.
        if request.parameters.len() > MAX_PARTS {
            return call.responder.respond(SetParametersAtomicallyResponse { result: too_many() });
        }
        let problem = |p: &Parameter| value::check(&p.name, &p.value).err();
        if let Some(why) = request.parameters.iter().find_map(problem) {
            return call.responder.respond(SetParametersAtomicallyResponse { result: refused(why) });
        }
        let then = move |results: Vec<SetParametersResult>| {
            let done = results.iter().filter(|result| result.successful).count();
            let result = results.into_iter().find(|result| !result.successful).map_or(
                SetParametersResult { successful: true, ..Default::default() },
                |first| refused(&format!("{}; {done} others were set", first.reason)),
            );
            call.responder.respond(SetParametersAtomicallyResponse { result });
        };
        with(call.autopilot, |part, fcu| part.set_all(fcu, &request.parameters, then));
    };
}

fn kind(found: Option<session::Parameter>) -> u8 {
    found.map_or(0, |p| value::kind(p.value))
}

fn describe_one(name: String, found: Option<session::Parameter>) -> ParameterDescriptor {
    let description =
        found.map_or_else(String::new, |p| format!("parameter of the vehicle, {:?}", p.kind));
    ParameterDescriptor { name, type_: kind(found), description, ..Default::default() }
}

/// Whether a name has one of the prefixes, if there are any.
fn is_below(name: &str, prefixes: &[String]) -> bool {
    let is_below = |prefix: &String| {
        let rest = name.strip_prefix(prefix.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    prefixes.is_empty() || prefixes.iter().any(is_below)
}
