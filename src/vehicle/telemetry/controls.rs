//! `rc/in`, `manual_control/control`, `rc/out`, `target_actuator_control`, `hil/actuator_controls`: inputs of pilots, outputs of the autopilot.
use super::plugin::plugin;
use super::topic::{BestMessage, Published};
use crate::msgs::mavros_msgs::msg::{
    ActuatorControl, HilActuatorControls, ManualControl, RCIn, RCOut,
};
use crate::vehicle::Fcu;
use crate::wire::TrueState;
use crate::wire::mavlink::dialect::{
    ACTUATOR_CONTROL_TARGET_DATA, MANUAL_CONTROL_DATA, RC_CHANNELS_DATA, RC_CHANNELS_RAW_DATA,
    SERVO_OUTPUT_RAW_DATA,
};
use crate::wire::mavlink::raw;

/// Ports published; a message holds 8 inputs or 16 outputs of one port.
const PORTS: u8 = 4;

plugin! {
    ControlsPlugin {
        publish {
            inputs: RCIn("rc/in", Telemetry, "RC_CHANNELS") in "";
            outputs: RCOut("rc/out", Telemetry, "SERVO_OUTPUT_RAW") in "";
            manual: ManualControl("manual_control/control", Telemetry, "MANUAL_CONTROL of another station") in "";
            target: ActuatorControl("target_actuator_control", Telemetry, "ACTUATOR_CONTROL_TARGET") in "";
            hil: HilActuatorControls("hil/actuator_controls", Telemetry, "motor outputs (HIL_ACTUATOR_CONTROLS); the true state that CopterSim sends in such messages is on `ground_truth/*`") in "";
        }
        state {
            best: BestMessage;
            raw_inputs: Vec<u16>;
            servos: Vec<u16>;
        }
        receive {
            dialect::RC_CHANNELS_DATA => rc_channels,
            dialect::RC_CHANNELS_RAW_DATA => rc_channels_raw,
            dialect::SERVO_OUTPUT_RAW_DATA => servo_output_raw,
            dialect::MANUAL_CONTROL_DATA => manual_control,
            dialect::ACTUATOR_CONTROL_TARGET_DATA => actuator_control_target,
            raw::HilActuatorControls => hil_actuator_controls,
        }
    }
}

impl ControlsPlugin {
    #[rustfmt::skip] // a table
    fn rc_channels(&mut self, fcu: &mut Fcu, m: &RC_CHANNELS_DATA) -> Published {
        self.best.take(2, fcu.arrival());
        let all = [
            m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw, m.chan5_raw, m.chan6_raw,
            m.chan7_raw, m.chan8_raw, m.chan9_raw, m.chan10_raw, m.chan11_raw, m.chan12_raw,
            m.chan13_raw, m.chan14_raw, m.chan15_raw, m.chan16_raw, m.chan17_raw, m.chan18_raw,
        ];
        let there = all.get(..usize::from(m.chancount)).unwrap_or(&all);
        self.inputs.publish_if_subscribed(fcu.stamp_ms(m.time_boot_ms), |message| {
            message.rssi = m.rssi;
            message.channels.clear();
            message.channels.extend_from_slice(there);
        })
    }

    #[rustfmt::skip] // a table
    fn rc_channels_raw(&mut self, fcu: &mut Fcu, m: &RC_CHANNELS_RAW_DATA) -> Published {
        if !self.best.take(1, fcu.arrival()) {
            return Ok(());
        }
        let port = [
            m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw,
            m.chan5_raw, m.chan6_raw, m.chan7_raw, m.chan8_raw,
        ];
        keep(&mut self.raw_inputs, m.port, &port);
        let (stamp, raw) = (fcu.stamp_ms(m.time_boot_ms), &self.raw_inputs);
        self.inputs.publish_if_subscribed(stamp, |message| {
            message.rssi = m.rssi;
            message.channels.clone_from(raw);
        })
    }

    #[rustfmt::skip] // a table
    fn servo_output_raw(&mut self, fcu: &mut Fcu, m: &SERVO_OUTPUT_RAW_DATA) -> Published {
        let port = [
            m.servo1_raw, m.servo2_raw, m.servo3_raw, m.servo4_raw,
            m.servo5_raw, m.servo6_raw, m.servo7_raw, m.servo8_raw,
            m.servo9_raw, m.servo10_raw, m.servo11_raw, m.servo12_raw,
            m.servo13_raw, m.servo14_raw, m.servo15_raw, m.servo16_raw,
        ];
        keep(&mut self.servos, m.port, &port);
        // The time in the message is 32-bit µs, which wrap after 71 minutes.
        let (stamp, servos) = (fcu.stamp_now(), &self.servos);
        self.outputs.publish_if_subscribed(stamp, |message| {
            message.channels.clone_from(servos);
        })
    }

    fn manual_control(&mut self, fcu: &mut Fcu, m: &MANUAL_CONTROL_DATA) -> Published {
        // The scale of `manual_control/send`; mavros divides in this direction only.
        let scale = if fcu.settings.quirks { 1e3 } else { 1.0 };
        let axis = |value: i16| f32::from(value) / scale;
        self.manual.publish_if_subscribed(fcu.stamp_now(), |control| {
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

    fn actuator_control_target(
        &mut self,
        fcu: &mut Fcu,
        m: &ACTUATOR_CONTROL_TARGET_DATA,
    ) -> Published {
        self.target.publish_if_subscribed(fcu.stamp_us(m.time_usec), |actuators| {
            actuators.group_mix = m.group_mlx;
            actuators.controls = m.controls;
        })
    }

    fn hil_actuator_controls(&mut self, fcu: &mut Fcu, m: &raw::HilActuatorControls) -> Published {
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

/// Writes the values of one port behind those of lower ports.
fn keep(all: &mut Vec<u16>, port: u8, values: &[u16]) {
    if port >= PORTS {
        return;
    }
    let begin = usize::from(port) * values.len();
    if all.len() < begin + values.len() {
        all.resize(begin + values.len(), 0);
    }
    for (to, from) in all.iter_mut().skip(begin).zip(values) {
        *to = *from;
    }
}
