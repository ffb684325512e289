//! Shared-memory blocks, against recorded regions.
use crate::support::golden::{self, numbers};
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

#[test]
fn every_recorded_block_has_the_predicted_name_size_flag_and_content() {
    for vector in golden::load("recv_shm") {
        let name = vector.name();
        let args = &vector["args"];
        let int = |key: &str| u16::try_from(args[key].as_u64().unwrap()).unwrap();
        let type_id = int("TypeID");
        assert_eq!(
            vector["region_name_linux"],
            format!("/dev/shm/{}", shm_name(int("SeqID"))),
            "{name}"
        );
        let max_objects = args["otherParams"].get(1).and_then(|n| n.as_u64()).unwrap_or(0);
        let len = shm_block_len(
            type_id,
            int("DataWidth"),
            int("DataHeight"),
            u32::try_from(max_objects).unwrap(),
        );
        let most = match type_id {
            23 => 17_408,
            _ => usize::from(int("DataWidth")) * usize::from(int("DataHeight")),
        };
        let block = vector.input_region();
        assert_eq!(len, Some(block.len()), "{name}");

        let (header, payload) = ShmHeader::parse_prefix(&block).unwrap();
        let flag = ShmFlag::try_from(header.flag).unwrap();
        let decoded = &vector["decoded"];
        let known = [
            "shm_type1",
            "shm_type2",
            "shm_type3",
            "shm_type4",
            "shm_type8",
            "shm_type9",
            "shm_type40",
            "shm_type41",
            "shm_no_heartbeat",
            "shm_lidar20",
            "shm_lidar21",
            "shm_lidar22",
            "shm_mid360_23_never_decoded",
            "shm_depthcloud7",
            "shm_range5_bug",
            "shm_detect30",
            "shm_detect31",
        ];
        if name.starts_with("shm_flag") {
            // Only a complete frame is read, and nothing is written into a block that has none.
            assert_ne!(flag, ShmFlag::Ready, "{name}");
            assert_eq!(decoded["flag_after"], header.flag, "{name}");
            continue;
        }
        assert!(known.contains(&name), "unknown vector {name}");
        assert_eq!(flag, ShmFlag::Ready, "{name}");
        assert_eq!(
            ShmHeader::new(ShmFlag::Ready, header.sim_time.get()).as_bytes(),
            &block[..SHM_HEADER_LEN],
            "{name}"
        );
        if let Some(time) = decoded.get("timeStmp") {
            assert_eq!(golden::number(time), header.sim_time.get(), "{name}");
        }
        assert_eq!(header.sim_time.get(), 12.345, "{name}");
        match type_id {
            7 => {
                let cloud = CloudView::parse_block(payload, most, PointForm::I16x3);
                super::image::check_cloud::<3>(&vector, cloud, payload, 100.0);
            }
            20..=22 => {
                let cloud = CloudView::parse_block(payload, most, PointForm::I16x4);
                super::image::check_cloud::<4>(&vector, cloud, payload, 200.0);
            }
            // The vendor never decodes type 23 over shared memory; its layout is that of type 20.
            23 => {
                let cloud = CloudView::parse_block(payload, most, PointForm::I16x4).unwrap();
                assert!(!cloud.points.is_empty(), "{name}");
            }
            5 => super::image::check_range(&vector, &payload[..RangeRecord::LEN]),
            30 => super::image::check_boxes(&vector, payload),
            31 => super::image::check_targets(&vector, payload),
            _ => {
                let shape = numbers(&decoded["shape"]);
                let bytes: f64 = shape.iter().product();
                let unit = if type_id == 2 { 2.0 } else { 1.0 };
                assert_eq!(payload.len() as f64, bytes * unit, "{name}");
                assert_eq!(golden::hex(payload), decoded["data_hex"], "{name}");
            }
        }
    }
}

#[test]
fn a_flag_that_no_side_uses_is_refused() {
    for byte in 0..=u8::MAX {
        assert_eq!(
            ShmFlag::try_from(byte).map(|flag| flag as u8).ok(),
            (byte <= 4).then_some(byte)
        );
    }
}

/// The rule is the vendor's: number within the group at most the total, and the size as requested.
#[test]
fn the_directory_accepts_a_sensor_of_its_group_with_the_requested_size() {
    let mut directory = ShmDirectory::new(2);
    assert_eq!(i32::from_le_bytes(directory.as_bytes()[..4].try_into().unwrap()), 1_234_567_892);
    assert!(directory.insert(64, 640, 480) && directory.insert(66, 320, 240));
    assert!(!directory.insert(63, 640, 480) && !directory.insert(96, 640, 480), "other groups");
    let read = ShmDirectory::parse(directory.as_bytes()).unwrap();
    assert_eq!((read.group(), read.total.get()), (2, 3));
    assert!(read.accepted(64, 640, 480) && read.accepted(66, 320, 240));
    assert!(
        !read.accepted(66, 320, 241) && !read.accepted(65, 320, 240) && !read.accepted(0, 640, 480)
    );
    let mut foreign = directory;
    foreign.checksum = 1_234_568_891.into();
    assert!(ShmDirectory::parse(foreign.as_bytes()).is_err(), "groups end at 1000");
}

/// Trap 8: a block of type 23 has 64 by 272 points whatever the request says, type 22 has as many as requested.
#[test]
fn the_block_of_a_mid360_does_not_depend_on_the_requested_size() {
    assert_eq!(shm_block_len(23, 1, 1, 0), Some(139_301));
    assert_eq!(shm_block_len(22, 10, 4, 0), Some(10 * 4 * 8 + 37));
    assert_eq!(shm_block_len(6, 640, 480, 0), None, "a microphone has no block");
}
