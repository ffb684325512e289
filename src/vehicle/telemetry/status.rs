//! `extended_state`, `estimator_status`, `status_event`, `vibration`.
use super::convert::header;
use super::topic::Topic;
use crate::msgs::geometry_msgs::msg::Vector3;
use crate::msgs::mavros_msgs::msg::{EstimatorStatus, ExtendedState, StatusEvent, Vibration};
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open, VehicleSettings};
use crate::wire::mavlink::dialect::{ESTIMATOR_STATUS_DATA, EVENT_DATA, VIBRATION_DATA};
use crate::wire::mavlink::raw::ExtendedSysState;

pub(super) struct Status {
    extended_state: Topic<ExtendedState>,
    estimator_status: Topic<EstimatorStatus>,
    status_event: Topic<StatusEvent>,
    vibration: Topic<Vibration>,
}

impl Status {
    pub(super) fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError> {
        let vibration = Vibration { header: header(&settings.base_link), ..Vibration::default() };
        Ok(Self {
            extended_state: Topic::open(open, "extended_state", ExtendedState::default())?,
            estimator_status: Topic::open(open, "estimator_status", EstimatorStatus::default())?,
            status_event: Topic::open(open, "status_event", StatusEvent::default())?,
            vibration: Topic::open(open, "vibration/raw/vibration", vibration)?,
        })
    }

    pub(super) fn extended_sys_state(
        &mut self,
        fcu: &mut Fcu,
        m: &ExtendedSysState,
    ) -> Result<(), RosError> {
        fcu.landed = Some(m.landed_state);
        let stamp = fcu.stamp_now();
        self.extended_state.publish_always(stamp, |state| {
            state.vtol_state = m.vtol_state;
            state.landed_state = m.landed_state;
        })
    }

    pub(super) fn estimator_status(
        &mut self,
        fcu: &mut Fcu,
        m: &ESTIMATOR_STATUS_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_us(m.time_usec);
        let flags = m.flags.bits();
        fcu.preflight.estimator(flags);
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

    pub(super) fn event(&mut self, fcu: &mut Fcu, m: &EVENT_DATA) -> Result<(), RosError> {
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

    pub(super) fn vibration(&mut self, fcu: &mut Fcu, m: &VIBRATION_DATA) -> Result<(), RosError> {
        if !fcu.finite([m.vibration_x, m.vibration_y, m.vibration_z]) {
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
