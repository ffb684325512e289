//! Inputs and parameters of a vehicle's model, and the damage that follows from them. No I/O and no clock.
//!
//! Faults have the numbers and parameters of the vendor's fault library: an integer of the inputs is the number of a fault, the
//! two floats of the same index are its parameters, and a fault with more parameters is listed once per pair. A fault stays
//! active until its number is sent with the parameters of an undamaged vehicle; `POWER_OFF` has none, and stays active
//! until the health of the motors is sent.
use super::autopilot::Damage;
use crate::wire::{InputSet, ModelInput, ModelParameters, Surroundings, UorbInputsPacket};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use zerocopy::little_endian::{F32, F64, I32};

/// Numbers of the faults that the emulator simulates.
const MOTORS: i32 = 123_450;
const PROPELLERS: i32 = 123_451;
const POWER_OFF: i32 = 123_452;
const LOW_VOLTAGE: i32 = 123_453;
const LOW_CHARGE: i32 = 123_454;
const WIND: i32 = 123_458;
const ACCELEROMETER: i32 = 123_542;
const GYROSCOPE: i32 = 123_543;
const GPS: i32 = 123_546;
/// Numbers of all faults of the library.
const FAULTS: [RangeInclusive<i32>; 2] = [123_450..=123_459, 123_540..=123_549];

/// Inputs and parameters of one vehicle's model.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct ModelState {
    /// Integers, then floats, of the last plain set, from a `Sil` or a `Doubles` packet.
    inputs: [f64; 28],
    extended: [[f64; 28]; 5],
    #[serde(skip)]
    waiting: [Option<[f64; 28]>; 5],
    fault_parameters: [f64; 32],
    initial: [f64; 32],
    #[serde(skip)] // too long for serde
    dynamic: [f64; 64],
    renderer: [f64; 32],
    rays: [f64; 6],
    collision: [f64; 20],
    terrain: [f64; 20],
    pub(super) damage: Damage,
    /// Name or number of the model.
    model: Option<String>,
    /// A new command, if the model flies without an autopilot.
    #[serde(skip)]
    command: Option<[f64; 28]>,
    /// Datagrams applied.
    pub(super) count: u64,
}

impl Default for ModelState {
    fn default() -> Self {
        let mut fault_parameters = [0.0; 32];
        fault_parameters[..8].fill(1.0);
        Self {
            inputs: [0.0; 28],
            extended: [[0.0; 28]; 5],
            waiting: [None; 5],
            fault_parameters,
            initial: [0.0; 32],
            dynamic: [0.0; 64],
            renderer: [0.0; 32],
            rays: [0.0; 6],
            collision: [0.0; 20],
            terrain: [0.0; 20],
            damage: Damage::default(),
            model: None,
            command: None,
            count: 0,
        }
    }
}

impl ModelState {
    /// Applies an input; returns values for a model in the autopilot.
    pub(super) fn apply(&mut self, input: &ModelInput<'_>) -> Option<[f32; 8]> {
        self.count += 1;
        match input {
            ModelInput::Sil(p) => {
                let mut inputs = [0.0; 28];
                let ints = p.ints.map(I32::get).map(f64::from);
                let floats = p.floats.map(F32::get).map(f64::from);
                inputs[..8].copy_from_slice(&ints);
                inputs[8..].copy_from_slice(&floats);
                self.set_inputs(p.set(), inputs);
            }
            ModelInput::Doubles(p) => self.set_inputs(p.set(), p.values.map(F64::get)),
            ModelInput::Parameters(p) => {
                let target = match p.which() {
                    ModelParameters::Faults => &mut self.fault_parameters,
                    ModelParameters::Initial => &mut self.initial,
                };
                set_masked(p.mask.get().into(), &p.values, target);
                self.set_damage_by_parameters();
            }
            ModelInput::Dynamic(p) => set_masked(p.mask.get(), &p.values, &mut self.dynamic),
            ModelInput::Renderer(p) => self.renderer = p.values.map(F64::get),
            ModelInput::Rays(p) => self.rays = p.rays.map(|x| x.get().into()),
            ModelInput::Surroundings(p) => {
                let values = p.values.map(|x| x.get().into());
                match p.what() {
                    Surroundings::Collision => self.collision = values,
                    Surroundings::Terrain => self.terrain = values,
                }
            }
            ModelInput::Uorb(UorbInputsPacket { data, .. }) => {
                return data.first_chunk().map(|eight| eight.map(F32::get));
            }
        }
        None
    }

    /// Sets inputs; a waiting set takes effect with the next extended set.
    fn set_inputs(&mut self, set: Option<InputSet>, inputs: [f64; 28]) {
        let index = |n: u8| usize::from(n.saturating_sub(1));
        match set {
            Some(InputSet::Plain) => {
                self.inputs = inputs;
                if self.has_no_autopilot() && !self.has_fault_numbers() {
                    self.command = Some(inputs);
                }
                self.set_damage_by_inputs();
            }
            Some(InputSet::Waiting(n)) => {
                if let Some(waiting) = self.waiting.get_mut(index(n)) {
                    *waiting = Some(inputs);
                }
            }
            Some(InputSet::Extended(n)) => {
                for (waiting, set) in self.waiting.iter_mut().zip(&mut self.extended) {
                    *set = waiting.take().unwrap_or(*set);
                }
                if let Some(set) = self.extended.get_mut(index(n)) {
                    *set = inputs;
                }
            }
            None => {}
        }
    }

    /// Loads another model, without damage.
    pub(super) fn load(&mut self, model: String) {
        *self = Self { model: Some(model), ..Self::default() };
    }

    /// Restarts the model, without damage.
    pub(super) fn restart(&mut self) {
        *self = Self { model: self.model.take(), ..Self::default() };
    }

    /// Inputs, parameters and damage, for tests.
    pub(super) fn state(&self) -> Value {
        let mut state = json!(self);
        state["dynamic"] = json!(self.dynamic.as_slice());
        state["damage"]["wind"] = json!(self.damage.wind.as_slice());
        state
    }

    /// Whether the model has no PX4: the vendor's names of such models contain "NoPX4".
    fn has_no_autopilot(&self) -> bool {
        let named = |name: &String| name.to_ascii_lowercase().contains("nopx4");
        self.model.as_ref().is_some_and(named)
    }

    fn has_fault_numbers(&self) -> bool {
        let is_fault = |input: &f64| FAULTS.iter().any(|range| range.contains(&(*input as i32)));
        self.inputs.iter().take(8).any(is_fault)
    }

    /// Returns a new command of a model that flies without an autopilot.
    pub(super) fn take_command(&mut self) -> Option<[f64; 28]> {
        self.command.take()
    }

    /// The parameters of a fault if the inputs contain its number: two per occurrence.
    fn parameters(&self, fault: i32) -> Option<Vec<f64>> {
        let (numbers, values) = self.inputs.split_at(8);
        let pairs = numbers.iter().zip(values.chunks(2));
        let matching = pairs.filter(|(number, _)| **number == f64::from(fault));
        let found: Vec<f64> = matching.flat_map(|(_, pair)| pair).copied().collect();
        (!found.is_empty()).then_some(found)
    }

    fn set_damage_by_inputs(&mut self) {
        for fault in [MOTORS, PROPELLERS] {
            if let Some(health) = self.parameters(fault) {
                // A motor without a parameter is undamaged.
                for (i, motor) in self.damage.motors.iter_mut().enumerate() {
                    *motor = to_share(health.get(i).copied().unwrap_or(1.0));
                }
            }
        }
        let first = |fault| self.parameters(fault).and_then(|p| p.first().copied());
        let (voltage, charge) = (first(LOW_VOLTAGE), first(LOW_CHARGE));
        let (accelerometer, gyroscope) = (first(ACCELEROMETER), first(GYROSCOPE));
        let (off, wind, gps) = (first(POWER_OFF), self.parameters(WIND), self.parameters(GPS));
        let damage = &mut self.damage;
        if off.is_some() {
            damage.motors = [0.0; 8];
        }
        damage.voltage = voltage.map_or(damage.voltage, to_share);
        if let Some(charge) = charge {
            damage.charge = Some(to_share(charge)).filter(|charge| *charge < 1.0);
        }
        damage.accelerometer = accelerometer.unwrap_or(damage.accelerometer);
        damage.gyroscope = gyroscope.unwrap_or(damage.gyroscope);
        if let Some([x, y, z, ..]) = wind.as_deref() {
            damage.wind = [*x, *y, *z].into();
        }
        if let Some([_, fix, satellites, ..]) = gps.as_deref() {
            damage.gps = [*fix as u8, *satellites as u8];
        }
    }

    /// Reads the fault parameters of the emulator's model: health of eight motors, then wind in m/s, NED.
    fn set_damage_by_parameters(&mut self) {
        let p = &self.fault_parameters;
        self.damage.motors = std::array::from_fn(|i| to_share(p[i]));
        self.damage.wind = [p[8], p[9], p[10]].into();
    }

    /// Outputs of the model: its inputs, the time, and the number of applied datagrams.
    pub(super) fn outputs(&self, now: f64) -> [f64; 32] {
        let mut outputs = [0.0; 32];
        outputs[..28].copy_from_slice(&self.inputs);
        outputs[28] = now;
        outputs[29] = self.count as f64;
        outputs
    }
}

fn set_masked<const N: usize>(mask: u64, values: &[F64; N], targets: &mut [f64; N]) {
    for ((target, value), bit) in targets.iter_mut().zip(values).zip(0..) {
        if mask >> bit & 1 == 1 {
            *target = value.get();
        }
    }
}

fn to_share(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) }
}
