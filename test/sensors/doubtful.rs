//! What does not fit the configuration, and what is not a number.
use super::cameras::{jpeg, pattern, png, rgb_png};
use super::golden_ros::imu_params;
use super::rig::{Rig, config};
use rfly_bridge::config::params::AccelerationAxes;
use rfly_bridge::config::params::{ImuFrame, WorldConvention};
use rfly_bridge::msgs::sensor_msgs::msg::{CompressedImage, Image, Range};
use rfly_bridge::msgs::vision_msgs::msg::{Detection2DArray, Detection3DArray};
use rfly_bridge::sensors::{Decoder, ImuConverter, Layout, Options, SensorError, Size};
use rfly_bridge::time::RosTime;
use rfly_bridge::wire::{BoxEntry, ImuPacket, RangeRecord, TargetEntry, append_list};
use zerocopy::IntoBytes as _;

/// A small file of many pixels: one colour compresses a thousandfold.
fn bomb(side: u32) -> Vec<u8> {
    let pixels = vec![7; (side * side * 3) as usize];
    png(side, side, png::ColorType::Rgb, png::BitDepth::Eight, &pixels)
}

fn causes(rig: &mut Rig, files: &[&[u8]]) -> Vec<&'static str> {
    let cause = |file: &&[u8]| rig.accept(file).map_or_else(|e| e.cause().name(), |()| "ok");
    files.iter().map(cause).collect()
}

#[test]
fn an_image_larger_than_configured_is_refused_before_it_is_decoded() {
    let file = bomb(2900);
    assert!(file.len() < 200_000, "{} bytes", file.len());
    for (type_id, mode) in [(1, 1), (1, 2), (3, 3), (2, 1), (40, 1)] {
        let mut rig = Rig::open(&config(type_id, 640, 480, mode, &[]), Options::default());
        for _ in 0..5 {
            let mut refused = None;
            let allocated = allocation_counter::measure(|| refused = rig.accept(&file).err());
            assert_eq!(refused.unwrap().cause().name(), "too_large");
            assert!(allocated.bytes_max < 10_000, "{allocated:?}");
        }
        let published: u64 = rig.middleware.report().iter().map(|r| r.stats.published).sum();
        assert_eq!(published, 0);
    }
    let mut rig = Rig::open(&config(1, 640, 480, 1, &[]), Options::default());
    let text = rig.accept(&file).unwrap_err().to_string();
    assert!(text.contains("2900 x 2900") && text.contains("640 x 480"), "{text}");
    assert!(text.contains("image.allow_larger:=true"), "{text}");
}

#[test]
fn the_decoder_itself_refuses_more_than_was_expected() {
    let expected = Size { width: 64, height: 48 };
    let wide = rgb_png(65, 48, &pattern(65 * 48 * 3));
    let high = jpeg(64, 49, image::ExtendedColorType::Rgb8, &pattern(64 * 49 * 3));
    for file in [&wide, &high] {
        let mut decoder = Decoder::new(expected);
        let refused = decoder.decode(file, Layout::Bgr8).unwrap_err();
        assert!(
            matches!(refused, SensorError::TooLarge { configured, .. } if configured == expected)
        );
        let mut decoder = Decoder::allowing_larger(expected);
        assert!(decoder.decode(file, Layout::Bgr8).is_ok());
    }
}

#[test]
fn larger_images_come_where_a_parameter_allows_them_and_their_memory_is_given_back() {
    let options = Options { larger: true, ..Options::default() };
    let small = rgb_png(48, 32, &pattern(48 * 32 * 3));
    let large = bomb(1200);
    let mut rig = Rig::open(&config(1, 48, 32, 1, &[]), options);
    rig.recorder.count_only();
    let wanted = ["ok", "unexpected", "unexpected", "ok", "ok"];
    let files = [&small[..], &large, &large, &large, &large];
    let after = allocation_counter::measure(|| {
        assert_eq!(causes(&mut rig, &files), wanted);
        for _ in 0..200 {
            rig.accept(&small).unwrap();
        }
    });
    // 1200 * 1200 * 3 bytes were decoded.
    assert!(after.bytes_max > 4_000_000 && after.bytes_current < 1_000_000, "{after:?}");
}

#[test]
fn an_image_of_another_size_or_kind_is_taken_when_the_stream_goes_on_like_that() {
    let own = rgb_png(48, 32, &pattern(48 * 32 * 3));
    let other = rgb_png(24, 16, &pattern(24 * 16 * 3));
    let third = rgb_png(12, 16, &pattern(12 * 16 * 3));
    let mut rig = Rig::open(&config(1, 48, 32, 1, &[]), Options::default());
    let no = "unexpected";
    // One now and then, never.
    assert_eq!(causes(&mut rig, &[&own, &other, &own, &other, &own]), ["ok", no, "ok", no, "ok"]);
    assert_eq!(causes(&mut rig, &[&other, &third, &other]), [no, no, no]);
    // All of them: from the third on, and what was asked for comes at once.
    assert_eq!(
        causes(&mut rig, &[&other, &other, &other, &own]),
        [no, "ok", "ok", "ok"][..].to_vec()
    );
    let sizes: Vec<_> = rig.published::<Image>("img_rgb").iter().map(|i| i.width).collect();
    assert_eq!(sizes, [48, 48, 48, 24, 24, 48]);
    assert_eq!(rig.published::<CompressedImage>("img_rgb/compressed").len(), 6);

    // Raw pixels where raw was asked for are never kept waiting by files.
    let raw = pattern(48 * 32 * 3);
    let mut rig = Rig::open(&config(1, 48, 32, 2, &[]), Options::default());
    let kinds = causes(&mut rig, &[&raw, &own, &own, &raw, &own, &raw]);
    assert_eq!(kinds, ["ok", no, no, "ok", no, "ok"]);
}

#[test]
fn only_what_a_sensor_does_not_send_is_foreign_to_it() {
    let mut rig = Rig::open(&config(1, 48, 32, 2, &[]), Options::default());
    for foreign in [&[0_u8][..], b"\x89PNG", b"neither", &bomb(100)] {
        assert!(rig.accept(foreign).unwrap_err().is_foreign());
    }
    assert!(!SensorError::Torn.is_foreign());
    assert!(!SensorError::NotFinite { count: 1 }.is_foreign());
}

#[test]
fn samples_with_what_is_no_number_are_no_messages() {
    let mut converter =
        ImuConverter::new(&imu_params(ImuFrame::Flu), "imu_link", WorldConvention::Enu);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in 0..6 {
            let mut numbers = [0.5; 6];
            numbers[axis] = bad;
            let [a, b, c, d, e, f] = numbers;
            let sample = ImuPacket::new(1, 2.0, [a, b, c], [d, e, f]);
            assert!(converter.convert(&sample, AccelerationAxes::Frd, None, RosTime(0)).is_none());
        }
    }
    let sample = ImuPacket::new(1, 2.0, [0.0; 3], [0.0; 3]);
    assert!(converter.convert(&sample, AccelerationAxes::Frd, None, RosTime(0)).is_some());
}

#[test]
fn detections_with_what_is_no_number_are_left_out_and_counted() {
    let mut payload = Vec::new();
    let entries = [
        BoxEntry::new(1, 0.5, [1.0, 2.0, 3.0, 4.0]),
        BoxEntry::new(2, f32::NAN, [1.0, 2.0, 3.0, 4.0]),
        BoxEntry::new(3, 0.5, [1.0, f32::INFINITY, 3.0, 4.0]),
        BoxEntry::new(4, 0.5, [5.0, 6.0, 7.0, 8.0]),
    ];
    append_list(&entries, &mut payload);
    let mut rig = Rig::open(&config(30, 64, 48, 1, &[]), Options::default());
    let error = rig.accept(&payload).unwrap_err();
    assert!(matches!(error, SensorError::NotFinite { count: 2 }));
    let list: Detection2DArray = rig.only("detections");
    let ids: Vec<_> = list.detections.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["1", "4"]);

    let mut payload = Vec::new();
    let entries = [TargetEntry::new(1, [1.0, 2.0, f32::NAN]), TargetEntry::new(2, [1.0, 2.0, 3.0])];
    append_list(&entries, &mut payload);
    let mut rig = Rig::open(&config(31, 64, 48, 1, &[]), Options::default());
    assert_eq!(rig.accept(&payload).unwrap_err().cause().name(), "not_finite");
    assert_eq!(rig.only::<Detection3DArray>("targets").detections.len(), 1);
}

#[test]
fn a_hit_at_a_place_that_is_none_is_no_hit() {
    let nan = [f32::NAN; 3];
    for (impact, centre) in [(nan, [2.0; 3]), ([1.0; 3], nan)] {
        let record = RangeRecord::new(5.0, 7, [0.0; 3], [0.0; 3], impact, centre);
        let mut rig = Rig::open(&config(5, 1, 1, 1, &[100.0]), Options::default());
        assert_eq!(rig.accept(record.as_bytes()).unwrap_err().cause().name(), "not_finite");
        assert_eq!(rig.only::<Detection3DArray>("range/hit").detections.len(), 0);
        assert_eq!(rig.only::<Range>("range").range, 5.0, "the distance was measured");
    }
}
