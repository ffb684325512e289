//! `altitude`, `vfr_hud`, `nav_controller_output/output`, `wind_estimation`.
use super::convert::vector3;
use super::plugin::plugin;
use super::topic::Published;
use crate::frames::{Enu, Ned, Vector};
use crate::msgs::geometry_msgs::msg::TwistWithCovarianceStamped;
use crate::msgs::mavros_msgs::msg::{Altitude, NavControllerOutput, VfrHud};
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::{
    ALTITUDE_DATA, NAV_CONTROLLER_OUTPUT_DATA, VFR_HUD_DATA, WIND_COV_DATA,
};

plugin! {
    NavigationPlugin(settings) {
        publish {
            altitude: Altitude("altitude", Telemetry, "altitudes of every kind (ALTITUDE)") in settings.map;
            vfr_hud: VfrHud("vfr_hud", Telemetry, "airspeed, groundspeed, heading, throttle, climb (VFR_HUD)") in "";
            output: NavControllerOutput("nav_controller_output/output", Telemetry, "NAV_CONTROLLER_OUTPUT") in "";
            wind: TwistWithCovarianceStamped("wind_estimation", Telemetry, "wind, ENU (WIND_COV)") in "";
        }
        receive {
            dialect::ALTITUDE_DATA => altitude,
            dialect::VFR_HUD_DATA => vfr_hud,
            dialect::NAV_CONTROLLER_OUTPUT_DATA => nav_controller_output,
            dialect::WIND_COV_DATA => wind_cov,
        }
    }
}

impl NavigationPlugin {
    fn altitude(&mut self, fcu: &mut Fcu, m: &ALTITUDE_DATA) -> Published {
        self.altitude.publish_if_subscribed(fcu.stamp_us(m.time_usec), |altitude| {
            altitude.monotonic = m.altitude_monotonic;
            altitude.amsl = m.altitude_amsl;
            altitude.local = m.altitude_local;
            altitude.relative = m.altitude_relative;
            altitude.terrain = m.altitude_terrain;
            altitude.bottom_clearance = m.bottom_clearance;
        })
    }

    fn vfr_hud(&mut self, fcu: &mut Fcu, m: &VFR_HUD_DATA) -> Published {
        self.vfr_hud.publish_if_subscribed(fcu.stamp_now(), |hud| {
            hud.airspeed = m.airspeed;
            hud.groundspeed = m.groundspeed;
            hud.heading = m.heading;
            // MAVLink has percent, ROS a fraction of 1.
            hud.throttle = f32::from(m.throttle) / 1e2;
            hud.altitude = m.alt;
            hud.climb = m.climb;
        })
    }

    fn nav_controller_output(
        &mut self,
        fcu: &mut Fcu,
        m: &NAV_CONTROLLER_OUTPUT_DATA,
    ) -> Published {
        self.output.publish_if_subscribed(fcu.stamp_now(), |output| {
            (output.nav_roll, output.nav_pitch) = (m.nav_roll, m.nav_pitch);
            (output.nav_bearing, output.target_bearing) = (m.nav_bearing, m.target_bearing);
            output.wp_dist = m.wp_dist;
            output.alt_error = m.alt_error;
            output.aspd_error = m.aspd_error;
            output.xtrack_error = m.xtrack_error;
        })
    }

    fn wind_cov(&mut self, fcu: &mut Fcu, m: &WIND_COV_DATA) -> Published {
        if !fcu.check_finite([m.wind_x, m.wind_y, m.wind_z]) {
            return Ok(());
        }
        // mavros omits the second horizontal axis.
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
