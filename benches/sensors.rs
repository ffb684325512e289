//! Conversion throughput: `cargo bench --bench sensors`.
//!
//! Image files come from the directory `RFLY_BENCH_IMAGES` (`frame.png`, `frame.jpg` and `depth.png`), so that other decoders
//! can be timed with the same files; without it they are generated.
use divan::{Bencher, black_box, counter::BytesCount};
use rfly_bridge::{
    config::params::{DegradeParams, DepthAxes, LabelType, WorldConvention},
    sensors::{
        CloudNoise, Decoder, DepthNoise, FourthField, Layout, MissingPoints, PointAxes, Size,
        convert, per_count, pixels,
    },
    time::SimTime,
};
use zerocopy::little_endian::I16;

const SIZE: Size = Size { width: 1280, height: 720 };

fn main() {
    divan::main();
}

const LABEL: FourthField = FourthField::Label(LabelType::Float32);

fn sensor_axes() -> PointAxes {
    PointAxes::sensor(DepthAxes::Flu, per_count(100.0))
}

/// A 64-ring lidar scan, one point in eight without return.
fn scan() -> Vec<[I16; 4]> {
    (0..64 * 1800u32)
        .map(|i| {
            let far = i % 8 != 0;
            let c = |k: u32| I16::new(if far { (i.wrapping_mul(k) >> 8) as i16 } else { 0 });
            [c(2_654_435_761), c(2_246_822_519), c(3_266_489_917), I16::new((i % 40) as i16)]
        })
        .collect()
}

/// Measures a conversion; its bytes per second are those of the output.
fn cloud(bencher: Bencher<'_, '_>, axes: PointAxes, missing: MissingPoints) {
    let points = scan();
    let mut out = vec![0; points.len() * 16];
    let written = convert(&points, axes, missing, LABEL, &mut out).points * 16;
    bencher
        .counter(BytesCount::new(written))
        .bench_local(|| convert(black_box(&points), axes, missing, LABEL, &mut out));
}

#[divan::bench]
fn lidar_organized(bencher: Bencher<'_, '_>) {
    cloud(bencher, sensor_axes(), MissingPoints::Nan);
}

#[divan::bench]
fn lidar_world_enu(bencher: Bencher<'_, '_>) {
    cloud(bencher, PointAxes::world(WorldConvention::Enu, per_count(100.0)), MissingPoints::Nan);
}

#[divan::bench]
fn lidar_compacted(bencher: Bencher<'_, '_>) {
    cloud(bencher, sensor_axes(), MissingPoints::Removed);
}

#[divan::bench]
fn depth_cloud(bencher: Bencher<'_, '_>) {
    let points: Vec<[I16; 3]> = scan().iter().map(|p| [p[0], p[1], p[2]]).collect();
    let mut out = vec![0; points.len() * 12];
    bencher.counter(BytesCount::new(points.len() * 12)).bench_local(|| {
        convert(black_box(&points), sensor_axes(), MissingPoints::Nan, FourthField::None, &mut out)
    });
}

/// Noise of `degrade.*`, which is applied before the conversion.
#[divan::bench]
fn lidar_noise(bencher: Bencher<'_, '_>) {
    let points = scan();
    let params =
        DegradeParams { lidar_noise_m: 0.02, lidar_dropout: 0.01, ..DegradeParams::default() };
    let mut noise = CloudNoise::of_lidar(&params, 1, false).expect("is on");
    bencher
        .counter(BytesCount::new(points.len() * 16))
        .bench_local(|| noise.apply(SimTime(5), black_box(&points), (0.003, 0)).len());
}

#[divan::bench]
fn depth_noise(bencher: Bencher<'_, '_>) {
    let counts: Vec<u8> = [0x12, 0x34].repeat(SIZE.pixels());
    let params = DegradeParams { depth_noise_per_m: 0.002, ..DegradeParams::default() };
    let mut noise = DepthNoise::new(&params, 1).expect("is on");
    bencher
        .counter(BytesCount::new(counts.len()))
        .bench_local(|| noise.apply(SimTime(5), black_box(&counts), 0.001).len());
}

#[divan::bench]
fn bgr_to_rgb(bencher: Bencher<'_, '_>) {
    let from = vec![7; SIZE.pixels() * 3];
    let mut to = from.clone();
    bencher
        .counter(BytesCount::new(from.len()))
        .bench_local(|| pixels::copy_swapped(black_box(&from), &mut to));
}

/// Returns the file of this name, or generates one like a rendered scene: flat faces, shading and some texture.
fn file(name: &str) -> Vec<u8> {
    if let Ok(directory) = std::env::var("RFLY_BENCH_IMAGES") {
        return std::fs::read(format!("{directory}/{name}")).expect("a file of RFLY_BENCH_IMAGES");
    }
    let mut out = Vec::new();
    let (w, h) = (SIZE.width as u32, SIZE.height as u32);
    let texture =
        |x: u32, y: u32| (x.wrapping_mul(0x9E37_79B9) ^ y.wrapping_mul(0x85EB_CA6B)) >> 27;
    match name {
        "depth.png" => {
            let mut encoder = png::Encoder::new(&mut out, w, h);
            encoder.set_color(png::ColorType::Grayscale);
            encoder.set_depth(png::BitDepth::Sixteen);
            let data: Vec<u8> = (0..h)
                .flat_map(|y| {
                    (0..w).flat_map(move |x| ((2000 + y * 9 + x / 40) as u16).to_be_bytes())
                })
                .collect();
            encoder
                .write_header()
                .and_then(|mut w| w.write_image_data(&data))
                .expect("writing to memory");
        }
        _ => {
            let rgb = image::RgbImage::from_fn(w, h, |x, y| {
                let face = 40 + 60 * ((x / 160 + y / 120) % 3);
                let v = (face + y / 16 + texture(x, y)) as u8;
                image::Rgb([v, v / 2 + 30, 200 - v / 2])
            });
            let format = if name.ends_with("png") {
                image::ImageFormat::Png
            } else {
                image::ImageFormat::Jpeg
            };
            rgb.write_to(&mut std::io::Cursor::new(&mut out), format).expect("writing to memory");
        }
    }
    out
}

fn decode(bencher: Bencher<'_, '_>, name: &str, layout: Layout) {
    let file = file(name);
    let mut decoder = Decoder::new(SIZE);
    bencher.bench_local(|| decoder.decode(black_box(&file), layout).map(|(size, _)| size));
}

#[divan::bench]
fn png_to_bgr(bencher: Bencher<'_, '_>) {
    decode(bencher, "frame.png", Layout::Bgr8);
}

#[divan::bench]
fn png_to_rgb(bencher: Bencher<'_, '_>) {
    decode(bencher, "frame.png", Layout::Rgb8);
}

#[divan::bench]
fn jpeg_to_bgr(bencher: Bencher<'_, '_>) {
    decode(bencher, "frame.jpg", Layout::Bgr8);
}

#[divan::bench]
fn jpeg_to_grey(bencher: Bencher<'_, '_>) {
    decode(bencher, "frame.jpg", Layout::Mono8);
}

#[divan::bench]
fn png_to_depth(bencher: Bencher<'_, '_>) {
    let file = file("depth.png");
    let mut decoder = Decoder::new(SIZE);
    bencher.bench_local(|| decoder.decode_depth(black_box(&file)).map(|(size, _)| size));
}
