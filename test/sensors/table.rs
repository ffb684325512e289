//! The table itself, and what holds for every row.
use super::rig::{Rig, config};
use crate::support::golden::{fixture, load};
use rfly_bridge::wire::SensorKind;
use rfly_bridge::{
    config::{SensorConfig, params::ScanSource},
    msgs::TYPES,
    sensors::{FrameIds, FrameKind, Options, SensorSpec, spec_of, specs},
};
use std::collections::BTreeSet;

/// Every sensor in every mode it has.
fn every_sensor() -> impl Iterator<Item = (&'static SensorSpec, SensorConfig)> {
    specs().flat_map(|spec| {
        spec.modes()
            .iter()
            .map(move |mode| (spec, config(spec.kind.type_id(), 16, 8, *mode, &[100.0, 2.0])))
    })
}

#[test]
fn the_table_has_every_type_id_once_in_order() {
    let ids: Vec<_> = specs().map(|s| s.kind.type_id()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 7, 8, 9, 20, 21, 22, 23, 30, 31, 40, 41]);
    let names: BTreeSet<_> = specs().map(|s| s.name).collect();
    assert_eq!(names.len(), specs().count(), "names are unique");
    assert!(
        [6, 10].iter().all(|id| SensorKind::from_type_id(*id).is_none()),
        "the wire layout of these is unknown"
    );
}

#[test]
fn topics_have_known_types_and_unique_names() {
    for spec in specs() {
        let suffixes: BTreeSet<_> = spec.topics.iter().map(|t| t.suffix).collect();
        assert_eq!(suffixes.len(), spec.topics.len(), "{}", spec.name);
        for topic in spec.topics {
            assert!(TYPES.contains(&topic.interface), "{}", topic.interface);
            assert!(!topic.doc.is_empty());
        }
    }
}

#[test]
fn every_sensor_opens_exactly_the_topics_of_its_row() {
    for ((spec, settings), scan) in every_sensor()
        .flat_map(|sensor| [ScanSource::Off, ScanSource::Band].map(|scan| (sensor.clone(), scan)))
    {
        let mut options = Options::default();
        options.scan.source = scan;
        let rig = Rig::open(&settings, options);
        let rows = spec
            .topics
            .iter()
            .filter(|t| !t.compressed_only || rig.compressed)
            .filter(|t| t.suffix != "scan" || scan == ScanSource::Band)
            .filter(|t| {
                cfg!(has_livox_ros_driver2) || !t.interface.starts_with("livox_ros_driver2/")
            });
        let wanted: BTreeSet<_> = rows.map(|t| spec.topic_name(t, &rig.main)).collect();
        let found: BTreeSet<_> = rig.topics.iter().cloned().collect();
        assert_eq!(found, wanted, "{} in mode {}", spec.name, settings.transport.number());
    }
}

#[test]
fn every_row_has_a_recorded_payload() {
    let mut recorded = BTreeSet::new();
    for file in ["recv_image_udp", "recv_points_udp", "recv_shm"] {
        recorded.extend(load(file).iter().filter_map(|v| v["args"]["TypeID"].as_u64()));
    }
    for spec in specs() {
        assert!(recorded.contains(&u64::from(spec.kind.type_id())), "{} has no fixture", spec.name);
    }
}

#[test]
fn other_topics_follow_the_main_one() {
    let depth = spec_of(SensorKind::Depth);
    let names =
        |main: &str| depth.topics.iter().map(|t| depth.topic_name(t, main)).collect::<Vec<_>>();
    assert_eq!(
        names(&depth.default_topic("/rflysim/", 4)),
        [
            "/rflysim/sensor4/img_depth",
            "/rflysim/sensor4/img_depth_float",
            "/rflysim/sensor4/img_depth/compressed",
            "/rflysim/sensor4/img_depth/compressedDepth",
            "/rflysim/sensor4/camera_info"
        ]
    );
    assert_eq!(names("/front/depth")[1..3], ["/front/depth_float", "/front/depth/compressed"]);
    assert_eq!(
        (names("/front/depth")[4].as_str(), names("depth")[4].as_str()),
        ("/front/camera_info", "camera_info")
    );
}

#[test]
fn frames_are_named_after_sensor_and_vehicle() {
    let frames = FrameIds::new("copter2/", 5);
    assert_eq!(frames.id(FrameKind::Optical), "copter2/sensor5_optical_frame");
    assert_eq!(frames.id(FrameKind::Link), "copter2/sensor5_link");
    assert_eq!(frames.id(FrameKind::World), "map");
    let kind = |type_id| spec_of(SensorKind::from_type_id(type_id).unwrap()).topics[0].frame;
    assert!([1, 2, 3, 4, 8, 9, 30, 40, 41].iter().all(|t| kind(*t) == FrameKind::Optical));
    assert!([5, 7, 20, 22, 23, 31].iter().all(|t| kind(*t) == FrameKind::Link));
    assert_eq!(kind(21), FrameKind::World);
}

#[test]
fn garbage_of_every_length_is_counted_or_converted_but_never_panics() {
    // xorshift64
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut accepted = BTreeSet::new();
    for (spec, settings) in every_sensor() {
        let mut rig = Rig::open(&settings, Options::default());
        for len in 0..2048 {
            let garbage: Vec<u8> = (0..len).map(|_| random()).collect();
            match rig.accept(&garbage) {
                Ok(()) => drop(accepted.insert((spec.kind, settings.transport.number(), len))),
                Err(error) => assert!(!error.cause().name().is_empty()),
            }
        }
    }
    // Only what has no inner structure may pass: raw images of their size, and a range record and what follows it.
    for (kind, mode, len) in accepted {
        let raw = spec_of(kind).topics[0].interface.ends_with("Image") && matches!(mode, 0 | 2);
        assert!(
            (raw && [128, 256, 384].contains(&len)) || (kind == SensorKind::Range && len >= 56),
            "{kind:?}, mode {mode}, {len} bytes"
        );
    }
}

#[test]
fn files_with_any_one_byte_changed_never_panic() {
    let data = super::cameras::pattern(16 * 8 * 3);
    let files = [
        super::cameras::jpeg(16, 8, image::ExtendedColorType::Rgb8, &data),
        super::cameras::png(16, 8, png::ColorType::Rgb, png::BitDepth::Eight, &data),
        super::cameras::png(12, 16, png::ColorType::Grayscale, png::BitDepth::Sixteen, &data),
    ];
    for type_id in [1, 2, 3] {
        let mut rig = Rig::open(&config(type_id, 16, 8, 1, &[]), Options::default());
        for file in &files {
            for i in 0..file.len() {
                for change in [0xFF, 0x01, 0x80] {
                    let mut changed = file.clone();
                    changed[i] ^= change;
                    let _ = rig.accept(&changed);
                    if change == 1 {
                        let _ = rig.accept(&file[..i]);
                    }
                }
            }
            rig.recorder.clear();
        }
    }
}

#[test]
fn the_table_of_topics_in_the_documents_is_current() {
    let path = fixture("../../docs/topics.md");
    let made = rfly_bridge::node::topics_markdown();
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == made,
        "docs/topics.md differs from the table of sensors; `make docs` writes it:\n{made}"
    );
}
