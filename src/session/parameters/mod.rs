//! Client of the MAVLink parameter protocol: downloads the list and fills its gaps, reads single values, sets and confirms
//! values.
//!
//! Source: <https://mavlink.io/en/services/parameter.html>.
mod event;
mod pull;
mod value;

pub use event::{Parameter, ParameterCounters, ParameterError, ParameterEvent, ParameterSettings};
pub use value::{ParameterEncoding, ParameterKind, ParameterName, ParameterValue};

use crate::wire::mavlink::raw::{ParamError, ParamRequestRead, ParamSet, ParamValue};
use pull::Pull;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum RequestKind {
    Read,
    Set {
        kind: ParameterKind,
        value: ParameterValue,
        field: [u8; 4],
        /// The autopilot's value, if it differs from the requested one.
        actual: Option<ParameterValue>,
    },
}

#[derive(Debug)]
struct PendingRequest<T> {
    name: ParameterName,
    request: RequestKind,
    token: T,
    sent: u32,
    /// Time of the next transmission or the timeout; `None` before the first transmission.
    next: Option<Duration>,
}

/// Client for the parameters of one autopilot. `T` is the token returned with each result.
#[derive(Debug)]
pub struct ParameterClient<T> {
    settings: ParameterSettings,
    encoding: ParameterEncoding,
    system: u8,
    component: u8,
    known: BTreeMap<ParameterName, Parameter>,
    is_complete: bool,
    pending: Vec<PendingRequest<T>>,
    pull: Option<Pull>,
    pull_tokens: Vec<T>,
    events: VecDeque<ParameterEvent<T>>,
    counters: ParameterCounters,
}

impl<T> ParameterClient<T> {
    /// Creates a client without known parameters.
    pub fn new(settings: ParameterSettings, system: u8, component: u8) -> Self {
        Self {
            settings,
            encoding: ParameterEncoding::default(),
            system,
            component,
            known: BTreeMap::new(),
            is_complete: false,
            pending: Vec::new(),
            pull: None,
            pull_tokens: Vec::new(),
            events: VecDeque::new(),
            counters: ParameterCounters::default(),
        }
    }

    /// Changes the autopilot's ids or its encoding of integers. A new encoding decodes the known parameters again.
    pub fn set_target(&mut self, system: u8, component: u8, encoding: ParameterEncoding) {
        (self.system, self.component) = (system, component);
        if std::mem::replace(&mut self.encoding, encoding) == encoding {
            return;
        }
        for parameter in self.known.values_mut() {
            let value = parameter.kind.decode(parameter.raw, encoding);
            if !is_same(value, parameter.value) {
                parameter.value = value;
                let (parameter, changed) = (*parameter, true);
                self.events.push_back(ParameterEvent::Value { parameter, changed });
            }
        }
        for pending in &mut self.pending {
            if let RequestKind::Set { kind, value, field, .. } = &mut pending.request {
                *field = kind.encode(*value, encoding).unwrap_or(*field);
            }
        }
    }

    /// Known parameters by name.
    pub fn known(&self) -> &BTreeMap<ParameterName, Parameter> {
        &self.known
    }

    /// Returns a parameter, if it is known.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.known.get(&ParameterName::new(name)?)
    }

    /// Whether the whole list arrived since the autopilot started.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether the list is being downloaded.
    pub fn is_pulling(&self) -> bool {
        self.pull.is_some()
    }

    /// Counters so far.
    pub fn counters(&self) -> ParameterCounters {
        self.counters
    }

    /// Downloads the whole list; calls during a download share its result.
    pub fn pull(&mut self, now: Duration, token: Option<T>) {
        if self.pull_tokens.len() >= self.settings.max_waiting {
            let result = Err(ParameterError::TooMany);
            self.events.push_back(ParameterEvent::Pulled { token, result });
            return;
        }
        self.pull_tokens.extend(token);
        if self.pull.is_none() {
            self.pull = Some(Pull::new(now));
            self.tick(now);
        }
    }

    /// Reads one value.
    pub fn read(&mut self, now: Duration, name: ParameterName, token: T) {
        self.request(now, name, RequestKind::Read, token);
    }

    /// Sets one value, adapted to the parameter's known type.
    pub fn set(&mut self, now: Duration, name: ParameterName, value: ParameterValue, token: T) {
        if !value.is_finite() {
            return self.report(token, name, Err(ParameterError::NotFinite));
        }
        let kind = (self.known.get(&name))
            .map_or_else(|| ParameterKind::for_value(value), |known| known.kind);
        let adapted =
            kind.adapt(value).and_then(|value| Some((value, kind.encode(value, self.encoding)?)));
        let Some((value, field)) = adapted else {
            return self.report(token, name, Err(ParameterError::DoesNotFit(kind)));
        };
        let request = RequestKind::Set { kind, value, field, actual: None };
        self.request(now, name, request, token);
    }

    /// Handles a PARAM_VALUE of the autopilot.
    pub fn value(&mut self, now: Duration, message: &ParamValue) {
        /// ArduPilot and PX4 send a checksum of all values under this name.
        const HASH: &str = "_HASH_CHECK";
        let name = ParameterName::of_field(message.id);
        let (Some(name), Some(kind)) = (name, ParameterKind::of(message.kind)) else {
            self.counters.unusable += 1;
            return;
        };
        if name.as_str() == HASH {
            return;
        }
        self.counters.values += 1;
        let parameter = Parameter {
            name,
            value: kind.decode(message.value, self.encoding),
            kind,
            index: (message.index < message.count).then_some(message.index),
            count: message.count,
            raw: message.value,
        };
        self.store(parameter);
        if let Some(pull) = &mut self.pull {
            pull.receive(now, parameter.index, message.count, &self.settings);
        }
        self.answer(&parameter);
        self.tick(now);
    }

    /// Handles a PARAM_ERROR of the autopilot.
    pub fn error(&mut self, now: Duration, message: &ParamError) {
        let Some(name) = ParameterName::of_field(message.id) else { return };
        if let Some(at) = self.in_flight(name) {
            self.end(at, Err(ParameterError::Refused(message.error)));
            self.tick(now);
        }
    }

    /// Retransmits unanswered requests and ends those that timed out.
    pub fn tick(&mut self, now: Duration) {
        let mut at = 0;
        while let Some(pending) = self.pending.get(at) {
            let is_due = pending.next.is_some_and(|next| next <= now);
            if is_due && pending.sent >= self.settings.tries {
                let actual = match pending.request {
                    RequestKind::Set { actual, .. } => actual,
                    RequestKind::Read => None,
                };
                self.counters.timed_out += 1;
                self.end(at, Err(actual.map_or(ParameterError::TimedOut, ParameterError::Kept)));
                continue;
            }
            if is_due {
                self.counters.retransmitted += 1;
                self.transmit(now, at);
            }
            at += 1;
        }
        self.send_waiting(now);
        self.tick_pull(now);
    }

    /// Returns the next event, `None` if there is none.
    pub fn next_event(&mut self) -> Option<ParameterEvent<T>> {
        self.events.pop_front()
    }

    /// Returns the time at which [`tick`](Self::tick) next has work.
    pub fn deadline(&self) -> Option<Duration> {
        let pending = self.pending.iter().filter_map(|pending| pending.next);
        pending.chain(self.pull.as_ref().map(Pull::deadline)).min()
    }

    /// Ends all requests because the link is lost. Known parameters are kept.
    pub fn lose_link(&mut self) {
        while !self.pending.is_empty() {
            self.end(0, Err(ParameterError::LinkLost));
        }
        self.end_pull(Err(ParameterError::LinkLost));
    }

    /// Forgets all parameters because the autopilot restarted and may have others.
    pub fn forget(&mut self) {
        self.known.clear();
        self.is_complete = false;
    }

    fn store(&mut self, parameter: Parameter) {
        let before = self.known.get(&parameter.name);
        if before.is_none() && self.known.len() >= self.settings.max_parameters {
            self.counters.unusable += 1;
            return;
        }
        let changed =
            before.is_none_or(|b| b.kind != parameter.kind || !is_same(b.value, parameter.value));
        // A single value has no index; the known index is kept.
        let index = parameter.index.or_else(|| before.and_then(|b| b.index));
        self.known.insert(parameter.name, Parameter { index, ..parameter });
        self.events.push_back(ParameterEvent::Value { parameter, changed });
    }

    /// Ends the request that a value answers.
    fn answer(&mut self, parameter: &Parameter) {
        let is_pulling = self.pull.is_some();
        let Some(at) = self.in_flight(parameter.name) else { return };
        let Some(pending) = self.pending.get_mut(at) else { return };
        let result = match &mut pending.request {
            RequestKind::Read => Ok(*parameter),
            RequestKind::Set { kind, value, field, .. }
                if *kind == parameter.kind
                    && (*field == parameter.raw || is_same(*value, parameter.value)) =>
            {
                Ok(*parameter)
            }
            // During a download, this value may have been sent before the change.
            RequestKind::Set { actual, .. } if is_pulling => {
                *actual = Some(parameter.value);
                return;
            }
            RequestKind::Set { .. } => Err(ParameterError::Kept(parameter.value)),
        };
        self.end(at, result);
    }

    fn request(&mut self, now: Duration, name: ParameterName, request: RequestKind, token: T) {
        if self.pending.len() >= self.settings.in_flight + self.settings.max_waiting {
            return self.report(token, name, Err(ParameterError::TooMany));
        }
        self.pending.push(PendingRequest { name, request, token, sent: 0, next: None });
        self.send_waiting(now);
    }

    /// Returns the index of the request in flight for a name; other requests for that name wait for it.
    fn in_flight(&self, name: ParameterName) -> Option<usize> {
        let is_sent = |pending: &PendingRequest<T>| pending.name == name && pending.next.is_some();
        self.pending.iter().position(is_sent)
    }

    fn send_waiting(&mut self, now: Duration) {
        let mut running = self.pending.iter().filter(|pending| pending.next.is_some()).count();
        let mut at = 0;
        while running < self.settings.in_flight {
            let Some(pending) = self.pending.get(at) else { return };
            if pending.next.is_none() && self.in_flight(pending.name).is_none() {
                self.transmit(now, at);
                running += 1;
            }
            at += 1;
        }
    }

    fn transmit(&mut self, now: Duration, at: usize) {
        let Some(pending) = self.pending.get_mut(at) else { return };
        pending.sent += 1;
        pending.next = Some(now.saturating_add(self.settings.wait));
        let (target_system, target_component) = (self.system, self.component);
        let id = pending.name.field();
        let message = match pending.request {
            RequestKind::Read => {
                ParamRequestRead { index: -1, target_system, target_component, id }.into()
            }
            RequestKind::Set { kind, field, .. } => {
                ParamSet { value: field, target_system, target_component, id, kind: kind as u8 }
                    .into()
            }
        };
        self.events.push_back(ParameterEvent::Send(message));
    }

    fn end(&mut self, at: usize, result: Result<Parameter, ParameterError>) {
        if at < self.pending.len() {
            let pending = self.pending.remove(at);
            self.report(pending.token, pending.name, result);
        }
    }

    fn report(&mut self, token: T, name: ParameterName, result: Result<Parameter, ParameterError>) {
        self.events.push_back(ParameterEvent::Done { token, name, result });
    }

    fn tick_pull(&mut self, now: Duration) {
        let Some(pull) = &mut self.pull else { return };
        let (system, component, events) = (self.system, self.component, &mut self.events);
        let ended = pull.tick(now, &self.settings, |request| {
            events.push_back(ParameterEvent::Send(request.message(system, component)));
        });
        self.counters.retransmitted += u64::from(std::mem::take(&mut pull.repeated));
        if let Some((received, total)) = pull.take_progress() {
            self.events.push_back(ParameterEvent::Progress { received, total });
        }
        let is_listed = |known: &&Parameter| known.index.is_some();
        let received = self.known.values().filter(is_listed).count();
        let result = match ended {
            None => return,
            Some(Err(error)) => {
                let missing = pull.missing();
                if !missing.is_empty() {
                    self.events.push_back(ParameterEvent::Missing(missing));
                }
                Err(error)
            }
            Some(Ok(total)) => {
                // Every index arrived, but not every name: parameters that became active shifted the indices.
                if received < total && pull.start_over(now) {
                    return self.tick_pull(now);
                }
                let is_whole = received >= total;
                (is_whole.then_some(total)).ok_or(ParameterError::Incomplete { received, total })
            }
        };
        self.is_complete |= result.is_ok();
        self.end_pull(result);
    }

    fn end_pull(&mut self, result: Result<usize, ParameterError>) {
        if self.pull.take().is_none() {
            return;
        }
        let mut tokens = std::mem::take(&mut self.pull_tokens).into_iter().map(Some);
        let first = tokens.next().unwrap_or(None);
        for token in std::iter::once(first).chain(tokens) {
            self.events.push_back(ParameterEvent::Pulled { token, result });
        }
    }
}

/// Equality in which NaN equals NaN.
fn is_same(a: ParameterValue, b: ParameterValue) -> bool {
    match (a, b) {
        (ParameterValue::Float(a), ParameterValue::Float(b)) => {
            // The autopilot stores 32-bit floats.
            (a as f32).to_bits() == (b as f32).to_bits() || (a as f32) == (b as f32)
        }
        _ => a == b,
    }
}
