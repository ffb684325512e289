//! `manual_control/control`: the stick positions that another station sends.
use super::{plugin::plugin, topic::RosResult};
use crate::vehicle::Fcu;
use crate::{msgs::mavros_msgs::msg::ManualControl, wire::mavlink::dialect::MANUAL_CONTROL_DATA};

plugin! { ManualControlPlugin {
    publish {
        control: ManualControl("manual_control/control", Telemetry, "MANUAL_CONTROL of another station") in "";
    }
    receive { dialect::MANUAL_CONTROL_DATA => manual_control, }
} }

impl ManualControlPlugin {
    fn manual_control(&mut self, fcu: &mut Fcu, m: &MANUAL_CONTROL_DATA) -> RosResult {
        // Unscaled (-1000 to 1000), as `manual_control/send` takes it. mavros divides by 1000 here but does not multiply there.
        let scale = if fcu.settings.quirks { 1e3 } else { 1.0 };
        let axis = |value: i16| f32::from(value) / scale;
        self.control.publish_if_subscribed(fcu.stamp_now(), |control| {
            (control.x, control.y) = (axis(m.x), axis(m.y));
            (control.z, control.r) = (axis(m.z), axis(m.r));
            (control.buttons, control.buttons2) = (m.buttons, m.buttons2);
            control.enabled_extensions = m.enabled_extensions;
            (control.s, control.t) = (axis(m.s), axis(m.t));
            (control.aux1, control.aux2) = (axis(m.aux1), axis(m.aux2));
            (control.aux3, control.aux4) = (axis(m.aux3), axis(m.aux4));
            (control.aux5, control.aux6) = (axis(m.aux5), axis(m.aux6));
        })
    }
}
