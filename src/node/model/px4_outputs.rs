//! Values that a modified autopilot sends to a port of its own.
use super::refusals::Refusals;
use crate::config::params::QosGroup;
use crate::msgs::rfly_bridge_msgs::msg::ModelOutput;
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::clock::HeaderClock;
use crate::node::context::Context;
use crate::node::error::NodeError;
use crate::node::tasks::{self, Endless};
use crate::ros::Publisher;
use crate::transport::{BindOptions, Received, UdpReceiver};
use crate::wire::{Packet as _, Px4ExtPacket};
use std::io::IoSliceMut;
use std::time::Duration;
use tokio::runtime::Handle;

/// Longer than the datagram.
const BUFFER: usize = 256;

/// Opens the port and the topic of a vehicle.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
    vehicle: u16,
    refusals: &Refusals,
) -> Result<(), NodeError> {
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
    let what = format!("outputs of the autopilot of vehicle {vehicle}");
    let Some(receiver) = assembly.binder.bind(&options, &what) else {
        return Ok(());
    };
    let topic = context.of_vehicle(vehicle, "model/px4_output");
    let outputs = Outputs {
        vehicle,
        receiver,
        publisher: context.publisher(QosGroup::State, &topic)?,
        topic,
        frame: context.tree.base_link(vehicle),
        headers: context.clocks.headers(Some(vehicle)),
        refusals: refusals.clone(),
    };
    tasks::start(runtime, outputs);
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
}

impl Endless for Outputs {
    fn name(&self) -> String {
        format!("outputs of the autopilot of vehicle {}", self.vehicle)
    }

    async fn work(&mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            // Datagrams may arrive without a gap: other tasks of the thread run, too.
            tokio::task::coop::consume_budget().await;
            let received = self.receiver.try_recv(&mut [IoSliceMut::new(&mut buffer)]);
            match received {
                Ok(Some(Received::Datagram(datagram))) => {
                    self.publish(&buffer[..datagram.len.min(BUFFER)]);
                }
                Ok(Some(Received::Refused)) => {}
                Ok(None) => {
                    if self.receiver.readable().await.is_err() {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }
                // Keeps a permanently failing socket from spinning.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
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
        self.refusals.took();
        let mut message = ModelOutput {
            values: packet.controls.map(|value| f64::from(value.get())).to_vec(),
            ..ModelOutput::default()
        };
        message.header.stamp = self.headers.now().to_msg();
        message.header.frame_id.clone_from(&self.frame);
        // The publisher counts failures.
        let _counted = self.publisher.publish(&message);
    }
}
