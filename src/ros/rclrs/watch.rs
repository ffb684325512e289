//! Subscriptions of tools, to types known only at run time.
use super::{error, qos};
use crate::ros::{Qos, RosError, Subscription, Watched, callback};
use crate::time::RosTime;
use rclrs::{
    ArrayValue, BoundedSequenceValue, DynamicMessage, DynamicMessageView, MessageInfo,
    MessageTypeName, SequenceValue, SimpleValue, Value,
};

pub(super) fn subscribe(
    node: &rclrs::Node,
    topic: &str,
    type_name: &str,
    qos: Qos,
    callback: impl FnMut(Watched) + Send + 'static,
) -> Result<Subscription, RosError> {
    let type_name = MessageTypeName::try_from(type_name)
        .map_err(|e| error("rosidl_typesupport", type_name, &e))?;
    let (callback, end) = callback::split(callback);
    let subscription = node
        .create_dynamic_subscription(
            type_name,
            qos::options::<rclrs::SubscriptionOptions<'_>>(topic, qos),
            move |message: DynamicMessage, _: MessageInfo| {
                let view = message.view();
                let watched =
                    Watched { bytes: 4 + CdrSize::default().message(&view).0, stamp: stamp(&view) };
                callback.run(|callback| callback(watched));
            },
        )
        .map_err(|e| error("rcl_subscription_init", topic, &e))?;
    Ok(Subscription::new((end, subscription)))
}

/// Stamp of `header`, if the message has one.
fn stamp(message: &DynamicMessageView<'_>) -> Option<RosTime> {
    let Value::Simple(SimpleValue::Message(header)) = message.get("header")? else { return None };
    let Value::Simple(SimpleValue::Message(stamp)) = header.get("stamp")? else { return None };
    match (stamp.get("sec")?, stamp.get("nanosec")?) {
        (Value::Simple(SimpleValue::Int32(s)), Value::Simple(SimpleValue::Uint32(ns))) => {
            Some(RosTime(i64::from(*s) * 1_000_000_000 + i64::from(*ns)))
        }
        _ => None,
    }
}

/// Computes the CDR size of a message without serialising it.
#[derive(Clone, Copy, Default)]
struct CdrSize(usize);

impl CdrSize {
    fn message(self, message: &DynamicMessageView<'_>) -> Self {
        message.iter().fold(self, |size, (_, value)| size.value(&value))
    }

    fn items(self, count: usize, bytes: usize) -> Self {
        match count {
            0 => self,
            _ => Self(self.0.next_multiple_of(bytes) + count * bytes),
        }
    }

    fn text(self, characters: usize) -> Self {
        self.items(1, 4).items(characters + 1, 1)
    }

    fn value(self, value: &Value<'_>) -> Self {
        match value {
            Value::Simple(value) => self.simple(value),
            Value::Array(value) => self.array(value),
            Value::Sequence(value) => self.items(1, 4).sequence(value),
            Value::BoundedSequence(value) => self.items(1, 4).bounded(value),
        }
    }

    fn simple(self, value: &SimpleValue<'_>) -> Self {
        use SimpleValue as V;
        match value {
            V::Char(_) | V::Boolean(_) | V::Octet(_) | V::Uint8(_) | V::Int8(_) => self.items(1, 1),
            V::WChar(_) | V::Uint16(_) | V::Int16(_) => self.items(1, 2),
            V::Float(_) | V::Uint32(_) | V::Int32(_) => self.items(1, 4),
            V::Double(_) | V::Uint64(_) | V::Int64(_) => self.items(1, 8),
            V::LongDouble(_) => self.items(1, 16),
            V::String(text) => self.text(text.len()),
            V::BoundedString(text) => self.text(text.len()),
            V::WString(text) => self.items(1, 4).items(text.len(), 2),
            V::BoundedWString(text) => self.items(1, 4).items(text.len(), 2),
            V::Message(message) => self.message(message),
        }
    }

    fn array(self, value: &ArrayValue<'_>) -> Self {
        use ArrayValue as V;
        match value {
            V::CharArray(a) | V::OctetArray(a) | V::Uint8Array(a) => self.items(a.len(), 1),
            V::BooleanArray(a) => self.items(a.len(), 1),
            V::Int8Array(a) => self.items(a.len(), 1),
            V::WCharArray(a) | V::Uint16Array(a) => self.items(a.len(), 2),
            V::Int16Array(a) => self.items(a.len(), 2),
            V::FloatArray(a) => self.items(a.len(), 4),
            V::Uint32Array(a) => self.items(a.len(), 4),
            V::Int32Array(a) => self.items(a.len(), 4),
            V::DoubleArray(a) => self.items(a.len(), 8),
            V::Uint64Array(a) => self.items(a.len(), 8),
            V::Int64Array(a) => self.items(a.len(), 8),
            V::LongDoubleArray(_, count) => self.items(*count, 16),
            V::StringArray(a) => a.iter().fold(self, |size, text| size.text(text.len())),
            V::BoundedStringArray(a) => a.iter().fold(self, |size, text| size.text(text.len())),
            V::WStringArray(_) | V::BoundedWStringArray(_) => self,
            V::MessageArray(a) => a.iter().fold(self, |size, message| size.message(message)),
        }
    }

    fn sequence(self, value: &SequenceValue<'_>) -> Self {
        use SequenceValue as V;
        match value {
            V::CharSequence(a) | V::OctetSequence(a) | V::Uint8Sequence(a) => {
                self.items(a.len(), 1)
            }
            V::BooleanSequence(a) => self.items(a.len(), 1),
            V::Int8Sequence(a) => self.items(a.len(), 1),
            V::WCharSequence(a) | V::Uint16Sequence(a) => self.items(a.len(), 2),
            V::Int16Sequence(a) => self.items(a.len(), 2),
            V::FloatSequence(a) => self.items(a.len(), 4),
            V::Uint32Sequence(a) => self.items(a.len(), 4),
            V::Int32Sequence(a) => self.items(a.len(), 4),
            V::DoubleSequence(a) => self.items(a.len(), 8),
            V::Uint64Sequence(a) => self.items(a.len(), 8),
            V::Int64Sequence(a) => self.items(a.len(), 8),
            V::StringSequence(a) => a.iter().fold(self, |size, text| size.text(text.len())),
            V::BoundedStringSequence(a) => a.iter().fold(self, |size, text| size.text(text.len())),
            V::MessageSequence(a) => a.iter().fold(self, |size, message| size.message(message)),
            V::LongDoubleSequence(_) | V::WStringSequence(_) | V::BoundedWStringSequence(_) => self,
        }
    }

    fn bounded(self, value: &BoundedSequenceValue<'_>) -> Self {
        use BoundedSequenceValue as V;
        match value {
            V::CharBoundedSequence(a) | V::OctetBoundedSequence(a) | V::Uint8BoundedSequence(a) => {
                self.items(a.len(), 1)
            }
            V::BooleanBoundedSequence(a) => self.items(a.len(), 1),
            V::Int8BoundedSequence(a) => self.items(a.len(), 1),
            V::WCharBoundedSequence(a) | V::Uint16BoundedSequence(a) => self.items(a.len(), 2),
            V::Int16BoundedSequence(a) => self.items(a.len(), 2),
            V::FloatBoundedSequence(a) => self.items(a.len(), 4),
            V::Uint32BoundedSequence(a) => self.items(a.len(), 4),
            V::Int32BoundedSequence(a) => self.items(a.len(), 4),
            V::DoubleBoundedSequence(a) => self.items(a.len(), 8),
            V::Uint64BoundedSequence(a) => self.items(a.len(), 8),
            V::Int64BoundedSequence(a) => self.items(a.len(), 8),
            V::StringBoundedSequence(a) => a.iter().fold(self, |size, text| size.text(text.len())),
            V::BoundedStringBoundedSequence(a) => {
                a.iter().fold(self, |size, text| size.text(text.len()))
            }
            V::MessageBoundedSequence(a) => {
                a.iter().fold(self, |size, message| size.message(message))
            }
            V::LongDoubleBoundedSequence(..)
            | V::WStringBoundedSequence(_)
            | V::BoundedWStringBoundedSequence(_) => self,
        }
    }
}
