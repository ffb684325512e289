//! `extended_state`, `estimator_status`, `status_event`, `vibration`.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::{EstimatorStatus, ExtendedState, StatusEvent, Vibration};
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::{ESTIMATOR_STATUS_DATA, EVENT_DATA, VIBRATION_DATA};
use crate::{msgs::geometry_msgs::msg::Vector3, wire::mavlink::raw::ExtendedSysState};

plugin! { StatusPlugin(settings) {
    publish {
        extended_state: ExtendedState("extended_state", VehicleState, "landed or in the air (EXTENDED_SYS_STATE)") in "";
        estimator_status: EstimatorStatus("estimator_status", VehicleState, "flags of the estimator (ESTIMATOR_STATUS)") in "";
        status_event: StatusEvent("status_event", Telemetry, "EVENT, as PX4 encodes it") in "";
        vibration: Vibration("vibration/raw/vibration", Telemetry, "VIBRATION") in settings.base_link;
    }
    receive {
        dialect::ESTIMATOR_STATUS_DATA => estimator_status,
        dialect::EVENT_DATA => event,
        dialect::VIBRATION_DATA => vibration,
        raw::ExtendedSysState => extended_sys_state,
    }
} }

impl StatusPlugin {
    fn extended_sys_state(&mut self, fcu: &mut Fcu, m: &ExtendedSysState) -> RosResult {
        fcu.landed = Some(m.landed_state);
        let stamp = fcu.stamp_now();
        self.extended_state.publish_always(stamp, |state| {
            state.vtol_state = m.vtol_state;
            state.landed_state = m.landed_state;
        })
    }

    fn estimator_status(&mut self, fcu: &mut Fcu, m: &ESTIMATOR_STATUS_DATA) -> RosResult {
        let stamp = fcu.stamp_us(m.time_usec);
        let flags = m.flags.bits();
        fcu.preflight.estimator = Some(flags);
        let flag = |bit: u16| flags >> bit & 1 != 0;
        self.estimator_status.publish_always(stamp, |status| {
            status.attitude_status_flag = flag(0);
            status.velocity_horiz_status_flag = flag(1);
            status.velocity_vert_status_flag = flag(2);
            status.pos_horiz_rel_status_flag = flag(3);
            status.pos_horiz_abs_status_flag = flag(4);
            status.pos_vert_abs_status_flag = flag(5);
            status.pos_vert_agl_status_flag = flag(6);
            status.const_pos_mode_status_flag = flag(7);
            status.pred_pos_horiz_rel_status_flag = flag(8);
            status.pred_pos_horiz_abs_status_flag = flag(9);
            status.gps_glitch_status_flag = flag(10);
            status.accel_error_status_flag = flag(11);
        })
    }

    fn event(&mut self, fcu: &mut Fcu, m: &EVENT_DATA) -> RosResult {
        let stamp = fcu.stamp_ms(m.event_time_boot_ms);
        self.status_event.publish_always(stamp, |event| {
            // The lower half of `log_levels` is the external level, the upper one the internal level.
            event.severity = m.log_levels & 0x0f;
            // PX4 puts the component that defines the event into the upper byte.
            event.px4_id = m.id & 0x00ff_ffff;
            event.arguments = m.arguments;
            event.sequence = m.sequence;
        })
    }

    fn vibration(&mut self, fcu: &mut Fcu, m: &VIBRATION_DATA) -> RosResult {
        if !fcu.check_finite([m.vibration_x, m.vibration_y, m.vibration_z]) {
            return Ok(());
        }
        let stamp = fcu.stamp_us(m.time_usec);
        self.vibration.publish_if_subscribed(stamp, |vibration| {
            vibration.vibration = Vector3 {
                x: m.vibration_x.into(),
                y: m.vibration_y.into(),
                z: m.vibration_z.into(),
            };
            vibration.clipping = [m.clipping_0, m.clipping_1, m.clipping_2].map(|n| n as f32);
        })
    }
}
