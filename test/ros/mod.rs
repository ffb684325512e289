//! Tests of `ros`.
mod conformance;
mod encoding;
mod environment;
mod graph;
mod names;
mod probe;
mod qos;
mod samples;
