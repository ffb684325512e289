//! ROS message types and their names on the wire.
//!
//! With feature `rclrs` they come from the sourced workspace, otherwise from a crate with the same types (those of rosidl's
//! Rust generator: `sensor_msgs::msg::Imu { header, .. }`), so conversions do not depend on the back end.
#[cfg(feature = "rclrs")]
pub use ros_env::{
    builtin_interfaces, diagnostic_msgs, geographic_msgs, geometry_msgs, nav_msgs, rosgraph_msgs,
    std_msgs, tf2_msgs, trajectory_msgs, unique_identifier_msgs, vision_msgs,
};
/// Items of bounded sequences, which rosidl's generator leaves in the layout of the type support.
pub mod bounded {
    #[cfg(not(feature = "rclrs"))]
    pub use super::rcl_interfaces::msg::{FloatingPointRange, IntegerRange};
    #[cfg(feature = "rclrs")]
    pub use ros_env::rcl_interfaces::msg::rmw::{FloatingPointRange, IntegerRange};
}
#[cfg(all(feature = "rclrs", has_grid_map_msgs))]
pub use ros_env::grid_map_msgs;
#[cfg(all(feature = "rclrs", has_livox_ros_driver2))]
pub use ros_env::livox_ros_driver2;
#[cfg(all(feature = "rclrs", has_visualization_msgs))]
pub use ros_env::visualization_msgs;
#[cfg(not(feature = "rclrs"))]
pub use ros2_interfaces_jazzy_serde::{
    action_msgs, builtin_interfaces, diagnostic_msgs, geographic_msgs, geometry_msgs,
    grid_map_msgs, mavros_msgs, nav_msgs, rcl_interfaces, rosgraph_msgs, sensor_msgs, std_msgs,
    std_srvs, tf2_msgs, trajectory_msgs, unique_identifier_msgs, vision_msgs, visualization_msgs,
};
mod table;

/// Messages of a package that the message crate or the workspace lacks; `build.rs` makes them from the interface files.
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
macro_rules! generated {
    ($package:ident) => {
        #[doc = concat!("`", stringify!($package), "`, from its interface files.")]
        #[allow(
            missing_docs,
            non_camel_case_types,
            reason = "the interface files explain the fields; parts of actions have rosidl's names"
        )]
        pub mod $package {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($package), ".rs"));
        }
    };
}
#[cfg(not(feature = "rclrs"))]
generated! { livox_ros_driver2 }
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
generated! { rfly_bridge_msgs }
#[cfg(not(feature = "rclrs"))]
generated! { simulation_interfaces }

use serde::{Serialize, de::DeserializeOwned};

/// Bound of the back end on message types: type support in a workspace, otherwise nothing.
#[cfg(feature = "rclrs")]
pub use rclrs::rosidl_runtime_rs::Message as BackendMessage;
/// Bound of the back end on message types: type support in a workspace, otherwise nothing.
#[cfg(not(feature = "rclrs"))]
pub trait BackendMessage {}
#[cfg(not(feature = "rclrs"))]
impl<T> BackendMessage for T {}

/// A ROS message: fields in the order of its `.msg` file, and the name of its type.
pub trait Message:
    BackendMessage + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Name as ROS writes it, for example `sensor_msgs/msg/Image`.
    const TYPE: &'static str;
}

/// A service: a marker type for a pair of messages, and its full name.
pub trait Service: 'static {
    /// Sent by the client.
    type Request: Message;
    /// Returned to the client.
    type Response: Message;
    /// The type support of the workspace.
    #[cfg(feature = "rclrs")]
    type TypeSupport: rclrs::rosidl_runtime_rs::Service<Request = Self::Request, Response = Self::Response>;
    /// Name as ROS writes it, for example `rcl_interfaces/srv/GetParameters`.
    const TYPE: &'static str;
}

/// An action: a marker type for goal, result and feedback, and for the services and topics that carry them.
pub trait Action: 'static {
    /// Sent by the client.
    type Goal: Send + 'static;
    /// Returned at the end.
    type Result: Clone + Default + Send + 'static;
    /// Published meanwhile.
    type Feedback;
    /// Carries the goal.
    type SendGoal: Service;
    /// Carries the result.
    type GetResult: Service;
    /// Carries the feedback.
    type FeedbackMessage: Message;
    /// Name as ROS writes it, for example `simulation_interfaces/action/SimulateSteps`.
    const TYPE: &'static str;

    /// Id and content of a goal.
    fn goal(request: <Self::SendGoal as Service>::Request) -> ([u8; 16], Self::Goal);
    /// Response to a goal: whether and when it was accepted.
    fn accepted(
        accepted: bool,
        stamp: builtin_interfaces::msg::Time,
    ) -> <Self::SendGoal as Service>::Response;
    /// Id of the goal whose result is requested.
    fn goal_id(request: &<Self::GetResult as Service>::Request) -> [u8; 16];
    /// Response with the result of a goal.
    fn result(status: i8, result: Self::Result) -> <Self::GetResult as Service>::Response;
    /// Feedback of a goal.
    fn feedback(id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage;
}

/// Name of a type as ROS writes it, whether it begins with a header, type hash in hexadecimal, and definition of a message.
type InterfaceRow = (&'static str, bool, &'static str, Option<&'static str>);

/// All interfaces, sorted by name; `build.rs` makes the table from the interface files.
const INTERFACES: &[InterfaceRow] = &include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));

fn interface(type_name: &str) -> Option<&'static InterfaceRow> {
    let index = INTERFACES.binary_search_by(|(name, ..)| (*name).cmp(type_name));
    INTERFACES.get(index.ok()?)
}

/// Whether messages of this type begin with a `std_msgs/Header`.
pub(crate) fn begins_with_header(type_name: &str) -> bool {
    interface(type_name).is_some_and(|(_, header, ..)| *header)
}

/// Type hash (REP 2016, RIHS01) in hexadecimal, which peers since ROS 2 Iron exchange: of a message, of a whole service or
/// action, or of one of their parts (`std_srvs/srv/Trigger_Request`). `None` for an unknown type.
pub fn type_hash(type_name: &str) -> Option<&'static str> {
    interface(type_name).map(|(_, _, hash, _)| *hash)
}

/// Definition of a message type and of all types that it contains, as rosbag2 writes it (`ros2msg`): the fields of the
/// type, then for each other type a line of `=`, `MSG: package/Name` and its fields. `None` for all but known message types.
pub fn definition(type_name: &str) -> Option<&'static str> {
    interface(type_name).and_then(|(.., definition)| *definition)
}

macro_rules! messages {
    (@rows $($package:ident { $($name:ident)+ })+) => {
        $(crate::where_built! { $package messages! { @of $package $($name)+ } })+

        /// Every message type, without the parts of services and actions, for tests and tools that iterate.
        pub const TYPES: &[&str] = &[
            $($(concat!(stringify!($package), "/msg/", stringify!($name)),)+)+
        ];
    };
    (@of $package:ident $($name:ident)+) => {
        $(messages! { @one $package $name })+
    };
    (@one $package:ident $name:ident) => {
        impl Message for $package::msg::$name {
            const TYPE: &'static str = concat!(stringify!($package), "/msg/", stringify!($name));
        }
    };
}

crate::every_message_type! { [messages] }

macro_rules! services {
    (@rows $($package:ident { $($name:ident)+ })+) => {
        $(crate::where_built! { $package services! { @of $package $($name)+ } })+

        /// Every service type, without those of actions, for tests and tools that iterate.
        pub const SERVICES: &[&str] = &[$($(concat!(stringify!($package), "/srv/", stringify!($name)),)+)+];
    };
    (@of $package:ident $($name:ident)+) => { pastey::paste! {
        /// The package, its requests and responses named as in `ros2_interfaces_jazzy_serde`.
        #[cfg(feature = "rclrs")]
        pub mod $package {
            #[allow(unreachable_pub, unused_imports, reason = "nothing is left of a package that has only services")]
            pub use ros_env::$package::*;
            /// Services.
            pub mod srv {
                $(pub use ros_env::$package::srv::{
                    $name, [<$name _Request>] as [<$name Request>], [<$name _Response>] as [<$name Response>],
                };)+
            }
        }
        $(
            impl Message for $package::srv::[<$name Request>] {
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name), "_Request");
            }
            impl Message for $package::srv::[<$name Response>] {
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name), "_Response");
            }
            impl Service for $package::srv::$name {
                type Request = $package::srv::[<$name Request>];
                type Response = $package::srv::[<$name Response>];
                #[cfg(feature = "rclrs")]
                type TypeSupport = Self;
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name));
            }
        )+
    } };
}

crate::every_service_type! { [services] }

macro_rules! actions {
    (@rows $($package:ident { $($name:ident)+ })+) => {
        $(crate::where_built! { $package actions! { @of $package $($name)+ } })+
    };
    (@of $package:ident $($name:ident)+) => { pastey::paste! { $(
        actions! { @message $package [<$name _SendGoal_Request>] }
        actions! { @message $package [<$name _SendGoal_Response>] }
        actions! { @message $package [<$name _GetResult_Request>] }
        actions! { @message $package [<$name _GetResult_Response>] }
        actions! { @message $package [<$name _FeedbackMessage>] }
        actions! { @service $package [<$name _SendGoal>] }
        actions! { @service $package [<$name _GetResult>] }

        impl Action for $package::action::$name {
            type Goal = $package::action::[<$name _Goal>];
            type Result = $package::action::[<$name _Result>];
            type Feedback = $package::action::[<$name _Feedback>];
            type SendGoal = $package::action::[<$name _SendGoal>];
            type GetResult = $package::action::[<$name _GetResult>];
            type FeedbackMessage = $package::action::[<$name _FeedbackMessage>];
            const TYPE: &'static str = concat!(stringify!($package), "/action/", stringify!($name));

            fn goal(request: $package::action::[<$name _SendGoal_Request>]) -> ([u8; 16], Self::Goal) {
                (request.goal_id.uuid, request.goal)
            }

            fn accepted(
                accepted: bool,
                stamp: builtin_interfaces::msg::Time,
            ) -> $package::action::[<$name _SendGoal_Response>] {
                $package::action::[<$name _SendGoal_Response>] { accepted, stamp }
            }

            fn goal_id(request: &$package::action::[<$name _GetResult_Request>]) -> [u8; 16] {
                request.goal_id.uuid
            }

            fn result(status: i8, result: Self::Result) -> $package::action::[<$name _GetResult_Response>] {
                $package::action::[<$name _GetResult_Response>] { status, result }
            }

            fn feedback(id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage {
                $package::action::[<$name _FeedbackMessage>] {
                    goal_id: unique_identifier_msgs::msg::UUID { uuid: id },
                    feedback,
                }
            }
        }
    )+ } };
    (@message $package:ident $name:ident) => {
        impl Message for $package::action::$name {
            const TYPE: &'static str = concat!(stringify!($package), "/action/", stringify!($name));
        }
    };
    (@service $package:ident $name:ident) => { pastey::paste! {
        impl Service for $package::action::$name {
            type Request = $package::action::[<$name _Request>];
            type Response = $package::action::[<$name _Response>];
            #[cfg(feature = "rclrs")]
            type TypeSupport = Self;
            const TYPE: &'static str = concat!(stringify!($package), "/action/", stringify!($name));
        }
    } };
}

crate::every_action_type! { [actions] }
