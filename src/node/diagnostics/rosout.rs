//! The log on `/rosout`, identical on every back end.
use crate::node::{clock::host_now, error::NodeError, tasks};
use crate::ros::{Middleware, Publisher, Qos};
use crate::{msgs::rcl_interfaces::msg::Log, program::LogMessage};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{cell::Cell, sync::Arc, thread::JoinHandle};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::{Layer, layer::Context};

/// The QoS of rcl for `/rosout`, without its lifespan of 10 s.
const QOS: Qos = Qos::LATCHED.with_depth(1000);
/// Queue length; includes messages logged before the node exists. Each message is cut at
/// [`LONGEST_MESSAGE`](crate::program::LONGEST_MESSAGE), which bounds the memory of queue and history.
const QUEUE: usize = 512;

/// Messages dropped because the queue was full, since the process started.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Returns the number of messages missing on `/rosout`.
pub(super) fn lost_messages() -> u64 {
    LOST.load(Ordering::Relaxed)
}

thread_local! {
    /// Log messages of the publishing thread are not published: each would cause the next one.
    static IS_PUBLISHER: Cell<bool> = const { Cell::new(false) };
}

/// A message without the name of the logger; `None` ends the thread after all earlier messages.
type QueuedLog = Option<Log>;

/// Puts log messages into a queue; never blocks.
pub struct RosoutLayer {
    queue: SyncSender<QueuedLog>,
    lost: Arc<AtomicU64>,
}

/// Receiving end of the queue.
pub struct Rosout {
    queue: Receiver<QueuedLog>,
    end: SyncSender<QueuedLog>,
    lost: Arc<AtomicU64>,
}

/// Publishes log messages until it is dropped; on drop, publishes the rest of the queue.
pub struct RosoutPublisher {
    end: SyncSender<QueuedLog>,
    thread: Option<JoinHandle<()>>,
}

/// Returns the layer for the program's tracing subscriber, and the receiving end, which publishes once a node exists.
pub fn rosout() -> (RosoutLayer, Rosout) {
    let (sender, receiver) = sync_channel(QUEUE);
    let lost = Arc::<AtomicU64>::default();
    let layer = RosoutLayer { queue: sender.clone(), lost: lost.clone() };
    let rosout = Rosout { queue: receiver, end: sender, lost };
    (layer, rosout)
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if IS_PUBLISHER.get() {
            return;
        }
        let metadata = event.metadata();
        let mut message = LogMessage::new(String::new());
        event.record(&mut message);
        let log = Log {
            stamp: host_now().to_msg(),
            level: level(metadata.level()),
            name: String::new(),
            msg: message.finish(),
            file: metadata.file().unwrap_or_default().to_owned(),
            function: metadata.module_path().unwrap_or_default().to_owned(),
            line: metadata.line().unwrap_or_default(),
        };
        if self.queue.try_send(Some(log)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            LOST.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Levels of `rcl_interfaces/msg/Log`.
const fn level(level: &Level) -> u8 {
    match *level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG | Level::TRACE => 10,
    }
}

impl Rosout {
    /// Starts the thread that publishes on `/rosout`.
    pub fn publish(self, middleware: &Middleware) -> Result<RosoutPublisher, NodeError> {
        let publisher = middleware.publisher::<Log>("/rosout", QOS)?;
        // rcl names the logger of the node `/a/b` `a.b`.
        let name = middleware.node_name().trim_start_matches('/').replace('/', ".");
        let end = self.end.clone();
        let thread = tasks::spawn_restarting("rfly-rosout", move || self.run(&publisher, &name))?;
        Ok(RosoutPublisher { end, thread: Some(thread) })
    }

    fn run(&self, publisher: &Publisher<Log>, name: &str) {
        IS_PUBLISHER.set(true);
        let send = |log: Log| {
            // The publisher counts failures.
            let _counted = publisher.publish(&Log { name: name.to_owned(), ..log });
        };
        loop {
            let lost = self.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                send(Log {
                    stamp: host_now().to_msg(),
                    level: level(&Level::WARN),
                    msg: format!("{lost} log messages are missing on /rosout: its queue was full"),
                    file: file!().to_owned(),
                    function: module_path!().to_owned(),
                    line: line!(),
                    ..Log::default()
                });
            }
            match self.queue.recv() {
                Ok(Some(log)) => send(log),
                Ok(None) | Err(_) => return,
            }
        }
    }
}

impl Drop for RosoutPublisher {
    fn drop(&mut self) {
        // Waits for room in a full queue; an error means that the thread has ended.
        let _ended = self.end.send(None);
        if let Some(thread) = self.thread.take() {
            // A panic of this thread can no longer be logged.
            let _ = thread.join();
        }
    }
}
