//! A satellite receiver: the true position with noise.
use super::{TruthTopic, messages::nav_sat_fix};
use crate::config::params::{DegradeParams, QosGroup};
use crate::frames::{Enu, Geodetic, Separation, Vector};
use crate::noise::{Draws, Purpose};
use crate::ros::{Publisher, RosError};
use crate::time::{RosTime, SimTime};
use crate::{msgs::sensor_msgs::msg::NavSatFix, wire::TrueState};

/// Topic of the receiver.
pub const GPS_TOPIC: TruthTopic = super::topic::<NavSatFix>(
    "gps",
    QosGroup::State,
    "true position with the noise `degrade.gps_noise_m` and its covariance; only if the noise is not 0",
);

/// Returns the true position with noise of standard deviations `sigma_m` east, north and up; `None` if the state
/// has no valid position.
pub fn noisy_fix(
    state: &TrueState,
    geoid: &mut Separation,
    (draws, sigma_m): (Draws, [f64; 3]),
    stamp: RosTime,
) -> Option<NavSatFix> {
    let mut message = nav_sat_fix(state, geoid, stamp)?;
    let time = SimTime::from_secs(state.sim_time);
    let mut numbers = draws.at(Purpose::Gps, time.0);
    let error = sigma_m.map(|sigma| sigma * numbers.normal());
    let position = Geodetic::new(message.latitude, message.longitude, message.altitude);
    let position = Geodetic::from_enu(Vector::<Enu>::from(error), position);
    (message.latitude, message.longitude) = (position.latitude_deg, position.longitude_deg);
    message.altitude = position.altitude_m;
    let [east, north, up] = sigma_m.map(|sigma| sigma * sigma);
    message.position_covariance = [east, 0.0, 0.0, 0.0, north, 0.0, 0.0, 0.0, up];
    message.position_covariance_type = NavSatFix::COVARIANCE_TYPE_DIAGONAL_KNOWN;
    Some(message)
}

/// The receiver of one vehicle.
pub struct GpsReceiver {
    publisher: Publisher<NavSatFix>,
    noise: (Draws, [f64; 3]),
}

impl GpsReceiver {
    /// Opens the topic with `open`. `None` without noise, because the true position has its own topic.
    pub fn open<E>(
        params: &DegradeParams,
        vehicle: u16,
        open: impl FnOnce(&TruthTopic) -> Result<Publisher<NavSatFix>, E>,
    ) -> Result<Option<Self>, E> {
        if params.gps_noise_m == [0.0; 3] {
            return Ok(None);
        }
        Ok(Some(Self {
            publisher: open(&GPS_TOPIC)?,
            noise: (Draws::new(params.seed, vehicle), params.gps_noise_m),
        }))
    }

    pub(super) fn is_read(&self) -> bool {
        self.publisher.subscribers() > 0
    }

    pub(super) fn publish(
        &self,
        state: &TrueState,
        geoid: &mut Separation,
        base_link: &str,
        stamp: RosTime,
    ) -> Result<(), RosError> {
        if self.is_read()
            && let Some(mut message) = noisy_fix(state, geoid, self.noise, stamp)
        {
            base_link.clone_into(&mut message.header.frame_id);
            self.publisher.publish(&message)?;
        }
        Ok(())
    }
}
