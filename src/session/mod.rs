//! Sans-IO state machines: bytes in, values out; they read no clock and no socket.
//!
//! The clients of an autopilot ([`CommandClient`], [`ParameterClient`], [`MissionClient`]) have the same interface: one call per
//! message and per request, `tick` at `deadline`, then `next_event` until `None`. Times are monotonic.
mod buffer_peak;
mod command;
mod command_client;
mod counters;
mod finished_frames;
mod frame_buffers;
mod gaps;
mod keep_alive;
mod mission;
mod parameters;
mod partial_frame;
mod peer_watch;
mod rate_limit;
mod reassembly;
mod stream_order;
mod timesync;

pub(crate) use buffer_peak::BufferPeak;
pub use command::{
    CommandCounters, CommandEnd, CommandEvent, CommandGroup, CommandSettings, MavCommand,
};
pub use command_client::CommandClient;
pub use counters::{DropCause, ReassemblyCounters};
pub use keep_alive::{KeepAlive, KeepAliveSettings, KeepAliveStep};
pub use mission::{
    MissionClient, MissionCounters, MissionDone, MissionError, MissionEvent, MissionList,
    MissionSettings, mission_scale,
};
pub use parameters::{
    Parameter, ParameterClient, ParameterCounters, ParameterEncoding, ParameterError,
    ParameterEvent, ParameterKind, ParameterName, ParameterSettings, ParameterValue,
};
pub use peer_watch::{PeerNews, PeerState, PeerWatch};
pub use rate_limit::RateLimit;
pub use reassembly::{
    DatagramBuffers, FrameInfo, LOAN_SPARE, Reassembler, ReassemblyResult, WholeFrame,
};
pub use stream_order::{Continuity, StreamOrder, StreamPosition};
pub use timesync::{
    ClockLine, TimesyncCounters, TimesyncEstimator, TimesyncOutcome, TimesyncSample,
    TimesyncSettings,
};
