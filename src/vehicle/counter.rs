//! Event counters of a vehicle and their names in `/diagnostics`.
use crate::wire::mavlink::FrameError;

/// How a counter is reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CounterKind {
    /// Data that is lost, or a message that is not sent: `drop_<name>`, and a warning while it grows.
    Drop,
    /// For another receiver, or of no use: `ignored_<name>`. Nothing is lost.
    Ignored,
    /// An event, or a failure that its caller was told of: `<name>`. Nothing is lost.
    Event,
    /// The frames of the vehicle: the figure `frames`.
    Frames,
    /// Not reported.
    Hidden,
}

macro_rules! counters {
    ($($kind:ident { $($counter:ident = $name:literal, $doc:literal;)+ })+) => {
        /// A counted event.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Counter {
            $($(#[doc = $doc] $counter,)+)+
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
    Frames { Frames = "frames", "A MAVLink frame of the vehicle."; }
    Hidden {
        Sent = "sent", "A message to the vehicle.";
        SetpointRepeated = "setpoint_repeated", "A setpoint that was sent again because no new one arrived.";
    }
    Ignored {
        ForeignComponent = "foreign_component", "A message of a camera, gimbal, companion or station under the vehicle's system id.";
        UltraSimpleState = "udp_ultrasimple_state", "A state of UDP_UltraSimple, whose layout is not published: the true state replaces it.";
        OtherVehicle = "other_vehicle", "A state of another vehicle.";
        MavlinkUnknownMessage = "mavlink_unknown_message", "[`FrameError::Unknown`].";
        ForeignSystem = "foreign_system", "A frame of another system.";
        DistanceSensorId = "distance_sensor_id", "A range finder without a topic.";
        TimesyncIgnored = "timesync", "A TIMESYNC that cannot be used.";
        AckForOthers = "ack_for_others", "An acknowledgement of another sender's command.";
        AckUnexpected = "ack_unexpected", "An acknowledgement that no command waits for.";
        AckLate = "ack_late", "An acknowledgement that arrived after its call had been answered without success.";
        SetpointNotUsed = "setpoint_not_used", "`setpoint.use_quaternion` chose the other topic.";
    }
    Event {
        LinkLost = "link_lost", "The vehicle fell silent.";
        StatustextNotLogged = "statustext_not_logged", "A text that is published, but not logged.";
        AutopilotRestarted = "autopilot_restarted", "The autopilot restarted.";
        RosTimeJumped = "ros_time_jumped", "ROS time jumped.";
        TimesyncRelearnt = "timesync_relearnt", "The estimate of the autopilot's clock restarted.";
        CommandRetransmitted = "command_retransmitted", "A retransmitted command.";
        CommandFailed = "command_failed", "A failed command.";
        CommandRefused = "command_refused", "A call that was refused without asking the vehicle.";
        CommandOverridden = "command_overridden", "A command that a newer one, or another change of the mode, overrode before it was acknowledged.";
        TooManyCalls = "too_many_calls", "A call beyond the limit of waiting calls; the oldest was answered.";
        ParameterFailed = "parameter_failed", "A failed parameter call.";
        MissionFailed = "mission_failed", "A failed mission call.";
        KeepAliveStopped = "keep_alive_stopped", "The last setpoint is no longer repeated.";
        SetpointDoubtful = "setpoint_doubtful", "A doubtful setpoint, which was sent.";
    }
    Drop {
        // Links.
        NotSent = "not_sent", "The socket or line did not accept a message.";
        Unsupported = "unsupported", "The link has no datagram for a message.";
        Malformed = "malformed", "A datagram that is not a state, or has a number that is NaN or infinite.";
        MavlinkInUdpMode = "mavlink_in_udp_mode", "MAVLink on a link that does not speak MAVLink.";
        UdpSimpleState = "udp_simple_state", "A state of UDP_Simple on another link.";
        UdpFullState = "udp_full_state", "A state of UDP_Full on another link.";
        MavlinkNoise = "mavlink_noise", "[`FrameError::Noise`].";
        MavlinkTruncated = "mavlink_truncated", "[`FrameError::Truncated`].";
        MavlinkChecksum = "mavlink_checksum", "[`FrameError::Checksum`].";
        MavlinkFlags = "mavlink_flags", "[`FrameError::Flags`].";
        MavlinkUnknownValue = "mavlink_unknown_value", "A message with a value that the dialect does not know.";

        // Telemetry.
        NotPublished = "not_published", "A message that the middleware did not accept.";
        Late = "late", "A sample older than the one before.";
        NotFinite = "not_finite", "A measurement that is NaN or infinite.";
        BadAttitude = "bad_attitude", "An invalid attitude.";
        BadPosition = "bad_position", "An invalid latitude or longitude.";
        PositionWithoutAttitude = "position_without_attitude", "A body pose without a known attitude.";
        OdometryFrame = "odometry_frame", "An odometry in an unsupported frame.";
        DistanceSensorOrientation = "distance_sensor_orientation", "A range finder with an orientation that gives no frame.";
        MountWithoutAngles = "mount_without_angles", "A gimbal orientation without angles.";
        StatustextIncomplete = "statustext_incomplete", "A text with a missing chunk.";
        TruthNotTaken = "truth_not_taken", "A true state that found the queue full.";

        // Messages to the vehicle.
        BadMavlinkSink = "bad_mavlink_sink", "A message of `mavlink_sink` that is not a frame.";
        RateLimited = "rate_limited", "A message that was not sent, because its topic had more than 2000 a second.";
        SetpointRefused = "setpoint_refused", "A setpoint that was not sent; the reasons are counted below.";
        SetpointInfinite = "setpoint_infinite", "A number is infinite.";
        SetpointNan = "setpoint_nan", "A required number is NaN.";
        SetpointTooFar = "setpoint_too_far", "The position is too far away or too high.";
        SetpointNotOnEarth = "setpoint_not_on_earth", "The latitude or longitude is invalid.";
        SetpointTooFast = "setpoint_too_fast", "The speed is too high.";
        SetpointThrust = "setpoint_thrust", "The thrust, or its change, is out of range.";
        SetpointReverseThrust = "setpoint_reverse_thrust", "The thrust is negative, and `setpoint.reverse_thrust` is not set.";
        SetpointOrientation = "setpoint_orientation", "The orientation is invalid.";
        SetpointFrame = "setpoint_frame", "PX4 does not take its coordinate frame.";
        SetpointForce = "setpoint_force", "PX4 does not take forces.";
        SetpointNothing = "setpoint_nothing", "The mask ignores everything.";
        SetpointPartial = "setpoint_partial", "The mask ignores part of a vector that PX4 takes as a whole.";
        SetpointBodyPosition = "setpoint_body_position", "PX4 ignores positions in the body frame.";
        SetpointBodyYaw = "setpoint_body_yaw", "PX4 measures yaw from north, also in the body frame.";
        SetpointUnbalanced = "setpoint_unbalanced", "An axis has no setpoint.";
        SetpointHomeOffset = "setpoint_home_offset", "PX4 misreads heights above home where home is not at the height of the origin.";
        SetpointNoPosition = "setpoint_no_position", "The setpoint is relative to a position or pose that is unknown or too old.";
        SetpointNotNewer = "setpoint_not_newer", "The stamp is not newer than the one before.";
        SetpointPoints = "setpoint_points", "A trajectory with no points, or too many.";
        SetpointUnpaired = "setpoint_unpaired", "An attitude without a thrust of the same time.";
        SetpointChildFrame = "setpoint_child_frame", "The child frame is not the body's.";
        SetpointDebugType = "setpoint_debug_type", "A debug value of an unknown type.";
        SetpointNotFinite = "setpoint_not_finite", "A number is NaN or infinite.";
        SetpointComponent = "setpoint_component", "A companion with component id 0 or the autopilot's.";
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
