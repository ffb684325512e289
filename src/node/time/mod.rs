//! The simulation time on `/clock`.
use crate::config::params::{QosGroup, StampMode};
use crate::node::subsystem::{Subsystem, TopicPage};
use crate::node::{assembly::Assembly, context::Context, error::NodeError};

pub(super) const SUBSYSTEM: Subsystem = Subsystem { open, topics };

fn open(context: &Context<'_>, _: &mut Assembly) -> Result<(), NodeError> {
    if context.settings.params.time.mode == StampMode::Sim {
        context.clocks.publish_on(context.publisher(QosGroup::Clock, "/clock")?);
    }
    Ok(())
}

fn topics(page: &mut TopicPage) {
    let doc = "simulation time, with `time.mode: sim` only";
    page.topic(&["/clock"], "rosgraph_msgs/msg/Clock", &[QosGroup::Clock], doc);
}
