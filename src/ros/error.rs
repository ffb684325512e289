//! What can go wrong on the ROS side.

/// Error of the ROS side.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RosError {
    /// A topic, node or namespace is not spelled as ROS allows.
    #[error("`{name}` is no valid name: {reason}")]
    Name {
        /// The name as given.
        name: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// The middleware refused a call.
    #[error("DDS: {call}({subject}): {message}")]
    Dds {
        /// C function.
        call: &'static str,
        /// Topic or other subject of the call.
        subject: String,
        /// Text that belongs to the return code.
        message: String,
    },
    /// The ROS client library refused a call.
    #[error("ROS: {call}({subject}): {message}")]
    Rcl {
        /// Function.
        call: &'static str,
        /// Topic or other subject of the call.
        subject: String,
        /// What it said.
        message: String,
    },
    /// A message could not be written as CDR.
    #[error("{type_name} does not serialise: {message}")]
    Encode {
        /// Message type.
        type_name: &'static str,
        /// Reason.
        message: String,
    },
    /// Received bytes are not a message of that type.
    #[error("{type_name}: received bytes do not decode: {message}")]
    Decode {
        /// Message type.
        type_name: &'static str,
        /// Reason.
        message: String,
    },
    /// The same process publishes two types under one name.
    #[error("topic {topic} is {existing} already, cannot be {wanted} too")]
    TypeConflict {
        /// Topic.
        topic: String,
        /// Type it has.
        existing: String,
        /// Type it should get.
        wanted: String,
    },
    /// The same process offers two services of one name.
    #[error("service {service} exists already")]
    ServiceExists {
        /// Service.
        service: String,
    },
    /// The back end cannot do this.
    #[error("the {backend} back end cannot {what}")]
    Unsupported {
        /// Name of the back end.
        backend: &'static str,
        /// What was asked for.
        what: &'static str,
    },
    /// A value from the environment cannot be used.
    #[error("environment variable {variable}: {message}")]
    Environment {
        /// Name of the variable.
        variable: &'static str,
        /// Reason.
        message: String,
    },
}
