use super::{Heartbeat, RosTime, SimTime, SourceKind};

/// A start time that differs by more than this belongs to another run.
const SAME_RUN_MS: u64 = 1_000;

/// The rule of the vendor's SDK: host time is `start` plus simulator time; `start` is set once.
///
/// Source: golden `recv_time` and `recv_imu`. The error of the rule is the delay of one datagram minus the assumed delay (with
/// a local heartbeat: up to 1 ms), plus the drift of the simulator's clock. Unlike in the SDK, a heartbeat with another
/// start replaces the old start, because the simulator was restarted.
#[derive(Clone, Debug, Default)]
pub(super) struct VendorRule {
    /// The start announced by heartbeats.
    record: Option<StartRecord>,
    /// The start in use since the first datagram.
    start_ns: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct StartRecord {
    start_ns: i64,
    start_ms: i64,
    is_local: bool,
}

impl VendorRule {
    /// Handles a heartbeat; returns whether it announces a new run.
    pub(super) fn heartbeat(&mut self, beat: Heartbeat) -> bool {
        let has_restarted = self.record.is_some_and(|r| {
            r.is_local == beat.local && beat.start_ms.abs_diff(r.start_ms) > SAME_RUN_MS
        });
        if has_restarted || self.record.is_none_or(|r| beat.local && !r.is_local) {
            let start_ns = if beat.local {
                beat.start_ms.saturating_mul(1_000_000)
            } else {
                let elapsed = beat.now_ms.saturating_sub(beat.start_ms).saturating_mul(1_000_000);
                beat.host.0.saturating_sub(elapsed).saturating_sub(10_000_000)
            };
            self.record =
                Some(StartRecord { start_ns, start_ms: beat.start_ms, is_local: beat.local });
        }
        if has_restarted {
            self.start_ns = None;
        }
        has_restarted
    }

    /// Drops the start: the next datagram sets it again. Unless heartbeats announced the restart, theirs is of the previous run.
    pub(super) fn restart(&mut self, is_announced: bool) {
        self.start_ns = None;
        self.record = self.record.filter(|_| is_announced);
    }

    pub(super) fn observe(&mut self, sim: SimTime, host: RosTime, kind: SourceKind) {
        if self.start_ns.is_none() {
            let assumed_delay = match kind {
                SourceKind::Image => 10_000_000,
                SourceKind::Imu => 5_000_000,
            };
            let first = host.0.saturating_sub(sim.0).saturating_sub(assumed_delay);
            self.start_ns = Some(self.record.map_or(first, |r| r.start_ns));
        }
    }

    pub(super) fn stamp(&self, sim: SimTime) -> Option<RosTime> {
        self.start_ns.map(|start| RosTime(start.saturating_add(sim.0)))
    }
}
