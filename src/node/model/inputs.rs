//! Topics whose messages are sent to a model.
use super::{VehicleModel, model_socket::READ_ONLY};
use crate::model::{self, InputError, InputResult};
use crate::node::{cause::Cause, error::NodeError};
use crate::{msgs::Message, ros::Qos, wire::Surroundings};
use std::net::SocketAddrV4;

/// Reliable, because each message is sent once; deep enough for a burst of inputs.
const INPUTS: Qos = Qos { depth: 20, ..Qos::DEFAULT };

pub(super) fn open(vehicle: &mut VehicleModel<'_, '_>) -> Result<(), NodeError> {
    let world = vehicle.context.settings.params.frames.world;
    let (to, custom) = (vehicle.socket.model, vehicle.socket.custom);
    let collision = |id, m: &_| model::surroundings(id, Surroundings::Collision, m);
    let terrain = |id, m: &_| model::surroundings(id, Surroundings::Terrain, m);
    vehicle.open_input("model/inputs", to, model::sil)?;
    vehicle.open_input("model/doubles", to, model::doubles)?;
    vehicle.open_input("model/command", to, move |id, m| model::command(id, world, m))?;
    vehicle.open_input("model/initial_parameters", to, model::initial_parameters)?;
    vehicle.open_input("model/dynamic_parameters", to, model::dynamic_parameters)?;
    vehicle.open_input("model/renderer", to, model::renderer)?;
    vehicle.open_input("model/collision", to, collision)?;
    vehicle.open_input("model/terrain", to, terrain)?;
    vehicle.open_input("model/rays", to, move |id, m| model::rays(id, world, m))?;
    vehicle.open_input("model/uorb", to, model::uorb)?;
    vehicle.open_input("model/custom_data", custom, model::custom_data)
}

impl VehicleModel<'_, '_> {
    /// Opens a topic whose messages are sent to `to`.
    fn open_input<M: Message>(
        &mut self,
        name: &str,
        to: SocketAddrV4,
        convert: impl Fn(u16, &M) -> InputResult + Send + 'static,
    ) -> Result<(), NodeError> {
        let topic = self.full_name(name);
        let (socket, refusals, name) = (self.socket.clone(), self.refusals.clone(), topic.clone());
        let send = move |message: M| {
            if socket.is_read_only {
                return refusals.refuse(&name, Cause::ReadOnly, READ_ONLY);
            }
            let datagrams = match convert(socket.vehicle, &message) {
                Ok(datagrams) => datagrams,
                Err(InputError { cause, text }) => {
                    return refusals.refuse(&name, Cause::Model(cause), &text);
                }
            };
            let sent = datagrams.iter().try_for_each(|bytes| socket.send(bytes, to));
            match sent {
                Ok(()) => refusals.count_passed_on(),
                Err(text) => refusals.refuse(&name, Cause::NotSent, &text),
            }
        };
        let subscription = self.context.middleware.subscribe(&topic, INPUTS, send)?;
        self.assembly.guards.push(Box::new(subscription));
        Ok(())
    }
}
