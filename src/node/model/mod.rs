//! The models of the vehicles, and their `CopterSim`s: faults, inputs, outputs, requests, readiness of the fleet.
mod faults;
mod fleet;
mod inputs;
mod model_socket;
mod px4_outputs;
mod refusals;
mod requests;
mod start_signals;

use crate::model::{FAULT_KINDS, MODEL_SERVICES, MODEL_TOPICS};
use crate::msgs::Service;
use crate::node::subsystem::{SERVICE_HEAD, Subsystem, TopicPage};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, settings::topic_below, threads::REPORT,
};
use model_socket::ModelSocket;
use refusals::Refusals;
use std::fmt::Write as _;
use tokio::runtime::Handle;

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let runtime = assembly.threads.runtime(REPORT)?;
    let _entered = runtime.enter();
    let refusals = Refusals::default();
    assembly.add_section("models", refusals.clone());
    let is_enabled = context.settings.params.model.enabled;
    for vehicle in context.settings.vehicles().into_iter().filter(|_| is_enabled) {
        let socket = ModelSocket::new(context.settings, vehicle)?;
        let (refusals, runtime) = (refusals.clone(), runtime.clone());
        let mut model =
            VehicleModel { context, assembly: &mut *assembly, runtime, socket, refusals };
        inputs::open(&mut model)?;
        px4_outputs::open(&mut model)?;
        requests::open(&mut model)?;
        faults::open(&mut model)?;
        for name in ["model", "coptersim"] {
            let group = context.middleware.resolve(&model.full_name(name));
            model.assembly.topic_groups.extend(group.ok());
        }
    }
    fleet::open(context, assembly, &runtime)?;
    start_signals::open(context, assembly, &runtime)
}

/// A vehicle's model while its topics and services are opened.
struct VehicleModel<'a, 'c> {
    context: &'a Context<'c>,
    assembly: &'a mut Assembly,
    runtime: Handle,
    socket: ModelSocket,
    refusals: Refusals,
}

impl VehicleModel<'_, '_> {
    /// Full name of a topic or service of the vehicle.
    fn full_name(&self, name: &str) -> String {
        self.context.settings.vehicle_topic(self.socket.vehicle, name)
    }

    /// Offers a service that responds at once.
    fn serve<S: Service>(
        &mut self,
        name: &str,
        mut answer: impl FnMut(S::Request) -> S::Response + Send + 'static,
    ) -> Result<(), NodeError> {
        let service = self.context.middleware.service::<S>(name, move |request, responder| {
            responder.respond(answer(request));
        })?;
        self.assembly.guards.push(Box::new(service));
        Ok(())
    }
}

/// Full name of a topic or service of the whole fleet.
fn fleet_name(context: &Context<'_>, name: &str) -> String {
    topic_below(&context.settings.params.topic_prefix, name)
}

fn topics(page: &mut TopicPage) {
    page.chapters += MODEL;
    page.topic_rows("/rflysim/", MODEL_TOPICS);
    page.chapters += SERVICE_HEAD;
    page.service_rows("/rflysim/", MODEL_SERVICES);
    page.chapters += FAULTS;
    for kind in FAULT_KINDS {
        let [sdk, template] = kind.ids();
        let _ = writeln!(
            page.chapters,
            "| `{}` | {sdk} | {template} | {} | {} | {} |",
            kind.name,
            kind.parameters.describe(),
            kind.describe_end(),
            kind.doc
        );
    }
}

const MODEL: &str = "
# Models of vehicles, CopterSim, simulated network

With several vehicles `model/*` and `coptersim/*` are below `/rflysim/copter<id>`. Examples: [model.md](model.md).
Subscriptions are reliable, volatile: what is sent once arrives; writers that are best effort do not match.

| Topic | | Type | QoS | Content |
|---|---|---|---|---|
";

const FAULTS: &str = "
## Kinds of faults

Numbers are chosen by `model.fault_numbers`; `id` of the request takes precedence.

| Kind | `sdk` | `template` | Parameters | Ended by | Effect |
|---|---|---|---|---|---|
";
