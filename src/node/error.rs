use crate::config::Problems;
use crate::frames::FrameError;
use crate::ros::RosError;

/// Why the bridge cannot start. Everything that is wrong with the configuration is in one error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// Parameters or Config.json are wrong.
    #[error("{0}")]
    Config(Problems),
    /// Sensors and frame names do not make a tree.
    #[error("frames do not form a tree:\n  {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Frames(Vec<FrameError>),
    /// The middleware refuses.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// Ports cannot be bound; all of them are tried before this is said.
    #[error("cannot receive:\n  {}", .0.join("\n  "))]
    Bind(Vec<String>),
    /// A thread or runtime cannot be started.
    #[error("cannot start {what}: {source}")]
    Start {
        /// What was to be started.
        what: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// What is shown cannot be written.
    #[error("the output cannot be written")]
    Output(#[source] std::io::Error),
}

impl From<Problems> for NodeError {
    fn from(problems: Problems) -> Self {
        Self::Config(problems)
    }
}
