//! Reassembly of fragments: recorded streams, the traps of the protocol, and any order, loss and duplication. And the
//! protocols that are spoken with an autopilot.
mod any_order;
mod command_client;
mod keep_alive;
mod mission;
mod overtaken;
mod parameter_rig;
mod parameters;
mod peer_watch;
mod protocol;
mod recorded;
mod strangers;
mod stream_order;
mod timesync;
mod traps;

use rfly_bridge::session::{Reassembler, ReassemblyResult};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{
    FragmentHeaderA, FragmentHeaderB, HeaderVariant, MAX_FRAGMENT_PAYLOAD, fragments,
};
use zerocopy::IntoBytes;

/// The datagrams of one frame, cut as by the vendor.
fn vendor_datagrams(
    payload: &[u8],
    variant: HeaderVariant,
    frame_id: i32,
    sim_time: f64,
) -> Vec<Vec<u8>> {
    fragments(payload, MAX_FRAGMENT_PAYLOAD, variant, frame_id, sim_time)
        .map(|f| [f.header.as_bytes(), f.payload].concat())
        .collect()
}

/// The datagrams of one frame of a sender that cuts every `unit` bytes.
fn datagrams(
    payload: &[u8],
    unit: usize,
    variant: HeaderVariant,
    frame_id: i32,
    sim_time: f64,
) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> =
        if payload.is_empty() { vec![&[]] } else { payload.chunks(unit).collect() };
    let count = i32::try_from(parts.len()).unwrap();
    let datagram = |(seq, part): (i32, &&[u8])| {
        let len = i32::try_from(part.len() + variant.len()).unwrap();
        match variant {
            HeaderVariant::A => {
                [FragmentHeaderA::new(len, seq, count, sim_time).as_bytes(), part].concat()
            }
            HeaderVariant::B => {
                [FragmentHeaderB::new(len, seq, count, frame_id, sim_time).as_bytes(), part]
                    .concat()
            }
        }
    };
    (0..).zip(&parts).map(datagram).collect()
}

/// Bytes that differ from frame to frame and within a frame.
fn pattern(frame: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * 7 + i / 251 + frame * 31) % 256) as u8).collect()
}

/// Arrival of the next datagram of a stream at 30 Hz.
fn next_arrival(reassembler: &Reassembler) -> RosTime {
    RosTime(reassembler.counters().datagrams as i64 * 33_333_333)
}

/// Feeds datagrams and returns time and payload of every frame delivered.
fn deliver<D: AsRef<[u8]>>(
    reassembler: &mut Reassembler,
    datagrams: impl IntoIterator<Item = D>,
) -> Vec<(f64, Vec<u8>)> {
    let mut delivered = Vec::new();
    for datagram in datagrams {
        let arrival = next_arrival(reassembler);
        if let ReassemblyResult::Complete(frame) = reassembler.push_at(datagram.as_ref(), arrival) {
            assert_eq!(frame.info.len, frame.payload.len());
            delivered.push((frame.info.sim_time, frame.payload.to_vec()));
        }
    }
    delivered
}
