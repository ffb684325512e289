use crate::frames::VehiclePose;
use crate::time::SimTime;

/// The true pose of the vehicle that carries a sensor, from which the sensor detects the axes on the wire. Receives the result.
pub trait Surroundings: Send + Sync {
    /// The true pose of the vehicle that carries the sensor, near an instant; `None` if it is not known.
    fn pose(&self, at: SimTime) -> Option<VehiclePose>;

    /// Down in the sensor's FLU frame near an instant, by the true attitude and the mount; `None` if it is not known.
    fn down(&self, at: SimTime) -> Option<[f64; 3]>;

    /// Reports a convention of the sensor; `text` is [`ConventionFinder::text`](super::ConventionFinder::text).
    fn report(&self, what: &'static str, verdict: super::Verdict, text: &str);
}
