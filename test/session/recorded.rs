//! Streams that were recorded with the vendor's receiver. Where it loses a frame for no good reason, the right
//! behaviour is asserted; the comment names the trap.
use super::deliver;
use crate::support::golden::{self, Vector};
use rfly_bridge::session::{Reassembler, ReassemblyCounters};
use rfly_bridge::wire::FragmentHeader;

/// What a stream must lead to, beyond the frames that it delivers.
#[derive(Default)]
struct Wanted {
    /// Time stamps of the frames delivered.
    times: Vec<f64>,
    counters: ReassemblyCounters,
    in_flight: usize,
}

fn wanted(vector: &Vector, datagrams: &[Vec<u8>]) -> Wanted {
    let one = |times: &[f64]| Wanted { times: times.to_vec(), ..Wanted::default() };
    let mut wanted = one(&[12.345]);
    let counters = &mut wanted.counters;
    match vector.name() {
        // The vendor needs packet 0 first; any order is as good.
        "multi3_first_late_lost" | "multi3_first_late_lost_hdr6" => {}
        // Nothing tells the two frames apart for the vendor but packet 0; here the first one is counted.
        "multi3_missing_then_next_frame" => {
            wanted.times = vec![13.345];
            counters.incomplete = 1;
        }
        "multi3_adjacent_duplicate_hdr6_dropped" | "multi3_nonadjacent_duplicate_hdr6" => {
            counters.duplicate = 2
        }
        // The vendor drops the frame because of a duplicate.
        "multi3_duplicate_hdr4_corrupts" => counters.duplicate = 1,
        // The vendor mixes pieces of two frames. A torn image is worse than a missing one: both stay incomplete.
        "multi3_stale_timestamp_accepted" | "multi3_other_frame_id_accepted" => {
            wanted.times.clear();
            wanted.in_flight = 2;
        }
        "wrong_length_rejected" => {
            wanted.times.clear();
            counters.malformed = 1;
        }
        // Trap: the first datagram locks the vendor's receiver, so that a foreign one blocks the sensor for good.
        "unknown_first_checksum_locks_out"
        | "wrong_checksum_after_first"
        | "short_datagram_after_lock" => {
            counters.malformed = 1;
        }
        // Trap: with a frame id that never changes the vendor delivers one frame only.
        "same_frame_id_single_packet_second_dropped" => wanted.times = vec![12.345, 13.345],
        "no_copter_time_two_frames" => wanted.times = vec![12.345, 14.845],
        "multi3_inorder_hdr4"
        | "multi3_inorder_hdr6"
        | "multi3_tail_reordered"
        | "multi3_tail_reordered_hdr6"
        | "empty_tail_packet"
        | "negative_frame_id"
        | "no_copter_time_fallback"
        | "lidar20_multi" => {}
        // One good datagram, whatever the content.
        _ => assert_eq!(datagrams.len(), 1, "unknown vector {}", vector.name()),
    }
    wanted.counters.frames = wanted.times.len() as u64;
    wanted.counters.datagrams = datagrams.len() as u64;
    wanted.counters.bytes = datagrams.iter().map(Vec::len).sum::<usize>() as u64;
    wanted
}

/// Joins the pieces of the frame with time `sim_time` in order of their numbers.
fn joined(datagrams: &[Vec<u8>], sim_time: f64) -> Vec<u8> {
    let mut pieces: Vec<_> = datagrams
        .iter()
        .filter_map(|d| FragmentHeader::parse(d, d.len()).ok().map(|h| (h, d)))
        .filter(|(h, _)| h.sim_time == sim_time)
        .map(|(h, d)| (h.seq, d[h.variant.len()..].to_vec()))
        .collect();
    pieces.sort();
    pieces.dedup();
    pieces.into_iter().flat_map(|(_, bytes)| bytes).collect()
}

#[test]
fn every_recorded_stream_is_delivered_whole_or_counted() {
    for vector in golden::load("recv_image_udp").into_iter().chain(golden::load("recv_points_udp"))
    {
        let name = vector.name();
        let datagrams = vector.input_packets();
        let wanted = wanted(&vector, &datagrams);
        let mut reassembler = Reassembler::new(1 << 16);
        let delivered = deliver(&mut reassembler, &datagrams);
        let times: Vec<f64> = delivered.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, wanted.times, "{name}");
        for (time, payload) in &delivered {
            assert_eq!(payload, &joined(&datagrams, *time), "{name}");
        }
        assert_eq!(reassembler.counters(), &wanted.counters, "{name}");
        assert_eq!(reassembler.in_flight(), wanted.in_flight, "{name}");
        check_against_decoded_pixels(&vector, &delivered);
    }
}

/// Raw mode: the payload is what the vendor decoded, byte for byte.
fn check_against_decoded_pixels(vector: &Vector, delivered: &[(f64, Vec<u8>)]) {
    if vector["args"]["SendProtocol0"] != 2 {
        return;
    }
    if let Some(pixels) = vector["decoded"]["data_hex"].as_str() {
        let (_, last) = delivered.last().unwrap();
        assert_eq!(golden::hex(last), pixels, "{}", vector.name());
    }
}
