//! `nav_controller_output/output`.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::NavControllerOutput;
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::NAV_CONTROLLER_OUTPUT_DATA;

plugin! { NavControllerOutputPlugin {
    publish {
        output: NavControllerOutput("nav_controller_output/output", Telemetry, "NAV_CONTROLLER_OUTPUT") in "";
    }
    receive { dialect::NAV_CONTROLLER_OUTPUT_DATA => controller_output, }
} }

impl NavControllerOutputPlugin {
    fn controller_output(&mut self, fcu: &mut Fcu, m: &NAV_CONTROLLER_OUTPUT_DATA) -> RosResult {
        self.output.publish_if_subscribed(fcu.stamp_now(), |output| {
            (output.nav_roll, output.nav_pitch) = (m.nav_roll, m.nav_pitch);
            (output.nav_bearing, output.target_bearing) = (m.nav_bearing, m.target_bearing);
            output.wp_dist = m.wp_dist;
            output.alt_error = m.alt_error;
            output.aspd_error = m.aspd_error;
            output.xtrack_error = m.xtrack_error;
        })
    }
}
