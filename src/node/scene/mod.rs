//! Services of the scene: `simulation_interfaces`, and services of the bridge below `scene`.
#[cfg(has_simulation_interfaces)]
mod bounds;
mod scene_socket;
mod server;
mod services;
#[cfg(has_rfly_bridge_msgs)]
mod states;
#[cfg(has_simulation_interfaces)]
mod stepping;
mod texts;

#[cfg(has_simulation_interfaces)]
use crate::node::replay_steps;
use crate::node::subsystem::{SERVICE_HEAD, Subsystem, TopicPage};
use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, settings::topic_below, tasks,
    threads::REPORT,
};
#[cfg(has_simulation_interfaces)]
use crate::{
    msgs::simulation_interfaces::action::SimulateSteps, ros::GoalRequest,
    scene::standard::simulate_steps,
};
use server::{AbandonedObjects, SceneServer};
use std::fmt::Write as _;

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let server = SceneServer::open(context, assembly)?;
    tasks::start(&assembly.threads.runtime(REPORT)?, AbandonedObjects(server.clone()));
    #[cfg(has_simulation_interfaces)]
    {
        let pending = bounds::PendingBounds::open(assembly, &server)?;
        let name = full_name(context, "~/get_entity_bounds");
        let handle = pending.serve(context.middleware, &name)?;
        assembly.guards.push(Box::new(handle));
        let (headers, stats) = (context.clocks.headers(None), server.stats.clone());
        let abort = move |request: GoalRequest<SimulateSteps>| {
            stats.lock().received += 1;
            request.accept().abort(simulate_steps());
        };
        let name = full_name(context, "~/simulate_steps");
        let action = context.middleware.action(&name, move || headers.now(), abort)?;
        assembly.guards.push(Box::new(action));
    }
    for service in services::rows() {
        let name = full_name(context, service.name);
        #[cfg(has_simulation_interfaces)]
        if let Some(queue) = replay_steps::step_queue()
            && service.name == stepping::NAME
        {
            let handle = stepping::serve(queue, context.middleware, &name)?;
            assembly.guards.push(Box::new(handle));
            continue;
        }
        let handle = (service.open)(&server, context.middleware, &name)?;
        assembly.guards.push(Box::new(handle));
    }
    #[cfg(has_rfly_bridge_msgs)]
    states::open(context, assembly, &server)?;
    texts::open(context, assembly)
}

/// Services of `simulation_interfaces` are below the node, or in its namespace with `scene.at_root`; others below `topic_prefix`.
fn full_name(context: &Context<'_>, name: &str) -> String {
    let params = &context.settings.params;
    match name.strip_prefix("~/") {
        Some(standard) if params.scene.at_root => standard.to_owned(),
        Some(_) => name.to_owned(),
        None => topic_below(&params.topic_prefix, name),
    }
}

fn topics(page: &mut TopicPage) {
    page.chapters += HEAD;
    #[cfg(has_rfly_bridge_msgs)]
    page.chapters.push_str(states::ROW);
    page.chapters += texts::ROW;
    page.chapters += SERVICE_HEAD;
    for service in services::rows() {
        let name = match service.name.strip_prefix('~') {
            Some(name) => format!("/rfly_bridge{name}"),
            None => format!("/rflysim/{}", service.name),
        };
        let (interface, doc) = (service.interface, service.doc);
        let _ = writeln!(page.chapters, "| `{name}` | `{interface}` | {doc} |");
    }
    #[cfg(has_simulation_interfaces)]
    page.chapters.extend([bounds::ROW, ACTION]);
}

const HEAD: &str = "
# Scene

Services of `simulation_interfaces` are below the bridge's node, or in its namespace with `scene.at_root`; the others are below `topic_prefix`. [scene.md](scene.md) has an example of each.

| Topic | | Type | QoS | Content |
|---|---|---|---|---|
";

#[cfg(has_simulation_interfaces)]
const ACTION: &str = "
| Action | Type | What it does |
|---|---|---|
| `/rfly_bridge/simulate_steps` | `simulation_interfaces/action/SimulateSteps` | aborts each goal at once: there is no pause |
";
