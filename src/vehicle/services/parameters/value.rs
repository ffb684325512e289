//! Converts between ROS parameter values and the vehicle's.
use crate::msgs::rcl_interfaces::msg;
use crate::session::{ParameterName, ParameterValue};

/// rcl_interfaces/msg/ParameterType.
pub(super) const BOOL: u8 = 1;
pub(super) const INTEGER: u8 = 2;
pub(super) const DOUBLE: u8 = 3;

pub(super) fn kind(value: ParameterValue) -> u8 {
    match value {
        ParameterValue::Int(_) => INTEGER,
        ParameterValue::Float(_) => DOUBLE,
    }
}

pub(super) fn to_ros(value: ParameterValue) -> msg::ParameterValue {
    let mut ros = msg::ParameterValue { type_: kind(value), ..Default::default() };
    match value {
        ParameterValue::Int(int) => ros.integer_value = int,
        ParameterValue::Float(float) => ros.double_value = float,
    }
    ros
}

/// Reason to refuse the value.
pub(super) const NOT_FINITE: &str = "the value is NaN or infinite; send a finite number";

/// Returns the name and the value to set, or the reason of the refusal.
pub(super) fn check(
    name: &str,
    value: &msg::ParameterValue,
) -> Result<(ParameterName, ParameterValue), &'static str> {
    let name =
        ParameterName::new(name).ok_or("the name must have 1 to 16 printable ASCII characters")?;
    let value = of_ros(value).ok_or("the value is neither an integer nor a double")?;
    let value = Some(value).filter(|value| value.is_finite()).ok_or(NOT_FINITE)?;
    Ok((name, value))
}

/// `None` for types that no autopilot has: texts, lists, not set.
fn of_ros(ros: &msg::ParameterValue) -> Option<ParameterValue> {
    match ros.type_ {
        BOOL => Some(ParameterValue::Int(ros.bool_value.into())),
        INTEGER => Some(ParameterValue::Int(ros.integer_value)),
        DOUBLE => Some(ParameterValue::Float(ros.double_value)),
        _ => None,
    }
}
