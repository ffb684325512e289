//! Faults of a vehicle's model: which are active, since when and until when.
//!
//! A model made with the vendor's fault library keeps a fault until parameters for the same number arrive: clearing is
//! sending the parameters that end it.
mod kinds;
mod request;

pub use kinds::{FAULT_KINDS, FaultKind, Parameter, Parameters};

use crate::config::params::FaultNumbers;
use crate::msgs::rfly_bridge_msgs::msg::ActiveFault;
use crate::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use crate::time::{RosTime, SimTime};
use request::{Fault, Place};
use std::time::Duration;

/// The time of a call.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Simulation time; `None` before the first tick.
    pub sim: Option<SimTime>,
    /// Monotonic time of the host.
    pub host: Duration,
    /// Stamp for messages.
    pub stamp: RosTime,
}

/// Simulation time that passed; where the simulator has not told its time, that of the host.
#[derive(Debug, Default)]
struct Stopwatch {
    last: Option<(Option<SimTime>, Duration)>,
    passed: Duration,
}

impl Stopwatch {
    fn passed(&mut self, now: Now) -> Duration {
        if let Some((sim, host)) = self.last {
            self.passed += match (sim, now.sim) {
                (Some(before), Some(sim)) => {
                    // A correction of the clock may turn it back.
                    let passed = sim.0.saturating_sub(before.0);
                    Duration::from_nanos(u64::try_from(passed).unwrap_or(0))
                }
                _ => now.host.saturating_sub(host),
            };
        }
        self.last = Some((now.sim, now.host));
        self.passed
    }
}

/// An active fault.
#[derive(Debug)]
struct Active {
    fault: Fault,
    since: RosTime,
    /// On the stopwatch.
    ends: Option<Duration>,
    /// On the host's clock.
    kept_until: Option<Duration>,
}

/// The faults of one vehicle's model.
#[derive(Debug)]
pub struct Faults {
    vehicle: u16,
    numbers: FaultNumbers,
    watch: Stopwatch,
    active: Vec<Active>,
}

/// What a client is told of a fault that cannot be ended.
const NO_END: &str = "no parameters are known that end";

impl Faults {
    /// No faults.
    pub fn new(vehicle: u16, numbers: FaultNumbers) -> Self {
        Self {
            vehicle,
            numbers,
            watch: Stopwatch::default(),
            active: Vec::new(),
        }
    }

    /// Injects a fault, or keeps it alive if it is the same; returns a datagram for the model if there is something to tell.
    ///
    /// # Errors
    /// What is wrong with the request, and what would be right.
    pub fn inject(
        &mut self,
        request: &InjectFaultRequest,
        now: Now,
    ) -> Result<Option<Vec<u8>>, String> {
        let fault = Fault::of(request, self.numbers)?;
        if let Some(other) = self
            .active
            .iter()
            .find(|other| fault.overlaps(&other.fault))
        {
            return Err(format!(
                "mask: {:#x} is in use by another fault of kind `parameters`: clear it first, or give the same mask to replace it",
                other.fault.mask
            ));
        }
        let passed = self.watch.passed(now);
        let kept_until = fault.keep_alive.map(|keep| now.host + keep);
        let same = self.active.iter_mut().find(|active| active.fault == fault);
        if let (Some(same), true) = (same, fault.keep_alive.is_some()) {
            same.kept_until = kept_until;
            return Ok(None);
        }
        self.active.retain(|active| !fault.replaces(&active.fault));
        let datagram = self.datagram(&fault, &fault.values);
        self.active.push(Active {
            since: now.stamp,
            ends: fault.duration.map(|duration| passed + duration),
            kept_until,
            fault,
        });
        Ok(Some(datagram))
    }

    /// Clears the faults of a kind and number; an empty kind and 0 stand for all. Returns those that were cleared, datagrams
    /// for the model, and what is wrong.
    pub fn clear(&mut self, kind: &str, id: i32, now: Now) -> Cleared {
        let mut cleared = Cleared::default();
        let known = |name: &str| {
            [request::OWN, request::PARAMETERS].contains(&name) || FaultKind::named(name).is_some()
        };
        if !kind.is_empty() && !known(kind) {
            cleared.wrong = format!(
                "kind: {kind:?} is no kind of fault{}",
                crate::config::did_you_mean(kind, FAULT_KINDS.iter().map(|kind| kind.name))
            );
            return cleared;
        }
        self.end(now, &mut cleared, |active| {
            let numbered = match active.fault.place {
                Place::Number(number) => number == id,
                Place::Parameters(_) => false,
            };
            (kind.is_empty() || active.fault.kind == kind) && (id == 0 || numbered)
        });
        cleared
    }

    /// Clears the faults whose time is over.
    pub fn poll(&mut self, now: Now) -> Cleared {
        let mut cleared = Cleared::default();
        let passed = self.watch.passed(now);
        self.end(now, &mut cleared, |active| {
            active.ends.is_some_and(|at| at <= passed)
                || active.kept_until.is_some_and(|at| at <= now.host)
        });
        cleared
    }

    /// The simulation began anew, with a model that has no faults; whether there were some.
    pub fn restarted(&mut self) -> bool {
        let had = !self.active.is_empty();
        self.active.clear();
        had
    }

    /// Whether none is active.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// The active faults, oldest first.
    pub fn active(&mut self, now: Now) -> Vec<ActiveFault> {
        let passed = self.watch.passed(now);
        let active = self.active.iter();
        active.map(|active| message(active, passed)).collect()
    }

    /// Ends the chosen faults, newest first.
    fn end(&mut self, now: Now, cleared: &mut Cleared, chosen: impl Fn(&Active) -> bool) {
        let passed = self.watch.passed(now);
        let mut lasting = Vec::new();
        for index in (0..self.active.len()).rev() {
            if !chosen(&self.active[index]) {
                continue;
            }
            if self.active[index].fault.restore.is_none() {
                lasting.push(self.active[index].fault.kind.clone());
                continue;
            }
            let Active { fault, .. } = &self.active[index];
            cleared.faults.push(message(&self.active[index], passed));
            let fault = fault.clone();
            self.active.remove(index);
            let restore = fault.restore.clone().unwrap_or_default();
            cleared.datagrams.push(self.datagram(&fault, &restore));
        }
        if !lasting.is_empty() {
            cleared.wrong = format!(
                "{NO_END} {}: inject it once more with `restore`, or restart the simulation (coptersim/restart)",
                lasting.join(", ")
            );
        }
    }

    fn datagram(&self, fault: &Fault, values: &[f64]) -> Vec<u8> {
        let others = self.active.iter().rev().map(|active| &active.fault);
        fault.datagram(self.vehicle, values, others)
    }
}

/// Result of clearing.
#[derive(Debug, Default)]
pub struct Cleared {
    /// The faults that were cleared.
    pub faults: Vec<ActiveFault>,
    /// What the model has to be told.
    pub datagrams: Vec<Vec<u8>>,
    /// What was wrong, or empty.
    pub wrong: String,
}

fn message(active: &Active, passed: Duration) -> ActiveFault {
    let Active {
        fault, since, ends, ..
    } = active;
    let seconds = |time: &Duration| time.as_secs_f64();
    ActiveFault {
        kind: fault.kind.clone(),
        id: match fault.place {
            Place::Number(id) => id,
            Place::Parameters(_) => 0,
        },
        mask: fault.mask,
        parameters: fault.values.clone(),
        since: since.to_msg(),
        remaining: ends.map_or(-1.0, |ends| ends.saturating_sub(passed).as_secs_f64()),
        keep_alive: fault.keep_alive.as_ref().map_or(0.0, seconds),
    }
}
