//! Publishes the start signals for which programs of the fleet wait.
use super::fleet_name;
use crate::node::{
    assembly::Assembly, cause::Cause, context::Context, error::NodeError, group_topic,
};
use crate::wire::{Packet as _, StartSignalPacket};
use crate::{config::params::QosGroup, msgs::std_msgs::msg::Int32};
use tokio::runtime::Handle;

pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
) -> Result<(), NodeError> {
    if context.settings.params.model.start_signals {
        let topic = fleet_name(context, "fleet/start");
        let publisher = context.publisher(QosGroup::State, &topic)?;
        let origin = ("start signals", context.settings.ports.start);
        group_topic::open(context, (assembly, runtime), origin, publisher, read);
    }
    Ok(())
}

fn read(bytes: &[u8]) -> Result<Int32, Cause> {
    let signal = StartSignalPacket::parse(bytes).map_err(|_error| Cause::Malformed)?;
    // The vendor's programs ignore a signal whose `start` is 0.
    if signal.start.get() == 0 {
        return Err(Cause::NotRead);
    }
    let data = signal.copter_id.get().max(StartSignalPacket::ALL);
    Ok(Int32 { data })
}
