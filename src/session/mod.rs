//! Sans-IO state machines: they get bytes and give values back; nothing here reads a clock or a socket.
mod counters;
mod fragment_history;
mod frame_buffers;
mod partial_frame;
mod reassembly;

pub use counters::{DropCause, ReassemblyCounters};
pub use reassembly::{FrameInfo, Landing, Outcome, Reassembler, WholeFrame};
