use crate::frames::VehiclePose;
use crate::time::SimTime;

/// What a sensor knows besides its frames, to find out which axes the simulator means, and whom it tells.
pub trait Surroundings: Send + Sync {
    /// The true pose of the vehicle that carries the sensor, near an instant; `None` if it is not known.
    fn pose(&self, at: SimTime) -> Option<VehiclePose>;

    /// Down in the sensor's FLU frame near an instant, by the true attitude and the mount; `None` if it is not known.
    fn down(&self, at: SimTime) -> Option<[f64; 3]>;

    /// Takes what is known of a convention of the sensor, in the words of [`Ballot::text`](super::Ballot::text).
    fn tell(&self, what: &'static str, verdict: super::Verdict, text: &str);
}
