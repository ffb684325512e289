//! Parameters at run time: services, `/parameter_events`, and the effect of a change.
mod live;
mod server;

use crate::node::assembly::{Assembly, is_crowded};
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::subsystem::Subsystem;
use crate::node::tasks;
use crate::node::threads::REPORT;
use live::Live;
use server::ParameterServer;

pub(super) const SUBSYSTEM: Subsystem = Subsystem {
    open,
    topics: |_| {},
};

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let events = server::events(context.middleware)?;
    // QoS overrides of all publishers as parameters. Those of crowded topics take effect but are not listed.
    let writers = context.middleware.report().into_iter();
    let publishers: Vec<_> = writers
        .filter(|writer| !is_crowded(&assembly.crowds, &writer.topic))
        .map(|writer| (writer.topic, writer.qos))
        .collect();
    let on_change = std::mem::take(&mut assembly.on_change);
    let live = Live::new(context.changes.clone(), on_change, &publishers);
    let headers = context.clocks.headers(None);
    let others = (context.wishes.clone(), context.views.clone());
    let (server, wishes) =
        ParameterServer::start(context.middleware, events, headers, live, others)?;
    tasks::start(&assembly.threads.runtime(REPORT)?, wishes);
    assembly.guards.push(Box::new(server));
    Ok(())
}
