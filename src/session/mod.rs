//! Sans-IO state machines: bytes in, values out; nothing here reads a clock or a socket.
//!
//! Those that talk to an autopilot ([`Commands`], [`Parameters`], [`Mission`], ...) have the same interface: a call for
//! each message and each request, `tick` at `deadline`, then `next_event` until `None`. Times are monotonic.
mod command;
mod commands;
mod counters;
mod fragment_history;
mod frame_buffers;
mod gaps;
mod keep_alive;
mod mission;
mod order;
mod parameters;
mod partial_frame;
mod peak;
mod reassembly;
mod timesync;

pub use command::{Command, CommandCounters, CommandEnd, CommandEvent, CommandSettings, Kind};
pub use commands::Commands;
pub use counters::{DropCause, ReassemblyCounters};
pub use keep_alive::{KeepAlive, KeepAliveSettings, KeepAliveStep};
pub use mission::{
    Mission, MissionCounters, MissionDone, MissionError, MissionEvent, MissionList,
    MissionSettings, mission_scale,
};
pub use order::{Mark, Order, Verdict};
pub use parameters::{
    Parameter, ParameterCounters, ParameterEncoding, ParameterError, ParameterEvent, ParameterKind,
    ParameterName, ParameterSettings, ParameterValue, Parameters,
};
pub(crate) use peak::Peak;
pub use reassembly::{FrameInfo, LOAN_SPARE, Landing, Outcome, Reassembler, WholeFrame};
pub use timesync::{
    ClockLine, TimesyncCounters, TimesyncEstimator, TimesyncOutcome, TimesyncSample,
    TimesyncSettings,
};
