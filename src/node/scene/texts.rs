//! Publishes texts that the renderer sends to the port for requests to CopterSim.
use super::full_name;
use crate::msgs::std_msgs::msg::String as Text;
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError, group_topic,
    threads::REPORT,
};
use crate::{config::params::QosGroup, wire::scene_text};

/// The row of the documentation.
pub(super) const ROW: &str = "\
| `/rflysim/scene/texts` | out | `std_msgs/msg/String` | `reports` | with `scene.texts`: texts that the renderer sends to 224.0.0.10:20002; their meaning is not documented |
";

pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    if context.settings.params.scene.texts {
        let topic = full_name(context, "scene/texts");
        let publisher = context.publisher(QosGroup::Reports, &topic)?;
        let runtime = assembly.threads.runtime(REPORT)?;
        let origin = ("texts of the renderer", context.settings.ports.requests);
        group_topic::open(context, (assembly, &runtime), origin, publisher, read);
    }
    Ok(())
}

fn read(bytes: &[u8]) -> Result<Text, Cause> {
    // The port also receives requests to CopterSim.
    let text = scene_text(bytes).ok_or(Cause::NotRead)?;
    let data = text.to_owned();
    Ok(Text { data })
}
