//! Tests of `ros`; what the workspace's middleware does is tested by `make ros`, except for the end of a node.
#[cfg(feature = "dds")]
mod actions;
#[cfg(feature = "dds")]
mod call;
#[cfg(feature = "dds")]
mod conformance;
mod definitions;
mod departure;
mod encoding;
mod environment;
#[cfg(feature = "dds")]
mod graph;
mod local;
mod names;
#[cfg(feature = "dds")]
mod probe;
mod qos;
mod samples;
#[cfg(feature = "dds")]
mod service_types;
#[cfg(feature = "dds")]
mod services;
mod taps;
#[cfg(feature = "dds")]
mod topic_values;
#[cfg(feature = "dds")]
mod types;
#[cfg(feature = "dds")]
mod watch;
