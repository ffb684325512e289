//! Wind, navigation, other stations' manual control, actuators, and debug values.
use super::convert::vector3;
use super::topic::Topic;
use crate::frames::{Enu, Ned, Vector};
use crate::msgs::geometry_msgs::msg::TwistWithCovarianceStamped;
use crate::msgs::mavros_msgs::msg::{
    ActuatorControl, DebugValue, HilActuatorControls as HilActuatorControlsMessage, ManualControl,
    NavControllerOutput,
};
use crate::ros::RosError;
use crate::vehicle::{Fcu, Open};
use crate::wire::TrueState;
use crate::wire::mavlink::dialect::{
    ACTUATOR_CONTROL_TARGET_DATA, DEBUG_DATA, DEBUG_VECT_DATA, MANUAL_CONTROL_DATA,
    NAMED_VALUE_FLOAT_DATA, NAMED_VALUE_INT_DATA, NAV_CONTROLLER_OUTPUT_DATA, WIND_COV_DATA,
};
use crate::wire::mavlink::raw::HilActuatorControls;

pub(super) struct Misc {
    wind: Topic<TwistWithCovarianceStamped>,
    navigation: Topic<NavControllerOutput>,
    manual_control: Topic<ManualControl>,
    actuators: Topic<ActuatorControl>,
    hil_actuators: Topic<HilActuatorControlsMessage>,
    debug: Topic<DebugValue>,
    debug_vector: Topic<DebugValue>,
    named_value_float: Topic<DebugValue>,
    named_value_int: Topic<DebugValue>,
}

impl Misc {
    pub(super) fn open(open: &Open<'_>) -> Result<Self, RosError> {
        let value =
            |type_: u8| DebugValue { index: -1, array_id: -1, type_, ..DebugValue::default() };
        Ok(Self {
            wind: Topic::open(open, "wind_estimation", TwistWithCovarianceStamped::default())?,
            navigation: Topic::open(
                open,
                "nav_controller_output/output",
                NavControllerOutput::default(),
            )?,
            manual_control: Topic::open(open, "manual_control/control", ManualControl::default())?,
            actuators: Topic::open(open, "target_actuator_control", ActuatorControl::default())?,
            hil_actuators: Topic::open(
                open,
                "hil/actuator_controls",
                HilActuatorControlsMessage::default(),
            )?,
            debug: Topic::open(open, "debug_value/debug", value(DebugValue::TYPE_DEBUG))?,
            debug_vector: Topic::open(
                open,
                "debug_value/debug_vector",
                value(DebugValue::TYPE_DEBUG_VECT),
            )?,
            named_value_float: Topic::open(
                open,
                "debug_value/named_value_float",
                value(DebugValue::TYPE_NAMED_VALUE_FLOAT),
            )?,
            named_value_int: Topic::open(
                open,
                "debug_value/named_value_int",
                value(DebugValue::TYPE_NAMED_VALUE_INT),
            )?,
        })
    }

    pub(super) fn wind_cov(&mut self, fcu: &mut Fcu, m: &WIND_COV_DATA) -> Result<(), RosError> {
        if !fcu.finite([m.wind_x, m.wind_y, m.wind_z]) {
            return Ok(());
        }
        let stamp = fcu.stamp_us(m.time_usec);
        // mavros omits the second horizontal axis.
        let second = if fcu.settings.quirks { 0.0 } else { m.var_horiz };
        self.wind.publish_if_subscribed(stamp, |wind| {
            let ned = Vector::<Ned>::from([m.wind_x, m.wind_y, m.wind_z]);
            wind.twist.twist.linear = vector3(Vector::<Enu>::from(ned));
            let variances = [m.var_horiz, second, m.var_vert];
            let cells = wind.twist.covariance.iter_mut().step_by(7);
            for (cell, variance) in cells.zip(variances) {
                *cell = variance.into();
            }
        })
    }

    pub(super) fn nav_controller_output(
        &mut self,
        fcu: &mut Fcu,
        m: &NAV_CONTROLLER_OUTPUT_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_now();
        self.navigation.publish_if_subscribed(stamp, |output| {
            (output.nav_roll, output.nav_pitch) = (m.nav_roll, m.nav_pitch);
            (output.nav_bearing, output.target_bearing) = (m.nav_bearing, m.target_bearing);
            output.wp_dist = m.wp_dist;
            output.alt_error = m.alt_error;
            output.aspd_error = m.aspd_error;
            output.xtrack_error = m.xtrack_error;
        })
    }

    pub(super) fn manual_control(
        &mut self,
        fcu: &mut Fcu,
        m: &MANUAL_CONTROL_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_now();
        // The scale of `manual_control/send`; mavros divides in this direction only.
        let scale = if fcu.settings.quirks { 1e3 } else { 1.0 };
        let axis = |value: i16| f32::from(value) / scale;
        self.manual_control.publish_if_subscribed(stamp, |control| {
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

    pub(super) fn actuator_control_target(
        &mut self,
        fcu: &mut Fcu,
        m: &ACTUATOR_CONTROL_TARGET_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_us(m.time_usec);
        self.actuators.publish_if_subscribed(stamp, |actuators| {
            actuators.group_mix = m.group_mlx;
            actuators.controls = m.controls;
        })
    }

    pub(super) fn hil_actuator_controls(
        &mut self,
        fcu: &mut Fcu,
        m: &HilActuatorControls,
    ) -> Result<(), RosError> {
        if let Some(truth) = TrueState::of_actuator_controls(fcu.settings.id.into(), m) {
            fcu.queue_truth(truth);
            return Ok(());
        }
        let stamp = fcu.stamp_us(m.time_usec);
        self.hil_actuators.publish_if_subscribed(stamp, |actuators| {
            actuators.controls = m.controls;
            (actuators.mode, actuators.flags) = (m.mode, m.flags);
        })
    }

    pub(super) fn debug(&mut self, fcu: &mut Fcu, m: &DEBUG_DATA) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.debug.publish_if_subscribed(stamp, |value| {
            value.index = m.ind.into();
            value.value_float = m.value;
        })
    }

    pub(super) fn debug_vect(
        &mut self,
        fcu: &mut Fcu,
        m: &DEBUG_VECT_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_us(m.time_usec);
        self.debug_vector.publish_if_subscribed(stamp, |value| {
            name(&mut value.name, &*m.name);
            value.data.clear();
            value.data.extend([m.x, m.y, m.z]);
        })
    }

    pub(super) fn named_value_float(
        &mut self,
        fcu: &mut Fcu,
        m: &NAMED_VALUE_FLOAT_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.named_value_float.publish_if_subscribed(stamp, |value| {
            name(&mut value.name, &*m.name);
            value.value_float = m.value;
        })
    }

    pub(super) fn named_value_int(
        &mut self,
        fcu: &mut Fcu,
        m: &NAMED_VALUE_INT_DATA,
    ) -> Result<(), RosError> {
        let stamp = fcu.stamp_ms(m.time_boot_ms);
        self.named_value_int.publish_if_subscribed(stamp, |value| {
            name(&mut value.name, &*m.name);
            value.value_int = m.value;
        })
    }
}

/// Characters up to the first zero.
fn name(to: &mut String, from: &[u8]) {
    let end = from.iter().position(|byte| *byte == 0);
    let bytes = end.and_then(|end| from.get(..end)).unwrap_or(from);
    to.clear();
    to.push_str(&String::from_utf8_lossy(bytes));
}
