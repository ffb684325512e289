//! Publishes the values that a modified autopilot sends to a port of its own.
use super::{VehicleModel, refusals::Refusals};
use crate::config::params::QosGroup;
use crate::msgs::rfly_bridge_msgs::msg::ModelOutput;
use crate::node::datagrams::{BUFFER, receive};
use crate::node::tasks::{self, CountedTask};
use crate::node::{cause::Cause, clock::HeaderClock, error::NodeError, stats::SourceStats};
use crate::ros::Publisher;
use crate::transport::{BindOptions, UdpReceiver};
use crate::wire::{Packet as _, Px4ExtPacket};
use std::sync::Arc;

pub(super) fn open(model: &mut VehicleModel<'_, '_>) -> Result<(), NodeError> {
    let (context, vehicle) = (model.context, model.socket.vehicle);
    let params = &context.settings.params;
    if !params.model_outputs {
        return Ok(());
    }
    // A program of the vendor's SDK may have the same port open.
    let options = BindOptions {
        reuse: true,
        copy_to: params.forward_to,
        ..context.senders.port(context.settings.ports.outputs(vehicle))
    };
    let what = format!("px4_output of vehicle {vehicle}");
    let Some(receiver) = model.assembly.binder.bind(&options, &what) else { return Ok(()) };
    let topic = model.full_name("model/px4_output");
    let outputs = Outputs {
        vehicle,
        receiver,
        publisher: context.publisher(QosGroup::State, &topic)?,
        topic,
        frame: context.tree.base_link(vehicle),
        headers: context.clocks.headers(Some(vehicle)),
        refusals: model.refusals.clone(),
        stats: model.assembly.add_source_on_demand(what),
    };
    tasks::start_counted(&model.runtime, outputs.stats.clone(), outputs);
    Ok(())
}

struct Outputs {
    vehicle: u16,
    receiver: UdpReceiver,
    publisher: Publisher<ModelOutput>,
    topic: String,
    frame: String,
    headers: HeaderClock,
    refusals: Refusals,
    stats: Arc<SourceStats>,
}

impl CountedTask for Outputs {
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            let received = receive(&mut self.receiver, &mut buffer, &self.stats, || true).await;
            if let Some(datagram) = received {
                self.publish(&buffer[..datagram.len.min(BUFFER)]);
            }
        }
    }
}

impl Outputs {
    fn publish(&self, bytes: &[u8]) {
        let packet = match Px4ExtPacket::parse(bytes) {
            Ok(packet) if packet.copter_id.get() == i32::from(self.vehicle) => packet,
            Ok(packet) => {
                let text = format!(
                    "a datagram of vehicle {} arrived at the port of vehicle {}",
                    packet.copter_id, self.vehicle
                );
                return self.refusals.refuse(&self.topic, Cause::OtherVehicle, &text);
            }
            Err(error) => {
                return self.refusals.refuse(&self.topic, Cause::Malformed, &error.to_string());
            }
        };
        self.refusals.count_passed_on();
        let mut message = ModelOutput {
            values: packet.controls.map(|value| f64::from(value.get())).to_vec(),
            ..ModelOutput::default()
        };
        message.header.stamp = self.headers.now().to_msg();
        message.header.frame_id.clone_from(&self.frame);
        let published = self.publisher.publish(&message);
        let mut figures = self.stats.lock();
        figures.count_frame();
        match published {
            Ok(_) => figures.converted += 1,
            Err(_) => figures.count(Cause::Publish),
        }
    }
}
