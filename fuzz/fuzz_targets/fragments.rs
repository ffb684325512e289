//! The input is a script of datagrams for one reassembler: good fragments in any order, headers only, noise, and lies.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rfly_bridge::session::{Reassembler, ReassemblyResult};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{FragmentHeaderA, FragmentHeaderB};
use std::sync::LazyLock;
use zerocopy::IntoBytes;

const MAX: usize = 4096;
/// Steps of a script that are played; longer ones find nothing more, only later.
const MAX_STEPS: usize = 256;
/// Lies use other frame ids, so that what is delivered of them is not compared.
const FIRST_LIE: i32 = 1000;

fuzz_target!(|script: &[u8]| {
    let mut reassembler = Reassembler::new(MAX);
    let mut frames = 0;
    for step in script.chunks_exact(4).take(MAX_STEPS) {
        let [kind, frame, seq, extra] = step else { unreachable!("chunks of 4") };
        let number = i32::from(frame % 16);
        let outcome = match kind % 8 {
            0..=4 => reassembler.push(datagram(number, *seq)),
            5 => {
                let datagram = datagram(number, *seq);
                let head = reassembler.next_header_buffer();
                let len = head.len().min(datagram.len());
                head[..len].copy_from_slice(&datagram[..len]);
                reassembler.commit(datagram.len(), RosTime(0))
            }
            6 => reassembler.push(&script[usize::from(*frame).min(script.len())..]),
            _ => {
                let mut lie = datagram(number | 1, *seq).to_vec();
                lie[16..20].copy_from_slice(&(FIRST_LIE + number).to_le_bytes());
                let at = 8 + usize::from(extra % 8);
                lie[at] ^= *extra;
                reassembler.push(&lie)
            }
        };
        match outcome {
            ReassemblyResult::Complete(whole) => {
                frames += 1;
                assert_eq!(whole.info.len, whole.payload.len());
                let number = (whole.info.sim_time * 30.0).round() as i32;
                if whole.info.frame_id.is_none_or(|id| id < FIRST_LIE) && (0..16).contains(&number)
                {
                    assert_eq!(whole.payload, payload(number));
                }
            }
            ReassemblyResult::Counted(_) => frames += 1,
            ReassemblyResult::Stored | ReassemblyResult::Dropped(_) => {}
        }
        assert!(reassembler.in_flight() <= 2);
        assert!(reassembler.memory() <= 2 * MAX + 4 * 65_536);
        assert_eq!(reassembler.counters().frames, frames);
    }
});

/// Length and fragment size of frame `number`; some are multiples of their fragment size, one is empty.
fn shape(number: i32) -> (usize, usize) {
    let number = number as usize;
    (number * 240, 100 + number % 3 * 140)
}

fn payload(number: i32) -> Vec<u8> {
    let (len, _) = shape(number);
    (0..len).map(|i| (i * 7 + i / 251 + number as usize * 31) as u8).collect()
}

/// Every fragment of every frame; even numbers have the short header, odd ones the long one.
static DATAGRAMS: LazyLock<Vec<Vec<Vec<u8>>>> = LazyLock::new(|| {
    let fragments = |number| {
        let (len, unit) = shape(number);
        let payload = payload(number);
        let count = len.div_ceil(unit).max(1);
        let time = f64::from(number) / 30.0;
        let fragment = |seq: usize| {
            let part = &payload[(seq * unit).min(len)..((seq + 1) * unit).min(len)];
            let (seq, count) = (seq as i32, count as i32);
            if number % 2 == 0 {
                let len = part.len() as i32 + 24;
                [FragmentHeaderA::new(len, seq, count, time).as_bytes(), part].concat()
            } else {
                let len = part.len() as i32 + 32;
                [FragmentHeaderB::new(len, seq, count, number, time).as_bytes(), part].concat()
            }
        };
        (0..count).map(fragment).collect()
    };
    (0..16).map(fragments).collect()
});

fn datagram(number: i32, seq: u8) -> &'static [u8] {
    let fragments = &DATAGRAMS[number as usize];
    &fragments[usize::from(seq) % fragments.len()]
}
