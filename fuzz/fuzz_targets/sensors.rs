//! Payloads of a renderer for every kind of sensor; the first two bytes choose sensor and transport.
#![no_main]

#[path = "../support/sensors.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use rfly_bridge::config::TransportMode;
use rfly_bridge::sensors::{FrameHead, FramePayload, specs};
use rfly_bridge::time::RosTime;
use std::cell::RefCell;
use support::{Rig, open};

const TRANSPORTS: [TransportMode; 3] =
    [TransportMode::UdpRaw, TransportMode::UdpCompressed, TransportMode::SharedMemory];
/// What does not fit the configuration is taken when it comes so often.
const TIMES: usize = 3;

thread_local! {
    /// Opened once: that costs more than a thousand payloads.
    static OPEN: RefCell<Vec<Rig>> = RefCell::new(
        specs().flat_map(|spec| TRANSPORTS.map(|mode| open(spec, mode))).collect(),
    );
}

fuzz_target!(|data: &[u8]| {
    let [kind, mode, payload @ ..] = data else {
        return;
    };
    OPEN.with_borrow_mut(|open| {
        let at = usize::from(*kind) % specs().count() * TRANSPORTS.len();
        let one = &mut open[at + usize::from(*mode) % TRANSPORTS.len()];
        for _ in 0..TIMES {
            let head = FrameHead::new(RosTime(0), one.compressed);
            if let Err(error) = one.sensor.accept(FramePayload::Borrowed(payload), &head) {
                assert!(!error.cause().name().is_empty());
            }
        }
    });
});
