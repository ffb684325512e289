//! Damage of a vehicle.
use super::rigid::ControlOutput;
use crate::emulator::world::Vec3;

/// Body rates in rad/s that missing thrust causes, per share of the thrust of all motors: the controllers cannot counteract
/// the loss of one motor in hover.
const TUMBLE: Vec3 = Vec3::new(60.0, 60.0, 6.0);
/// Motors of a quadrotor in PX4's order: front right, back left, front left, back right. Signs of the roll, pitch
/// and yaw rate that missing thrust of each causes.
const SIDES: [Vec3; 4] = [
    Vec3::new(1.0, -1.0, -1.0),
    Vec3::new(-1.0, 1.0, -1.0),
    Vec3::new(-1.0, -1.0, 1.0),
    Vec3::new(1.0, 1.0, 1.0),
];

/// Damage of a vehicle and its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Damage {
    /// Health of each motor, 0 to 1: the largest share of its thrust that it can still produce.
    pub motors: [f64; 8],
    /// Voltage of the battery as a share of its normal voltage, which limits all motors.
    pub voltage: f64,
    /// Charge of the battery, 0 to 1; `None`: as simulated.
    pub charge: Option<f64>,
    /// Wind in m/s, NED.
    #[serde(skip)] // nalgebra's types do not serialize
    pub wind: Vec3,
    /// Gain of the noise of the accelerometer; 0 is none.
    pub accelerometer: f64,
    /// Gain of the noise of the gyroscope; 0 is none.
    pub gyroscope: f64,
    /// Fix type and satellites of the GPS.
    pub gps: [u8; 2],
}

impl Default for Damage {
    fn default() -> Self {
        Self {
            motors: [1.0; 8],
            voltage: 1.0,
            charge: None,
            wind: Vec3::zeros(),
            accelerometer: 0.0,
            gyroscope: 0.0,
            gps: [3, 10],
        }
    }
}

impl Damage {
    /// Returns the controllers' output as damaged motors execute it. A motor loses only the thrust above its health.
    pub(super) fn apply(&self, drive: ControlOutput) -> ControlOutput {
        let ControlOutput::Rotors { thrust, rate } = drive else { return drive };
        let missing = |health: f64| (thrust - health * self.voltage).max(0.0) / 4.0;
        let mut rate_change = Vec3::zeros();
        let mut lost = 0.0;
        for (health, side) in self.motors.iter().zip(&SIDES) {
            rate_change += side * missing(*health);
            lost += missing(*health);
        }
        ControlOutput::Rotors {
            thrust: thrust - lost,
            rate: rate + rate_change.component_mul(&TUMBLE),
        }
    }
}
