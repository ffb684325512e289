//! `target_actuator_control` and `hil/actuator_controls`: outputs of the autopilot.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::{ActuatorControl, HilActuatorControls};
use crate::vehicle::Fcu;
use crate::wire::mavlink::raw;
use crate::{wire::TrueState, wire::mavlink::dialect::ACTUATOR_CONTROL_TARGET_DATA};

plugin! { ActuatorsPlugin {
    publish {
        target: ActuatorControl("target_actuator_control", Telemetry, "ACTUATOR_CONTROL_TARGET") in "";
        hil: HilActuatorControls("hil/actuator_controls", Telemetry, "motor outputs (HIL_ACTUATOR_CONTROLS); the true state that CopterSim sends in such messages is on `ground_truth/*`") in "";
    }
    receive {
        dialect::ACTUATOR_CONTROL_TARGET_DATA => control_target,
        raw::HilActuatorControls => hil_actuator_controls,
    }
} }

impl ActuatorsPlugin {
    fn control_target(&mut self, fcu: &mut Fcu, m: &ACTUATOR_CONTROL_TARGET_DATA) -> RosResult {
        self.target.publish_if_subscribed(fcu.stamp_us(m.time_usec), |actuators| {
            actuators.group_mix = m.group_mlx;
            actuators.controls = m.controls;
        })
    }

    fn hil_actuator_controls(&mut self, fcu: &mut Fcu, m: &raw::HilActuatorControls) -> RosResult {
        if let Some(truth) = TrueState::of_actuator_controls(fcu.settings.id.into(), m) {
            fcu.queue_truth(truth);
            return Ok(());
        }
        self.hil.publish_if_subscribed(fcu.stamp_us(m.time_usec), |actuators| {
            actuators.controls = m.controls;
            (actuators.mode, actuators.flags) = (m.mode, m.flags);
        })
    }
}
