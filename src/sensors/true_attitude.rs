use crate::{frames::VehiclePose, time::SimTime};

/// Provides the true pose of a sensor's vehicle, from which the sensor detects the axes on the wire; receives the result.
pub trait TrueAttitude: Send + Sync {
    /// Returns the true pose of the vehicle near an instant; `None` if it is not known.
    fn pose(&self, at: SimTime) -> Option<VehiclePose>;

    /// Returns the direction down in the sensor's FLU frame near an instant; `None` if it is not known.
    fn down(&self, at: SimTime) -> Option<[f64; 3]>;

    /// Reports a result; `what` is `cloud` or `odometry`, `text` is [`ConventionFinder::text`](super::ConventionFinder::text).
    fn report(&self, what: &'static str, verdict: super::Verdict, text: &str);
}
