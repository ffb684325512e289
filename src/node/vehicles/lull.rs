//! While nobody reads what an autopilot says, and nobody asks it anything, its datagrams wait for each other.
use crate::node::assembly::is_below;
use crate::ros::Middleware;
use std::time::{Duration, Instant};

/// How long they wait: an answer to TIMESYNC may take 10 ms, or PX4 does not believe it.
const WAIT: Duration = Duration::from_millis(5);
/// Time between looks for readers.
const LOOK: Duration = Duration::from_millis(500);
/// After a setpoint or a call nothing waits for so long.
const ATTENTION: Duration = Duration::from_secs(2);

/// Whether datagrams of an autopilot may wait.
pub(super) struct Lull {
    middleware: Middleware,
    /// Of the topics that come from the autopilot.
    prefix: String,
    read: bool,
    looked: Option<Instant>,
    asked: Instant,
}

impl Lull {
    /// `prefix` is that of the autopilot's topics, in full.
    pub(super) fn new(middleware: &Middleware, prefix: String) -> Self {
        Self {
            middleware: middleware.clone(),
            prefix,
            read: true,
            looked: None,
            asked: Instant::now(),
        }
    }

    /// A setpoint came, or a call.
    pub(super) fn asked(&mut self) {
        self.asked = Instant::now();
    }

    /// Until when datagrams wait that come from now on.
    pub(super) fn until(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if self.looked.is_none_or(|at| now - at >= LOOK) {
            self.looked = Some(now);
            let depends = |topic: &str| {
                is_below(topic, &self.prefix) || topic == "/tf" || topic.contains("/ground_truth/")
            };
            self.read = self.middleware.is_read(depends);
        }
        (!self.read && now - self.asked >= ATTENTION).then(|| now + WAIT)
    }
}
