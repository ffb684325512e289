//! The six parameter services of a ROS node, for the vehicle's parameters.
use super::{ParameterPart, describe, failed, value, with};
use crate::msgs::Service;
use crate::msgs::rcl_interfaces::msg::{
    ListParametersResult, Parameter, ParameterDescriptor, SetParametersResult,
};
use crate::msgs::rcl_interfaces::srv::{
    DescribeParameters, DescribeParametersResponse, GetParameterTypes, GetParameterTypesResponse,
    GetParameters, GetParametersResponse, ListParameters, ListParametersResponse, SetParameters,
    SetParametersAtomically, SetParametersAtomicallyResponse, SetParametersResponse,
};
use crate::ros::RosError;
use crate::session::{self, ParameterName};
use crate::vehicle::{Fcu, Open};
use parking_lot::Mutex;
use std::sync::Arc;

/// Limit of names or values in one call; the rest is not requested.
const MOST: usize = 2048;

/// Callback with an answer for each part of a call; `None` where there is none.
type Gathered<T> = Box<dyn FnOnce(Vec<Option<T>>) + Send>;

/// Collects the answers to all parts of a call, in order; after the last one, `then` gets them.
struct AnswerCollector<T> {
    answers: Vec<Option<T>>,
    missing: usize,
    then: Option<Gathered<T>>,
}

impl<T: Send + 'static> AnswerCollector<T> {
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
        let mut gather = this.lock();
        if let Some(slot) = gather.answers.get_mut(at) {
            *slot = answer;
        }
        gather.missing = gather.missing.saturating_sub(1);
        if gather.missing == 0
            && let Some(then) = gather.then.take()
        {
            let answers = std::mem::take(&mut gather.answers);
            drop(gather);
            then(answers);
        }
    }
}

impl ParameterPart {
    /// Looks up all names; unknown ones are `None`.
    fn look_up(
        &mut self,
        fcu: &mut Fcu,
        names: &[String],
        then: impl FnOnce(Vec<Option<session::Parameter>>) + Send + 'static,
    ) {
        let names = names.get(..names.len().min(MOST)).unwrap_or_default();
        let Some(gather) = AnswerCollector::of(names.len(), then) else { return };
        for (at, name) in names.iter().enumerate() {
            let Some(name) = ParameterName::new(name) else {
                AnswerCollector::put(&gather, at, None);
                continue;
            };
            let gather = gather.clone();
            let one = move |_: &mut Self, _: &mut Fcu, found: Result<_, _>| {
                AnswerCollector::put(&gather, at, found.ok());
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
            let unanswered =
                || refused(&format!("not set: more than {MOST} parameters in one call"));
            then((answers.into_iter()).map(|answer| answer.unwrap_or_else(unanswered)).collect());
        };
        let Some(gather) = AnswerCollector::of(parameters.len(), results) else { return };
        for (at, parameter) in parameters.iter().enumerate() {
            let (name, wanted) = match value::wanted(&parameter.name, &parameter.value) {
                Ok(wanted) if at < MOST => wanted,
                Ok(_) => {
                    AnswerCollector::put(&gather, at, None);
                    continue;
                }
                Err(why) => {
                    AnswerCollector::put(&gather, at, Some(refused(why)));
                    continue;
                }
            };
            let gather = gather.clone();
            let one = move |_: &mut Self, fcu: &mut Fcu, result: Result<_, _>| {
                let result = match result {
                    Ok(_) => SetParametersResult { successful: true, ..Default::default() },
                    Err(error) => {
                        let why = describe(error);
                        failed(fcu, "param/set_parameters", &format!("{name}: {why}"));
                        refused(&why)
                    }
                };
                AnswerCollector::put(&gather, at, Some(result));
            };
            self.set(fcu, name, wanted, false, Box::new(one));
        }
    }
}

fn refused(why: &str) -> SetParametersResult {
    SetParametersResult { successful: false, reason: why.to_owned() }
}

/// Opens a service that answers with something for each of the names, in order.
fn look_up<S: Service, T: 'static>(
    open: &Open<'_>,
    service: &'static str,
    names: fn(S::Request) -> Vec<String>,
    answer: fn(String, Option<session::Parameter>) -> T,
    reply: fn(Vec<T>) -> S::Response,
) -> Result<(), RosError> {
    open.service::<S>(service, move |autopilot, request, responder| {
        let names = names(request);
        let asked = names.clone();
        let then = move |found: Vec<Option<session::Parameter>>| {
            let answers = asked.into_iter().zip(found).map(|(name, found)| answer(name, found));
            responder.respond(reply(answers.collect()));
        };
        with(autopilot, |part, fcu| part.look_up(fcu, &names, then));
    })
}

pub(super) fn open(open: &Open<'_>) -> Result<(), RosError> {
    look_up::<GetParameters, _>(
        open,
        "param/get_parameters",
        |request| request.names,
        |_, found| found.map_or_else(Default::default, |p| value::to_ros(p.value)),
        |values| GetParametersResponse { values },
    )?;
    look_up::<GetParameterTypes, _>(
        open,
        "param/get_parameter_types",
        |request| request.names,
        |_, found| found.map_or(0, |p| value::kind(p.value)),
        |types| GetParameterTypesResponse { types },
    )?;
    look_up::<DescribeParameters, _>(
        open,
        "param/describe_parameters",
        |request| request.names,
        |name, found| ParameterDescriptor {
            name,
            type_: found.map_or(0, |p| value::kind(p.value)),
            description: found
                .map_or_else(String::new, |p| format!("parameter of the vehicle, {:?}", p.kind)),
            ..Default::default()
        },
        |descriptors| DescribeParametersResponse { descriptors },
    )?;
    open.service::<ListParameters>("param/list_parameters", |autopilot, request, responder| {
        let prefixes = request.prefixes;
        let then = move |part: &mut ParameterPart, fcu: &mut Fcu, result: Result<usize, _>| {
            if let Err(error) = result {
                failed(fcu, "param/list_parameters", &describe(error));
            }
            // A partial list is listed, too.
            let names = part.machine.known().keys().map(ParameterName::as_str);
            let wanted = |name: &&str| {
                prefixes.is_empty()
                    || prefixes.iter().any(|prefix| {
                        let rest = name.strip_prefix(prefix.as_str());
                        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    })
            };
            let result = ListParametersResult {
                names: names.filter(wanted).map(str::to_owned).collect(),
                prefixes: Vec::new(),
            };
            responder.respond(ListParametersResponse { result });
        };
        with(autopilot, |part, fcu| part.list(fcu, false, Box::new(then)));
    })?;
    open.service::<SetParameters>("param/set_parameters", |autopilot, request, responder| {
        let then = move |results| responder.respond(SetParametersResponse { results });
        with(autopilot, |part, fcu| {
            part.set_all(fcu, &request.parameters, then);
        });
    })?;
    open.service::<SetParametersAtomically>(
        "param/set_parameters_atomically",
        |autopilot, request, responder| {
            // MAVLink sets one parameter after the other; values are validated before the first.
            let wanted = |p: &Parameter| value::wanted(&p.name, &p.value).err();
            if let Some(why) = request.parameters.iter().find_map(wanted) {
                let result = refused(why);
                return responder.respond(SetParametersAtomicallyResponse { result });
            }
            let then = move |results: Vec<SetParametersResult>| {
                let done = results.iter().filter(|result| result.successful).count();
                let result = (results.into_iter().find(|result| !result.successful)).map_or(
                    SetParametersResult { successful: true, ..Default::default() },
                    |first| refused(&format!("{}; {done} others were set", first.reason)),
                );
                responder.respond(SetParametersAtomicallyResponse { result });
            };
            with(autopilot, |part, fcu| {
                part.set_all(fcu, &request.parameters, then);
            });
        },
    )
}
