//! Finds the axes of the accelerations of the IMU on the wire. The vendor corrected them in January 2026; whether that changed
//! the sent data is not public.
//!
//! The true motion gives the specific force that an accelerometer measures. Conventions that differ only in the signs of x and y
//! cannot be distinguished while the vehicle is level and does not accelerate horizontally; gravity alone shows the sign of z.
use super::{ConventionFinder, Verdict};
use crate::frames::{Attitude, Frd, Ned, Vector};
use crate::{config::params::AccelerationAxes, time::SimTime};

/// Conventions; FRD is the vendor's documented one.
const CANDIDATES: [AccelerationAxes; 3] =
    [AccelerationAxes::Frd, AccelerationAxes::Bld, AccelerationAxes::Flu];
/// Duration of a round of samples, in ns, and the least number of samples that it needs.
const WINDOW_NS: i64 = 500_000_000;
const MIN_SAMPLES: u32 = 10;
/// Least difference of the mean square errors of two conventions, in m²/s⁴. A force f along an axis of opposite sign gives 4 f²,
/// so a tilt of 1.5 degrees suffices. A bias of the accelerometer below 0.5 m/s² cannot change the result.
const MIN_MARGIN: f64 = 0.25;
/// Standard gravity in m/s².
const GRAVITY: f64 = 9.806_65;
/// Largest time between two true velocities that give an acceleration, in ns.
const MAX_STEP_NS: i64 = 100_000_000;

impl AccelerationAxes {
    /// Converts an acceleration on the wire to FRD.
    pub fn to_frd(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self {
            Self::Auto | Self::Frd => [x, y, z],
            Self::Bld => [-x, -y, z],
            Self::Flu => [x, -y, -z],
        }
    }
}

/// The specific force of a vehicle at a simulator time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueForce {
    /// Simulator time.
    pub at: SimTime,
    /// In FRD, m/s².
    pub force: [f64; 3],
}

/// Computes specific forces from true states.
#[derive(Clone, Debug, Default)]
pub struct ForceMeter {
    last: Option<(SimTime, Vector<Ned>)>,
}

impl ForceMeter {
    /// Takes a true state; returns the mean force since the previous state, `None` if that is too old.
    pub fn take(
        &mut self,
        at: SimTime,
        velocity: Vector<Ned>,
        attitude: Attitude<Frd, Ned>,
    ) -> Option<TrueForce> {
        let (before, last_velocity) = self.last.replace((at, velocity))?;
        let step = at.0.checked_sub(before.0)?;
        if !(1..=MAX_STEP_NS).contains(&step) {
            return None;
        }
        let acceleration = (velocity - last_velocity) * (1e9 / step as f64);
        let force = acceleration - Vector::new(0.0, 0.0, GRAVITY);
        Some(TrueForce {
            at: SimTime(before.0 + step / 2),
            force: attitude.inverse().rotate(force).to_array(),
        })
    }
}

/// Finds the axes of the accelerations of one IMU.
#[derive(Clone, Debug)]
pub struct AccelerationAxesFinder {
    finder: ConventionFinder<AccelerationAxes, 3>,
    since: Option<SimTime>,
    count: u32,
    errors: [f64; 3],
}

impl AccelerationAxesFinder {
    /// Creates a finder without measurements; `configured`: the parameter.
    pub fn new(configured: AccelerationAxes) -> Self {
        Self {
            finder: ConventionFinder::new(CANDIDATES, configured, AccelerationAxes::Auto),
            since: None,
            count: 0,
            errors: [0.0; 3],
        }
    }

    /// Takes an acceleration on the wire and the true force of about the same time.
    pub fn add(&mut self, at: SimTime, acceleration: [f64; 3], force: [f64; 3]) {
        if !acceleration.iter().chain(&force).all(|v| v.is_finite()) {
            return;
        }
        let since = *self.since.get_or_insert(at);
        if !(0..WINDOW_NS).contains(&at.0.saturating_sub(since.0)) {
            if self.count >= MIN_SAMPLES {
                let count = f64::from(self.count);
                self.finder.add_round(self.errors.map(|error| error / count), MIN_MARGIN);
            }
            (self.since, self.count, self.errors) = (Some(at), 0, [0.0; 3]);
        }
        self.count += 1;
        for (candidate, error) in CANDIDATES.into_iter().zip(&mut self.errors) {
            let frd = candidate.to_frd(acceleration);
            *error += (0..3).map(|i| (frd[i] - force[i]).powi(2)).sum::<f64>();
        }
    }

    /// Returns the convention in use.
    pub fn in_use(&self) -> AccelerationAxes {
        self.finder.in_use()
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        self.finder.verdict()
    }

    /// Describes the result for the log and for `/diagnostics`.
    pub fn text(&self) -> String {
        self.finder.text(AccelerationAxes::name)
    }
}
