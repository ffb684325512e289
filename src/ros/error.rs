//! Errors of the ROS side.

/// Error of the ROS side.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RosError {
    /// Invalid name of a topic, node or namespace.
    #[error("`{name}` is not a valid name: {reason}")]
    Name {
        /// The name as given.
        name: String,
        /// Violated rule.
        reason: &'static str,
    },
    /// The middleware returned an error.
    #[error("DDS: {call}({subject}): {message}")]
    Dds {
        /// C function.
        call: &'static str,
        /// Topic or other subject of the call.
        subject: String,
        /// Text of the return code.
        message: String,
    },
    /// The ROS client library returned an error.
    #[error("ROS: {call}({subject}): {message}")]
    Rcl {
        /// Function.
        call: &'static str,
        /// Topic or other subject of the call.
        subject: String,
        /// Its message.
        message: String,
    },
    /// A message cannot be encoded as CDR.
    #[error("{type_name} cannot be serialised: {message}")]
    Encode {
        /// Message type.
        type_name: &'static str,
        /// Reason.
        message: String,
    },
    /// Received bytes do not decode as the type.
    #[error("{type_name}: cannot decode received bytes: {message}")]
    Decode {
        /// Message type.
        type_name: &'static str,
        /// Reason.
        message: String,
    },
    /// This process already publishes another type under the name.
    #[error("topic {topic} already has type {existing}, cannot also have {wanted}")]
    TypeConflict {
        /// Topic.
        topic: String,
        /// Existing type.
        existing: String,
        /// Requested type.
        wanted: String,
    },
    /// This process already offers a service of this name.
    #[error("service {service} already exists")]
    ServiceExists {
        /// Service.
        service: String,
    },
    /// The back end does not support this.
    #[error("the {backend} back end cannot {what}")]
    Unsupported {
        /// Name of the back end.
        backend: &'static str,
        /// Requested operation.
        what: &'static str,
    },
    /// An environment variable has an unusable value.
    #[error("environment variable {variable}: {message}")]
    Environment {
        /// Name of the variable.
        variable: &'static str,
        /// Reason.
        message: String,
    },
}
