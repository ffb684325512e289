//! Fragment headers and the payloads that are no images, against recorded datagrams.
use crate::support::cloud_payload::shorts;
use crate::support::golden::{self, Vector, number, numbers};
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

/// Compares raw counts with the vendor's values, which are `raw / 32767 * range` in doubles.
pub(super) fn check_cloud<const N: usize>(
    vector: &Vector,
    cloud: Option<CloudView<'_>>,
    payload: &[u8],
    range: f64,
) {
    let name = vector.name();
    let cloud = cloud.unwrap_or_else(|| panic!("{name}: no form"));
    let points = shorts::<N>(&cloud);
    let decoded = &vector["decoded"];
    let rows = decoded["values"].as_array().unwrap();
    assert_eq!(rows.len(), points.len(), "{name}");
    for (row, point) in rows.iter().zip(&points) {
        let scaled = point.map(|c| f64::from(c) / 32767.0 * range);
        assert_eq!(numbers(row), scaled, "{name}");
        if N == 4 {
            // Trap 9: the vendor scales the class in the fourth channel by the range; undone, it is the raw class.
            let class = number(&row[3]) * 32767.0 / if range == 0.0 { 1.0 } else { range };
            assert!(range == 0.0 || (class - f64::from(point[3])).abs() < 1e-6, "{name}");
        }
    }
    let CloudHead::Plain(head) = cloud.head else {
        panic!("{name}: not the head of the recordings")
    };
    let mut header = head.pose.map(|x| f64::from(x.get())).to_vec();
    header.push(f64::from(head.count.get()));
    assert_eq!(numbers(&decoded["ImgData"]), header, "{name}");

    let mut written = Vec::new();
    append_cloud(head.pose.map(|x| x.get()), points, &mut written);
    assert_eq!(written, payload[..written.len()], "{name}");
}

pub(super) fn check_range(vector: &Vector, payload: &[u8]) {
    let name = vector.name();
    let record = RangeRecord::parse(payload).unwrap();
    let decoded = &vector["decoded"]["DistanceSensor"];
    assert_eq!(number(&decoded["Distance"]), f64::from(record.distance.get()), "{name}");
    assert_eq!(number(&decoded["CopterID"]), f64::from(record.copter_id.get()), "{name}");
    for (key, value) in [
        ("RayStart", record.ray_start),
        ("Ang", record.ray_angles),
        ("ImpactPoint", record.impact_point),
        ("BoxOri", record.box_origin),
    ] {
        assert_eq!(numbers(&decoded[key]), value.map(|x| f64::from(x.get())), "{name}: {key}");
    }
    let made = RangeRecord::new(
        record.distance.get(),
        record.copter_id.get(),
        record.ray_start.map(|x| x.get()),
        record.ray_angles.map(|x| x.get()),
        record.impact_point.map(|x| x.get()),
        record.box_origin.map(|x| x.get()),
    );
    assert_eq!(made.as_bytes(), payload, "{name}");
}

pub(super) fn check_boxes(vector: &Vector, payload: &[u8]) {
    let list = ListView::<BoxEntry>::parse(payload).unwrap();
    let values = list.entries().iter().map(|e| {
        let edges = [e.min_x, e.min_y, e.max_x, e.max_y].map(|x| x.get());
        let made = BoxEntry::new(e.copter_id.get(), e.credibility.get(), edges);
        assert_eq!(&made, e);
        let [a, b, c, d] = edges.map(f64::from);
        vec![f64::from(e.copter_id.get()), f64::from(e.credibility.get()), a, b, c, d]
    });
    check_list(vector, payload, values.collect(), list.entries());
}

pub(super) fn check_targets(vector: &Vector, payload: &[u8]) {
    let list = ListView::<TargetEntry>::parse(payload).unwrap();
    let values = list.entries().iter().map(|e| {
        let made = TargetEntry::new(e.copter_id.get(), e.position.map(|x| x.get()));
        assert_eq!(&made, e);
        let [x, y, z] = e.position.map(|x| f64::from(x.get()));
        vec![f64::from(e.copter_id.get()), x, y, z]
    });
    check_list(vector, payload, values.collect(), list.entries());
}

fn check_list<T: Packet>(vector: &Vector, payload: &[u8], values: Vec<Vec<f64>>, entries: &[T]) {
    let wanted: Vec<_> =
        vector["decoded"]["list"].as_array().unwrap().iter().map(numbers).collect();
    assert_eq!(wanted, values, "{}", vector.name());
    let mut written = Vec::new();
    append_list(entries, &mut written);
    assert_eq!(written, payload[..written.len()], "{}", vector.name());
}

/// Every datagram of both receive files: the header is read and written byte for byte, or refused for the right reason.
#[test]
fn every_recorded_fragment_header_is_read_and_written_byte_for_byte() {
    let refused = |name: &str, index: usize| -> Option<&'static str> {
        match (name, index) {
            ("wrong_length_rejected", 0) => Some("PackLen"),
            ("unknown_first_checksum_locks_out", 0) => Some("tag"),
            ("short_datagram_after_lock", 1) => Some("tag"),
            // A short form whose check word was replaced by that of the long form: 5e-260 s is no time.
            ("wrong_checksum_after_first", 1) => Some("timestamp"),
            _ => None,
        }
    };
    for vector in golden::load("recv_image_udp").into_iter().chain(golden::load("recv_points_udp"))
    {
        let name = vector.name();
        for (index, datagram) in vector.input_packets().iter().enumerate() {
            let parsed = FragmentHeader::parse(datagram, datagram.len());
            match (refused(name, index), parsed) {
                (None, Ok(header)) => {
                    let seq = i32::try_from(header.seq).unwrap();
                    let count = i32::try_from(header.count).unwrap();
                    let len = i32::try_from(datagram.len()).unwrap();
                    match header.variant {
                        HeaderVariant::A => {
                            let made = FragmentHeaderA::new(len, seq, count, header.sim_time);
                            assert_eq!(made.as_bytes(), &datagram[..24], "{name}");
                        }
                        HeaderVariant::B => {
                            let frame_id = header.frame_id.unwrap();
                            let made =
                                FragmentHeaderB::new(len, seq, count, frame_id, header.sim_time);
                            assert_eq!(made.as_bytes(), &datagram[..32], "{name}");
                        }
                    }
                }
                (Some("PackLen"), Err(WireError::Field { field: "PackLen", .. }))
                | (Some("timestamp"), Err(WireError::Field { field: "timestamp", .. }))
                | (Some("tag"), Err(WireError::Tag { .. })) => {}
                (wanted, got) => panic!("{name}[{index}]: wanted {wanted:?}, got {got:?}"),
            }
        }
    }
}

/// Payloads of single datagrams; what belongs to several is in `test/session`.
#[test]
fn every_recorded_cloud_range_and_list_is_decoded_as_by_the_vendor() {
    for vector in golden::load("recv_points_udp") {
        let name = vector.name();
        let packets = vector.input_packets();
        let payload: Vec<u8> = packets
            .iter()
            .flat_map(|p| {
                let header = FragmentHeader::parse(p, p.len()).unwrap();
                p[header.variant.len()..].to_vec()
            })
            .collect();
        let range = vector["args"]["otherParams"].get(0).map_or(0.0, number);
        match name {
            "lidar20_20pts"
            | "lidar21_20pts"
            | "lidar22_20pts"
            | "lidar23_20pts"
            | "lidar20_multi"
            | "lidar20_extra_bytes_ignored"
            | "lidar20_zero_range_param"
            | "lidar20_empty" => {
                let cloud = CloudView::parse(&payload, PointForm::I16x4);
                check_cloud::<4>(&vector, cloud, &payload, range);
            }
            "depthcloud7" | "depthcloud7_mode3" => {
                let cloud = CloudView::parse(&payload, PointForm::I16x3);
                check_cloud::<3>(&vector, cloud, &payload, range);
            }
            // The vendor ignores clouds in mode 3; the payload is as good as in mode 1.
            "lidar20_mode3_ignored" => {
                let cloud = CloudView::parse(&payload, PointForm::I16x4).unwrap();
                assert_eq!(cloud.points.len(), 20);
            }
            // The vendor's thread dies; here it is a counted error.
            "lidar20_truncated_raises" => {
                assert_eq!(CloudView::parse(&payload, PointForm::I16x4), None);
            }
            "range5" | "range5_mode3_hdr6" => check_range(&vector, &payload),
            // The vendor's thread dies in mode 2; the payload is a good record.
            "range5_mode2_raises" => assert!(RangeRecord::parse(&payload).is_ok()),
            "detect30" | "detect30_empty" => check_boxes(&vector, &payload),
            "detect31_one" | "detect31_three_bug" => check_targets(&vector, &payload),
            other => panic!("unknown vector {other}"),
        }
    }
}

/// Bytes as in the recordings: `byte[i] = (i * 7 + 3) % 251`.
fn forwarded(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from((i * 7 + 3) % 251).unwrap()).collect()
}

#[test]
fn a_payload_is_cut_into_the_datagrams_of_the_vendors_forwarder() {
    for vector in golden::load("img_forward_send") {
        let name = vector.name();
        let len =
            name.strip_prefix("sendImgBuffer_").unwrap_or_else(|| panic!("unknown vector {name}"));
        let payload = forwarded(len.parse().unwrap());
        let sim_time = number(&vector["args"]["timestamp"]);
        let wanted = vector["packets"].as_array().unwrap();
        let made: Vec<_> =
            fragments(&payload, MAX_FRAGMENT_PAYLOAD, HeaderVariant::A, 0, sim_time).collect();
        assert_eq!(made.len(), wanted.len(), "{name}");
        assert_eq!(
            fragments(&payload, MAX_FRAGMENT_PAYLOAD, HeaderVariant::A, 0, sim_time).len(),
            wanted.len(),
            "{name}"
        );
        for (fragment, wanted) in made.iter().zip(wanted) {
            assert_eq!(
                fragment.datagram_len(),
                usize::try_from(wanted["len"].as_u64().unwrap()).unwrap(),
                "{name}"
            );
            assert_eq!(golden::hex(fragment.header.as_bytes()), wanted["header_hex"], "{name}");
            let datagram = [fragment.header.as_bytes(), fragment.payload].concat();
            assert_eq!(sha256(&datagram), wanted["sha256"], "{name}");
            if wanted.as_object().unwrap().len() == 1 {
                assert_eq!(golden::hex(&datagram), vector["hex"], "{name}");
            }
        }
        let joined: Vec<u8> = made.iter().flat_map(|f| f.payload).copied().collect();
        assert_eq!(joined, payload, "{name}");
    }
}

#[test]
fn the_long_header_carries_the_frame_id_and_the_same_cuts() {
    let payload = forwarded(150_000);
    for (fragment, seq) in
        fragments(&payload, MAX_FRAGMENT_PAYLOAD, HeaderVariant::B, -7, 1.5).zip(0..)
    {
        let datagram = [fragment.header.as_bytes(), fragment.payload].concat();
        let header = FragmentHeader::parse(&datagram, datagram.len()).unwrap();
        let wanted = FragmentHeader {
            variant: HeaderVariant::B,
            seq,
            count: 3,
            frame_id: Some(-7),
            sim_time: 1.5,
        };
        assert_eq!(header, wanted);
    }
}

#[test]
fn a_header_with_impossible_numbers_is_refused() {
    let head = |seq, count, time| FragmentHeaderB::new(40, seq, count, 1, time);
    let parse = |h: FragmentHeaderB| FragmentHeader::parse(h.as_bytes(), 40);
    assert!(parse(head(0, 1, 0.0)).is_ok());
    for (bad, field) in [
        (head(-1, 1, 0.0), "PackSeq"),
        (head(1, 1, 0.0), "PackSeq"),
        (head(0, 0, 0.0), "PackNum"),
        (head(0, -1, 0.0), "PackNum"),
        (head(0, 1, f64::NAN), "timestamp"),
        (head(0, 1, f64::INFINITY), "timestamp"),
        (head(0, 1, 1e-10), "timestamp"),
        (head(0, 1, -9e9), "timestamp"),
    ] {
        assert!(
            matches!(parse(bad), Err(WireError::Field { field: f, .. }) if f == field),
            "{bad:?}"
        );
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    golden::hex(&Sha256::digest(bytes))
}
