//! The faults that the vendor documents for models with its fault library.
//!
//! Source: pages `md_phm` of the vendor's SDK (numbers `sdk`); initialization files of newer models use other numbers
//! (`template`).
use crate::config::params::FaultNumbers;

/// A parameter of a fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultParameter {
    /// Name in answers and in the documentation.
    pub name: &'static str,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Value that ends the fault.
    pub healthy: f64,
}

/// The parameters of a kind of fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultParameters {
    /// One per rotor.
    Rotors(FaultParameter),
    /// A fixed list.
    List(&'static [FaultParameter]),
}

impl FaultParameters {
    /// Lists names and ranges, for the documentation.
    pub fn describe(&self) -> String {
        let describe = |p: &FaultParameter| format!("{} ({} to {})", p.name, p.min, p.max);
        match self {
            Self::Rotors(parameter) => format!("{} of each rotor", describe(parameter)),
            Self::List(list) => list.iter().map(describe).collect::<Vec<_>>().join(", "),
        }
    }
}

/// A documented fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultKind {
    /// Name.
    pub name: &'static str,
    /// Number in the SDK's documents.
    sdk: i32,
    /// Number in newer models.
    template: i32,
    /// Its parameters.
    pub parameters: FaultParameters,
    /// Effect, for the documentation.
    pub doc: &'static str,
}

/// Number of rotors in a fault.
pub(super) const ROTORS: usize = 8;

const fn p(name: &'static str, min: f64, max: f64, healthy: f64) -> FaultParameter {
    FaultParameter { name, min, max, healthy }
}

const fn kind(
    name: &'static str,
    [sdk, template]: [i32; 2],
    parameters: FaultParameters,
    doc: &'static str,
) -> FaultKind {
    FaultKind { name, sdk, template, parameters, doc }
}

use FaultParameters::{List, Rotors};

const EFFICIENCY: FaultParameter = p("efficiency", 0.0, 1.0, 1.0);
const GAIN: &[FaultParameter] = &[p("gain", 0.0, 1e6, 0.0)];
const WIND: f64 = 200.0;

/// All kinds of faults.
#[rustfmt::skip] // a table
pub const FAULT_KINDS: &[FaultKind] = &[
    kind("motor", [123_450, 123_450], Rotors(EFFICIENCY), "speed of the motor times the efficiency; 0 stops it"),
    kind("propeller", [123_451, 123_451], Rotors(EFFICIENCY), "thrust of the propeller times the efficiency"),
    kind("battery_off", [123_452, 123_453], List(&[]), "the reported state of the battery fails; the flight is not affected"),
    kind("battery_voltage", [123_453, 123_454], List(&[p("remaining", 0.0, 1.0, 1.0)]), "share of the voltage that remains"),
    kind("battery_capacity", [123_454, 123_455], List(&[p("remaining", 0.0, 1.0, 1.0)]), "share of the charge that remains"),
    kind("load_fall", [123_455, 123_456], List(&[p("share", 0.0, 1.0, 0.0)]), "loses this share of the mass at once"),
    kind("load_shift", [123_456, 123_457], List(&[p("share", 0.0, 1.0, 0.0), p("x", -1.0, 1.0, 0.0), p("y", -1.0, 1.0, 0.0), p("z", -1.0, 1.0, 0.0)]), "moves this share of the mass along the axes of the body"),
    kind("load_leak", [123_457, 123_458], List(&[p("share", 0.0, 1.0, 0.0), p("rate", 0.0, 1.0, 0.0)]), "loses this share of the mass gradually"),
    kind("wind", [123_458, 123_459], List(&[p("x", -WIND, WIND, 0.0), p("y", -WIND, WIND, 0.0), p("z", -WIND, WIND, 0.0)]), "constant wind in m/s, NED"),
    kind("gust", [123_459, 123_540], List(&[p("speed", 0.0, WIND, 0.0), p("direction", -1e6, 1e6, 0.0)]), "gusts of this speed in m/s; the vendor documents the second parameter both as direction and as interval"),
    kind("turbulence", [123_540, 123_541], List(&[p("speed", 0.0, WIND, 0.0)]), "turbulent wind in m/s"),
    kind("wind_shear", [123_541, 123_542], List(&[p("speed", 0.0, WIND, 0.0)]), "sheared wind in m/s"),
    kind("accelerometer_noise", [123_542, 123_544], List(GAIN), "noise of the sensor: 0.2 + 0.8 gain times the model's"),
    kind("gyroscope_noise", [123_543, 123_545], List(GAIN), "noise of the sensor: 0.2 + 0.8 gain times the model's"),
    kind("magnetometer_noise", [123_544, 123_546], List(GAIN), "noise of the sensor: 0.2 + 0.8 gain times the model's"),
    kind("barometer_noise", [123_545, 123_547], List(GAIN), "noise of the sensor: 0.2 + 0.8 gain times the model's"),
    kind("gps", [123_546, 123_548], List(&[p("gain", 0.0, 1e6, 1.0), p("fix", 0.0, 8.0, 3.0), p("satellites", 0.0, 255.0, 10.0)]), "noise, fix type and number of satellites of the receiver"),
];

impl FaultKind {
    /// Finds a kind by its name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FAULT_KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns its number in the model.
    pub fn id(&self, numbers: FaultNumbers) -> i32 {
        match numbers {
            FaultNumbers::Sdk => self.sdk,
            FaultNumbers::Template => self.template,
        }
    }

    /// Returns its numbers in the SDK's documents and in newer models.
    pub fn ids(&self) -> [i32; 2] {
        [self.sdk, self.template]
    }

    /// Describes what ends it, values or a restart, for the documentation.
    pub fn describe_end(&self) -> String {
        match self.parameters {
            Rotors(parameter) => parameter.healthy.to_string(),
            List([]) => "a restart".to_owned(),
            List(list) => {
                let healthy: Vec<_> = list.iter().map(|p| p.healthy.to_string()).collect();
                healthy.join(", ")
            }
        }
    }

    /// Returns the values of the parameters that end the fault; empty if no values end it.
    pub(super) fn healthy(&self) -> Vec<f64> {
        match self.parameters {
            Rotors(parameter) => vec![parameter.healthy; ROTORS],
            List(list) => list.iter().map(|parameter| parameter.healthy).collect(),
        }
    }
}
