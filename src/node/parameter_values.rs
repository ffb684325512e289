//! Values of parameters as `rcl_interfaces/msg/ParameterValue`.
use crate::{config::ParamValue, msgs::rcl_interfaces::msg::ParameterValue};

/// A value as a message; `kind` is a number of `rcl_interfaces/msg/ParameterType`.
pub(super) fn to_msg(value: &ParamValue, kind: u8) -> ParameterValue {
    let mut message = ParameterValue { type_: kind, ..ParameterValue::default() };
    let mut list = &[][..];
    match value {
        ParamValue::Bool(value) => message.bool_value = *value,
        ParamValue::Int(value) => message.integer_value = *value,
        ParamValue::Float(value) => message.double_value = *value,
        ParamValue::Str(value) => message.string_value = value.clone(),
        ParamValue::List(values) => list = values,
    }
    for value in list {
        match value {
            ParamValue::Bool(value) => message.bool_array_value.push(*value),
            ParamValue::Int(value) => message.integer_array_value.push(*value),
            ParamValue::Float(value) => message.double_array_value.push(*value),
            ParamValue::Str(value) => message.string_array_value.push(value.clone()),
            ParamValue::List(_) => {}
        }
    }
    message
}

/// `None` if no value is set.
pub(super) fn from_msg(message: &ParameterValue) -> Option<ParamValue> {
    Some(match message.type_ {
        1 => ParamValue::Bool(message.bool_value),
        2 => ParamValue::Int(message.integer_value),
        3 => ParamValue::Float(message.double_value),
        4 => ParamValue::Str(message.string_value.clone()),
        5 => list(&message.byte_array_value, |v| ParamValue::Int((*v).into())),
        6 => list(&message.bool_array_value, |v| ParamValue::Bool(*v)),
        7 => list(&message.integer_array_value, |v| ParamValue::Int(*v)),
        8 => list(&message.double_array_value, |v| ParamValue::Float(*v)),
        9 => list(&message.string_array_value, |v| ParamValue::Str(v.clone())),
        _ => return None,
    })
}

fn list<T>(values: &[T], value: impl FnMut(&T) -> ParamValue) -> ParamValue {
    ParamValue::List(values.iter().map(value).collect())
}
