//! Event counters of a vehicle and their names in `/diagnostics`.
use crate::wire::mavlink::FrameError;

/// How a counter is reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CounterKind {
    /// A loss, refusal or retry: `drop_<name>`, and a warning while it grows.
    Drop,
    /// Not meant for this vehicle, and no fault: `<name>`.
    Other,
    /// The frames of the vehicle: the figure of that name.
    Frames,
    /// Not reported.
    Hidden,
}

macro_rules! counters {
    ($($kind:ident { $($(#[$doc:meta])* $counter:ident = $name:literal,)+ })+) => {
        /// A counted event.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Counter {
            $($($(#[$doc])* $counter,)+)+
        }

        impl Counter {
            /// All counters.
            pub const ALL: &[Self] = &[$($(Self::$counter,)+)+];

            /// Name in `/diagnostics`.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$counter => $name,)+)+
                }
            }

            /// How it is reported.
            pub const fn kind(self) -> CounterKind {
                match self {
                    $($(Self::$counter)|+ => CounterKind::$kind,)+
                }
            }
        }
    };
}

counters! {
    Frames {
        /// A MAVLink frame of the vehicle.
        Frames = "frames",
    }
    Hidden {
        /// A message to the vehicle.
        Sent = "sent",
        /// A setpoint that was sent again because no new one came.
        SetpointRepeated = "setpoint_repeated",
    }
    Other {
        /// A message of a camera, gimbal, companion or station under the vehicle's system id.
        ForeignComponent = "foreign_component",
        /// A state of UDP_UltraSimple, whose layout is not published: the true state has the same.
        UltraSimpleState = "udp_ultrasimple_state",
    }
    Drop {
        // Links.
        /// The socket or line did not take a message.
        NotSent = "not_sent",
        /// The link has no datagram for a message.
        Unsupported = "unsupported",
        /// The vehicle fell silent.
        LinkLost = "link_lost",
        /// A datagram that is not a state, or has a number that is NaN or infinite.
        Malformed = "malformed",
        /// A state of another vehicle.
        OtherVehicle = "other_vehicle",
        /// MAVLink on a link that does not speak MAVLink.
        MavlinkInUdpMode = "mavlink_in_udp_mode",
        /// A state of UDP_Simple on another link.
        UdpSimpleState = "udp_simple_state",
        /// A state of UDP_Full on another link.
        UdpFullState = "udp_full_state",
        /// [`FrameError::Noise`].
        MavlinkNoise = "mavlink_noise",
        /// [`FrameError::Truncated`].
        MavlinkTruncated = "mavlink_truncated",
        /// [`FrameError::Checksum`].
        MavlinkChecksum = "mavlink_checksum",
        /// [`FrameError::Unknown`].
        MavlinkUnknownMessage = "mavlink_unknown_message",
        /// [`FrameError::Flags`].
        MavlinkFlags = "mavlink_flags",
        /// A message with a value that the dialect does not know.
        MavlinkUnknownValue = "mavlink_unknown_value",
        /// A frame of another system.
        ForeignSystem = "foreign_system",

        // Telemetry.
        /// A message that the middleware did not take.
        NotPublished = "not_published",
        /// A sample older than the one before.
        Late = "late",
        /// A measurement that is NaN or infinite.
        NotFinite = "not_finite",
        /// An invalid attitude.
        BadAttitude = "bad_attitude",
        /// An invalid latitude or longitude.
        BadPosition = "bad_position",
        /// A body pose without a known attitude.
        PositionWithoutAttitude = "position_without_attitude",
        /// An odometry in an unsupported frame.
        OdometryFrame = "odometry_frame",
        /// A range finder without a topic.
        DistanceSensorId = "distance_sensor_id",
        /// A range finder with an orientation that gives no frame.
        DistanceSensorOrientation = "distance_sensor_orientation",
        /// A gimbal orientation without angles.
        MountWithoutAngles = "mount_without_angles",
        /// A text with a missing chunk.
        StatustextIncomplete = "statustext_incomplete",
        /// A text that is published, but not logged.
        StatustextNotLogged = "statustext_not_logged",
        /// A true state that found the queue full.
        TruthNotTaken = "truth_not_taken",
        /// The autopilot restarted.
        AutopilotRestarted = "autopilot_restarted",
        /// ROS time jumped.
        RosTimeJumped = "ros_time_jumped",
        /// A TIMESYNC that cannot be used.
        TimesyncIgnored = "timesync_ignored",
        /// The estimate of the autopilot's clock restarted.
        TimesyncRelearnt = "timesync_relearnt",

        // Requests to the vehicle.
        /// A retransmitted command.
        CommandRetransmitted = "command_retransmitted",
        /// A failed command.
        CommandFailed = "command_failed",
        /// A call that was refused without asking the vehicle.
        CommandRefused = "command_refused",
        /// A command that a newer one, or another change of the mode, overrode before it was acknowledged.
        CommandOverridden = "command_overridden",
        /// A call beyond the limit of waiting calls; the oldest was answered.
        TooManyCalls = "too_many_calls",
        /// An acknowledgement of another sender's command.
        AckForOthers = "ack_for_others",
        /// An acknowledgement that no command waits for.
        AckUnexpected = "ack_unexpected",
        /// An acknowledgement that came after its call had been answered without success.
        AckLate = "ack_late",
        /// A failed parameter call.
        ParameterFailed = "parameter_failed",
        /// A failed mission call.
        MissionFailed = "mission_failed",

        // Messages to the vehicle.
        /// A message of `mavlink_sink` that is not a frame.
        BadMavlinkSink = "bad_mavlink_sink",
        /// The last setpoint is no longer repeated.
        KeepAliveStopped = "keep_alive_stopped",
        /// A doubtful setpoint, which was sent.
        SetpointDoubtful = "setpoint_doubtful",
        /// A setpoint that was not sent; the reasons are counted below.
        SetpointRefused = "setpoint_refused",
        /// A number is infinite.
        SetpointInfinite = "setpoint_infinite",
        /// A required number is NaN.
        SetpointNan = "setpoint_nan",
        /// The position is too far away.
        SetpointTooFar = "setpoint_too_far",
        /// The latitude or longitude is invalid.
        SetpointNotOnEarth = "setpoint_not_on_earth",
        /// The speed is too high.
        SetpointTooFast = "setpoint_too_fast",
        /// The thrust is not a fraction.
        SetpointThrust = "setpoint_thrust",
        /// The thrust is negative, and `setpoint.reverse_thrust` is not set.
        SetpointReverseThrust = "setpoint_reverse_thrust",
        /// The orientation is invalid.
        SetpointOrientation = "setpoint_orientation",
        /// PX4 does not take its coordinate frame.
        SetpointFrame = "setpoint_frame",
        /// PX4 does not take forces.
        SetpointForce = "setpoint_force",
        /// The mask ignores everything.
        SetpointNothing = "setpoint_nothing",
        /// The mask ignores part of a vector that PX4 takes as a whole.
        SetpointPartial = "setpoint_partial",
        /// PX4 ignores positions in the body frame.
        SetpointBodyPosition = "setpoint_body_position",
        /// PX4 takes yaw in the body frame from north.
        SetpointBodyYaw = "setpoint_body_yaw",
        /// An axis has no setpoint.
        SetpointUnbalanced = "setpoint_unbalanced",
        /// PX4 misreads heights above home where home is not at the height of the origin.
        SetpointHomeOffset = "setpoint_home_offset",
        /// It is relative to a position that is not known yet.
        SetpointNoPosition = "setpoint_no_position",
        /// The stamp is not newer than the one before.
        SetpointNotNewer = "setpoint_not_newer",
        /// A trajectory with no points, or too many.
        SetpointPoints = "setpoint_points",
        /// `setpoint.use_quaternion` chose the other topic.
        SetpointNotUsed = "setpoint_not_used",
        /// An attitude without a thrust of the same time.
        SetpointUnpaired = "setpoint_unpaired",
        /// The child frame is not the body's.
        SetpointChildFrame = "setpoint_child_frame",
        /// A debug value of an unknown type.
        SetpointDebugType = "setpoint_debug_type",
        /// A number is NaN or infinite.
        SetpointNotFinite = "setpoint_not_finite",
        /// A companion with component id 0 or the autopilot's.
        SetpointComponent = "setpoint_component",
    }
}

impl From<FrameError> for Counter {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Noise(_) => Self::MavlinkNoise,
            FrameError::Truncated => Self::MavlinkTruncated,
            FrameError::Checksum { .. } => Self::MavlinkChecksum,
            FrameError::Unknown { .. } => Self::MavlinkUnknownMessage,
            FrameError::Flags(_) => Self::MavlinkFlags,
        }
    }
}
