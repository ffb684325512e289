//! Start signals, as programs wait for them.
use super::of_fleet;
use crate::config::params::QosGroup;
use crate::msgs::std_msgs::msg::Int32;
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::context::Context;
use crate::node::datagrams::{BUFFER, receive};
use crate::node::error::NodeError;
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, Source};
use crate::ros::Publisher;
use crate::transport::UdpReceiver;
use crate::wire::{Packet as _, StartSignalPacket};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;

/// Opens the port and the topic.
pub(super) fn open(
    context: &Context<'_>,
    assembly: &mut Assembly,
    runtime: &Handle,
) -> Result<(), NodeError> {
    if !context.settings.params.model.start_signals {
        return Ok(());
    }
    let name = "start signals";
    let options = context.senders.group(context.settings.ports.start);
    let Some(receiver) = assembly.binder.bind(&options, name) else {
        return Ok(());
    };
    let signals = Signals {
        receiver,
        publisher: context.publisher(QosGroup::State, &of_fleet(context, "fleet/start"))?,
        stats: assembly.source_on_demand(name.to_owned()),
    };
    tasks::start(runtime, signals);
    Ok(())
}

struct Signals {
    receiver: UdpReceiver,
    publisher: Publisher<Int32>,
    stats: Arc<SourceStats>,
}

impl Source for Signals {
    fn stats(&self) -> &SourceStats {
        &self.stats
    }

    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            let received = receive(&mut self.receiver, &mut buffer, &self.stats, || true).await;
            let Some(datagram) = received else {
                continue;
            };
            let taken = self.take(&buffer[..datagram.len.min(BUFFER)]);
            let mut figures = self.stats.lock();
            match taken {
                Ok(()) => {
                    figures.frames += 1;
                    figures.last_frame = Some(Instant::now());
                }
                Err(cause) => figures.drop_one(cause),
            }
        }
    }
}

impl Signals {
    fn take(&self, bytes: &[u8]) -> Result<(), Cause> {
        let signal = StartSignalPacket::parse(bytes).map_err(|_error| Cause::Malformed)?;
        // The vendor's programs go on waiting.
        if signal.start.get() == 0 {
            return Err(Cause::NotRead);
        }
        let message = Int32 {
            data: signal.copter_id.get().max(StartSignalPacket::ALL),
        };
        let published = self.publisher.publish(&message);
        published.map(drop).map_err(|_error| Cause::Publish)
    }
}
