//! Topics whose messages are sent to a model.
use super::model_socket::{ModelSocket, READ_ONLY};
use super::refusals::Refusals;
use crate::model::{self, Datagrams, InputError};
use crate::msgs::Message;
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::ros::Qos;
use crate::wire::Surroundings;
use std::net::SocketAddrV4;

/// Reliable, because each message is sent once; deep enough for a burst of inputs.
const INPUTS: Qos = Qos { depth: 20, ..Qos::DEFAULT };

/// Opens the topics of a vehicle.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    socket: &ModelSocket,
    refusals: &Refusals,
) -> Result<(), NodeError> {
    let world = context.settings.params.frames.world;
    let mut inputs = Inputs { context, assembly, socket, refusals };
    let (to, custom) = (socket.model, socket.custom);
    inputs.open("model/inputs", to, model::sil)?;
    inputs.open("model/doubles", to, model::doubles)?;
    inputs.open("model/command", to, move |id, m| model::command(id, world, m))?;
    inputs.open("model/initial_parameters", to, model::initial_parameters)?;
    inputs.open("model/dynamic_parameters", to, model::dynamic_parameters)?;
    inputs.open("model/renderer", to, model::renderer)?;
    inputs
        .open("model/collision", to, |id, m| model::surroundings(id, Surroundings::Collision, m))?;
    inputs.open("model/terrain", to, |id, m| model::surroundings(id, Surroundings::Terrain, m))?;
    inputs.open("model/rays", to, move |id, m| model::rays(id, world, m))?;
    inputs.open("model/uorb", to, model::uorb)?;
    inputs.open("model/custom_data", custom, model::custom_data)
}

struct Inputs<'a, 'c> {
    context: &'a Context<'c>,
    assembly: &'a mut Assembly,
    socket: &'a ModelSocket,
    refusals: &'a Refusals,
}

impl Inputs<'_, '_> {
    fn open<M: Message>(
        &mut self,
        name: &str,
        to: SocketAddrV4,
        convert: impl Fn(u16, &M) -> Result<Datagrams, InputError> + Send + 'static,
    ) -> Result<(), NodeError> {
        let topic = self.context.of_vehicle(self.socket.vehicle, name);
        let (socket, refusals, named) = (self.socket.clone(), self.refusals.clone(), topic.clone());
        let take = move |message: M| {
            if socket.read_only {
                return refusals.refuse(&named, Cause::ReadOnly, READ_ONLY);
            }
            let datagrams = match convert(socket.vehicle, &message) {
                Ok(datagrams) => datagrams,
                Err(InputError { cause, text }) => {
                    return refusals.refuse(&named, Cause::Model(cause), &text);
                }
            };
            let sent = datagrams.iter().try_for_each(|bytes| socket.send(bytes, to));
            match sent {
                Ok(()) => refusals.took(),
                Err(text) => refusals.refuse(&named, Cause::NotSent, &text),
            }
        };
        let subscription = self.context.middleware.subscribe(&topic, INPUTS, take)?;
        self.assembly.guards.push(Box::new(subscription));
        Ok(())
    }
}
