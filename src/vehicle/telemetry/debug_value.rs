//! `debug_value/*` from the autopilot.
use super::{plugin::plugin, topic::RosResult};
use crate::msgs::mavros_msgs::msg::DebugValue;
use crate::vehicle::Fcu;
use crate::wire::mavlink::dialect::{
    DEBUG_DATA, DEBUG_VECT_DATA, NAMED_VALUE_FLOAT_DATA, NAMED_VALUE_INT_DATA,
};

plugin! { DebugValuePlugin {
    publish {
        debug: DebugValue("debug_value/debug", Telemetry, "DEBUG") in ""
            => of_type(DebugValue::TYPE_DEBUG);
        debug_vector: DebugValue("debug_value/debug_vector", Telemetry, "DEBUG_VECT") in ""
            => of_type(DebugValue::TYPE_DEBUG_VECT);
        named_value_float: DebugValue("debug_value/named_value_float", Telemetry, "NAMED_VALUE_FLOAT") in ""
            => of_type(DebugValue::TYPE_NAMED_VALUE_FLOAT);
        named_value_int: DebugValue("debug_value/named_value_int", Telemetry, "NAMED_VALUE_INT") in ""
            => of_type(DebugValue::TYPE_NAMED_VALUE_INT);
    }
    receive {
        dialect::DEBUG_DATA => debug,
        dialect::DEBUG_VECT_DATA => debug_vect,
        dialect::NAMED_VALUE_FLOAT_DATA => named_value_float,
        dialect::NAMED_VALUE_INT_DATA => named_value_int,
    }
} }

fn of_type(type_: u8) -> impl FnOnce(&mut DebugValue) {
    move |value| (value.index, value.array_id, value.type_) = (-1, -1, type_)
}

impl DebugValuePlugin {
    fn debug(&mut self, fcu: &mut Fcu, m: &DEBUG_DATA) -> RosResult {
        self.debug.publish_if_subscribed(fcu.stamp_ms(m.time_boot_ms), |value| {
            value.index = m.ind.into();
            value.value_float = m.value;
        })
    }

    fn debug_vect(&mut self, fcu: &mut Fcu, m: &DEBUG_VECT_DATA) -> RosResult {
        self.debug_vector.publish_if_subscribed(fcu.stamp_us(m.time_usec), |value| {
            set_name(&mut value.name, &*m.name);
            value.data.clear();
            value.data.extend([m.x, m.y, m.z]);
        })
    }

    fn named_value_float(&mut self, fcu: &mut Fcu, m: &NAMED_VALUE_FLOAT_DATA) -> RosResult {
        self.named_value_float.publish_if_subscribed(fcu.stamp_ms(m.time_boot_ms), |value| {
            set_name(&mut value.name, &*m.name);
            value.value_float = m.value;
        })
    }

    fn named_value_int(&mut self, fcu: &mut Fcu, m: &NAMED_VALUE_INT_DATA) -> RosResult {
        self.named_value_int.publish_if_subscribed(fcu.stamp_ms(m.time_boot_ms), |value| {
            set_name(&mut value.name, &*m.name);
            value.value_int = m.value;
        })
    }
}

/// Copies the characters up to the first zero.
fn set_name(to: &mut String, from: &[u8]) {
    let bytes = from.split(|byte| *byte == 0).next().unwrap_or_default();
    to.clear();
    to.push_str(&String::from_utf8_lossy(bytes));
}
