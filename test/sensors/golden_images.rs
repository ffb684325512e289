//! Recorded image payloads, all of them, against the pixels that the vendor's client got.
use super::rig::{Rig, config_of, payloads_of};
use crate::support::golden::{Vector, load, unhex};
use rfly_bridge::{
    config::params::DepthEncoding, msgs::sensor_msgs::msg::Image, sensors::Options,
    wire::SensorKind,
};

/// Depth is compared as the vendor publishes it, in counts.
fn vendor() -> Options {
    Options { depth: DepthEncoding::Vendor, ..Options::default() }
}

/// Where this bridge does better than the recorded behaviour.
enum Better {
    /// The vendor's receiver dies or gives the wrong thing; the bridge counts this cause and goes on.
    Counted(&'static str),
    /// The vendor loses the frame; the bridge gives the image of that vector.
    ImageOf(&'static str),
    /// The vendor takes the second frame for a repetition; the bridge gives both.
    Both,
    /// The vendor ignores the payload; the bridge decodes it.
    Decoded,
    /// No such sensor in the table: nothing to decode.
    NoRow,
    /// The frame is not complete on the wire, so nobody can give it.
    Nothing,
}

fn better(name: &str) -> Option<Better> {
    Some(match name {
        "type8_png_mode1_ignored" => Better::Decoded,
        "type1_raw_wrong_size" => Better::Counted("size"),
        "type1_bad_png" => Better::Counted("unknown_codec"),
        "type2_jpg8bit" => Better::Counted("depth_format"), // lossy, 8 bit: no depth is left in it
        "type10_unknown" => Better::NoRow,
        "multi3_first_late_lost" | "multi3_duplicate_hdr4_corrupts" => {
            Better::ImageOf("multi3_inorder_hdr4")
        }
        "multi3_first_late_lost_hdr6" => Better::ImageOf("multi3_tail_reordered_hdr6"),
        "unknown_first_checksum_locks_out" => Better::ImageOf("wrong_checksum_after_first"),
        "same_frame_id_single_packet_second_dropped" => Better::Both,
        "wrong_length_rejected" => Better::Nothing,
        "multi3_stale_timestamp_accepted" | "multi3_other_frame_id_accepted" => Better::Nothing, // pieces of two frames
        _ => return None,
    })
}

fn pixels(vector: &Vector) -> Option<Vec<u8>> {
    vector["decoded"]["data_hex"].as_str().map(unhex)
}

fn published(vector: &Vector) -> (Rig, Vec<&'static str>) {
    let mut rig = Rig::open(&config_of(vector), vendor());
    let errors = payloads_of(vector)
        .iter()
        .filter_map(|p| rig.accept(p).err())
        .map(|e| e.cause().name())
        .collect();
    (rig, errors)
}

fn assert_same(name: &str, image: &Image, wanted: &[u8]) {
    assert_eq!(image.data.len(), wanted.len(), "{name}: length");
    let differences: Vec<u8> = image.data.iter().zip(wanted).map(|(a, b)| a.abs_diff(*b)).collect();
    let max = *differences.iter().max().unwrap();
    if name.contains("jpg") {
        // Decoders may round differently, most where chroma is interpolated: noise is the worst case.
        let mean =
            differences.iter().map(|d| f64::from(*d)).sum::<f64>() / differences.len() as f64;
        assert!(max <= 4 && mean < 0.4, "{name}: differs by up to {max}, {mean} on average");
    } else {
        assert_eq!(max, 0, "{name}: lossless");
    }
}

#[test]
fn every_recorded_image_has_the_vendors_pixels_or_better() {
    let vectors = load("recv_image_udp");
    assert_eq!(vectors.len(), 62);
    for vector in &vectors {
        let name = vector.name();
        match better(name) {
            None => {
                let wanted = pixels(vector)
                    .unwrap_or_else(|| panic!("{name}: unknown vector without image"));
                let (rig, errors) = published(vector);
                assert_eq!(errors, [""; 0], "{name}");
                let image = rig.last::<Image>().unwrap_or_else(|| panic!("{name}: no image"));
                assert_same(name, &image, &wanted);
                let shape = &vector["decoded"]["shape"];
                assert_eq!(
                    (Some(image.height.into()), Some(image.width.into())),
                    (shape[0].as_u64(), shape[1].as_u64()),
                    "{name}"
                );
                let bytes = wanted.len() as u32 / image.height;
                assert_eq!(image.step, bytes, "{name}: step");
                let depth = vector["decoded"]["dtype"] == "uint16";
                let encoding = match shape[2].as_u64() {
                    _ if depth => "mono16",
                    Some(3) => "bgr8",
                    _ => "mono8",
                };
                assert_eq!(image.encoding, encoding, "{name}");
            }
            Some(Better::Counted(cause)) => {
                let (rig, errors) = published(vector);
                assert_eq!(errors, [cause], "{name}");
                assert!(rig.last::<Image>().is_none(), "{name}: published nevertheless");
            }
            Some(Better::ImageOf(other)) => {
                let other = vectors.iter().find(|v| v.name() == other).expect("the other vector");
                let (rig, _) = published(vector);
                let image = rig.last::<Image>().unwrap_or_else(|| panic!("{name}: no image"));
                assert_same(name, &image, &pixels(other).unwrap());
            }
            Some(Better::Both) => {
                let (rig, errors) = published(vector);
                let images: Vec<Image> = rig.published("img_rgb");
                assert_eq!((images.len(), errors.len()), (2, 0), "{name}");
                assert_same(name, &images[0], &pixels(vector).unwrap());
                assert_ne!(images[0].data, images[1].data, "{name}");
            }
            Some(Better::Decoded) => {
                let (rig, errors) = published(vector);
                assert_eq!(errors, [""; 0], "{name}");
                let image = rig.last::<Image>().unwrap_or_else(|| panic!("{name}: no image"));
                assert_eq!((image.width, image.height, image.encoding.as_str()), (8, 6, "bgr8"));
            }
            Some(Better::NoRow) => {
                let type_id = vector["args"]["TypeID"].as_u64().unwrap();
                assert_eq!(SensorKind::from_type_id(type_id as u16), None, "{name}");
            }
            Some(Better::Nothing) => {
                let (rig, errors) = published(vector);
                assert_eq!((rig.last::<Image>().is_none(), errors.len()), (true, 0), "{name}");
            }
        }
    }
}
