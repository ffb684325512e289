//! Whatever the network does to a stream: what is delivered is right, everything else is counted, memory is bounded.
use super::{datagrams, pattern};
use proptest::prelude::*;
use rfly_bridge::session::{DropCause, Reassembler, ReassemblyResult};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::HeaderVariant::{self, A, B};
use std::collections::BTreeSet;

const MAX: usize = 20_000;

#[derive(Clone, Debug)]
struct Frame {
    len: usize,
    unit: usize,
    variant: HeaderVariant,
}

impl Frame {
    fn payload(&self, number: usize) -> Vec<u8> {
        pattern(number, self.len)
    }

    fn datagrams(&self, number: usize) -> Vec<Vec<u8>> {
        let time = 1.0 + number as f64 / 30.0;
        datagrams(
            &self.payload(number),
            self.unit,
            self.variant,
            i32::try_from(number).unwrap(),
            time,
        )
    }
}

fn frame() -> impl Strategy<Value = Frame> {
    let unit = prop_oneof![Just(1000_usize), 200_usize..3000];
    let variant = prop_oneof![3 => Just(B), 1 => Just(A)];
    (0..=MAX, unit, variant).prop_map(|(len, unit, variant)| Frame { len, unit, variant })
}

/// What happens to one datagram on the way.
#[derive(Clone, Debug)]
struct Fault {
    lost: bool,
    copies: usize,
    /// How many places later it arrives.
    delay: usize,
    headers_only: bool,
}

fn fault() -> impl Strategy<Value = Fault> {
    let delay = prop_oneof![6 => Just(0_usize), 1 => 1_usize..30];
    (prop::bool::weighted(0.1), 0_usize..3, delay, prop::bool::weighted(0.05)).prop_map(
        |(lost, copies, delay, headers_only)| Fault {
            lost,
            copies: 1 + copies / 2,
            delay,
            headers_only,
        },
    )
}

/// A datagram as it arrives: its bytes, and whether only the header is read.
type Arrival = (Vec<u8>, bool);

fn arrivals(frames: &[Frame], faults: &[Fault]) -> Vec<Arrival> {
    let sent = frames.iter().enumerate().flat_map(|(number, frame)| frame.datagrams(number));
    let mut arriving: Vec<(usize, Arrival)> = Vec::new();
    for (place, (datagram, fault)) in sent.zip(faults.iter().cycle()).enumerate() {
        for copy in 0..fault.copies {
            if !fault.lost {
                arriving.push((
                    place + fault.delay * (copy + 1),
                    (datagram.clone(), fault.headers_only),
                ));
            }
        }
    }
    arriving.sort_by_key(|(place, _)| *place);
    arriving.into_iter().map(|(_, arrival)| arrival).collect()
}

fn feed<'a>(
    reassembler: &'a mut Reassembler,
    (datagram, headers_only): &Arrival,
) -> ReassemblyResult<'a> {
    if !headers_only {
        return reassembler.push(datagram);
    }
    let head = reassembler.next_header_buffer();
    let len = head.len().min(datagram.len());
    head[..len].copy_from_slice(&datagram[..len]);
    reassembler.commit(datagram.len(), RosTime(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn after_any_faults_each_frame_is_delivered_right_at_most_once_or_counted(
        frames in prop::collection::vec(frame(), 1..12),
        faults in prop::collection::vec(fault(), 1..60),
    ) {
        let mut reassembler = Reassembler::new(MAX);
        let mut delivered = BTreeSet::new();
        let mut counted = 0;
        let mut last = f64::NEG_INFINITY;
        let mut stale_before = 0;
        let arrivals = arrivals(&frames, &faults);
        let seen: BTreeSet<u64> = arrivals
            .iter()
            .map(|(d, _)| rfly_bridge::wire::FragmentHeader::parse(d, d.len()).unwrap().sim_time.to_bits())
            .collect();
        for arrival in &arrivals {
            let stale = reassembler.counters().stale;
            match feed(&mut reassembler, arrival) {
                ReassemblyResult::Complete(whole) => {
                    let number = ((whole.info.sim_time - 1.0) * 30.0).round() as usize;
                    prop_assert_eq!(whole.payload, frames[number].payload(number));
                    prop_assert!(delivered.insert(number), "frame {} came twice", number);
                    // Two older frames in a row are stale, the third is taken for a restart of the simulator.
                    prop_assert!(whole.info.sim_time >= last || stale >= stale_before + 2);
                    stale_before = stale;
                    last = whole.info.sim_time;
                }
                ReassemblyResult::Counted(info) => {
                    counted += 1;
                    stale_before = stale;
                    last = info.sim_time;
                }
                ReassemblyResult::Stored | ReassemblyResult::Dropped(_) => {}
            }
            prop_assert!(reassembler.in_flight() <= 2);
            prop_assert!(reassembler.memory() <= 2 * MAX + 4 * 65_536, "{} bytes", reassembler.memory());
        }
        reassembler.drop_incomplete();
        let counters = reassembler.counters();
        prop_assert_eq!(counters.frames, delivered.len() as u64 + counted);
        prop_assert_eq!(counters.datagrams, arrivals.len() as u64);
        prop_assert_eq!(counters.malformed + counters.inconsistent + counters.oversize, 0);
        // Every frame of which anything arrived is delivered or dropped, once.
        prop_assert_eq!(counters.frames + counters.frames_dropped(), seen.len() as u64);
    }

    #[test]
    fn without_loss_any_order_within_a_frame_delivers_every_frame(
        frames in prop::collection::vec(frame(), 1..6),
        orders in prop::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let mut reassembler = Reassembler::new(MAX);
        let mut picks = orders.iter().cycle();
        for (number, frame) in frames.iter().enumerate() {
            let mut left = frame.datagrams(number);
            while !left.is_empty() {
                let datagram = left.swap_remove(picks.next().unwrap().index(left.len()));
                match reassembler.push(&datagram) {
                    ReassemblyResult::Complete(whole) => {
                        prop_assert!(left.is_empty());
                        prop_assert_eq!(whole.payload, frame.payload(number));
                    }
                    outcome => prop_assert_eq!((outcome, left.is_empty()), (ReassemblyResult::Stored, false)),
                }
            }
        }
        prop_assert_eq!(reassembler.counters().frames, frames.len() as u64);
    }

    /// Two frames overlap on the way, but the older one is complete first.
    #[test]
    fn without_loss_two_interleaved_frames_are_both_delivered(
        first in frame(), second in frame(), picks in prop::collection::vec(any::<bool>(), 128),
    ) {
        let (a, b) = (first.datagrams(0), second.datagrams(1));
        let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
        let mut reassembler = Reassembler::new(MAX);
        let mut delivered = Vec::new();
        let mut picks = picks.iter().cycle();
        while a.peek().is_some() || b.peek().is_some() {
            let b_would_complete = b.len() == 1;
            let take_b = *picks.next().unwrap() && !(b_would_complete && a.peek().is_some());
            let Some(datagram) = (if take_b { b.next() } else { a.next().or_else(|| b.next()) }) else { continue };
            if let ReassemblyResult::Complete(whole) = reassembler.push(&datagram) {
                delivered.push(whole.payload.to_vec());
            }
        }
        prop_assert_eq!(delivered, vec![first.payload(0), second.payload(1)]);
        prop_assert_eq!(reassembler.counters().frames_dropped(), 0);
    }

    /// Random bytes, and random headers over good ones: no panic, bounded memory, and the stream goes on afterwards.
    #[test]
    fn garbage_between_good_frames_costs_nothing_but_counts(
        garbage in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..200), -1_i32..9, prop_oneof![0_i32..9, any::<i32>()], any::<i32>()),
            0..40,
        ),
    ) {
        let mut reassembler = Reassembler::new(MAX);
        let good = Frame { len: 5000, unit: 1000, variant: B };
        for (number, (noise, seq, count, frame_id)) in garbage.iter().enumerate() {
            reassembler.push(noise);
            // A header that may pass: check word, length and time are right.
            let mut lie = good.datagrams(number).remove(0);
            lie[8..12].copy_from_slice(&seq.to_le_bytes());
            lie[12..16].copy_from_slice(&count.to_le_bytes());
            lie[16..20].copy_from_slice(&frame_id.to_le_bytes());
            let outcome = reassembler.push(&lie);
            prop_assert!(!matches!(outcome, ReassemblyResult::Dropped(DropCause::Stale)), "{:?}", outcome);
            prop_assert!(reassembler.memory() <= 2 * MAX + 4 * 65_536);
            let before = reassembler.counters().frames;
            for datagram in good.datagrams(number) {
                if let ReassemblyResult::Complete(whole) = reassembler.push(&datagram) {
                    prop_assert_eq!(whole.payload, good.payload(number));
                }
            }
            prop_assert_eq!(reassembler.counters().frames, before + 1, "frame {}", number);
        }
    }
}
