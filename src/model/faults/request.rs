//! What a client asks for, checked.
use super::kinds::{FAULT_KINDS, FaultKind, Parameter, Parameters, ROTORS};
use crate::config::did_you_mean;
use crate::config::params::FaultNumbers;
use crate::msgs::rfly_bridge_msgs::srv::InjectFaultRequest;
use crate::wire::{
    InputSet, IntoBytes as _, ModelParameters, ModelParametersPacket, SilInputsPacket,
};
use std::time::Duration;

/// Kind of a fault with a number of the user's own.
pub(super) const OWN: &str = "id";
/// Kind of a fault that is parameters of the model.
pub(super) const PARAMETERS: &str = "parameters";
/// Places for faults in a packet of integers and floats: each has two parameters.
const PLACES: usize = 8;
/// Parameters of a model that faults may set.
const COUNT: usize = 32;
/// Longest duration in s.
const LONGEST: f64 = 1e6;

/// Where a fault takes effect.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A fault of this number.
    Number(i32),
    /// These parameters of the model.
    Parameters(u32),
}

/// A fault that can be sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) kind: String,
    pub(super) place: Place,
    /// As the client gave it.
    pub(super) mask: u32,
    pub(super) values: Vec<f64>,
    /// What ends it; `None`: nothing that the bridge knows.
    pub(super) restore: Option<Vec<f64>>,
    pub(super) duration: Option<Duration>,
    pub(super) keep_alive: Option<Duration>,
}

impl Fault {
    /// Checks a request; all that is wrong with it.
    pub(super) fn of(request: &InjectFaultRequest, numbers: FaultNumbers) -> Result<Self, String> {
        let mut wrong = Vec::new();
        let duration = seconds("duration", request.duration, &mut wrong);
        let keep_alive = seconds("keep_alive", request.keep_alive, &mut wrong);
        let fault = match &*request.kind {
            PARAMETERS => of_parameters(request),
            OWN => of_number(request),
            name => of_kind(name, request, numbers),
        };
        let fault = fault.map(|fault| Self {
            duration,
            keep_alive,
            ..fault
        });
        let fault = fault.map_err(|text| wrong.push(text)).ok();
        if let Some(fault) = &fault
            && fault.restore.is_none()
            && (duration.is_some() || keep_alive.is_some())
        {
            wrong.push(format!(
                "restore: must be given, because no parameters are known that end `{}`; without duration and keep_alive it may stay",
                fault.kind
            ));
        }
        match fault {
            Some(fault) if wrong.is_empty() => Ok(fault),
            _ => Err(wrong.join("; ")),
        }
    }

    /// Whether it takes effect at the same place, so that it replaces the other one.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        self.place == other.place
    }

    /// Whether both set a parameter of the model, but not the same ones.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (&self.place, &other.place) {
            (Place::Parameters(own), Place::Parameters(other)) => own != other && own & other != 0,
            _ => false,
        }
    }

    /// The datagram that injects it. Other faults are told again where there is room, for a model that does not keep them.
    pub(super) fn datagram<'a>(
        &'a self,
        vehicle: u16,
        values: &'a [f64],
        others: impl Iterator<Item = &'a Self>,
    ) -> Vec<u8> {
        let id = match self.place {
            Place::Parameters(mask) => {
                let all = std::array::from_fn(|i| values.get(i).copied().unwrap_or_default());
                let packet = ModelParametersPacket::new(ModelParameters::Faults, mask, all);
                return packet.as_bytes().to_vec();
            }
            Place::Number(id) => id,
        };
        let (mut ints, mut floats, mut used) = ([0; 8], [0.0; 20], 0);
        let others = others.filter_map(|fault| match fault.place {
            Place::Number(id) => Some((id, &*fault.values)),
            Place::Parameters(_) => None,
        });
        for (id, values) in std::iter::once((id, values)).chain(others) {
            let needed = values.len().div_ceil(2).max(1);
            if used + needed > PLACES {
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

fn fault(kind: &str, place: Place, mask: u32, values: Vec<f64>, restore: Vec<f64>) -> Fault {
    Fault {
        kind: kind.to_owned(),
        place,
        mask,
        values,
        restore: (!restore.is_empty()).then_some(restore),
        duration: None,
        keep_alive: None,
    }
}

/// A time of 0 is none.
fn seconds(field: &str, value: f64, wrong: &mut Vec<String>) -> Option<Duration> {
    if (0.0..=LONGEST).contains(&value) {
        return (value > 0.0).then(|| Duration::from_secs_f64(value));
    }
    wrong.push(format!("{field}: must be 0 to {LONGEST} s, is {value}"));
    None
}

fn of_kind(
    name: &str,
    request: &InjectFaultRequest,
    numbers: FaultNumbers,
) -> Result<Fault, String> {
    let Some(kind) = FaultKind::named(name) else {
        let names = FAULT_KINDS
            .iter()
            .map(|kind| kind.name)
            .chain([OWN, PARAMETERS]);
        let hint = did_you_mean(name, names.clone());
        let names: Vec<_> = names.collect();
        return Err(format!(
            "kind: must be one of {}, is {name:?}{hint}",
            names.join(", ")
        ));
    };
    let id = match request.id {
        0 => kind.id(numbers),
        id => id,
    };
    let values = |field: &str, given: &[f64], mask| match kind.parameters {
        Parameters::Rotors(parameter) => rotors(field, parameter, given, mask),
        Parameters::List(list) => listed(field, kind.name, list, given),
    };
    if request.mask != 0 && !matches!(kind.parameters, Parameters::Rotors(_)) {
        return Err(format!(
            "mask: must be 0 for `{name}`, which has no rotors, is {}",
            request.mask
        ));
    }
    let chosen = values("parameters", &request.parameters, request.mask)?;
    let restore = match request.restore.is_empty() {
        true => kind.healthy(),
        false => values("restore", &request.restore, request.mask)?,
    };
    Ok(fault(
        name,
        Place::Number(id),
        request.mask,
        chosen,
        restore,
    ))
}

/// A value for every rotor; those that are not chosen are healthy.
fn rotors(field: &str, parameter: Parameter, given: &[f64], mask: u32) -> Result<Vec<f64>, String> {
    if mask >> ROTORS != 0 {
        return Err(format!(
            "mask: must have bits 0 to {} only, for rotors 1 to {ROTORS}, is {mask:#x}",
            ROTORS - 1
        ));
    }
    for value in given {
        in_range(field, parameter, *value)?;
    }
    let mut all = vec![parameter.healthy; ROTORS];
    spread(field, given, mask, &mut all)?;
    Ok(all)
}

/// Writes the values that a mask chooses; without a mask the first ones.
fn spread(field: &str, given: &[f64], mask: u32, all: &mut [f64]) -> Result<(), String> {
    let chosen = mask.count_ones() as usize;
    let fits = match mask {
        0 => (1..=all.len()).contains(&given.len()),
        _ => given.len() == 1 || given.len() == chosen || given.len() == all.len(),
    };
    if !fits {
        let (most, found) = (all.len(), given.len());
        return Err(match mask {
            0 => format!("{field}: must have 1 to {most} values, has {found}"),
            _ => format!(
                "{field}: must have {chosen} values, one per bit of the mask, or 1 for all of them, or all {most}, has {found}"
            ),
        });
    }
    if mask == 0 || (given.len() == all.len() && chosen != all.len()) {
        all[..given.len()].copy_from_slice(given);
        return Ok(());
    }
    let mut values = given.iter().cycle();
    for (bit, slot) in all.iter_mut().enumerate() {
        if mask >> bit & 1 == 1
            && let Some(value) = values.next()
        {
            *slot = *value;
        }
    }
    Ok(())
}

fn listed(field: &str, kind: &str, list: &[Parameter], given: &[f64]) -> Result<Vec<f64>, String> {
    if given.len() != list.len() {
        let names: Vec<_> = list.iter().map(|parameter| parameter.name).collect();
        let names = match names.is_empty() {
            true => "no parameters".to_owned(),
            false => names.join(", "),
        };
        return Err(format!(
            "{field}: `{kind}` has {names}; {} values are given",
            given.len()
        ));
    }
    for (parameter, value) in list.iter().zip(given) {
        in_range(field, *parameter, *value)?;
    }
    Ok(given.to_vec())
}

fn in_range(field: &str, parameter: Parameter, value: f64) -> Result<(), String> {
    let Parameter {
        name, least, most, ..
    } = parameter;
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!(
            "{field}: {name} must be {least} to {most}, is {value}"
        )),
    }
}

fn of_number(request: &InjectFaultRequest) -> Result<Fault, String> {
    let check = |field: &str, given: &[f64]| {
        if given.len() > 2 * PLACES {
            return Err(format!(
                "{field}: must have at most {} values, has {}",
                2 * PLACES,
                given.len()
            ));
        }
        let sendable = |value: &f64| (*value as f32).is_finite();
        match given.iter().all(sendable) {
            true => Ok(()),
            false => Err(format!(
                "{field}: must be finite as 32-bit numbers, are {given:?}"
            )),
        }
    };
    if request.id == 0 {
        return Err("id: must be the number that your model has for the fault, is 0".to_owned());
    }
    if request.mask != 0 {
        return Err(format!(
            "mask: must be 0 with kind `id`, is {}",
            request.mask
        ));
    }
    check("parameters", &request.parameters)?;
    check("restore", &request.restore)?;
    let (values, restore) = (request.parameters.clone(), request.restore.clone());
    Ok(fault(OWN, Place::Number(request.id), 0, values, restore))
}

fn of_parameters(request: &InjectFaultRequest) -> Result<Fault, String> {
    let given = &request.parameters;
    let finite = |list: &[f64]| list.iter().all(|value| value.is_finite());
    if request.id != 0 {
        return Err(format!(
            "id: must be 0 with kind `parameters`, is {}",
            request.id
        ));
    }
    if !finite(given) || !finite(&request.restore) {
        return Err("parameters, restore: must be finite".to_owned());
    }
    let mut values = vec![0.0; COUNT];
    spread("parameters", given, request.mask, &mut values)?;
    let mask = match request.mask {
        0 => u32::MAX >> (COUNT - given.len()),
        mask => mask,
    };
    let mut restore = Vec::new();
    if !request.restore.is_empty() {
        restore = vec![0.0; COUNT];
        spread("restore", &request.restore, mask, &mut restore)?;
    }
    Ok(fault(
        PARAMETERS,
        Place::Parameters(mask),
        mask,
        values,
        restore,
    ))
}
