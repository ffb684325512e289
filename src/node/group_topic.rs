//! Datagrams of a multicast group that become messages of one topic.
use super::assembly::Assembly;
use super::cause::Cause;
use super::context::Context;
use super::datagrams::{BUFFER, receive};
use super::stats::SourceStats;
use super::tasks::{self, Source};
use crate::msgs::Message;
use crate::ros::Publisher;
use crate::transport::UdpReceiver;
use std::sync::Arc;
use tokio::runtime::Handle;

/// Reads a datagram.
type Read<M> = fn(&[u8]) -> Result<M, Cause>;

/// Where the datagrams come from: what the log calls them, and their port.
type Origin = (&'static str, u16);

struct GroupTopic<M: Message> {
    receiver: UdpReceiver,
    publisher: Publisher<M>,
    read: Read<M>,
    stats: Arc<SourceStats>,
}

/// Binds the port and publishes what comes; a port that is taken is reported with all others.
pub(super) fn open<M: Message>(
    context: &Context<'_>,
    (assembly, runtime): (&mut Assembly, &Handle),
    (name, port): Origin,
    publisher: Publisher<M>,
    read: Read<M>,
) {
    let _entered = runtime.enter();
    let options = context.senders.group(port);
    if let Some(receiver) = assembly.binder.bind(&options, name) {
        let topic = GroupTopic {
            receiver,
            publisher,
            read,
            stats: assembly.source_on_demand(name.to_owned()),
        };
        tasks::start(runtime, topic);
    }
}

impl<M: Message> Source for GroupTopic<M> {
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
            let message = (self.read)(&buffer[..datagram.len.min(BUFFER)]);
            let published = message.and_then(|message| {
                let published = self.publisher.publish(&message);
                published.map(drop).map_err(|_error| Cause::Publish)
            });
            self.stats.handled(published);
        }
    }
}
