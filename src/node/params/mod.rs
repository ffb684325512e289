//! Parameters at run time: services, `/parameter_events`, and the effect of a change.
#[cfg(has_rfly_bridge_msgs)]
mod add_sensor;
mod live;
mod server;

use crate::node::assembly::{Assembly, is_grouped};
use crate::node::{
    context::Context, error::NodeError, subsystem::Subsystem, tasks, threads::REPORT,
};
use live::LiveParameters;
use server::{ParameterServer, Publishers};

pub(super) const SUBSYSTEM: Subsystem = Subsystem {
    open,
    #[cfg(has_rfly_bridge_msgs)]
    topics: add_sensor::topics,
    #[cfg(not(has_rfly_bridge_msgs))]
    topics: |_| {},
};

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let events = server::events(context.middleware)?;
    // QoS overrides of publishers are parameters. Overrides of grouped topics take effect but are not listed.
    let (middleware, topic_groups) = (context.middleware.clone(), assembly.topic_groups.clone());
    let publishers: Publishers = Box::new(move || {
        let writers = middleware.report().into_iter();
        let listed = writers.filter(|writer| !is_grouped(&topic_groups, &writer.topic));
        listed.map(|writer| (writer.topic, writer.qos)).collect()
    });
    let prepare = std::mem::take(&mut assembly.prepare);
    let live = LiveParameters::new(context.changes.clone(), prepare, &publishers());
    let headers = context.clocks.headers(None);
    let requests = (context.parameter_requests.clone(), context.views.clone());
    let (server, request_task) =
        ParameterServer::start(context.middleware, events, headers, (live, publishers), requests)?;
    tasks::start(&assembly.threads.runtime(REPORT)?, request_task);
    #[cfg(has_rfly_bridge_msgs)]
    assembly.guards.push(Box::new(add_sensor::open(context, &server.server)?));
    assembly.guards.push(Box::new(server));
    Ok(())
}
