//! Repeats the last setpoint for a limited time: an autopilot follows setpoints only while they arrive continuously, but must
//! still detect that a controller has stopped.
use crate::wire::mavlink::Outbound;
use std::time::Duration;

/// Rate and duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeepAliveSettings {
    /// Time between two setpoints, received or repeated.
    pub period: Duration,
    /// How long the last received setpoint is repeated; 0: never.
    pub max_repetition: Duration,
}

impl Default for KeepAliveSettings {
    /// 10 Hz for 2 s: PX4 requires 2 Hz and leaves OFFBOARD after 0.5 to 1 s without setpoints.
    fn default() -> Self {
        Self { period: Duration::from_millis(100), max_repetition: Duration::from_secs(2) }
    }
}

/// Work that is due.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "lives on the stack between two calls")]
pub enum KeepAliveStep {
    /// Send this again.
    Repeat(Outbound),
    /// The last received setpoint is too old; returned once.
    Stopped,
}

/// The last setpoint of one vehicle.
#[derive(Debug)]
pub struct KeepAlive {
    settings: KeepAliveSettings,
    last: Option<LastSetpoint>,
}

#[derive(Debug)]
struct LastSetpoint {
    setpoint: Outbound,
    received: Duration,
    next: Duration,
}

impl KeepAlive {
    /// Creates a keep-alive without a setpoint.
    pub fn new(settings: KeepAliveSettings) -> Self {
        Self { settings, last: None }
    }

    /// Remembers a setpoint of a controller that has just been sent to the autopilot.
    pub fn sent(&mut self, now: Duration, setpoint: Outbound) {
        if !self.settings.max_repetition.is_zero() {
            self.last = Some(LastSetpoint {
                setpoint,
                received: now,
                next: now.saturating_add(self.settings.period),
            });
        }
    }

    /// Forgets the setpoint: nothing is repeated until the next one.
    pub fn clear(&mut self) {
        self.last = None;
    }

    /// Returns the work due now; at most one step, however late the call.
    pub fn tick(&mut self, now: Duration) -> Option<KeepAliveStep> {
        let last = self.last.as_mut()?;
        if now >= last.received.saturating_add(self.settings.max_repetition) {
            self.last = None;
            return Some(KeepAliveStep::Stopped);
        }
        if now < last.next {
            return None;
        }
        last.next = now.saturating_add(self.settings.period);
        Some(KeepAliveStep::Repeat(last.setpoint.clone()))
    }

    /// Returns the time of the next due [`tick`](Self::tick).
    pub fn deadline(&self) -> Option<Duration> {
        let last = self.last.as_ref()?;
        Some(last.next.min(last.received.saturating_add(self.settings.max_repetition)))
    }
}
