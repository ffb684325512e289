//! What the tests of the protocols share.
use rfly_bridge::wire::mavlink::raw::CommandLong;
use rfly_bridge::wire::mavlink::{Encoder, Frame, Outbound, Taken, take};
use std::time::Duration;

pub fn secs(seconds: f64) -> Duration {
    Duration::from_micros((seconds * 1e6).round() as u64)
}

/// Reads a message as its receiver would.
pub fn received<R>(message: &Outbound, read: impl FnOnce(&Frame<'_>) -> R) -> R {
    let packet = Encoder::new(255, 190).encode(message);
    let Taken::Frame(frame) = take(packet.as_bytes()) else {
        panic!("{message:?} is no frame");
    };
    read(&frame)
}

pub fn long(message: &Outbound) -> CommandLong {
    received(message, CommandLong::parse).expect("a COMMAND_LONG")
}
