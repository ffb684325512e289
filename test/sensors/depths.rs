//! Depth: counts to millimetres and metres.
use super::{
    cameras::{jpeg, png},
    rig::{Rig, config},
};
use rfly_bridge::{
    config::params::DepthEncoding,
    msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image},
    sensors::{Options, SensorError},
};

fn bytes(counts: &[u16]) -> Vec<u8> {
    counts.iter().flat_map(|c| c.to_le_bytes()).collect()
}

fn counts(image: &Image) -> Vec<u16> {
    image.data.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).collect()
}

fn metres(image: &Image) -> Vec<f32> {
    image.data.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Equal but for the rounding of the scale, which is f32 on the wire.
fn close(found: f32, wanted: f32) -> bool {
    (found - wanted).abs() <= wanted * 2.0 * f32::EPSILON
}

fn depth_png(width: u32, height: u32, values: &[u16]) -> Vec<u8> {
    let big_endian: Vec<u8> = values.iter().flat_map(|c| c.to_be_bytes()).collect();
    png(width, height, png::ColorType::Grayscale, png::BitDepth::Sixteen, &big_endian)
}

#[test]
fn a_count_is_a_millimetre_unless_the_scale_says_otherwise() {
    for scale in [0.0, 0.001] {
        let mut rig = Rig::open(&config(2, 2, 2, 2, &[0.0, 0.0, scale]), Options::default());
        rig.accept(&bytes(&[0, 1, 65_534, 65_535])).unwrap();
        let main: Image = rig.only("img_depth");
        assert_eq!(
            (main.encoding.as_str(), main.step, main.width, main.height),
            ("16UC1", 4, 2, 2)
        );
        assert_eq!(counts(&main), [0, 1, 65_534, 0], "no return is 0, invalid (REP 118)");
        let float: Image = rig.only("img_depth_float");
        assert_eq!((float.encoding.as_str(), float.step), ("32FC1", 8));
        let m = metres(&float);
        assert!(m[0].is_nan());
        assert!(close(m[1], 0.001) && close(m[2], 65.534) && m[3] == f32::INFINITY, "{m:?}");
        assert_eq!(float.header, main.header);
        assert_eq!(rig.only::<CameraInfo>("camera_info").header, main.header);
    }
}

#[test]
fn a_coarser_scale_gives_millimetres_as_far_as_they_reach() {
    let mut rig = Rig::open(&config(2, 6, 1, 2, &[0.0, 0.0, 0.01]), Options::default());
    rig.accept(&bytes(&[0, 1, 6_553, 6_554, 10_000, 65_535])).unwrap();
    assert_eq!(counts(&rig.only("img_depth")), [0, 10, 65_530, 0, 0, 0]);
    let m = metres(&rig.only("img_depth_float"));
    assert!((m[4] - 100.0).abs() < 1e-4 && m[5] == f32::INFINITY, "{m:?}");
}

#[test]
fn a_finer_scale_is_rounded_to_millimetres() {
    let mut rig = Rig::open(&config(2, 4, 1, 2, &[0.0, 0.0, 0.0001]), Options::default());
    rig.accept(&bytes(&[4, 6, 10_004, 10_006])).unwrap();
    assert_eq!(counts(&rig.only("img_depth")), [0, 1, 1000, 1001]);
    let m = metres(&rig.only("img_depth_float"));
    assert!((m[3] - 1.0006).abs() < 1e-6);
}

#[test]
fn with_a_lower_limit_no_return_may_be_near_or_far_so_it_is_not_a_number() {
    let mut rig = Rig::open(&config(2, 2, 1, 2, &[0.3, 50.0, 0.001]), Options::default());
    rig.accept(&bytes(&[65_535, 300])).unwrap();
    let m = metres(&rig.only("img_depth_float"));
    assert!(m[0].is_nan() && close(m[1], 0.3));
}

/// 0 in the parameters is no limit; counts end at 65.534 m even then.
#[test]
fn each_limit_may_be_absent() {
    for (near, far, nan) in
        [(0.0, 0.0, false), (0.0, 50.0, false), (0.3, 0.0, true), (0.3, 50.0, true)]
    {
        let mut rig = Rig::open(&config(2, 2, 1, 2, &[near, far, 0.001]), Options::default());
        rig.accept(&bytes(&[65_535, 65_534])).unwrap();
        let m = metres(&rig.only("img_depth_float"));
        assert_eq!(m[0].is_nan(), nan, "{near} {far}");
        assert!(nan || m[0] == f32::INFINITY);
        assert!(close(m[1], 65.534));
        assert_eq!(counts(&rig.only("img_depth")), [0, 65_534]);
    }
}

#[test]
fn the_vendor_setting_passes_the_counts_on_unscaled() {
    let options = Options { depth: DepthEncoding::Vendor, ..Options::default() };
    let mut rig = Rig::open(&config(2, 2, 1, 2, &[0.0, 0.0, 0.01]), options);
    rig.accept(&bytes(&[5, 65_535])).unwrap();
    let main: Image = rig.only("img_depth");
    assert_eq!((main.encoding.as_str(), counts(&main)), ("mono16", vec![5, 65_535]));
    assert!(close(metres(&rig.only("img_depth_float"))[0], 0.05));
}

#[test]
fn a_16_bit_png_is_big_endian_in_the_file_and_little_endian_on_the_topic() {
    let values = [0x0102, 0x0304, 0xFFFE, 0, 7, 0xFFFF];
    let file = depth_png(3, 2, &values);
    for mode in [1, 3] {
        let mut rig = Rig::open(&config(2, 3, 2, mode, &[]), Options::default());
        rig.accept(&file).unwrap();
        assert_eq!(counts(&rig.only("img_depth")), [0x0102, 0x0304, 0xFFFE, 0, 7, 0]);
        let untouched: CompressedImage = rig.only("img_depth/compressed");
        assert_eq!(
            (&untouched.data, untouched.format.as_str()),
            (&file, "mono16; png compressed ")
        );
    }
}

#[test]
fn compressed_depth_is_what_image_transport_reads_and_agrees_with_the_main_topic() {
    for (values, scale) in
        [([1, 2, 3, 40_000], 0.001), ([1, 2, 3, 65_535], 0.001), ([1, 2, 3, 65_535], 0.01)]
    {
        let mut rig = Rig::open(&config(2, 2, 2, 1, &[0.0, 0.0, scale]), Options::default());
        let file = depth_png(2, 2, &values);
        rig.accept(&file).unwrap();
        let message: CompressedImage = rig.only("img_depth/compressedDepth");
        assert_eq!(message.format, "16UC1; compressedDepth png");
        let (header, inner) = message.data.split_at(12);
        assert_eq!(header, [0; 12]);
        if values[3] == 40_000 {
            assert_eq!(inner, file, "the file is millimetres already");
        }
        // Read by a decoder that is not ours.
        let decoded = image::load_from_memory(inner).unwrap().into_luma16().into_raw();
        assert_eq!(decoded, counts(&rig.only("img_depth")));
    }
}

#[test]
fn lossy_and_8_bit_depth_is_refused() {
    let mut rig = Rig::open(&config(2, 4, 4, 1, &[]), Options::default());
    let grey = [9; 16];
    for file in [
        jpeg(4, 4, image::ExtendedColorType::L8, &grey),
        png(4, 4, png::ColorType::Grayscale, png::BitDepth::Eight, &grey),
    ] {
        assert!(matches!(rig.accept(&file), Err(SensorError::DepthFormat)));
    }
    assert_eq!(rig.recorder.raw(&rig.main).len(), 0);
}

#[test]
fn each_depth_topic_is_made_only_while_subscribed() {
    let mut rig = Rig::open_unwatched(&config(2, 2, 2, 1, &[]), Options::default());
    let file = depth_png(2, 2, &[1, 2, 3, 4]);
    let topics = rig.topics.clone();
    assert_eq!(topics.len(), 5, "{topics:?}");
    for topic in &topics {
        rig.recorder.set_all_subscribers(0);
        rig.recorder.clear();
        assert!(!rig.sensor.is_wanted());
        rig.recorder.set_subscribers(topic, 1);
        assert!(rig.sensor.is_wanted(), "{topic}");
        rig.accept(&file).unwrap();
        for other in &topics {
            assert_eq!(
                rig.recorder.raw(other).len(),
                usize::from(other == topic),
                "{other} with {topic}"
            );
        }
    }
}

#[test]
fn the_float_topic_can_be_switched_off() {
    let rig =
        Rig::open(&config(2, 2, 2, 2, &[]), Options { depth_float: false, ..Options::default() });
    assert!(!rig.topics.iter().any(|t| t.ends_with("_float")));
}
