//! `manual_control/send`, `rc/override`, `actuator_control`: passed on unchanged.
use super::{reject::Reject, subscriptions::subscriptions};
use crate::msgs::mavros_msgs::msg::{ActuatorControl, ManualControl, OverrideRCIn};
use crate::vehicle::stamp::stamp_us;
use crate::wire::mavlink::MavMessage;
use crate::wire::mavlink::dialect::{
    MANUAL_CONTROL_DATA, RC_CHANNELS_OVERRIDE_DATA, SET_ACTUATOR_CONTROL_TARGET_DATA,
};

subscriptions! {
    ManualControl("manual_control/send", "MANUAL_CONTROL, -1000 to 1000") => |autopilot, topic, message| {
        let converted = manual(message, autopilot.fcu.system);
        autopilot.pass(topic, converted.map(MavMessage::MANUAL_CONTROL));
    };
    OverrideRCIn("rc/override", "RC_CHANNELS_OVERRIDE; 0 releases a channel, 65535 leaves it unchanged")
        => |autopilot, topic, message| {
            let [chan1_raw, chan2_raw, chan3_raw, chan4_raw, chan5_raw, chan6_raw, chan7_raw, chan8_raw, chan9_raw,
                chan10_raw, chan11_raw, chan12_raw, chan13_raw, chan14_raw, chan15_raw, chan16_raw, chan17_raw,
                chan18_raw] = message.channels;
            let (target_system, target_component) = (autopilot.fcu.system, autopilot.fcu.component);
            let message = RC_CHANNELS_OVERRIDE_DATA {
                target_system, target_component, chan1_raw, chan2_raw, chan3_raw, chan4_raw, chan5_raw, chan6_raw,
                chan7_raw, chan8_raw, chan9_raw, chan10_raw, chan11_raw, chan12_raw, chan13_raw, chan14_raw, chan15_raw,
                chan16_raw, chan17_raw, chan18_raw,
            };
            autopilot.pass(topic, Ok(MavMessage::RC_CHANNELS_OVERRIDE(message)));
        };
    ActuatorControl("actuator_control", "SET_ACTUATOR_CONTROL_TARGET") => |autopilot, topic, message| {
        let message = SET_ACTUATOR_CONTROL_TARGET_DATA {
            time_usec: stamp_us(&message.header.stamp),
            group_mlx: message.group_mix,
            controls: message.controls,
            target_system: autopilot.fcu.system,
            target_component: autopilot.fcu.component,
        };
        autopilot.pass(topic, Ok(MavMessage::SET_ACTUATOR_CONTROL_TARGET(message)));
    };
}

fn manual(m: &ManualControl, target: u8) -> Result<MANUAL_CONTROL_DATA, Reject> {
    if [m.x, m.y, m.z, m.r].iter().any(|value| value.is_nan()) {
        return Err(Reject::NotANumber("x, y, z or r"));
    }
    // The cast truncates and saturates.
    let whole = |value: f32| value as i16;
    Ok(MANUAL_CONTROL_DATA {
        target,
        x: whole(m.x),
        y: whole(m.y),
        z: whole(m.z),
        r: whole(m.r),
        buttons: m.buttons,
        buttons2: m.buttons2,
        enabled_extensions: m.enabled_extensions,
        s: whole(m.s),
        t: whole(m.t),
        aux1: whole(m.aux1),
        aux2: whole(m.aux2),
        aux3: whole(m.aux3),
        aux4: whole(m.aux4),
        aux5: whole(m.aux5),
        aux6: whole(m.aux6),
    })
}
