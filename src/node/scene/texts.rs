//! Texts of the renderer, at the port of requests to CopterSim.
use super::full_name;
use crate::config::params::QosGroup;
use crate::msgs::std_msgs::msg::String as Text;
use crate::node::assembly::Assembly;
use crate::node::cause::Cause;
use crate::node::context::Context;
use crate::node::datagrams::{BUFFER, receive};
use crate::node::error::NodeError;
use crate::node::stats::SourceStats;
use crate::node::tasks::{self, Source};
use crate::node::threads::REPORT;
use crate::ros::Publisher;
use crate::transport::UdpReceiver;
use crate::wire::scene_text;
use std::sync::Arc;
use std::time::Instant;

/// The row of the documentation.
pub(super) const ROW: &str = "\
| `/rflysim/scene/texts` | out | `std_msgs/msg/String` | `reports` | with `scene.texts`: texts that the renderer sends to 224.0.0.10:20002; what they say is not documented |
";

pub(super) fn open(context: &Context<'_>, assembly: &mut Assembly) -> Result<(), NodeError> {
    if !context.settings.params.scene.texts {
        return Ok(());
    }
    let name = "texts of the renderer";
    let runtime = assembly.threads.runtime(REPORT)?;
    let _entered = runtime.enter();
    let options = context.senders.group(context.settings.ports.requests);
    let Some(receiver) = assembly.binder.bind(&options, name) else {
        return Ok(());
    };
    let texts = Texts {
        receiver,
        publisher: context.publisher(QosGroup::Reports, &full_name(context, "scene/texts"))?,
        stats: assembly.source_on_demand(name.to_owned()),
    };
    tasks::start(&runtime, texts);
    Ok(())
}

struct Texts {
    receiver: UdpReceiver,
    publisher: Publisher<Text>,
    stats: Arc<SourceStats>,
}

impl Source for Texts {
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
            // Requests to CopterSim come here, too.
            let text = buffer.get(..datagram.len).and_then(scene_text);
            let mut figures = self.stats.lock();
            let Some(text) = text else {
                figures.drop_one(Cause::NotRead);
                continue;
            };
            figures.frames += 1;
            figures.last_frame = Some(Instant::now());
            drop(figures);
            let data = text.to_owned();
            if self.publisher.publish(&Text { data }).is_err() {
                self.stats.lock().drop_one(Cause::Publish);
            }
        }
    }
}
