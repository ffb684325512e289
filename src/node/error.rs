use crate::{config::Problems, frames::FrameError, ros::RosError, transport::Holder};

/// A port that cannot be bound.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {port}: {reason}")]
pub struct BindFailure {
    /// The data that arrives there.
    pub what: String,
    /// Protocol and number, for example `UDP port 9999`.
    pub port: String,
    /// Error of the system, other programs that hold the port, and the limit that was reached.
    pub reason: String,
    /// Other programs that hold the port.
    pub holders: Vec<Holder>,
}

/// Why the bridge cannot start. One error lists all faults of the configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Parameters or Config.json are wrong.
    #[error(transparent)]
    Config(#[from] Problems),
    /// Sensors and frame names do not form a tree.
    #[error("frames do not form a tree:\n  {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Frames(Vec<FrameError>),
    /// The middleware returned an error.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// All ports that cannot be bound.
    #[error("cannot receive:\n  {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Bind(Vec<BindFailure>),
    /// A thread or runtime cannot be started.
    #[error("cannot start {what}: {source}")]
    Start {
        /// Name of the thread or runtime.
        what: &'static str,
        /// Error of the system.
        source: std::io::Error,
    },
    /// Writing to standard output failed.
    #[error("cannot write the output")]
    Output(#[source] std::io::Error),
}
