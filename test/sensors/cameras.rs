//! Raw and compressed images.
use super::rig::{Rig, config};
use rfly_bridge::{
    config::params::RgbEncoding,
    msgs::sensor_msgs::msg::{CameraInfo, CompressedImage, Image},
    sensors::{Codec, Decoder, Layout, Options, SensorError, Size, pixels, size_of_file},
};

/// BGR pixels that differ everywhere.
pub fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 7) as u8).collect()
}

pub fn png(
    width: u32,
    height: u32,
    colour: png::ColorType,
    depth: png::BitDepth,
    data: &[u8],
) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    file
}

pub fn rgb_png(width: u32, height: u32, rgb: &[u8]) -> Vec<u8> {
    png(width, height, png::ColorType::Rgb, png::BitDepth::Eight, rgb)
}

pub fn jpeg(width: u32, height: u32, colour: image::ExtendedColorType, data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 95)
        .encode(data, width, height, colour)
        .unwrap();
    file
}

#[test]
fn a_raw_image_is_published_as_it_came() {
    let mut rig = Rig::open(&config(1, 5, 3, 2, &[]), Options::default());
    let data = pattern(45);
    rig.accept(&data).unwrap();
    let image: Image = rig.only("img_rgb");
    assert_eq!(
        (image.width, image.height, image.step, image.encoding.as_str()),
        (5, 3, 15, "bgr8")
    );
    assert_eq!(image.data, data);
    assert_eq!((image.header.stamp.sec, image.header.stamp.nanosec), (1_700_000_012, 345_000_000));
    assert_eq!(image.header.frame_id, "sensor3_optical_frame");
    let info: CameraInfo = rig.only("camera_info");
    assert_eq!(info.header, image.header);
}

#[test]
fn red_and_blue_are_swapped_on_request() {
    let mut rig = Rig::open(
        &config(1, 5, 3, 2, &[]),
        Options { rgb: RgbEncoding::Rgb8, ..Options::default() },
    );
    let data = pattern(45);
    rig.accept(&data).unwrap();
    let image: Image = rig.only("img_rgb");
    assert_eq!(image.encoding, "rgb8");
    for (found, sent) in image.data.chunks(3).zip(data.chunks(3)) {
        assert_eq!(found, [sent[2], sent[1], sent[0]]);
    }
    let mut grey = Rig::open(
        &config(3, 5, 3, 2, &[]),
        Options { rgb: RgbEncoding::Rgb8, ..Options::default() },
    );
    grey.accept(&data[..15]).unwrap();
    assert_eq!(grey.only::<Image>("img_gray").encoding, "mono8");
}

#[test]
fn swapping_is_right_for_every_length_and_is_its_own_inverse() {
    for pixel_count in 0..100 {
        let data = pattern(3 * pixel_count);
        let wanted: Vec<u8> = data.chunks(3).flat_map(|p| [p[2], p[1], p[0]]).collect();
        let mut once = vec![0; data.len()];
        pixels::copy_swapped(&data, &mut once);
        assert_eq!(once, wanted, "{pixel_count} pixels");
        let mut twice = vec![0; data.len()];
        pixels::copy_swapped(&once, &mut twice);
        assert_eq!(twice, data);
    }
}

#[test]
fn files_pass_through_and_are_decoded_by_their_magic_bytes_in_both_modes() {
    let rgb = pattern(48 * 32 * 3);
    let files = [
        (rgb_png(48, 32, &rgb), "bgr8; png compressed bgr8"),
        (jpeg(48, 32, image::ExtendedColorType::Rgb8, &rgb), "bgr8; jpeg compressed bgr8"),
    ];
    for mode in [1, 3] {
        for (file, format) in &files {
            let mut rig = Rig::open(&config(1, 48, 32, mode, &[]), Options::default());
            rig.accept(file).unwrap();
            let compressed: CompressedImage = rig.only("img_rgb/compressed");
            assert_eq!((&compressed.data, compressed.format.as_str()), (file, *format));
            let image: Image = rig.only("img_rgb");
            assert_eq!((image.width, image.height, image.encoding.as_str()), (48, 32, "bgr8"));
            assert_eq!(image.header, compressed.header);
            assert_eq!(rig.only::<CameraInfo>("camera_info").header, image.header);
        }
    }
}

#[test]
fn a_file_in_raw_mode_is_decoded_too() {
    let rgb = pattern(48 * 32 * 3);
    let mut rig = Rig::open(&config(1, 48, 32, 2, &[]), Options::default());
    // It is not what was asked for, so it takes three of them.
    for _ in 0..2 {
        let refused = rig.accept(&rgb_png(48, 32, &rgb)).unwrap_err();
        assert_eq!(refused.cause().name(), "unexpected");
    }
    rig.accept(&rgb_png(48, 32, &rgb)).unwrap();
    let image: Image = rig.only("img_rgb");
    assert!(image.data.chunks(3).zip(rgb.chunks(3)).all(|(b, r)| b == [r[2], r[1], r[0]]));
}

#[test]
fn a_stream_with_only_compressed_subscribed_is_never_decoded() {
    // The end of the file is broken: decoding it would be an error.
    let mut file = rgb_png(48, 32, &pattern(48 * 32 * 3));
    let middle = file.len() / 2;
    file.truncate(middle);
    let mut rig = Rig::open_unwatched(&config(1, 48, 32, 1, &[]), Options::default());
    assert!(!rig.sensor.is_wanted());
    let compressed = rig.topic("img_rgb/compressed");
    rig.recorder.set_subscribers(&compressed, 1);
    assert!(rig.sensor.is_wanted());
    rig.accept(&file).unwrap();
    assert_eq!(rig.recorder.raw(&compressed).len(), 1);
    assert_eq!(
        rig.recorder.raw(&rig.main).len() + rig.recorder.raw(&rig.topic("camera_info")).len(),
        0
    );
    rig.recorder.set_subscribers(&rig.main, 1);
    assert!(matches!(rig.accept(&file), Err(SensorError::Undecodable { codec: "png" })));
}

#[test]
fn raw_transports_and_a_parameter_have_no_compressed_topic() {
    let has = |mode, compressed| {
        let rig =
            Rig::open(&config(1, 4, 4, mode, &[]), Options { compressed, ..Options::default() });
        rig.topics.iter().any(|t| t.ends_with("compressed"))
    };
    assert_eq!(
        [has(0, true), has(1, true), has(2, true), has(3, true), has(1, false)],
        [false, true, false, true, false]
    );
}

#[test]
fn what_the_file_holds_is_turned_into_what_the_topic_promises() {
    use png::{
        BitDepth::{Eight, Sixteen},
        ColorType,
    };
    let grey = pattern(48);
    let rgb = pattern(144);
    let rgba: Vec<u8> = rgb.chunks(3).flat_map(|p| [p[0], p[1], p[2], 7]).collect();
    let wide: Vec<u8> = rgb.iter().flat_map(|v| [*v, 200]).collect();
    let bgr: Vec<u8> = rgb.chunks(3).flat_map(|p| [p[2], p[1], p[0]]).collect();
    let decode = |file: &[u8], layout| {
        let mut decoder = Decoder::new(Size { width: 8, height: 6 });
        let (size, data) = decoder.decode(file, layout).unwrap();
        assert_eq!(size, Size { width: 8, height: 6 });
        data.to_vec()
    };
    let file = |colour, depth, data: &[u8]| png(8, 6, colour, depth, data);
    assert_eq!(decode(&file(ColorType::Rgba, Eight, &rgba), Layout::Bgr8), bgr, "alpha is dropped");
    assert_eq!(
        decode(&file(ColorType::Rgb, Sixteen, &wide), Layout::Bgr8),
        bgr,
        "16 bits are cut to 8"
    );
    assert_eq!(decode(&file(ColorType::Rgb, Eight, &rgb), Layout::Rgb8), rgb);
    let tripled: Vec<u8> = grey.iter().flat_map(|v| [*v; 3]).collect();
    assert_eq!(decode(&file(ColorType::Grayscale, Eight, &grey), Layout::Bgr8), tripled);
    assert_eq!(decode(&file(ColorType::Grayscale, Eight, &grey), Layout::Mono8), grey);
    // Textbook luma, as exactly as 8 bits allow.
    for (found, p) in
        decode(&file(ColorType::Rgb, Eight, &rgb), Layout::Mono8).iter().zip(rgb.chunks(3))
    {
        let wanted = 0.299 * f64::from(p[0]) + 0.587 * f64::from(p[1]) + 0.114 * f64::from(p[2]);
        assert!((f64::from(*found) - wanted).abs() <= 1.0, "{found} for {p:?}");
    }
    let mut palette_file = Vec::new();
    let mut encoder = png::Encoder::new(&mut palette_file, 8, 6);
    encoder.set_color(ColorType::Indexed);
    encoder.set_palette(vec![1, 2, 3, 40, 50, 60]);
    let indices: Vec<u8> = (0..48).map(|i| i % 2).collect();
    encoder.write_header().unwrap().write_image_data(&indices).unwrap();
    assert_eq!(&decode(&palette_file, Layout::Bgr8)[..6], [3, 2, 1, 60, 50, 40]);
}

#[test]
fn a_grey_jpeg_serves_colour_and_a_colour_jpeg_serves_grey() {
    let smooth: Vec<u8> = (0..64 * 64).map(|i| (i % 64 * 2 + i / 64) as u8).collect();
    let file = jpeg(64, 64, image::ExtendedColorType::L8, &smooth);
    let mut decoder = Decoder::new(Size { width: 64, height: 64 });
    let close = |a: u8, b: u8| a.abs_diff(b) <= 4;
    let (_, data) = decoder.decode(&file, Layout::Bgr8).unwrap();
    assert!(data.chunks(3).zip(&smooth).all(|(p, g)| p.iter().all(|v| close(*v, *g))));
    let rgb: Vec<u8> = smooth.iter().flat_map(|g| [*g; 3]).collect();
    let file = jpeg(64, 64, image::ExtendedColorType::Rgb8, &rgb);
    let (_, data) = decoder.decode(&file, Layout::Mono8).unwrap();
    assert!(data.iter().zip(&smooth).all(|(a, b)| close(*a, *b)));
}

#[test]
fn the_size_of_a_file_is_read_without_decoding() {
    let data = pattern(48 * 32 * 3);
    let size = Size { width: 48, height: 32 };
    assert_eq!(size_of_file(&rgb_png(48, 32, &data)).unwrap(), (Codec::Png, size));
    assert_eq!(
        size_of_file(&jpeg(48, 32, image::ExtendedColorType::Rgb8, &data)).unwrap(),
        (Codec::Jpeg, size)
    );
    assert!(size_of_file(b"GIF89a").is_err());
}

#[test]
fn broken_files_are_counted_by_cause_and_the_next_frame_is_fine() {
    let good = jpeg(48, 32, image::ExtendedColorType::Rgb8, &pattern(48 * 32 * 3));
    let mut rig = Rig::open(&config(1, 48, 32, 1, &[]), Options::default());
    let cause = |rig: &mut Rig, file: &[u8]| rig.accept(file).err().map(|e| e.cause().name());
    assert_eq!(cause(&mut rig, b"neither"), Some("unknown_codec"));
    assert_eq!(cause(&mut rig, &good[..good.len() * 2 / 3]), Some("undecodable"), "truncated");
    let mut huge = good.clone();
    let frame = good.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    huge[frame + 5..frame + 9].copy_from_slice(&[0xFF; 4]);
    assert!(matches!(cause(&mut rig, &huge), Some("undecodable" | "too_large")), "65535 x 65535");
    assert_eq!(rig.published::<Image>("img_rgb").len(), 0);
    assert_eq!(cause(&mut rig, &good), None);
    assert_eq!(rig.published::<Image>("img_rgb").len(), 1);
}
