//! Errors of the facade and of its back ends.

/// Error of the facade or of a back end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages explain the fields")]
pub enum RosError {
    /// Invalid name of a topic, node or namespace.
    #[error("`{name}` is not a valid name: {reason}")]
    Name { name: String, reason: String },
    /// Cyclone DDS returned an error.
    #[error("DDS: {call}({subject}): {message}")]
    Dds { call: &'static str, subject: String, message: String },
    /// Zenoh returned an error.
    #[error("Zenoh: {call}({subject}): {message}")]
    Zenoh { call: &'static str, subject: String, message: String },
    /// Zenoh is requested, but this program was built without it.
    #[error(
        "this program is built without Zenoh: build it with `cargo build --release --features zenoh` (docs/zenoh.md)"
    )]
    WithoutZenoh,
    /// The ROS client library returned an error.
    #[error("ROS: {call}({subject}): {message}")]
    Rcl { call: &'static str, subject: String, message: String },
    /// A message cannot be encoded as CDR.
    #[error("{type_name} cannot be serialised: {message}")]
    Encode { type_name: &'static str, message: String },
    /// Received bytes do not decode as the type.
    #[error("{type_name}: cannot decode received bytes: {message}")]
    Decode { type_name: &'static str, message: String },
    /// The recorder already has another type under this name; the other back ends do not check it.
    #[error("topic {topic} already has type {existing}, cannot also have {wanted}")]
    TypeConflict { topic: String, existing: String, wanted: String },
    /// The recorder already has a service of this name; the other back ends do not check it.
    #[error("service {service} already exists")]
    ServiceExists { service: String },
    /// The back end does not support this.
    #[error("the {backend} back end cannot {what}")]
    Unsupported { backend: &'static str, what: &'static str },
    /// An environment variable has an unusable value.
    #[error("environment variable {variable}: {message}")]
    Environment { variable: &'static str, message: String },
}
