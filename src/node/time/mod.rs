//! The simulation time on `/clock`.
use crate::config::params::{QosGroup, StampMode};
use crate::node::assembly::Assembly;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::subsystem::{Subsystem, TopicPage};

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, _: &mut Assembly) -> Result<(), NodeError> {
    match context.settings.params.time.mode {
        StampMode::Sim => {
            let publisher = context.publisher(QosGroup::Clock, "/clock")?;
            context.clocks.publish_on(publisher);
        }
        StampMode::Aligned | StampMode::Arrival => {}
    }
    Ok(())
}

fn topics(page: &mut TopicPage) {
    page.topic(
        &["/clock"],
        "rosgraph_msgs/msg/Clock",
        &[QosGroup::Clock],
        "simulation time, with `time.mode: sim` only",
    );
}
