//! `altitude` and `vfr_hud`.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::{Altitude, VfrHud};
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::{ALTITUDE_DATA, VFR_HUD_DATA};

plugin! { AltitudesPlugin(settings) {
    publish {
        altitude: Altitude("altitude", Telemetry, "altitudes of every kind (ALTITUDE)") in settings.map;
        vfr_hud: VfrHud("vfr_hud", Telemetry, "airspeed, groundspeed, heading, throttle, climb (VFR_HUD)") in "";
    }
    receive { dialect::ALTITUDE_DATA => altitude, dialect::VFR_HUD_DATA => vfr_hud, }
} }

impl AltitudesPlugin {
    fn altitude(&mut self, fcu: &mut Fcu, m: &ALTITUDE_DATA) -> RosResult {
        let stamp = fcu.stamp_us(m.time_usec);
        self.altitude.publish_if_subscribed(stamp, |altitude| {
            altitude.monotonic = m.altitude_monotonic;
            altitude.amsl = m.altitude_amsl;
            altitude.local = m.altitude_local;
            altitude.relative = m.altitude_relative;
            altitude.terrain = m.altitude_terrain;
            altitude.bottom_clearance = m.bottom_clearance;
        })
    }

    fn vfr_hud(&mut self, fcu: &mut Fcu, m: &VFR_HUD_DATA) -> RosResult {
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
}
