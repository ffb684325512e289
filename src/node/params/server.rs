//! The parameter services of the node, and `/parameter_events`; identical on every back end.
use super::live::LiveParameters;
#[cfg(has_rfly_bridge_msgs)]
use crate::config::SensorConfig;
use crate::config::params::{Description, reopens_sensor};
use crate::config::{ParamValue, Problem, Problems};
use crate::msgs::Service;
use crate::msgs::bounded::{FloatingPointRange, IntegerRange};
use crate::msgs::rcl_interfaces::msg::*;
use crate::msgs::rcl_interfaces::srv::*;
use crate::node::clock::HeaderClock;
use crate::node::parameter_requests::ParameterRequests;
use crate::node::parameter_values::{from_msg, to_msg};
use crate::node::sensor_views::SensorViews;
use crate::node::tasks::{self, Endless};
use crate::ros::{Middleware, Publisher, Qos, RosError, ServiceHandle};
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};

/// `rmw_qos_profile_parameter_events`.
const EVENTS: Qos = Qos::DEFAULT.with_depth(1000);

/// The parameter services, which close on drop.
pub(super) struct ParameterServer {
    _services: [ServiceHandle; 6],
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) server: Arc<ServerState>,
}

/// Applies the changes that other subsystems request.
pub(super) struct ParameterRequestTask {
    server: Arc<ServerState>,
    requests: ParameterRequests,
    views: SensorViews,
}

/// Interval of checks whether a sensor is ready for another change.
const READY_CHECK: Duration = Duration::from_millis(10);

impl Endless for ParameterRequestTask {
    fn name(&self) -> String {
        "requests for parameters".to_owned()
    }

    async fn work(&mut self) {
        loop {
            self.requests.wait().await;
            // Each sensor gets its newest request after its frames show the previous change. Otherwise no frame could be
            // assigned to one change.
            while self.apply_requests() {
                tokio::time::sleep(READY_CHECK).await;
            }
        }
    }
}

impl ParameterRequestTask {
    /// Applies the requests of all ready sensors; returns whether further requests wait.
    fn apply_requests(&self) -> bool {
        let is_ready = |seq_id| self.views.slot(seq_id).is_none_or(|slot| !slot.is_pending());
        let (values, has_more) = self.requests.take(is_ready);
        for value in values {
            if let Err(reason) = self.server.change(&[value], false) {
                tracing::warn!("{reason}");
            }
        }
        has_more
    }
}

pub(super) struct ServerState {
    node: String,
    events: Publisher<ParameterEvent>,
    clock: HeaderClock,
    live: Mutex<LiveParameters>,
    publishers: Publishers,
}

/// Lists the publishers whose QoS is a parameter.
pub(super) type Publishers = Box<dyn Fn() -> Vec<(String, Qos)> + Send + Sync>;

/// Publisher of `/parameter_events`; created before the server, because its QoS is a parameter too.
pub(super) fn events(middleware: &Middleware) -> Result<Publisher<ParameterEvent>, RosError> {
    middleware.publisher("/parameter_events", EVENTS)
}

impl ParameterServer {
    pub(super) fn start(
        middleware: &Middleware,
        events: Publisher<ParameterEvent>,
        clock: HeaderClock,
        (live, publishers): (LiveParameters, Publishers),
        (requests, views): (ParameterRequests, SensorViews),
    ) -> Result<(Self, ParameterRequestTask), RosError> {
        let server = Arc::new(ServerState {
            node: middleware.node_name().to_owned(),
            events,
            clock,
            live: Mutex::new(live),
            publishers,
        });
        server.announce_all();
        let open = ServiceOpener { middleware, server: &server };
        let services = [
            open.getter::<GetParameters>("get_parameters", ServerState::get)?,
            open.getter::<GetParameterTypes>("get_parameter_types", ServerState::types)?,
            open.setter::<SetParameters>("set_parameters", |r| &r.parameters, ServerState::set)?,
            open.setter::<SetParametersAtomically>(
                "set_parameters_atomically",
                |request| &request.parameters,
                ServerState::set_atomically,
            )?,
            open.getter::<DescribeParameters>("describe_parameters", ServerState::describe)?,
            open.getter::<ListParameters>("list_parameters", ServerState::list)?,
        ];
        let task = ParameterRequestTask { server: server.clone(), requests, views };
        let services = Self {
            _services: services,
            #[cfg(has_rfly_bridge_msgs)]
            server,
        };
        Ok((services, task))
    }
}

struct ServiceOpener<'a> {
    middleware: &'a Middleware,
    server: &'a Arc<ServerState>,
}

impl ServiceOpener<'_> {
    fn getter<S: Service>(
        &self,
        name: &str,
        answer: fn(&ServerState, S::Request) -> S::Response,
    ) -> Result<ServiceHandle, RosError> {
        self.setter::<S>(name, |_| &[], answer)
    }

    /// Opens a service. A change that reopens sensors is slow, so it runs on its own thread.
    fn setter<S: Service>(
        &self,
        name: &str,
        parameters: fn(&S::Request) -> &[Parameter],
        answer: fn(&ServerState, S::Request) -> S::Response,
    ) -> Result<ServiceHandle, RosError> {
        let server = self.server.clone();
        self.middleware.service::<S>(&format!("~/{name}"), move |request, responder| {
            let mut parameters = parameters(&request).iter();
            let is_slow = parameters.any(|parameter| reopens_sensor(&parameter.name));
            let server = server.clone();
            let answer = move || responder.respond(answer(&server, request));
            if !is_slow {
                answer();
            } else if let Err(error) = tasks::spawn_once("rfly-reopen", answer) {
                tracing::error!(%error, "parameters cannot be set");
            }
        })
    }
}

/// As in rclcpp without `allow_undeclared_parameters`, one undeclared name makes the whole response of a getter empty.
impl ServerState {
    fn get(&self, request: GetParametersRequest) -> GetParametersResponse {
        let live = self.live.lock();
        let value =
            |name: &String| live.store.get(name).map(|(value, kind)| to_msg(value, kind as u8));
        let values: Option<_> = request.names.iter().map(value).collect();
        GetParametersResponse { values: values.unwrap_or_default() }
    }

    fn types(&self, request: GetParameterTypesRequest) -> GetParameterTypesResponse {
        let live = self.live.lock();
        let param_type = |name: &String| live.store.get(name).map(|(_, kind)| kind as u8);
        let types: Option<_> = request.names.iter().map(param_type).collect();
        GetParameterTypesResponse { types: types.unwrap_or_default() }
    }

    fn describe(&self, request: DescribeParametersRequest) -> DescribeParametersResponse {
        let live = self.live.lock();
        let descriptor = |name: &String| live.store.describe(name).map(to_descriptor);
        let descriptors: Option<_> = request.names.iter().map(descriptor).collect();
        DescribeParametersResponse { descriptors: descriptors.unwrap_or_default() }
    }

    fn list(&self, request: ListParametersRequest) -> ListParametersResponse {
        let (names, prefixes) = self.live.lock().store.list(&request.prefixes, request.depth);
        ListParametersResponse { result: ListParametersResult { names, prefixes } }
    }

    fn set(&self, request: SetParametersRequest) -> SetParametersResponse {
        let set = |parameter| self.set_together(std::slice::from_ref(parameter));
        SetParametersResponse { results: request.parameters.iter().map(set).collect() }
    }

    fn set_atomically(
        &self,
        request: SetParametersAtomicallyRequest,
    ) -> SetParametersAtomicallyResponse {
        SetParametersAtomicallyResponse { result: self.set_together(&request.parameters) }
    }

    fn set_together(&self, parameters: &[Parameter]) -> SetParametersResult {
        let value = |parameter: &Parameter| match from_msg(&parameter.value) {
            Some(value) => Ok((parameter.name.clone(), value)),
            None => Err(format!("{}: has no value; it cannot be undeclared", parameter.name)),
        };
        let values: Result<Vec<_>, _> = parameters.iter().map(value).collect();
        let refused = values.and_then(|values| self.change(&values, true)).err();
        SetParametersResult { successful: refused.is_none(), reason: refused.unwrap_or_default() }
    }

    /// Changes all values, or changes none and returns why.
    fn change(&self, values: &[(String, ParamValue)], is_logged: bool) -> Result<(), String> {
        // The lock is held until the event is published, so that events keep the order of the changes.
        let mut live = self.live.lock();
        let reopens = values.iter().any(|(name, _)| reopens_sensor(name));
        let names = reopens.then(|| names_of(&live));
        let (checked, effects) =
            live.set(values, is_logged).map_err(|Problems(problems)| one_line(&problems))?;
        let changed = checked.changes.iter().map(|(name, _)| name.as_str());
        let changed_parameters = parameters_of(&live, changed);
        self.publish(ParameterEvent { changed_parameters, ..ParameterEvent::default() });
        drop(live);
        effects.into_iter().for_each(|wait| wait());
        if let Some(names) = names {
            self.announce_changes(&names);
        }
        Ok(())
    }

    /// Adds a sensor, or returns all faults of its entry. Problems returned with a sensor are notes.
    #[cfg(has_rfly_bridge_msgs)]
    pub(super) fn add(&self, row: &str) -> Result<(SensorConfig, Vec<Problem>), Problems> {
        let mut live = self.live.lock();
        let names = names_of(&live);
        let (sensor, notes, effects) = live.add(row)?;
        drop(live);
        effects.into_iter().for_each(|wait| wait());
        self.announce_changes(&names);
        Ok((sensor, notes))
    }

    /// Declares the parameters of new publishers; announces the new and deleted parameters, compared with `old_names`.
    fn announce_changes(&self, old_names: &[String]) {
        let mut live = self.live.lock();
        live.store.declare_publishers(&(self.publishers)());
        let is_new =
            |name: &&str| old_names.binary_search_by(|old| old.as_str().cmp(name)).is_err();
        let new_parameters = parameters_of(&live, live.store.names().filter(is_new));
        let deleted = old_names.iter().filter(|name| live.store.get(name).is_none());
        let deleted_parameters =
            deleted.map(|name| Parameter { name: name.clone(), ..Parameter::default() }).collect();
        let event =
            ParameterEvent { new_parameters, deleted_parameters, ..ParameterEvent::default() };
        if !event.new_parameters.is_empty() || !event.deleted_parameters.is_empty() {
            self.publish(event);
        }
    }

    /// Announces all parameters in one message; rclcpp publishes one message per declaration.
    fn announce_all(&self) {
        let live = self.live.lock();
        let new_parameters = parameters_of(&live, live.store.names());
        self.publish(ParameterEvent { new_parameters, ..ParameterEvent::default() });
    }

    fn publish(&self, mut event: ParameterEvent) {
        event.stamp = self.clock.now().to_msg();
        event.node = self.node.clone();
        // The publisher counts failures.
        let _counted = self.events.publish(&event);
    }
}

pub(super) fn one_line(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn names_of(live: &LiveParameters) -> Vec<String> {
    live.store.names().map(str::to_owned).collect()
}

fn parameters_of<'a>(
    live: &LiveParameters,
    names: impl Iterator<Item = &'a str>,
) -> Vec<Parameter> {
    let parameter = |name: &'a str| {
        let (value, kind) = live.store.get(name)?;
        Some(Parameter { name: name.to_owned(), value: to_msg(value, kind as u8) })
    };
    names.filter_map(parameter).collect()
}

fn to_descriptor(description: Description) -> ParameterDescriptor {
    let integers = description.integers;
    let integers =
        integers.map(|(from_value, to_value)| IntegerRange { from_value, to_value, step: 0 });
    let reals = description.reals.map(|(from_value, to_value)| FloatingPointRange {
        from_value,
        to_value,
        step: 0.0,
    });
    ParameterDescriptor {
        name: description.name,
        type_: description.param_type as u8,
        description: description.description,
        additional_constraints: description.constraints,
        read_only: description.read_only,
        dynamic_typing: false,
        floating_point_range: reals.into_iter().collect(),
        integer_range: integers.into_iter().collect(),
    }
}
