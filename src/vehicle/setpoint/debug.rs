//! `debug_value/send`: numbers for the autopilot's log.
use super::{geometry::stamp_ms, reject::Reject, subscriptions::subscriptions};
use crate::vehicle::stamp::stamp_us;
use crate::wire::mavlink::dialect::{
    DEBUG_DATA, DEBUG_FLOAT_ARRAY_DATA, DEBUG_VECT_DATA, NAMED_VALUE_FLOAT_DATA,
    NAMED_VALUE_INT_DATA,
};
use crate::{msgs::mavros_msgs::msg::DebugValue, wire::mavlink::MavMessage};

subscriptions! {
    DebugValue("debug_value/send", "DEBUG, DEBUG_VECT, DEBUG_FLOAT_ARRAY, NAMED_VALUE_FLOAT or NAMED_VALUE_INT, by its type")
        => |autopilot, topic, message| autopilot.pass(topic, convert(message));
}

fn convert(message: &DebugValue) -> Result<MavMessage, Reject> {
    let time_boot_ms = stamp_ms(&message.header.stamp);
    let time_usec = stamp_us(&message.header.stamp);
    let name = name(&message.name).into();
    let at = |index: usize| message.data.get(index).copied().unwrap_or(0.0);
    Ok(match message.type_ {
        DebugValue::TYPE_DEBUG => MavMessage::DEBUG(DEBUG_DATA {
            time_boot_ms,
            ind: message.index as u8,
            value: message.value_float,
        }),
        DebugValue::TYPE_DEBUG_VECT => MavMessage::DEBUG_VECT(DEBUG_VECT_DATA {
            time_usec,
            x: at(0),
            y: at(1),
            z: at(2),
            name,
        }),
        DebugValue::TYPE_DEBUG_FLOAT_ARRAY => {
            MavMessage::DEBUG_FLOAT_ARRAY(DEBUG_FLOAT_ARRAY_DATA {
                time_usec,
                array_id: message.array_id as u16,
                name,
                data: std::array::from_fn(at),
            })
        }
        DebugValue::TYPE_NAMED_VALUE_FLOAT => {
            MavMessage::NAMED_VALUE_FLOAT(NAMED_VALUE_FLOAT_DATA {
                time_boot_ms,
                value: message.value_float,
                name,
            })
        }
        DebugValue::TYPE_NAMED_VALUE_INT => MavMessage::NAMED_VALUE_INT(NAMED_VALUE_INT_DATA {
            time_boot_ms,
            value: message.value_int,
            name,
        }),
        other => return Err(Reject::DebugType(other)),
    })
}

/// Ten bytes; a longer name is truncated.
fn name(name: &str) -> [u8; 10] {
    let mut bytes = name.bytes();
    std::array::from_fn(|_| bytes.next().unwrap_or(0))
}
