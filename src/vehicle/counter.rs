//! What is counted of a vehicle, and how `/diagnostics` calls it.
use crate::wire::mavlink::FrameError;

/// What becomes of a count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CounterKind {
    /// Something was lost, refused or had to be done again: `drop_<name>`, and a warning while it grows.
    Drop,
    /// It is not for this vehicle, and nothing is wrong with that: `<name>`.
    Other,
    /// The frames of the vehicle: the figure of that name.
    Frames,
    /// Shown nowhere.
    Hidden,
}

macro_rules! counters {
    ($($kind:ident { $($(#[$doc:meta])* $counter:ident = $name:literal,)+ })+) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Counter {
            $($($(#[$doc])* $counter,)+)+
        }

        impl Counter {
            /// All of them.
            pub const ALL: &[Self] = &[$($(Self::$counter,)+)+];

            /// What users know it by.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$counter => $name,)+)+
                }
            }

            /// What becomes of its count.
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
        /// What a camera, gimbal, companion or station says under the vehicle's system.
        ForeignComponent = "foreign_component",
    }
    Drop {
        // Links.
        /// The socket or line did not take a message.
        NotSent = "not_sent",
        /// The link has no datagram for a message.
        Unsupported = "unsupported",
        /// The vehicle fell silent.
        LinkLost = "link_lost",
        /// A datagram that is no state, or has numbers that are none.
        Malformed = "malformed",
        /// A state of another vehicle.
        OtherVehicle = "other_vehicle",
        /// MAVLink on a link that speaks another language.
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

        // What the vehicle says.
        /// A message that the middleware did not take.
        NotPublished = "not_published",
        /// A sample that was overtaken on its way.
        Late = "late",
        /// A measurement that is not a number.
        NotFinite = "not_finite",
        /// An attitude that is none.
        BadAttitude = "bad_attitude",
        /// A place that is nowhere on earth.
        BadPosition = "bad_position",
        /// A pose of the body whose attitude is not known.
        PositionWithoutAttitude = "position_without_attitude",
        /// An odometry in a frame without a meaning here.
        OdometryFrame = "odometry_frame",
        /// A range finder without a topic.
        DistanceSensorId = "distance_sensor_id",
        /// A range finder that looks where no frame can be put.
        DistanceSensorOrientation = "distance_sensor_orientation",
        /// A gimbal without angles.
        MountWithoutAngles = "mount_without_angles",
        /// A text of which a part is missing.
        StatustextIncomplete = "statustext_incomplete",
        /// A text that is on its topic, but not in the log.
        StatustextNotLogged = "statustext_not_logged",
        /// A true state for which there was no room.
        TruthNotTaken = "truth_not_taken",
        /// The autopilot began anew.
        AutopilotRestarted = "autopilot_restarted",
        /// ROS time jumped.
        RosTimeJumped = "ros_time_jumped",
        /// A TIMESYNC of no use.
        TimesyncIgnored = "timesync_ignored",
        /// The autopilot's clock was learnt anew.
        TimesyncRelearnt = "timesync_relearnt",

        // What it is asked.
        /// A command that was sent again.
        CommandRetransmitted = "command_retransmitted",
        /// A command that did not end well.
        CommandFailed = "command_failed",
        /// A call that was refused without asking the vehicle.
        CommandRefused = "command_refused",
        /// A call for which there was no room.
        TooManyCalls = "too_many_calls",
        /// An acknowledgement of somebody else's command.
        AckForOthers = "ack_for_others",
        /// An acknowledgement of nothing that was asked.
        AckUnexpected = "ack_unexpected",
        /// A call about parameters that did not end well.
        ParameterFailed = "parameter_failed",
        /// A call about waypoints that did not end well.
        MissionFailed = "mission_failed",

        // What it is told.
        /// A message of `mavlink_sink` that is no frame.
        BadMavlinkSink = "bad_mavlink_sink",
        /// The last setpoint is no longer repeated.
        KeepAliveStopped = "keep_alive_stopped",
        /// A setpoint that was sent with doubts.
        SetpointDoubtful = "setpoint_doubtful",
        /// A setpoint that was not sent; why is counted below.
        SetpointRefused = "setpoint_refused",
        /// It has an infinite number.
        SetpointInfinite = "setpoint_infinite",
        /// It has a number that is none, where one is needed.
        SetpointNan = "setpoint_nan",
        /// Its position is too far away.
        SetpointTooFar = "setpoint_too_far",
        /// Its place is nowhere on earth.
        SetpointNotOnEarth = "setpoint_not_on_earth",
        /// It is too fast.
        SetpointTooFast = "setpoint_too_fast",
        /// Its thrust is no fraction.
        SetpointThrust = "setpoint_thrust",
        /// Its thrust is negative, and the vehicle is not said to have that.
        SetpointReverseThrust = "setpoint_reverse_thrust",
        /// Its orientation is none.
        SetpointOrientation = "setpoint_orientation",
        /// PX4 does not take its coordinate frame.
        SetpointFrame = "setpoint_frame",
        /// PX4 does not take forces.
        SetpointForce = "setpoint_force",
        /// Its mask ignores everything.
        SetpointNothing = "setpoint_nothing",
        /// Its mask ignores a part of what PX4 takes as a whole.
        SetpointPartial = "setpoint_partial",
        /// PX4 ignores positions of the body.
        SetpointBodyPosition = "setpoint_body_position",
        /// PX4 takes the yaw of the body from north.
        SetpointBodyYaw = "setpoint_body_yaw",
        /// It leaves an axis to nobody.
        SetpointUnbalanced = "setpoint_unbalanced",
        /// It is relative to a position that is not known yet.
        SetpointNoPosition = "setpoint_no_position",
        /// Its stamp is not newer than that of the one before.
        SetpointNotNewer = "setpoint_not_newer",
        /// A trajectory with no points, or too many.
        SetpointPoints = "setpoint_points",
        /// `setpoint.use_quaternion` chose the other topic.
        SetpointNotUsed = "setpoint_not_used",
        /// An attitude without its thrust.
        SetpointUnpaired = "setpoint_unpaired",
        /// Its child frame is not the body's.
        SetpointChildFrame = "setpoint_child_frame",
        /// A debug value of no type.
        SetpointDebugType = "setpoint_debug_type",
        /// It has a number that is none.
        SetpointNotFinite = "setpoint_not_finite",
        /// A companion under the id of the autopilot or of nobody.
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
