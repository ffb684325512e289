//! Repeats the last setpoint for a limited time: an autopilot follows setpoints only while they keep coming, and the end
//! of a controller must still be noticed.
use crate::wire::mavlink::Outbound;
use std::time::Duration;

/// Rate and duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeepAliveSettings {
    /// Time between two setpoints, real or repeated.
    pub period: Duration,
    /// Time after the last real setpoint during which it is repeated; 0: never.
    pub longest: Duration,
}

impl Default for KeepAliveSettings {
    /// 10 Hz for 2 s: PX4 wants 2 Hz and gives up after 0.5 to 1 s.
    fn default() -> Self {
        Self {
            period: Duration::from_millis(100),
            longest: Duration::from_secs(2),
        }
    }
}

/// Due work.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "lives on the stack between two calls"
)]
pub enum KeepAliveStep {
    /// Send this again.
    Repeat(Outbound),
    /// The last real setpoint is too old; returned once.
    Stopped,
}

/// The last setpoint of one vehicle.
#[derive(Debug)]
pub struct KeepAlive {
    settings: KeepAliveSettings,
    last: Option<Held>,
    repeated: u64,
    stopped: u64,
}

#[derive(Debug)]
struct Held {
    setpoint: Outbound,
    real: Duration,
    next: Duration,
}

impl KeepAlive {
    /// Creates a keep-alive without a setpoint.
    pub fn new(settings: KeepAliveSettings) -> Self {
        Self {
            settings,
            last: None,
            repeated: 0,
            stopped: 0,
        }
    }

    /// Changes rate and duration.
    pub fn set(&mut self, settings: KeepAliveSettings) {
        self.settings = settings;
    }

    /// Stores a real setpoint that was sent.
    pub fn sent(&mut self, now: Duration, setpoint: Outbound) {
        if !self.settings.longest.is_zero() {
            self.last = Some(Held {
                setpoint,
                real: now,
                next: now.saturating_add(self.settings.period),
            });
        }
    }

    /// Stops the repetition until the next real setpoint: the vehicle landed, or the user asked for it.
    pub fn clear(&mut self) {
        self.last = None;
    }

    /// Whether a setpoint is held.
    pub fn is_active(&self) -> bool {
        self.last.is_some()
    }

    /// Returns the work due now; at most one step, however late the call.
    pub fn tick(&mut self, now: Duration) -> Option<KeepAliveStep> {
        let held = self.last.as_mut()?;
        if now >= held.real.saturating_add(self.settings.longest) {
            self.last = None;
            self.stopped += 1;
            return Some(KeepAliveStep::Stopped);
        }
        if now < held.next {
            return None;
        }
        held.next = now.saturating_add(self.settings.period);
        self.repeated += 1;
        Some(KeepAliveStep::Repeat(held.setpoint.clone()))
    }

    /// When [`tick`](Self::tick) has work.
    pub fn deadline(&self) -> Option<Duration> {
        let held = self.last.as_ref()?;
        Some(
            held.next
                .min(held.real.saturating_add(self.settings.longest)),
        )
    }

    /// Setpoints repeated so far.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// How often real setpoints stopped.
    pub fn stopped(&self) -> u64 {
        self.stopped
    }
}
