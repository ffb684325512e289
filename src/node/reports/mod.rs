//! Reports of the renderer on port 20006: requested while they have readers, published, and shared with other subsystems.
mod source;
mod topics;

use crate::node::{
    assembly::Assembly, context::Context, error::NodeError, subsystem::Subsystem, tasks,
    threads::REPORT,
};
use source::ReportSource;

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics: topics::document };

fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    let name = "reports of the renderer";
    let runtime = assembly.threads.runtime(REPORT)?;
    let _entered = runtime.enter();
    let options = context.senders.group(context.settings.ports.report);
    let Some(receiver) = assembly.binder.bind(&options, name) else { return Ok(()) };
    let stats = assembly.add_source(name.to_owned());
    tasks::start_counted(&runtime, stats.clone(), ReportSource::open(context, receiver, stats)?);
    Ok(())
}
