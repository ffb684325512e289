//! Checks a request of a client.
use super::kinds::{FAULT_KINDS, FaultKind, FaultParameter, FaultParameters, ROTORS};
use crate::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use crate::wire::{
    InputSet, IntoBytes as _, ModelParameters, ModelParametersPacket, SilInputsPacket,
};
use crate::{config::did_you_mean, config::params::FaultNumbers};
use std::time::Duration;

/// Kind of a fault with a user-defined number.
pub(super) const NUMBER: &str = "id";
/// Kind of a fault that sets parameters of the model.
pub(super) const PARAMETERS: &str = "parameters";
/// Number of slots for faults in a packet: an integer and two floats each. A fault with more parameters takes several slots.
const SLOTS: usize = 8;
/// Number of parameters of a model that faults may set.
const MODEL_PARAMETERS: usize = 32;
const MAX_DURATION_S: f64 = 1e6;

/// The part of the model that a fault changes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FaultTarget {
    /// The fault with this number.
    Number(i32),
    /// The parameters in this mask.
    Parameters(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) kind: String,
    pub(super) target: FaultTarget,
    /// The mask of the request; for kind `parameters` without a mask, the bits of the given parameters.
    pub(super) mask: u32,
    pub(super) values: Vec<f64>,
    /// The values that end it; `None` if the bridge knows none.
    pub(super) restore: Option<Vec<f64>>,
    pub(super) duration: Option<Duration>,
    pub(super) keep_alive: Option<Duration>,
}

impl Fault {
    /// Checks a request; the error lists all problems.
    pub(super) fn check(
        request: &InjectFaultRequest,
        numbers: FaultNumbers,
    ) -> Result<Self, String> {
        let mut problems = Vec::new();
        let duration = read_duration("duration", request.duration, &mut problems);
        let keep_alive = read_duration("keep_alive", request.keep_alive, &mut problems);
        let fault = match &*request.kind {
            PARAMETERS => parameters_fault(request),
            NUMBER => numbered_fault(request),
            name => documented_fault(name, request, numbers),
        };
        let fault = fault.map(|fault| Self { duration, keep_alive, ..fault });
        let fault = fault.map_err(|text| problems.push(text)).ok();
        if let Some(fault) = &fault
            && fault.restore.is_none()
            && (duration.is_some() || keep_alive.is_some())
        {
            problems.push(format!(
                "restore: must be given with duration or keep_alive, because no parameters are known that end `{}`",
                fault.kind
            ));
        }
        match fault {
            Some(fault) if problems.is_empty() => Ok(fault),
            _ => Err(problems.join("; ")),
        }
    }

    /// Whether it has the same target as the other fault and so replaces it.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        self.target == other.target
    }

    /// Whether the masks of both faults are different but share parameters of the model.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (FaultTarget::Parameters(a), FaultTarget::Parameters(b)) => a != b && a & b != 0,
            _ => false,
        }
    }

    /// Returns the datagram that sends `values` for it. Free slots repeat other faults, because some models do not keep faults.
    pub(super) fn datagram<'a>(
        &'a self,
        vehicle: u16,
        values: &'a [f64],
        others: impl Iterator<Item = &'a Self>,
    ) -> Vec<u8> {
        let id = match self.target {
            FaultTarget::Parameters(mask) => {
                let all = std::array::from_fn(|i| values.get(i).copied().unwrap_or_default());
                let packet = ModelParametersPacket::new(ModelParameters::Faults, mask, all);
                return packet.as_bytes().to_vec();
            }
            FaultTarget::Number(id) => id,
        };
        let (mut ints, mut floats, mut used) = ([0; 8], [0.0; 20], 0);
        let others = others.filter_map(|fault| match fault.target {
            FaultTarget::Number(id) => Some((id, &*fault.values)),
            FaultTarget::Parameters(_) => None,
        });
        for (id, values) in std::iter::once((id, values)).chain(others) {
            let needed = values.len().div_ceil(2).max(1);
            if used + needed > SLOTS {
                continue;
            }
            ints[used..used + needed].fill(id);
            for (float, value) in floats[2 * used..].iter_mut().zip(values) {
                *float = *value as f32;
            }
            used += needed;
        }
        let packet = SilInputsPacket::new(vehicle.into(), InputSet::Plain, ints, floats);
        packet.as_bytes().to_vec()
    }
}

fn build(kind: &str, target: FaultTarget, mask: u32, values: Vec<f64>, restore: Vec<f64>) -> Fault {
    let (kind, restore) = (kind.to_owned(), (!restore.is_empty()).then_some(restore));
    Fault { kind, target, mask, values, restore, duration: None, keep_alive: None }
}

/// Reads a time; 0 means none.
fn read_duration(field: &str, value: f64, problems: &mut Vec<String>) -> Option<Duration> {
    if (0.0..=MAX_DURATION_S).contains(&value) {
        return (value > 0.0).then(|| Duration::from_secs_f64(value));
    }
    problems.push(format!("{field}: must be 0 to {MAX_DURATION_S} s, is {value}"));
    None
}

fn documented_fault(
    name: &str,
    request: &InjectFaultRequest,
    numbers: FaultNumbers,
) -> Result<Fault, String> {
    let Some(kind) = FaultKind::by_name(name) else {
        let names = FAULT_KINDS.iter().map(|kind| kind.name).chain([NUMBER, PARAMETERS]);
        let suggestion = did_you_mean(name, names.clone());
        let names: Vec<_> = names.collect();
        return Err(format!("kind: must be one of {}, is {name:?}{suggestion}", names.join(", ")));
    };
    let id = if request.id == 0 { kind.id(numbers) } else { request.id };
    let values = |field: &str, given: &[f64], mask| match kind.parameters {
        FaultParameters::Rotors(parameter) => rotor_values(field, parameter, given, mask),
        FaultParameters::List(list) => list_values(field, kind.name, list, given),
    };
    if request.mask != 0 && !matches!(kind.parameters, FaultParameters::Rotors(_)) {
        let mask = request.mask;
        return Err(format!("mask: must be 0 for `{name}`, which has no rotors, is {mask}"));
    }
    let injected = values("parameters", &request.parameters, request.mask)?;
    let restore = if request.restore.is_empty() {
        kind.healthy()
    } else {
        values("restore", &request.restore, request.mask)?
    };
    Ok(build(name, FaultTarget::Number(id), request.mask, injected, restore))
}

/// Returns a value for every rotor; rotors without a given value are healthy.
fn rotor_values(
    field: &str,
    parameter: FaultParameter,
    given: &[f64],
    mask: u32,
) -> Result<Vec<f64>, String> {
    if mask >> ROTORS != 0 {
        return Err(format!(
            "mask: must have bits 0 to {} only, for rotors 1 to {ROTORS}, is {mask:#x}",
            ROTORS - 1
        ));
    }
    for value in given {
        check_range(field, parameter, *value)?;
    }
    let mut all = vec![parameter.healthy; ROTORS];
    spread(field, given, mask, &mut all)?;
    let is_chosen = |rotor: usize| mask == 0 || mask >> rotor & 1 == 1;
    for (_, value) in all.iter_mut().enumerate().filter(|(rotor, _)| !is_chosen(*rotor)) {
        *value = parameter.healthy;
    }
    Ok(all)
}

/// Writes the given values to the positions in the mask; without a mask, or if the list is full, to the first positions.
fn spread(field: &str, given: &[f64], mask: u32, all: &mut [f64]) -> Result<(), String> {
    let chosen = mask.count_ones() as usize;
    let fits = match mask {
        0 => (1..=all.len()).contains(&given.len()),
        _ => given.len() == 1 || given.len() == chosen || given.len() == all.len(),
    };
    if !fits {
        let (max, found) = (all.len(), given.len());
        return Err(match mask {
            0 => format!("{field}: must have 1 to {max} values, has {found}"),
            _ => format!(
                "{field}: must have {chosen} values, one per bit of the mask, or 1 for all of them, or all {max}, has {found}"
            ),
        });
    }
    if mask == 0 || given.len() == all.len() {
        all[..given.len()].copy_from_slice(given);
        return Ok(());
    }
    let bits = (0..all.len()).filter(|bit| mask >> bit & 1 == 1);
    for (bit, value) in bits.zip(given.iter().cycle()) {
        all[bit] = *value;
    }
    Ok(())
}

fn list_values(
    field: &str,
    kind: &str,
    list: &[FaultParameter],
    given: &[f64],
) -> Result<Vec<f64>, String> {
    if given.len() != list.len() {
        let names: Vec<_> = list.iter().map(|parameter| parameter.name).collect();
        let names = if names.is_empty() { "no parameters".to_owned() } else { names.join(", ") };
        return Err(format!("{field}: `{kind}` has {names}; {} values are given", given.len()));
    }
    for (parameter, value) in list.iter().zip(given) {
        check_range(field, *parameter, *value)?;
    }
    Ok(given.to_vec())
}

fn check_range(field: &str, parameter: FaultParameter, value: f64) -> Result<(), String> {
    let FaultParameter { name, min, max, .. } = parameter;
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(format!("{field}: {name} must be {min} to {max}, is {value}"))
}

fn numbered_fault(request: &InjectFaultRequest) -> Result<Fault, String> {
    let check = |field: &str, given: &[f64]| {
        if given.len() > 2 * SLOTS {
            let (max, len) = (2 * SLOTS, given.len());
            return Err(format!("{field}: must have at most {max} values, has {len}"));
        }
        if given.iter().all(|value| (*value as f32).is_finite()) {
            return Ok(());
        }
        Err(format!("{field}: must be finite as 32-bit numbers, are {given:?}"))
    };
    if request.id == 0 {
        return Err("id: must be the number of the fault in your model, is 0".to_owned());
    }
    if request.mask != 0 {
        return Err(format!("mask: must be 0 with kind `id`, is {}", request.mask));
    }
    check("parameters", &request.parameters)?;
    check("restore", &request.restore)?;
    let (values, restore) = (request.parameters.clone(), request.restore.clone());
    let target = FaultTarget::Number(request.id);
    Ok(build(NUMBER, target, 0, values, restore))
}

fn parameters_fault(request: &InjectFaultRequest) -> Result<Fault, String> {
    let given = &request.parameters;
    let are_finite = |list: &[f64]| list.iter().all(|value| value.is_finite());
    if request.id != 0 {
        return Err(format!("id: must be 0 with kind `parameters`, is {}", request.id));
    }
    if !are_finite(given) || !are_finite(&request.restore) {
        return Err("parameters, restore: must be finite".to_owned());
    }
    let mut values = vec![0.0; MODEL_PARAMETERS];
    spread("parameters", given, request.mask, &mut values)?;
    let mask = match request.mask {
        0 => u32::MAX >> (MODEL_PARAMETERS - given.len()),
        mask => mask,
    };
    let mut restore = Vec::new();
    if !request.restore.is_empty() {
        restore = vec![0.0; MODEL_PARAMETERS];
        spread("restore", &request.restore, mask, &mut restore)?;
    }
    Ok(build(PARAMETERS, FaultTarget::Parameters(mask), mask, values, restore))
}
