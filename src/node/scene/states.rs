//! The topic `scene/set_states`: states of many entities in one message.
use super::{full_name, server::SceneServer};
use crate::node::{assembly::Assembly, cause::Cause, context::Context, error::NodeError};
use crate::{msgs::rfly_bridge_msgs::msg::EntityStates, ros::Qos, scene::own::set_states};
use std::collections::BTreeSet;

/// The row of the documentation.
pub(super) const ROW: &str = "\
| `/rflysim/scene/set_states` | in | `rfly_bridge_msgs/msg/EntityStates` |  | poses of many entities, with motors, size, velocity, rates, time, fit to ground; best effort, depth 5 |
";

pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    server: &SceneServer,
) -> Result<(), NodeError> {
    let stats = assembly.add_source_on_demand("scene/set_states".to_owned());
    let (server, name) = (server.clone(), full_name(context, "scene/set_states"));
    let mut logged = BTreeSet::new();
    let draw = move |message: EntityStates| {
        let (drawn, skipped) = server.run(|call| set_states(call, &message));
        let mut figures = stats.lock();
        figures.received += 1;
        if drawn > 0 {
            figures.frames += 1;
        }
        for reason in &skipped {
            figures.count(Cause::Scene(reason.cause));
        }
        drop(figures);
        for reason in skipped {
            if logged.insert(reason.cause) {
                tracing::warn!("scene/set_states: {}; logged once", reason.message);
            }
        }
    };
    let subscription = context.middleware.subscribe(&name, Qos::SENSOR_DATA, draw)?;
    assembly.guards.push(Box::new(subscription));
    Ok(())
}
