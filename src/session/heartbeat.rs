//! Whether an autopilot is there, and whether it is still the same run of it.
use std::time::Duration;

/// When an autopilot counts as gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LivenessSettings {
    /// Without heartbeats for so long it is gone.
    pub timeout: Duration,
}

impl Default for LivenessSettings {
    /// Two of PX4's heartbeats (1 Hz) may be lost in a row.
    fn default() -> Self {
        Self {
            timeout: Duration::from_millis(3500),
        }
    }
}

/// Boot time may be so much older than the newest one: messages are reordered and some are stamped when measured.
const REORDERED: Duration = Duration::from_millis(500);
/// So many boot times in a row must say so: one may be damaged or foreign.
const WITNESSES: u32 = 3;

/// What changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LivenessEvent {
    /// The first heartbeat, or the first after a loss.
    Connected,
    /// Heartbeats stopped.
    Lost,
    /// Time since boot went back: everything learnt about the autopilot is void.
    Restarted,
}

/// Liveness of one autopilot.
#[derive(Debug)]
pub struct Liveness {
    settings: LivenessSettings,
    last: Option<Duration>,
    newest_boot: Option<Duration>,
    earlier: Option<(Duration, u32)>,
    heartbeats: u64,
    losses: u64,
    restarts: u64,
}

impl Liveness {
    /// Not there yet.
    pub fn new(settings: LivenessSettings) -> Self {
        Self {
            settings,
            last: None,
            newest_boot: None,
            earlier: None,
            heartbeats: 0,
            losses: 0,
            restarts: 0,
        }
    }

    /// Changes the timeout.
    pub fn set(&mut self, settings: LivenessSettings) {
        self.settings = settings;
    }

    /// A heartbeat came: one state is to be published, and this changed.
    pub fn heartbeat(&mut self, now: Duration) -> Option<LivenessEvent> {
        self.heartbeats += 1;
        let before = self.last.replace(now);
        before.is_none().then_some(LivenessEvent::Connected)
    }

    /// A message came that says how long ago the autopilot booted.
    pub fn boot_time(&mut self, boot: Duration) -> Option<LivenessEvent> {
        let newest = *self.newest_boot.get_or_insert(boot);
        if boot >= newest.saturating_sub(REORDERED) {
            self.newest_boot = Some(newest.max(boot));
            self.earlier = None;
            return None;
        }
        // A stray time does not continue where the last one was.
        let witnesses = match self.earlier {
            Some((last, count)) if boot.saturating_add(REORDERED) >= last => count + 1,
            _ => 1,
        };
        self.earlier = Some((boot, witnesses));
        (witnesses >= WITNESSES).then(|| {
            self.newest_boot = Some(boot);
            self.earlier = None;
            self.restarts += 1;
            LivenessEvent::Restarted
        })
    }

    /// Notices that heartbeats stopped; told once.
    pub fn tick(&mut self, now: Duration) -> Option<LivenessEvent> {
        if now < self.deadline()? {
            return None;
        }
        self.last = None;
        // What comes back may have booted meanwhile without anybody seeing its time go back.
        self.newest_boot = None;
        self.earlier = None;
        self.losses += 1;
        Some(LivenessEvent::Lost)
    }

    /// When [`tick`](Self::tick) has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        Some(self.last?.saturating_add(self.settings.timeout))
    }

    /// Whether heartbeats come.
    pub fn is_connected(&self) -> bool {
        self.last.is_some()
    }

    /// Heartbeats so far.
    pub fn heartbeats(&self) -> u64 {
        self.heartbeats
    }

    /// How often they stopped.
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// How often the autopilot restarted under our eyes.
    pub fn restarts(&self) -> u64 {
        self.restarts
    }
}
