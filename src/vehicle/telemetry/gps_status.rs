//! `gpsstatus/*`: reports of the GPS receivers, unchanged.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::GPSRAW;
use crate::vehicle::Fcu;
use crate::wire::mavlink::raw::{Gps2Raw, GpsRawInt};

plugin! { GpsStatusPlugin {
    publish {
        gps1: GPSRAW("gpsstatus/gps1/raw", Telemetry, "GPS_RAW_INT, unchanged") in "/wgs84" => without_dgps;
        gps2: GPSRAW("gpsstatus/gps2/raw", Telemetry, "GPS2_RAW, unchanged") in "/wgs84" => without_dgps;
    }
    receive { raw::GpsRawInt => gps_raw_int, raw::Gps2Raw => gps2_raw, }
} }

fn without_dgps(raw: &mut GPSRAW) {
    (raw.dgps_numch, raw.dgps_age) = (u8::MAX, u32::MAX);
}

/// Copies the fields that both messages have.
macro_rules! copy {
    ($m:ident => $raw:ident) => {
        $raw.fix_type = $m.fix_type;
        ($raw.lat, $raw.lon, $raw.alt) = ($m.lat, $m.lon, $m.alt);
        ($raw.eph, $raw.epv, $raw.vel, $raw.cog) = ($m.eph, $m.epv, $m.vel, $m.cog);
        $raw.satellites_visible = $m.satellites_visible;
        $raw.alt_ellipsoid = $m.alt_ellipsoid;
        ($raw.h_acc, $raw.v_acc, $raw.vel_acc) = ($m.h_acc, $m.v_acc, $m.vel_acc);
        $raw.hdg_acc = i32::try_from($m.hdg_acc).unwrap_or(i32::MAX);
        $raw.yaw = $m.yaw;
    };
}

impl GpsStatusPlugin {
    fn gps_raw_int(&mut self, fcu: &mut Fcu, m: &GpsRawInt) -> RosResult {
        self.gps1.publish_if_subscribed(fcu.stamp_us(m.time_usec), |raw| {
            copy!(m => raw);
        })
    }

    fn gps2_raw(&mut self, fcu: &mut Fcu, m: &Gps2Raw) -> RosResult {
        self.gps2.publish_if_subscribed(fcu.stamp_us(m.time_usec), |raw| {
            copy!(m => raw);
            (raw.dgps_numch, raw.dgps_age) = (m.dgps_numch, m.dgps_age);
        })
    }
}
