//! `wind_estimation`.
use super::{convert::vector3, plugin::plugin, topic::RosResult};
use crate::frames::{Enu, Ned, Vector};
use crate::msgs::geometry_msgs::msg::TwistWithCovarianceStamped;
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::WIND_COV_DATA;

plugin! { WindEstimationPlugin {
    publish {
        wind: TwistWithCovarianceStamped("wind_estimation", Telemetry, "wind, ENU (WIND_COV)") in "";
    }
    receive { dialect::WIND_COV_DATA => wind_cov, }
} }

impl WindEstimationPlugin {
    fn wind_cov(&mut self, fcu: &mut Fcu, m: &WIND_COV_DATA) -> RosResult {
        if !fcu.check_finite([m.wind_x, m.wind_y, m.wind_z]) {
            return Ok(());
        }
        // mavros leaves the variance of the second horizontal axis at 0.
        let second = if fcu.settings.quirks { 0.0 } else { m.var_horiz };
        self.wind.publish_if_subscribed(fcu.stamp_us(m.time_usec), |wind| {
            let ned = Vector::<Ned>::from([m.wind_x, m.wind_y, m.wind_z]);
            wind.twist.twist.linear = vector3(Vector::<Enu>::from(ned));
            let variances = [m.var_horiz, second, m.var_vert];
            let cells = wind.twist.covariance.iter_mut().step_by(7);
            for (cell, variance) in cells.zip(variances) {
                *cell = variance.into();
            }
        })
    }
}
