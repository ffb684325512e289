//! An autopilot with parameters, and what a client sends and tells.
use super::protocol::received;
use ParameterValue::{Float, Int};
use rfly_bridge::session::{ParameterClient as Client, *};
use rfly_bridge::wire::mavlink::Outbound;
use rfly_bridge::wire::mavlink::raw::*;

pub(super) fn name(text: &str) -> ParameterName {
    ParameterName::new(text).unwrap()
}

pub(super) fn parameters() -> Client<u32> {
    Client::new(ParameterSettings::default(), 1, 1)
}

pub(super) fn message(
    text: &str,
    kind: ParameterKind,
    value: ParameterValue,
    index: u16,
    count: u16,
) -> ParamValue {
    ParamValue {
        value: kind.encode(value, ParameterEncoding::Bytewise).unwrap(),
        count,
        index,
        id: name(text).field(),
        kind: kind as u8,
    }
}

/// A vehicle with parameters P0, P1, ... of INT32, and SPEED of REAL32 at the end.
pub(super) struct Vehicle(pub(super) Vec<(String, ParameterKind, ParameterValue)>);

impl Vehicle {
    pub(super) fn new(count: usize) -> Self {
        let ints = (1..count).map(|i| (format!("P{i}"), ParameterKind::Int32, Int(i as i64 - 50)));
        Self(ints.chain([("SPEED".into(), ParameterKind::Real32, Float(2.5))]).collect())
    }

    pub(super) fn value(&self, index: usize) -> ParamValue {
        let (text, kind, value) = &self.0[index];
        message(text, *kind, *value, index as u16, self.0.len() as u16)
    }

    pub(super) fn find(&self, id: [u8; 16]) -> Option<usize> {
        let wanted = ParameterName::of_field(id)?;
        self.0.iter().position(|p| p.0 == wanted.as_str())
    }

    pub(super) fn answer(&mut self, message: &Outbound) -> Vec<ParamValue> {
        received(message, |frame| {
            if ParamRequestList::parse(frame).is_some() {
                return (0..self.0.len()).map(|i| self.value(i)).collect();
            }
            if let Some(read) = ParamRequestRead::parse(frame) {
                let index = usize::try_from(read.index).ok().or_else(|| self.find(read.id));
                return index
                    .filter(|i| *i < self.0.len())
                    .map(|i| self.value(i))
                    .into_iter()
                    .collect();
            }
            let set = ParamSet::parse(frame).expect("nothing else is sent");
            let Some(index) = self.find(set.id) else {
                return vec![];
            };
            let value =
                ParameterKind::of(set.kind).unwrap().decode(set.value, ParameterEncoding::Bytewise);
            // This one takes no negative speeds.
            let refused = matches!(value, Float(speed) if speed < 0.0);
            if !refused {
                self.0[index].2 = value;
            }
            vec![self.value(index)]
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Drained {
    pub(super) sent: Vec<Outbound>,
    pub(super) pulled: Vec<(Option<u32>, Result<usize, ParameterError>)>,
    pub(super) done: Vec<(u32, Result<ParameterValue, ParameterError>)>,
    pub(super) values: usize,
    pub(super) changed: usize,
    pub(super) missing: Vec<u16>,
}

pub(super) fn drain(parameters: &mut Client<u32>) -> Drained {
    let mut all = Drained::default();
    while let Some(event) = parameters.next_event() {
        match event {
            ParameterEvent::Send(message) => all.sent.push(message),
            ParameterEvent::Pulled { token, result } => all.pulled.push((token, result)),
            ParameterEvent::Done { token, result, .. } => {
                all.done.push((token, result.map(|p| p.value)))
            }
            ParameterEvent::Value { changed, .. } => {
                all.values += 1;
                all.changed += usize::from(changed);
            }
            ParameterEvent::Missing(indices) => all.missing.extend(indices),
            ParameterEvent::Progress { received, total } => assert!(received <= total),
        }
    }
    all
}
