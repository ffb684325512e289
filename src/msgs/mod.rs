//! ROS message types, and the name each one has on the wire.
//!
//! They come from the sourced workspace with feature `rclrs`, else from a crate that has the same shapes (those of
//! rosidl's Rust generator: `sensor_msgs::msg::Imu { header, .. }`), so conversions do not know which back end carries
//! the message.
#[cfg(feature = "rclrs")]
pub use ros_env::{
    builtin_interfaces, diagnostic_msgs, geographic_msgs, geometry_msgs, nav_msgs, rosgraph_msgs,
    sensor_msgs, std_msgs, tf2_msgs, trajectory_msgs, unique_identifier_msgs, vision_msgs,
};
/// Items of bounded sequences, which rosidl's generator leaves as the type support lays them out.
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
mod definitions;
#[cfg(not(feature = "rclrs"))]
pub mod livox_ros_driver2;
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
pub mod rfly_bridge_msgs;
#[cfg(not(feature = "rclrs"))]
pub mod simulation_interfaces;
mod table;

/// A service without a crate: both halves and the marker type.
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
macro_rules! halves {
    ($service:ident $request:tt => $response:tt) => { pastey::paste! {
        crate::msgs::halves! { @half [<$service Request>] $request }
        crate::msgs::halves! { @half [<$service Response>] $response }
        #[derive(Debug)]
        pub struct $service;
    } };
    (@half $name:ident { $($field:ident: $type:ty,)* }) => {
        #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
        pub struct $name {
            $(pub $field: $type,)*
        }
    };
}
#[cfg(not(all(feature = "rclrs", has_rfly_bridge_msgs)))]
use halves;

/// An action without a crate: its three parts, and what carries them, all called as rosidl calls them.
#[cfg(not(feature = "rclrs"))]
macro_rules! carriers {
    ($action:ident $goal:tt => $result:tt => $feedback:tt) => { pastey::paste! {
        #[derive(Debug)]
        pub struct $action;
        #[derive(Debug)]
        pub struct [<$action _SendGoal>];
        #[derive(Debug)]
        pub struct [<$action _GetResult>];
        crate::msgs::halves! { @half [<$action _Goal>] $goal }
        crate::msgs::halves! { @half [<$action _Result>] $result }
        crate::msgs::halves! { @half [<$action _Feedback>] $feedback }
        crate::msgs::halves! { @half [<$action _SendGoal_Request>] { goal_id: UUID, goal: [<$action _Goal>], } }
        crate::msgs::halves! { @half [<$action _SendGoal_Response>] { accepted: bool, stamp: Time, } }
        crate::msgs::halves! { @half [<$action _GetResult_Request>] { goal_id: UUID, } }
        crate::msgs::halves! { @half [<$action _GetResult_Response>] { status: i8, result: [<$action _Result>], } }
        crate::msgs::halves! { @half [<$action _FeedbackMessage>] { goal_id: UUID, feedback: [<$action _Feedback>], } }
    } };
}
#[cfg(not(feature = "rclrs"))]
use carriers;

pub use definitions::definition;
use serde::{Serialize, de::DeserializeOwned};

/// What the back end itself asks of a message type: type support in a workspace, nothing elsewhere.
#[cfg(feature = "rclrs")]
pub use rclrs::rosidl_runtime_rs::Message as Native;
/// What the back end itself asks of a message type: type support in a workspace, nothing elsewhere.
#[cfg(not(feature = "rclrs"))]
pub trait Native {}
#[cfg(not(feature = "rclrs"))]
impl<T> Native for T {}

/// A ROS message: fields in the order of its `.msg` file, and what is known of its type.
pub trait Message: Native + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Name as ROS writes it, for example `sensor_msgs/msg/Image`.
    const TYPE: &'static str;
}

/// A service: a marker type for a pair of messages, and its full name.
pub trait Service: 'static {
    /// What the client sends.
    type Request: Message + Default;
    /// What it gets back.
    type Response: Message + Default;
    /// The type support of the workspace.
    #[cfg(feature = "rclrs")]
    type Native: rclrs::rosidl_runtime_rs::Service<Request = Self::Request, Response = Self::Response>;
    /// Name as ROS writes it, for example `rcl_interfaces/srv/GetParameters`.
    const TYPE: &'static str;
}

/// An action: a marker type for goal, result and feedback, and for the services and topics that carry them.
pub trait Action: 'static {
    /// What the client wants.
    type Goal: Send + 'static;
    /// What it gets at the end.
    type Result: Clone + Default + Send + 'static;
    /// What it gets meanwhile.
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
    /// Whether and when a goal was accepted.
    fn accepted(
        accepted: bool,
        stamp: builtin_interfaces::msg::Time,
    ) -> <Self::SendGoal as Service>::Response;
    /// Id of the goal whose result is wanted.
    fn wanted(request: &<Self::GetResult as Service>::Request) -> [u8; 16];
    /// How a goal ended.
    fn result(status: i8, result: Self::Result) -> <Self::GetResult as Service>::Response;
    /// Feedback of a goal.
    fn feedback(id: [u8; 16], feedback: Self::Feedback) -> Self::FeedbackMessage;
}

/// Name of a type as ROS writes it, whether it begins with a header, and its type hash in hexadecimal.
type Row = (&'static str, bool, &'static str);

/// Whether messages of this type begin with a `std_msgs/Header`.
pub(crate) fn begins_with_header(type_name: &str) -> bool {
    rows().any(|(name, header, _)| *name == type_name && *header)
}

/// Type hash (REP 2011, RIHS01) in hexadecimal; `None` for an unknown type.
#[cfg(feature = "dds")]
pub(crate) fn type_hash(type_name: &str) -> Option<&'static str> {
    let row = rows().find(|(name, ..)| *name == type_name);
    row.map(|(.., hash)| *hash)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    MESSAGES.iter().chain(HALVES).chain(CARRIERS)
}

macro_rules! messages {
    (@rows $($package:ident { $($name:ident $($header:ident)? $hash:literal;)+ })+) => {
        $(crate::where_built! { $package messages! { @of $package $($name)+ } })+

        const MESSAGES: &[Row] = &[$($((
            concat!(stringify!($package), "/msg/", stringify!($name)),
            matches!(stringify!($($header)?).as_bytes(), b"header"),
            $hash,
        ),)+)+];

        /// Every type that implements [`Message`], for tests and tools that iterate.
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
    (@rows $($package:ident { $($name:ident $request:literal $response:literal;)+ })+) => {
        $(crate::where_built! { $package services! { @of $package $($name)+ } })+

        const HALVES: &[Row] = &[$($(
            (concat!(stringify!($package), "/srv/", stringify!($name), "_Request"), false, $request),
            (concat!(stringify!($package), "/srv/", stringify!($name), "_Response"), false, $response),
        )+)+];

        /// Every type that implements [`Service`], for tests and tools that iterate.
        pub const SERVICES: &[&str] = &[$($(concat!(stringify!($package), "/srv/", stringify!($name)),)+)+];
    };
    (@of $package:ident $($name:ident)+) => { pastey::paste! {
        /// The package; the halves of a service are called as in the other crate.
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
                type Native = Self;
                const TYPE: &'static str = concat!(stringify!($package), "/srv/", stringify!($name));
            }
        )+
    } };
}

crate::every_service_type! { [services] }

macro_rules! actions {
    (@rows $($package:ident {
        $($name:ident $goal:literal $accepted:literal $wanted:literal $result:literal $feedback:literal;)+
    })+) => {
        $(crate::where_built! { $package actions! { @of $package $($name)+ } })+

        const CARRIERS: &[Row] = &[$($(
            (concat!(stringify!($package), "/action/", stringify!($name), "_SendGoal_Request"), false, $goal),
            (concat!(stringify!($package), "/action/", stringify!($name), "_SendGoal_Response"), false, $accepted),
            (concat!(stringify!($package), "/action/", stringify!($name), "_GetResult_Request"), false, $wanted),
            (concat!(stringify!($package), "/action/", stringify!($name), "_GetResult_Response"), false, $result),
            (concat!(stringify!($package), "/action/", stringify!($name), "_FeedbackMessage"), false, $feedback),
        )+)+];
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

            fn wanted(request: &$package::action::[<$name _GetResult_Request>]) -> [u8; 16] {
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
            type Native = Self;
            const TYPE: &'static str = concat!(stringify!($package), "/action/", stringify!($name));
        }
    } };
}

crate::every_action_type! { [actions] }
