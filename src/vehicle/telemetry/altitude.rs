//! `altitude` and `vfr_hud`.
use super::convert::header;
use super::topic::Topic;
use crate::msgs::mavros_msgs::msg::{Altitude, VfrHud};
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open, VehicleSettings};
use crate::wire::mavlink::dialect::{ALTITUDE_DATA, VFR_HUD_DATA};

pub(super) struct Altitudes {
    altitude: Topic<Altitude>,
    vfr_hud: Topic<VfrHud>,
}

impl Altitudes {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        let altitude = Altitude { header: header(&settings.map), ..Altitude::default() };
        Ok(Self {
            altitude: Topic::open(open, "altitude", altitude)?,
            vfr_hud: Topic::open(open, "vfr_hud", VfrHud::default())?,
        })
    }

    pub(super) fn altitude(&mut self, fcu: &mut Fcu, m: &ALTITUDE_DATA) -> Result<(), RosError> {
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

    pub(super) fn vfr_hud(&mut self, fcu: &mut Fcu, m: &VFR_HUD_DATA) -> Result<(), RosError> {
        let stamp = fcu.stamp_now();
        self.vfr_hud.publish_if_subscribed(stamp, |hud| {
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
