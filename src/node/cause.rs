//! Causes of the events that the figures of a source count.
use crate::vehicle::{Counter, CounterKind};
use crate::{doctor::DropFault, motion::Ignored, sensors::SensorCause, session::DropCause};
use std::cmp::Ordering;

/// A counted event; causes with the same name share a counter.
#[derive(Clone, Copy, Debug, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// Counted by the reassembly of a stream, or from the sequence numbers of samples.
    Frame(DropCause),
    /// A command that a vehicle flown by the bridge ignored.
    Motion(Ignored),
    /// A frame that its sensor did not publish.
    Sensor(SensorCause),
    /// Counted by an autopilot's link, topics and services.
    Vehicle(Counter),
    /// A refused input of a model or of the simulated network.
    #[cfg(has_rfly_bridge_msgs)]
    Model(crate::model::InputCause),
    /// An entity that was not drawn.
    #[cfg(has_rfly_bridge_msgs)]
    Scene(crate::scene::own::SkipCause),

    // Received data.
    /// The sender is not accepted.
    Refused,
    /// The sender is not the connected autopilot.
    OtherSender,
    /// The datagram is of a vehicle that this source does not serve.
    OtherVehicle,
    /// The sender of the heartbeat is not the vehicle's address; the heartbeat is used.
    OtherAddress,
    /// The receive buffer of the socket was full.
    SocketOverflow,
    /// The socket failed.
    Socket,
    /// The shared-memory block was cut off.
    ShmTruncated,
    /// Another program took the frame from the shared-memory block.
    TakenByOther,
    /// The datagram has no known layout.
    Malformed,
    /// The bridge does not read this kind of datagram.
    NotRead,
    /// A number is NaN or infinite.
    NotFinite,
    /// An angle is out of its range.
    Angle,
    /// The mode is not supported.
    Mode,
    /// The time is invalid or far from the simulation time.
    Time,
    /// The sample has arrived before.
    Duplicate,
    /// A newer sample has arrived before; of boxes in images: too many frames wait.
    Late,
    /// The sample does not continue the sequence; accepted when later samples confirm it.
    Unconfirmed,
    /// The pose at this time is not known.
    NoPose,
    /// The simulator reports a collision.
    Collision,
    /// The time is invalid or far from the simulation time, so the message is stamped with the current time.
    StampedOnArrival,

    // Sent data.
    /// The middleware did not accept a message.
    Publish,
    /// A datagram was not sent.
    NotSent,
    /// A request to the simulator was not sent.
    RequestNotSent,
    /// `control.read_only` allows no inputs.
    ReadOnly,
    /// The queue is full.
    QueueFull,
    /// The Redis server cannot be reached.
    NotConnected,
    /// The Redis server did not accept a message.
    NotPublished,
    /// Published late on purpose (`degrade.*`).
    HeldBack,

    /// A task panicked or ended, and was started again.
    TaskFailed,
}

impl Cause {
    /// Name in `/diagnostics` and `~/stats`, stable over releases.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame(cause) => cause.name(),
            Self::Motion(cause) => cause.into(),
            Self::Sensor(cause) => cause.into(),
            Self::Vehicle(counter) => counter.name(),
            #[cfg(has_rfly_bridge_msgs)]
            Self::Model(cause) => cause.into(),
            #[cfg(has_rfly_bridge_msgs)]
            Self::Scene(cause) => cause.into(),
            other => other.into(),
        }
    }

    /// Returns the kind: a loss, an event, or ignored data (of others, or received before).
    pub fn kind(self) -> CounterKind {
        match self {
            Self::Vehicle(counter) => counter.kind(),
            Self::Frame(DropCause::Duplicate | DropCause::Late)
            | Self::Motion(Ignored::OtherVehicle)
            | Self::Refused
            | Self::OtherSender
            | Self::OtherVehicle
            | Self::NotRead
            | Self::Duplicate => CounterKind::Ignored,
            Self::OtherAddress | Self::Collision | Self::StampedOnArrival | Self::HeldBack => {
                CounterKind::Event
            }
            _ => CounterKind::Drop,
        }
    }

    /// Key in `/diagnostics`.
    pub(super) fn key(self) -> String {
        let prefix = match self.kind() {
            CounterKind::Drop => "drop_",
            CounterKind::Ignored => "ignored_",
            _ => "",
        };
        format!("{prefix}{}", self.name())
    }

    /// Returns the fault of the set-up that the cause indicates.
    pub fn fault(self) -> Option<DropFault> {
        Some(match self {
            Self::SocketOverflow => DropFault::FullBuffer,
            Self::OtherVehicle => DropFault::OtherVehicle,
            Self::Frame(DropCause::Incomplete | DropCause::Lost) => DropFault::Network,
            Self::Frame(DropCause::Oversize)
            | Self::Sensor(SensorCause::Size | SensorCause::TooLarge | SensorCause::Layout) => {
                DropFault::WrongSize
            }
            Self::Sensor(
                SensorCause::UnknownCodec
                | SensorCause::Undecodable
                | SensorCause::Unexpected
                | SensorCause::CloudForm
                | SensorCause::DepthFormat,
            ) => DropFault::WrongType,
            _ => return None,
        })
    }
}

impl Ord for Cause {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Cause {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Cause {}

impl From<SensorCause> for Cause {
    fn from(cause: SensorCause) -> Self {
        Self::Sensor(cause)
    }
}
