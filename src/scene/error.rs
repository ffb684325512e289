//! Why a request about the scene is refused.

/// What is wrong with a request; each service has its own code for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The simulator cannot do it.
    Unsupported,
    /// Nothing has this name.
    NotFound,
    /// The request is understood, and impossible.
    Failed,
    /// The name belongs to another entity.
    NameTaken,
    /// No entity can have this name.
    NameInvalid,
    /// The resource is not one of the simulator.
    Format,
    /// The resource is missing.
    NoResource,
    /// ROS does not allow the namespace.
    Namespace,
    /// The resource cannot be parsed.
    Parse,
    /// The pose is not finite, too far away, in an unknown frame or without a unit quaternion.
    Pose,
}

/// A refused request: what is wrong, and what would be right.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SceneError {
    /// Kind.
    pub cause: Cause,
    /// For the caller.
    pub message: String,
}

impl Cause {
    /// Returns the error with this cause.
    pub fn error(self, message: impl Into<String>) -> SceneError {
        SceneError { cause: self, message: message.into() }
    }
}

impl From<SceneError> for String {
    fn from(error: SceneError) -> Self {
        error.message
    }
}
