//! Reasons to refuse a setpoint, or to send it with a warning.
use crate::vehicle::Counter;
use thiserror::Error;

macro_rules! rejects {
    ($($reject:ident $(($value:ty))? $({ $($field:ident: $type:ty),+ })? = $counter:ident, $text:literal;)+) => {
        /// The fault of a setpoint or another input, with the value and the remedy where there are any.
        #[derive(Clone, Copy, Debug, Error, PartialEq)]
        pub(super) enum Reject {
            $(#[error($text)] $reject $(($value))? $({ $($field: $type),+ })?,)+
        }

        impl Reject {
            /// Its counter.
            pub(super) fn counter(&self) -> Counter {
                match self {
                    $(Self::$reject { .. } => Counter::$counter,)+
                }
            }
        }
    };
}

rejects! {
    Infinite(&'static str) = SetpointInfinite, "{0} is infinite; send a finite number, or, in a setpoint, leave it out: NaN, or its bit in type_mask";
    NotANumber(&'static str) = SetpointNan, "{0} is NaN where a number is required (in a setpoint: nothing else controls the axis, or x is set without y); send a number";
    TooFar { distance: f64, limit: f64 } = SetpointTooFar, "the position is {distance:.0} m from the origin; control.max_position_m allows {limit:.0} m";
    TooHigh { height: f64, limit: f64 } = SetpointTooFar, "the height or altitude is {height:.0} m; control.max_position_m allows {limit:.0} m";
    NotOnEarth { latitude: f64, longitude: f64 } = SetpointNotOnEarth, "latitude {latitude} and longitude {longitude} are not a valid position; send degrees";
    TooFast { speed: f64, limit: f64 } = SetpointTooFast, "the speed is {speed:.1} m/s; control.max_speed_m_s allows {limit:.1} m/s";
    Thrust(f64) = SetpointThrust, "the thrust is {0}; send a fraction, 0 to 1";
    ReverseThrust(f64) = SetpointReverseThrust, "the thrust is {0}, below 0; set setpoint.reverse_thrust if the vehicle supports it";
    Orientation = SetpointOrientation, "the orientation has length 0; send a unit quaternion";
    Frame { frame: u8, remedy: &'static str } = SetpointFrame, "PX4 does not take coordinate frame {frame}; send {remedy}";
    Force(u16) = SetpointForce, "PX4 does not take forces (bit 0x200 of type_mask {0:#05x}, or setpoint.accel_is_force); send an acceleration";
    Nothing(u16) = SetpointNothing, "type_mask {0:#05x} ignores everything that PX4 could follow; clear the bits of the fields that you set";
    Partial { mask: u16, what: &'static str, frame: u8 } = SetpointPartial, "type_mask {mask:#05x} ignores a part of the {what}, so PX4 ignores all of it in coordinate frame {frame}; send all three axes";
    BodyPosition = SetpointBodyPosition, "PX4 ignores the position beside a velocity or an acceleration in coordinate frame 8 (BODY_NED); send it alone, or in frame 1 (LOCAL_NED)";
    BodyYaw = SetpointBodyYaw, "in coordinate frame 8 (BODY_NED) PX4 measures yaw from north, not from the vehicle's heading; set the bit 0x400 of type_mask to leave yaw out, or use yaw_rate";
    Unbalanced(u16) = SetpointUnbalanced, "type_mask {0:#05x} leaves an axis without position, velocity and acceleration, or gives x without y; PX4 cannot follow that and would stop the vehicle";
    HomeOffset(f64) = SetpointHomeOffset, "home is {0:.0} m above the origin of the local frame; in coordinate frame 6 (GLOBAL_RELATIVE_ALT_INT) PX4 then flies too low by twice that height; send frame 5 (GLOBAL_INT)";
    NoPosition = SetpointNoPosition, "the vehicle did not report its latitude and longitude in the last 0.5 s; wait for global_position/global";
    NoPose = SetpointNoPosition, "the vehicle did not report its pose in the last 0.5 s, and the setpoint is relative to it; wait for local_position/pose";
    ThrottleStep(f64) = SetpointThrust, "the change of the throttle is {0}; send -1 to 1";
    NotNewer = SetpointNotNewer, "its stamp is not newer than the one before";
    NoPoints = SetpointPoints, "it has no points";
    ManyPoints(usize) = SetpointPoints, "it has {0} points; 10000 are allowed";
    NotUsed(bool) = SetpointNotUsed, "it is not used; set setpoint.use_quaternion to {0}";
    Unpaired = SetpointUnpaired, "the last ten messages had no counterpart within 200 ms; publish attitude (or cmd_vel) and thrust of setpoint_attitude with the same stamp";
    ChildFrame = SetpointChildFrame, "child_frame_id is not the body frame ('base_link'); taken as the body frame";
    DebugType(u8) = SetpointDebugType, "{0} is not a type of DebugValue";
    NotFinite = SetpointNotFinite, "it has a number that is NaN or infinite; send finite numbers";
    Component(u8) = SetpointComponent, "component {0} is 0 or the autopilot's; send the id of the companion process, such as 191 or 197";
}

/// A message that is sent, and a warning about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Checked<T> {
    pub(super) message: T,
    pub(super) warning: Option<Reject>,
}

impl<T> Checked<T> {
    /// A message without a warning.
    pub(super) const fn without_warning(message: T) -> Self {
        Self { message, warning: None }
    }
}
