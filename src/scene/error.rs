//! Why a request about the scene is refused.

/// What is wrong with a request; each service has its own code for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The simulator cannot do it.
    Unsupported,
    /// Nothing has this name.
    NotFound,
    /// Not now.
    IncorrectState,
    /// The request is understood, and impossible.
    Failed,
    /// The name belongs to another entity.
    NameTaken,
    /// No entity can have this name.
    NameInvalid,
    /// A resource that is not the simulator's own.
    Format,
    /// No resource.
    NoResource,
    /// A namespace that ROS does not allow.
    Namespace,
    /// A resource that cannot be read.
    Parse,
    /// A pose that is not finite, too far away, in an unknown frame or without a unit quaternion.
    Pose,
}

/// A refused request: what is wrong, and what would be right.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Kind.
    pub cause: Cause,
    /// For the caller.
    pub message: String,
}

impl Refusal {
    /// Creates a refusal.
    pub fn new(cause: Cause, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, message }
    }
}
