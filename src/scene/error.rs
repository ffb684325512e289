//! Why a request about the scene is refused.

/// Why a request is refused; some services have codes of their own for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cause {
    /// The simulator cannot do it.
    Unsupported,
    /// Nothing has this name.
    NotFound,
    /// The request is valid but cannot be fulfilled.
    Failed,
    /// The name belongs to another entity.
    NameTaken,
    /// No entity can have this name.
    NameInvalid,
    /// The resource does not have the scheme `rflysim`.
    Format,
    /// The request names no resource.
    NoResource,
    /// ROS does not allow the namespace.
    Namespace,
    /// The resource cannot be parsed.
    Parse,
    /// The pose is not finite, too far away, in an unknown frame or without a unit quaternion.
    Pose,
}

/// A refused request: the fault, and how to correct it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct SceneError {
    /// Kind.
    pub cause: Cause,
    /// Text for the caller.
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
