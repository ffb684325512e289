//! PX4's parameters: names, types and defaults, and the protocol that reads and writes them. Integers are encoded byte-wise
//! in the float field.
use crate::wire::mavlink::dialect::{MavParamType, PARAM_VALUE_DATA};
use crate::wire::mavlink::numbers::*;
use crate::wire::mavlink::raw::{ParamRequestList, ParamRequestRead, ParamSet};
use crate::wire::mavlink::{Frame, MavMessage, Outbound};
use std::{borrow::Cow, mem::discriminant};

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterNumber {
    /// Integer.
    Int(i32),
    /// Float.
    Float(f32),
}

impl ParameterNumber {
    fn to_wire(self) -> (f32, MavParamType) {
        match self {
            Self::Int(v) => (f32::from_bits(v.cast_unsigned()), MavParamType::MAV_PARAM_TYPE_INT32),
            Self::Float(v) => (v, MavParamType::MAV_PARAM_TYPE_REAL32),
        }
    }

    /// Returns the value as f64.
    pub fn number(self) -> f64 {
        match self {
            Self::Int(v) => v.into(),
            Self::Float(v) => v.into(),
        }
    }
}

/// Declares a struct with a field per parameter: `field: type = method of Parameters("PX4's name"), " in unit";`.
macro_rules! px4_parameters {
    ($(#[$doc:meta])* $visible:vis $name:ident {
        $($field:ident: $type:ty = $read:ident($parameter:literal), $unit:literal;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $visible struct $name {
            $(#[doc = concat!($parameter, $unit, ".")] $visible $field: $type,)+
        }

        impl $name {
            /// Reads the parameters.
            $visible fn of(parameters: &$crate::emulator::autopilot::parameters::Parameters) -> Self {
                Self { $($field: parameters.$read($parameter),)+ }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::of(&Default::default())
            }
        }
    };
}
pub(super) use px4_parameters;

/// Parameters sent per second while listing.
const LIST_RATE: f64 = 1000.0;
/// One parameter per line, sorted by name, with an integer or float value: those of PX4 1.16 on a quadrotor
/// of its built-in simulator.
const TABLE: &str = include_str!("parameters.txt");
/// Index of a parameter outside the list.
const NO_INDEX: u16 = u16::MAX;
const HASH: &str = "_HASH_CHECK";

fn parse(line: &'static str) -> Option<(&'static str, ParameterNumber)> {
    let (name, value) = line.split_once(' ')?;
    let integer = value.parse().map(ParameterNumber::Int);
    let value = integer.or_else(|_| value.parse().map(ParameterNumber::Float)).ok()?;
    Some((name, value))
}

/// A name, zero-terminated if shorter than the field.
fn parse_name(field: &[u8]) -> Cow<'_, str> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end])
}

/// The parameters of a vehicle.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Sorted by name; the index is PX4's `param_index`.
    values: Vec<(&'static str, ParameterNumber)>,
    /// Number of parameters still to be listed, and the time of the next one.
    listing: Option<(usize, f64)>,
    /// Number of changes.
    pub version: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        let mut values: Vec<_> = TABLE.lines().filter_map(parse).collect();
        values.sort_by_key(|(name, _)| *name);
        Self { values, listing: None, version: 0 }
    }
}

impl Parameters {
    fn find(&self, name: &str) -> Option<usize> {
        self.values.binary_search_by_key(&name, |(n, _)| n).ok()
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<ParameterNumber> {
        self.find(name).map(|i| self.values[i].1)
    }

    /// A parameter as a number; NaN if there is none of that name.
    pub fn number(&self, name: &str) -> f64 {
        self.get(name).map_or(f64::NAN, ParameterNumber::number)
    }

    /// A parameter in degrees, converted to rad.
    pub(super) fn radians(&self, name: &str) -> f64 {
        self.number(name).to_radians()
    }

    pub(super) fn integer(&self, name: &str) -> i32 {
        self.number(name) as i32
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn message(&self, index: usize) -> Outbound {
        let (name, number) = self.values[index];
        let (value, param_type) = number.to_wire();
        self.value_message(name, value, index as u16, param_type)
    }

    /// PX4's checksum of all names and values, offered as a parameter so that clients need not list all.
    fn hash(&self) -> Outbound {
        let mut hash = crc32fast::Hasher::new();
        for (name, number) in &self.values {
            hash.update(name.as_bytes());
            hash.update(&number.to_wire().0.to_le_bytes());
        }
        let value = f32::from_bits(hash.finalize());
        self.value_message(HASH, value, NO_INDEX, MavParamType::MAV_PARAM_TYPE_UINT32)
    }

    fn value_message(
        &self,
        name: &str,
        param_value: f32,
        param_index: u16,
        param_type: MavParamType,
    ) -> Outbound {
        MavMessage::PARAM_VALUE(PARAM_VALUE_DATA {
            param_value,
            param_count: self.values.len() as u16,
            param_index,
            param_id: name.into(),
            param_type,
        })
        .into()
    }

    /// Handles a message of the parameter protocol; `false` for other messages.
    pub fn receive(&mut self, frame: &Frame<'_>, now: f64, replies: &mut Vec<Outbound>) -> bool {
        if let Some(request) = ParamRequestRead::parse(frame) {
            let name = parse_name(&request.id);
            if name == HASH && request.index < 0 {
                replies.push(self.hash());
            } else {
                // PX4 does not answer for unknown parameters.
                let index = usize::try_from(request.index).ok().or_else(|| self.find(&name));
                let index = index.filter(|i| *i < self.values.len());
                replies.extend(index.map(|index| self.message(index)));
            }
        } else if let Some(set) = ParamSet::parse(frame) {
            let name = parse_name(&set.id);
            let number = match set.kind {
                MAV_PARAM_TYPE_INT32 => Some(ParameterNumber::Int(i32::from_le_bytes(set.value))),
                MAV_PARAM_TYPE_REAL32 => {
                    Some(ParameterNumber::Float(f32::from_le_bytes(set.value)))
                }
                _ => None,
            };
            if name == HASH {
                self.listing = None; // a client that already has the list stops the listing this way
            } else if let (Some(index), Some(number)) = (self.find(&name), number)
                && discriminant(&number) == discriminant(&self.values[index].1)
            {
                // PX4 ignores a value of the wrong type.
                self.change(index, number);
                replies.push(self.message(index));
            }
        } else if frame.id == ParamRequestList::ID {
            if self.listing.is_none() {
                replies.push(self.hash());
            }
            self.listing = Some((self.values.len(), now));
        } else {
            return false;
        }
        true
    }

    fn change(&mut self, index: usize, number: ParameterNumber) {
        self.values[index].1 = number;
        self.version += 1;
    }

    /// Sets a parameter, if there is one of that name.
    pub fn set(&mut self, name: &str, number: f64) {
        if let Some(index) = self.find(name) {
            let number = match self.values[index].1 {
                ParameterNumber::Int(_) => ParameterNumber::Int(number as i32),
                ParameterNumber::Float(_) => ParameterNumber::Float(number as f32),
            };
            self.change(index, number);
        }
    }

    /// Sends the part of the list that is due.
    pub fn step(&mut self, now: f64, replies: &mut Vec<Outbound>) {
        while let Some((left, due)) = self.listing.filter(|(_, due)| *due <= now) {
            if left == 0 {
                self.listing = None;
                return;
            }
            replies.push(self.message(self.values.len() - left));
            self.listing = Some((left - 1, due + 1.0 / LIST_RATE));
        }
    }
}
