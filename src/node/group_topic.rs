//! Publishes the datagrams of a multicast group on one topic.
use super::datagrams::{BUFFER, receive};
use super::tasks::{self, CountedTask};
use super::{assembly::Assembly, cause::Cause, context::Context, stats::SourceStats};
use crate::{msgs::Message, ros::Publisher, transport::UdpReceiver};
use std::sync::Arc;
use tokio::runtime::Handle;

type Convert<M> = fn(&[u8]) -> Result<M, Cause>;

struct GroupTopic<M: Message> {
    receiver: UdpReceiver,
    publisher: Publisher<M>,
    convert: Convert<M>,
    stats: Arc<SourceStats>,
}

/// Binds the port and publishes its datagrams; the binder reports a port that cannot be bound.
pub(super) fn open<M: Message>(
    context: &Context<'_>,
    (assembly, runtime): (&mut Assembly, &Handle),
    (name, port): (&'static str, u16),
    publisher: Publisher<M>,
    convert: Convert<M>,
) {
    let _entered = runtime.enter();
    let options = context.senders.group(port);
    if let Some(receiver) = assembly.binder.bind(&options, name) {
        let stats = assembly.add_source_on_demand(name.to_owned());
        let task = GroupTopic { receiver, publisher, convert, stats: stats.clone() };
        tasks::start_counted(runtime, stats, task);
    }
}

impl<M: Message> CountedTask for GroupTopic<M> {
    async fn run(&mut self) {
        let mut buffer = [0; BUFFER];
        loop {
            let received = receive(&mut self.receiver, &mut buffer, &self.stats, || true).await;
            let Some(datagram) = received else { continue };
            let message = (self.convert)(&buffer[..datagram.len.min(BUFFER)]);
            let published = message.and_then(|message| {
                let published = self.publisher.publish(&message);
                published.map(drop).map_err(|_error| Cause::Publish)
            });
            self.stats.count_result(published);
        }
    }
}
