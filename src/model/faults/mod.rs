//! Active faults of a vehicle's model, with their start and end.
//!
//! A model with the vendor's fault library keeps a fault until it receives other parameters for the same number. To clear a
//! fault, the bridge sends the parameters that end it.
mod kinds;
mod request;

pub use kinds::{FAULT_KINDS, FaultKind, FaultParameter, FaultParameters};

use crate::msgs::rfly_bridge_msgs::msg::ActiveFault;
use crate::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use crate::time::{RosTime, SimTime};
use crate::{config::did_you_mean, config::params::FaultNumbers};
use request::{Fault, FaultTarget};
use std::time::Duration;

/// The present time, on all clocks that faults need.
#[derive(Clone, Copy, Debug)]
pub struct FaultTime {
    /// Simulation time; `None` before the first tick.
    pub sim: Option<SimTime>,
    /// Monotonic time of the host.
    pub host: Duration,
    /// Stamp for messages.
    pub stamp: RosTime,
}

/// Measures simulation time; before the first tick, the host's time instead.
#[derive(Clone, Debug, Default)]
struct Stopwatch {
    last: Option<(Option<SimTime>, Duration)>,
    elapsed: Duration,
}

impl Stopwatch {
    /// Adds the time since the last call; returns the time since the first one.
    fn advance(&mut self, now: FaultTime) -> Duration {
        if let Some((sim, host)) = self.last {
            self.elapsed += match (sim, now.sim) {
                (Some(before), Some(sim)) => {
                    // A correction of the clock may set it back.
                    let step = sim.0.saturating_sub(before.0);
                    Duration::from_nanos(u64::try_from(step).unwrap_or(0))
                }
                _ => now.host.saturating_sub(host),
            };
        }
        self.last = Some((now.sim, now.host));
        self.elapsed
    }
}

#[derive(Clone, Debug)]
struct InjectedFault {
    fault: Fault,
    since: RosTime,
    /// End of its duration, on the stopwatch.
    ends: Option<Duration>,
    /// End of its keep-alive, on the host's clock.
    kept_until: Option<Duration>,
}

/// The faults of one vehicle's model. A clone restores them when a datagram could not be sent.
#[derive(Clone, Debug)]
pub struct Faults {
    vehicle: u16,
    numbers: FaultNumbers,
    stopwatch: Stopwatch,
    active: Vec<InjectedFault>,
}

impl Faults {
    /// Creates a list without faults.
    pub fn new(vehicle: u16, numbers: FaultNumbers) -> Self {
        Self { vehicle, numbers, stopwatch: Stopwatch::default(), active: Vec::new() }
    }

    /// Injects a fault and returns the datagram for the model. If the same fault is active with a keep-alive, renews that and
    /// returns `None`.
    ///
    /// # Errors
    /// Names each refused field, what it must be, and what it is.
    pub fn inject(
        &mut self,
        request: &InjectFaultRequest,
        now: FaultTime,
    ) -> Result<Option<Vec<u8>>, String> {
        let fault = Fault::check(request, self.numbers)?;
        if let Some(other) = self.active.iter().find(|other| fault.overlaps(&other.fault)) {
            return Err(format!(
                "mask: {:#x} is in use by another fault of kind `parameters`: clear it first, or give the same mask to replace it",
                other.fault.mask
            ));
        }
        let elapsed = self.stopwatch.advance(now);
        let kept_until = fault.keep_alive.map(|keep| now.host + keep);
        let equal = self.active.iter_mut().find(|active| active.fault == fault);
        if let (Some(equal), true) = (equal, fault.keep_alive.is_some()) {
            equal.kept_until = kept_until;
            return Ok(None);
        }
        self.active.retain(|active| !fault.replaces(&active.fault));
        let datagram = self.datagram(&fault, &fault.values);
        self.active.push(InjectedFault {
            since: now.stamp,
            ends: fault.duration.map(|duration| elapsed + duration),
            kept_until,
            fault,
        });
        Ok(Some(datagram))
    }

    /// Clears the faults of a kind and a number; an empty kind means all kinds, 0 all numbers.
    pub fn clear(&mut self, kind: &str, id: i32, now: FaultTime) -> ClearedFaults {
        let mut cleared = ClearedFaults::default();
        if !["", request::NUMBER, request::PARAMETERS].contains(&kind)
            && FaultKind::by_name(kind).is_none()
        {
            let hint = did_you_mean(kind, FAULT_KINDS.iter().map(|kind| kind.name));
            cleared.error = format!("kind: {kind:?} is not a kind of fault{hint}");
            return cleared;
        }
        self.end(now, &mut cleared, |active| {
            (kind.is_empty() || active.fault.kind == kind)
                && (id == 0 || active.fault.target == FaultTarget::Number(id))
        });
        cleared
    }

    /// Clears the faults whose time is over.
    pub fn poll(&mut self, now: FaultTime) -> ClearedFaults {
        let mut cleared = ClearedFaults::default();
        let elapsed = self.stopwatch.advance(now);
        self.end(now, &mut cleared, |active| {
            active.ends.is_some_and(|at| at <= elapsed)
                || active.kept_until.is_some_and(|at| at <= now.host)
        });
        cleared
    }

    /// Sends all datagrams of cleared faults that can be sent. A fault whose datagram is not sent stays active, not cleared.
    ///
    /// # Errors
    /// The first failure of `send`.
    pub fn send_cleared(
        &mut self,
        cleared: &mut ClearedFaults,
        mut send: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut result = Ok(());
        let mut is_sent = Vec::new();
        for (datagram, ended) in cleared.datagrams.iter().zip(cleared.ended.drain(..)) {
            let sent = send(datagram);
            is_sent.push(sent.is_ok());
            if sent.is_err() {
                self.active.push(ended);
            }
            result = result.and(sent);
        }
        self.active.sort_by_key(|active| active.since);
        let mut is_sent = is_sent.into_iter();
        cleared.faults.retain(|_| is_sent.next().unwrap_or(true));
        result
    }

    /// Forgets all faults, because the simulation restarted with a model without faults. Returns whether any were active.
    pub fn forget_all(&mut self) -> bool {
        let were_active = !self.active.is_empty();
        self.active.clear();
        were_active
    }

    /// Whether no fault is active.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Returns the active faults, oldest first.
    pub fn active(&mut self, now: FaultTime) -> Vec<ActiveFault> {
        let elapsed = self.stopwatch.advance(now);
        self.active.iter().map(|active| message(active, elapsed)).collect()
    }

    /// Ends the chosen faults, newest first; the error names those that it cannot end.
    fn end(
        &mut self,
        now: FaultTime,
        cleared: &mut ClearedFaults,
        is_chosen: impl Fn(&InjectedFault) -> bool,
    ) {
        let elapsed = self.stopwatch.advance(now);
        let mut permanent = Vec::new();
        for index in (0..self.active.len()).rev() {
            if !is_chosen(&self.active[index]) {
                continue;
            }
            if self.active[index].fault.restore.is_none() {
                permanent.push(self.active[index].fault.kind.clone());
                continue;
            }
            cleared.faults.push(message(&self.active[index], elapsed));
            let ended = self.active.remove(index);
            let restore = ended.fault.restore.as_deref().unwrap_or_default();
            cleared.datagrams.push(self.datagram(&ended.fault, restore));
            cleared.ended.push(ended);
        }
        if !permanent.is_empty() {
            cleared.error = format!(
                "no parameters are known that end {}: inject it again with `restore`, or restart the simulation (coptersim/restart)",
                permanent.join(", ")
            );
        }
    }

    fn datagram(&self, fault: &Fault, values: &[f64]) -> Vec<u8> {
        let others = self.active.iter().rev().map(|active| &active.fault);
        fault.datagram(self.vehicle, values, others)
    }
}

/// Result of clearing faults.
#[derive(Debug, Default)]
pub struct ClearedFaults {
    /// The faults that were cleared.
    pub faults: Vec<ActiveFault>,
    /// Datagrams for the model, one per fault.
    pub datagrams: Vec<Vec<u8>>,
    /// The error, or empty.
    pub error: String,
    /// The same faults, for [`Faults::send_cleared`].
    ended: Vec<InjectedFault>,
}

fn message(active: &InjectedFault, elapsed: Duration) -> ActiveFault {
    let InjectedFault { fault, since, ends, .. } = active;
    ActiveFault {
        kind: fault.kind.clone(),
        id: match fault.target {
            FaultTarget::Number(id) => id,
            FaultTarget::Parameters(_) => 0,
        },
        mask: fault.mask,
        parameters: fault.values.clone(),
        since: since.to_msg(),
        remaining: ends.map_or(-1.0, |ends| ends.saturating_sub(elapsed).as_secs_f64()),
        keep_alive: fault.keep_alive.map_or(0.0, |time| time.as_secs_f64()),
    }
}
