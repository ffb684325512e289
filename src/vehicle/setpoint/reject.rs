//! Reasons to refuse or doubt a setpoint.
use crate::vehicle::Counter;
use thiserror::Error;

/// The fault of a setpoint, with the value and the remedy.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub(super) enum Reject {
    #[error("{0} is infinite; send a number, or NaN or its bit in type_mask to leave it out")]
    Infinite(&'static str),
    #[error("{0} is NaN and nothing else controls that axis, or x is set without y; send a number")]
    NotANumber(&'static str),
    #[error(
        "the position is {distance:.0} m from the origin; control.max_position_m allows {limit:.0} m"
    )]
    TooFar { distance: f64, limit: f64 },
    #[error("latitude {latitude} and longitude {longitude} are not a valid position; send degrees")]
    NotOnEarth { latitude: f64, longitude: f64 },
    #[error("the speed is {speed:.1} m/s; control.max_speed_m_s allows {limit:.1} m/s")]
    TooFast { speed: f64, limit: f64 },
    #[error("the thrust is {0}; send a fraction, 0 to 1")]
    Thrust(f64),
    #[error("the thrust is {0}, below 0; set setpoint.reverse_thrust if the vehicle supports it")]
    ReverseThrust(f64),
    #[error("the orientation has length 0; send a unit quaternion")]
    Orientation,
    #[error("PX4 does not take coordinate frame {frame}; send {remedy}")]
    Frame { frame: u8, remedy: &'static str },
    #[error(
        "PX4 does not take forces (bit 0x200 of type_mask {0:#05x}, or setpoint.accel_is_force); send an acceleration"
    )]
    Force(u16),
    #[error(
        "type_mask {0:#05x} ignores everything that PX4 could follow; clear the bits of the fields that you set"
    )]
    Nothing(u16),
    #[error(
        "type_mask {mask:#05x} ignores a part of the {what}, so PX4 ignores all of it in coordinate frame {frame}; send \
         all three axes"
    )]
    Partial { mask: u16, what: &'static str, frame: u8 },
    #[error(
        "PX4 ignores the position beside a velocity or an acceleration in coordinate frame 8 (BODY_NED); send it alone, or in \
         frame 1 (LOCAL_NED)"
    )]
    BodyPosition,
    #[error(
        "PX4 takes yaw in coordinate frame 8 (BODY_NED) from north; ignore it, or use yaw_rate"
    )]
    BodyYaw,
    #[error("type_mask {0:#05x} leaves an axis without setpoint, or x without y; PX4 stops")]
    Unbalanced(u16),
    #[error(
        "home is {0:.0} m above the origin of the local frame; in coordinate frame 6 (GLOBAL_RELATIVE_ALT_INT) PX4 then flies twice \
         that too low; send frame 5 (GLOBAL_INT)"
    )]
    HomeOffset(f64),
    #[error("the position of the vehicle is not known yet; wait for global_position/global")]
    NoPosition,
    #[error(
        "where the vehicle is, or faces, was not heard in the last 0.5 s, and the setpoint counts from there; wait for \
         local_position/pose"
    )]
    NoPose,
    #[error("the change of the throttle is {0}; send -1 to 1")]
    ThrottleStep(f64),
    #[error("its stamp is not newer than the one before")]
    NotNewer,
    #[error("it has no points")]
    NoPoints,
    #[error("it has {0} points; 10000 are allowed")]
    ManyPoints(usize),
    #[error("it is not used; set setpoint.use_quaternion to {0}")]
    NotUsed(bool),
    #[error(
        "the last ten messages had no thrust within 200 ms; publish setpoint_attitude/thrust with the same stamp"
    )]
    Unpaired,
    #[error("child_frame_id is not the body frame ('base_link'); taken as the body frame")]
    ChildFrame,
    #[error("{0} is not a type of DebugValue")]
    DebugType(u8),
    #[error("it has a number that is NaN or infinite; send finite numbers")]
    NotFinite,
    #[error(
        "component {0} is 0 or the autopilot's; send the id of the companion process, such as 191 or 197"
    )]
    Component(u8),
}

impl Reject {
    /// Its counter.
    pub(super) fn counter(&self) -> Counter {
        match self {
            Self::Infinite(_) => Counter::SetpointInfinite,
            Self::NotANumber(_) => Counter::SetpointNan,
            Self::TooFar { .. } => Counter::SetpointTooFar,
            Self::NotOnEarth { .. } => Counter::SetpointNotOnEarth,
            Self::TooFast { .. } => Counter::SetpointTooFast,
            Self::Thrust(_) | Self::ThrottleStep(_) => Counter::SetpointThrust,
            Self::ReverseThrust(_) => Counter::SetpointReverseThrust,
            Self::Orientation => Counter::SetpointOrientation,
            Self::Frame { .. } => Counter::SetpointFrame,
            Self::Force(_) => Counter::SetpointForce,
            Self::Nothing(_) => Counter::SetpointNothing,
            Self::Partial { .. } => Counter::SetpointPartial,
            Self::BodyPosition => Counter::SetpointBodyPosition,
            Self::BodyYaw => Counter::SetpointBodyYaw,
            Self::Unbalanced(_) => Counter::SetpointUnbalanced,
            Self::HomeOffset(_) => Counter::SetpointHomeOffset,
            Self::NoPosition | Self::NoPose => Counter::SetpointNoPosition,
            Self::NotNewer => Counter::SetpointNotNewer,
            Self::NoPoints | Self::ManyPoints(_) => Counter::SetpointPoints,
            Self::NotUsed(_) => Counter::SetpointNotUsed,
            Self::Unpaired => Counter::SetpointUnpaired,
            Self::ChildFrame => Counter::SetpointChildFrame,
            Self::DebugType(_) => Counter::SetpointDebugType,
            Self::NotFinite => Counter::SetpointNotFinite,
            Self::Component(_) => Counter::SetpointComponent,
        }
    }
}

/// A message, and a doubt about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Checked<T> {
    pub(super) message: T,
    pub(super) doubt: Option<Reject>,
}

impl<T> Checked<T> {
    /// Without a doubt.
    pub(super) const fn fine(message: T) -> Self {
        Self { message, doubt: None }
    }
}
