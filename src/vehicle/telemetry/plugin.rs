//! A plugin: one file with one table of its topics, services and MAVLink messages. Dispatch, publishers and
//! documentation follow from the table.
use super::topic::RosResult;
use crate::config::{ServiceRow, TopicRow};
use crate::vehicle::{Fcu, Open, VehicleSettings};
use crate::{ros::RosError, wire::mavlink::Frame};

/// Handles some MAVLink messages; [`plugin!`] implements it.
pub(super) trait Plugin: Sized {
    const TOPICS: &'static [TopicRow];
    const SERVICES: &'static [ServiceRow];
    /// Ids of the messages that it accepts from any component.
    const FROM_ANY_COMPONENT: &'static [u32];

    /// Opens the topics and services.
    fn open(open: &Open<'_>, settings: &VehicleSettings) -> Result<Self, RosError>;

    /// Passes a frame to the handler of its message, if there is one. Checks the id before decoding.
    fn handle(&mut self, fcu: &mut Fcu, frame: &Frame<'_>) -> RosResult;
}

/// Declares a plugin:
///
/// ```text
/// plugin! { Name(settings) {           the struct; `settings` only where an expression names it
///     publish {                        a field, which is a `Topic`
///         field: Message("name", QosGroup, "documentation") in frame_id => |message| constants;
///     }                                without `in`: a message without a header
///     subscribe { Message("name", "documentation") => function; }
///     service { Service("name", "documentation") => function; }
///     state { field: Type; }           other fields, initially `Default`
///     receive {                        methods `(&mut self, &mut Fcu, &Message) -> RosResult`
///         dialect::MESSAGE_DATA => method,
///         raw::Message => method,
///         any raw::Message => method,  from any component; the component id is the method's second argument
///     }
/// } }
/// ```
///
/// Every section but `publish` may be absent.
macro_rules! plugin {
    ($plugin:ident $(($settings:ident))? {
        publish {$(
            $topic:ident: $message:ident($name:literal, $group:ident, $doc:literal)
            $(in $frame:expr)? $(=> $constants:expr)?;
        )+}
        $(subscribe {$(
            $sub_message:ident($sub_name:literal, $sub_doc:literal) => $callback:ident;
        )+})?
        $(service {$(
            $service:ident($service_name:literal, $service_doc:literal) => $service_call:ident;
        )+})?
        $(state {$($(#[$state_doc:meta])* $state:ident: $state_type:ty;)+})?
        $(receive {
            $(dialect::$data:ident => $data_handler:ident,)*
            $(raw::$raw:ident => $raw_handler:ident,)*
            $(any raw::$any:ident => $any_handler:ident,)*
        })?
    }) => {
        pub(super) struct $plugin {
            $($topic: $crate::vehicle::telemetry::topic::Topic<$message>,)+
            $($($(#[$state_doc])* $state: $state_type,)+)?
        }

        impl $crate::vehicle::telemetry::plugin::Plugin for $plugin {
            const TOPICS: &'static [$crate::config::TopicRow] = &[
                $($crate::config::TopicRow::published(
                    $name,
                    <$message as $crate::msgs::Message>::TYPE,
                    $crate::config::params::QosGroup::$group,
                    $doc,
                ),)+
                $($($crate::config::TopicRow::subscribed(
                    $sub_name,
                    <$sub_message as $crate::msgs::Message>::TYPE,
                    $sub_doc,
                ),)+)?
            ];

            const SERVICES: &'static [$crate::config::ServiceRow] = &[
                $($($crate::config::ServiceRow::new(
                    $service_name,
                    <$service as $crate::msgs::Service>::TYPE,
                    $service_doc,
                ),)+)?
            ];

            const FROM_ANY_COMPONENT: &'static [u32] =
                &[$($($crate::wire::mavlink::raw::$any::ID,)*)?];

            fn open(
                open: &$crate::vehicle::Open<'_>,
                _settings: &$crate::vehicle::VehicleSettings,
            ) -> Result<Self, $crate::ros::RosError> {
                $(let $settings = _settings;)?
                $($(open.subscribe::<$sub_message>($sub_name, $callback)?;)+)?
                $($(open.service::<$service>($service_name, $service_call)?;)+)?
                Ok(Self {
                    $($topic: $crate::vehicle::telemetry::topic::Topic::open(
                        open,
                        $name,
                        |_message: &mut $message| {
                            $(_message.header.frame_id = $frame.to_owned();)?
                            $($crate::vehicle::telemetry::plugin::fill(_message, $constants);)?
                        },
                        plugin!(@set_stamp $(in $frame)?),
                    )?,)+
                    $($($state: Default::default(),)+)?
                })
            }

            fn handle(
                &mut self,
                _fcu: &mut $crate::vehicle::Fcu,
                frame: &$crate::wire::mavlink::Frame<'_>,
            ) -> $crate::vehicle::telemetry::topic::RosResult {
                match frame.id {
                    $($(
                        <$crate::wire::mavlink::dialect::$data as $crate::wire::mavlink::MessageData>::ID => {
                            match frame.data::<$crate::wire::mavlink::dialect::$data>() {
                                Ok(message) => self.$data_handler(_fcu, &message),
                                Err(_) => {
                                    _fcu.count($crate::vehicle::Counter::MavlinkUnknownValue);
                                    Ok(())
                                }
                            }
                        }
                    )*)?
                    $($(
                        $crate::wire::mavlink::raw::$raw::ID => $crate::wire::mavlink::raw::$raw::parse(frame)
                            .map_or(Ok(()), |message| self.$raw_handler(_fcu, &message)),
                    )*)?
                    $($(
                        $crate::wire::mavlink::raw::$any::ID => $crate::wire::mavlink::raw::$any::parse(frame)
                            .map_or(Ok(()), |message| self.$any_handler(_fcu, frame.component, &message)),
                    )*)?
                    _ => Ok(()),
                }
            }
        }
    };
    (@set_stamp) => {
        |_, _| {}
    };
    (@set_stamp in $frame:expr) => {
        |message, stamp| message.header.stamp = stamp
    };
}
pub(super) use plugin;

/// Calls `fill`; from this signature the compiler infers the argument type of a closure.
pub(super) fn fill<M>(message: &mut M, fill: impl FnOnce(&mut M)) {
    fill(message);
}
