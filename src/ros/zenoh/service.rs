//! Servers of services.
use super::{
    NodeSession, failed, guarded,
    keys::{Attachment, EntityKind},
};
use crate::ros::{
    Guard, Qos, RosError, callback,
    service::{CdrService, ServiceCounters},
};
use parking_lot::Mutex;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        mpsc::{SyncSender, sync_channel},
    },
};
use zenoh::{Wait as _, query::Query};

/// Limit of responses that wait because a client does not read.
const MAX_WAITING: usize = Qos::SERVICE.depth as usize;

type SendReply = Box<dyn FnOnce() + Send>;

/// Sends responses on its own thread: if a client does not read its socket, the send call blocks until Zenoh closes the link.
#[derive(Default)]
pub(super) struct ReplyThread(OnceLock<Option<SyncSender<SendReply>>>);

impl ReplyThread {
    /// The queue of the thread; `None` if the thread cannot be started.
    fn queue(&self) -> Option<SyncSender<SendReply>> {
        let start = || {
            let (queue, waiting) = sync_channel::<SendReply>(MAX_WAITING);
            let thread = std::thread::Builder::new().name("rfly-replies".to_owned());
            let work = move || {
                for send in waiting {
                    // The panic hook logs a panic; keep sending.
                    let _panic = catch_unwind(AssertUnwindSafe(send));
                }
            };
            thread.spawn(work).ok().map(|_| queue)
        };
        self.0.get_or_init(start).clone()
    }
}

/// Offers a service until the result is dropped.
pub(super) fn serve(
    session: &Arc<NodeSession>,
    name: &str,
    service: CdrService,
) -> Result<Guard, RosError> {
    let typed = session.typed(service.types.service);
    let key = session.key(name, &typed);
    let (handler, end) = callback::split(service.handler);
    let queue = session.replies.queue();
    let weak = Arc::downgrade(session);
    let on_query = move |query: Query| {
        let counters = service.counters.clone();
        let request = query.payload().map(|payload| payload.to_bytes().into_owned());
        let attachment = query.attachment().and_then(|bytes| Attachment::of(&bytes.to_bytes()));
        // A query without a request comes from a tool that queries all keys.
        let (Some(request), Some(request_id)) = (request, attachment) else {
            counters.count(|stats| &mut stats.undecodable);
            return;
        };
        let (queue, weak) = (queue.clone(), weak.clone());
        let answer = move |cdr: Vec<u8>| {
            let Some(session) = weak.upgrade() else { return };
            let attachment = session.attachment(request_id.sequence, request_id.gid);
            let undelivered = counters.clone();
            let send = move || reply(&query, cdr, attachment, &counters);
            let is_queued = queue.is_some_and(|queue| queue.try_send(Box::new(send)).is_ok());
            if !is_queued {
                undelivered.count(|stats| &mut stats.undelivered);
            }
        };
        handler.run(|handler| guarded(|| handler(&request, Box::new(answer))));
    };
    let builder = session.session.declare_queryable(&key).complete(true).callback(on_query);
    let queryable = builder.wait().map_err(|error| failed("serve", name, &error))?;
    let (token, _) = session.endpoint(EntityKind::Server, name, &typed, Qos::SERVICE)?;
    // Dropped in this order.
    Ok(Box::new((token, queryable, Mutex::new(end), session.clone())))
}

fn reply(query: &Query, cdr: Vec<u8>, attachment: Attachment, counters: &ServiceCounters) {
    let sent = query.reply(query.key_expr(), cdr).attachment(attachment.bytes()).wait();
    if let Err(error) = sent {
        counters.count(|stats| &mut stats.undelivered);
        tracing::debug!(service = query.key_expr().as_str(), %error, "response not sent");
    }
}
