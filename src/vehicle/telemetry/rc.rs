//! `rc/in` and `rc/out`: RC inputs and servo outputs.
use super::plugin::plugin;
use super::topic::{BestMessage, RosResult};
use crate::msgs::mavros_msgs::msg::{RCIn, RCOut};
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::{
    RC_CHANNELS_DATA, RC_CHANNELS_RAW_DATA, SERVO_OUTPUT_RAW_DATA,
};

/// Number of published ports; a message has 8 inputs or 16 outputs of one port.
const PORTS: u8 = 4;
/// Ranks of the messages for `rc/in`.
const RC_CHANNELS_RAW_RANK: u8 = 1;
const RC_CHANNELS_RANK: u8 = 2;

plugin! { RcPlugin {
    publish {
        inputs: RCIn("rc/in", Telemetry, "RC_CHANNELS") in "";
        outputs: RCOut("rc/out", Telemetry, "SERVO_OUTPUT_RAW") in "";
    }
    state { best: BestMessage; raw: Vec<u16>; servos: Vec<u16>; }
    receive {
        dialect::RC_CHANNELS_DATA => rc_channels,
        dialect::RC_CHANNELS_RAW_DATA => rc_channels_raw,
        dialect::SERVO_OUTPUT_RAW_DATA => servo_output_raw,
    }
} }

impl RcPlugin {
    #[rustfmt::skip] // a table
    fn rc_channels(&mut self, fcu: &mut Fcu, m: &RC_CHANNELS_DATA) -> RosResult {
        self.best.accept(RC_CHANNELS_RANK, fcu.arrival()); // the best: always accepted
        let all = [
            m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw, m.chan5_raw, m.chan6_raw,
            m.chan7_raw, m.chan8_raw, m.chan9_raw, m.chan10_raw, m.chan11_raw, m.chan12_raw,
            m.chan13_raw, m.chan14_raw, m.chan15_raw, m.chan16_raw, m.chan17_raw, m.chan18_raw,
        ];
        let channels_in_use = all.get(..usize::from(m.chancount)).unwrap_or(&all);
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.inputs.publish_if_subscribed(stamp, |message| {
            message.rssi = m.rssi;
            message.channels.clear();
            message.channels.extend_from_slice(channels_in_use);
        })
    }

    #[rustfmt::skip] // a table
    fn rc_channels_raw(&mut self, fcu: &mut Fcu, m: &RC_CHANNELS_RAW_DATA) -> RosResult {
        if !self.best.accept(RC_CHANNELS_RAW_RANK, fcu.arrival()) {
            return Ok(());
        }
        let port = [
            m.chan1_raw, m.chan2_raw, m.chan3_raw, m.chan4_raw,
            m.chan5_raw, m.chan6_raw, m.chan7_raw, m.chan8_raw,
        ];
        store_port(&mut self.raw, m.port, &port);
        let (stamp, raw) = (fcu.stamp_ms(m.time_boot_ms), &self.raw);
        self.inputs.publish_if_subscribed(stamp, |message| {
            message.rssi = m.rssi;
            message.channels.clone_from(raw);
        })
    }

    #[rustfmt::skip] // a table
    fn servo_output_raw(&mut self, fcu: &mut Fcu, m: &SERVO_OUTPUT_RAW_DATA) -> RosResult {
        let port = [
            m.servo1_raw, m.servo2_raw, m.servo3_raw, m.servo4_raw,
            m.servo5_raw, m.servo6_raw, m.servo7_raw, m.servo8_raw,
            m.servo9_raw, m.servo10_raw, m.servo11_raw, m.servo12_raw,
            m.servo13_raw, m.servo14_raw, m.servo15_raw, m.servo16_raw,
        ];
        store_port(&mut self.servos, m.port, &port);
        // The time in the message is 32-bit µs, which wrap after 71 minutes.
        let (stamp, servos) = (fcu.stamp_now(), &self.servos);
        self.outputs.publish_if_subscribed(stamp, |message| {
            message.channels.clone_from(servos);
        })
    }
}

/// Writes the values of one port after the values of lower ports.
fn store_port(all: &mut Vec<u16>, port: u8, values: &[u16]) {
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
