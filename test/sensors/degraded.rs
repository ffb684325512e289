//! Noise, dropped and late frames on purpose: statistics against the parameters, determinism, and what stays true.
use super::{
    clouds::lidar,
    golden_points::points,
    rig::{Rig, config},
};
use crate::support::cloud_payload::float_cloud;
use rfly_bridge::{
    config::params::{CloudLayout, DegradeParams, DepthEncoding},
    msgs::sensor_msgs::msg::{CompressedImage, Image, PointCloud2},
    sensors::{FrameHead, FramePayload, HOLD_BYTES, Options, SensorError},
    time::{RosTime, SimTime},
    wire::append_cloud,
};
use std::time::Duration;

const MS: i64 = 1_000_000;

fn options(degrade: DegradeParams) -> Options {
    Options { degrade, ..Options::default() }
}

fn head(ms: i64, compressed: bool) -> FrameHead {
    FrameHead { sim_time: SimTime(ms * MS), ..FrameHead::new(RosTime(ms * MS), compressed) }
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt()]
}

fn norm([x, y, z]: [f32; 3]) -> f64 {
    f64::from(x).hypot(y.into()).hypot(z.into())
}

/// Within five standard errors of n values: sigma / sqrt(n) of the mean, sigma / sqrt(2 n) of the deviation.
fn assert_noise(residuals: &[f64], sigma: f64, what: &str) {
    let [mean, deviation] = moments(residuals);
    let error = 5.0 * sigma / (residuals.len() as f64).sqrt();
    assert!(mean.abs() < error, "{what}: mean {mean}");
    assert!((deviation - sigma).abs() < error, "{what}: {deviation}, not {sigma}");
}

const DEPTH: DegradeParams = DegradeParams {
    seed: 4,
    latency: Duration::ZERO,
    jitter: Duration::ZERO,
    drop: 0.0,
    depth_noise_m: 0.01,
    depth_noise_per_m: 0.004,
    lidar_noise_m: 0.0,
    lidar_dropout: 0.0,
    gps_noise_m: [0.0; 3],
};
const LIDAR: DegradeParams =
    DegradeParams { depth_noise_m: 0.0, depth_noise_per_m: 0.0, lidar_noise_m: 0.05, ..DEPTH };
const DROPOUT: DegradeParams = DegradeParams { lidar_noise_m: 0.0, lidar_dropout: 0.3, ..LIDAR };

/// Rows of 1, 2, 4, 8 and 16 m in mm; the first column is 0, the last without return.
fn steps() -> Vec<u16> {
    let mut counts = Vec::new();
    for depth in [1000, 2000, 4000, 8000, 16_000] {
        counts.push(0);
        counts.extend([depth; 2000]);
        counts.push(u16::MAX);
    }
    counts
}

fn counts(image: &Image) -> Vec<u16> {
    let pairs = image.data.chunks_exact(2);
    pairs.map(|c| u16::from_le_bytes([c[0], c[1]])).collect()
}

#[test]
fn noise_of_a_depth_image_grows_with_the_square_of_depth_and_all_topics_have_the_same() {
    let settings = config(2, 2002, 5, 2, &[0.0, 0.0, 0.001]);
    let payload: Vec<u8> = steps().iter().flat_map(|c| c.to_le_bytes()).collect();
    let mut rig = Rig::open(&settings, options(DEPTH));
    rig.sensor.accept(FramePayload::Borrowed(&payload), &head(40, false)).unwrap();
    let found = counts(&rig.only("img_depth"));
    for (row, depth) in found.chunks_exact(2002).zip([1.0, 2.0, 4.0, 8.0, 16.0]) {
        assert_eq!((row[0], row[2001]), (0, 0), "invalid stays invalid");
        let pixels = row[1..2001].iter();
        let residuals: Vec<f64> = pixels.map(|c| f64::from(*c) * 0.001 - depth).collect();
        assert_noise(&residuals, 0.01 + 0.004 * depth * depth, &format!("{depth} m"));
    }
    let float: Image = rig.only("img_depth_float");
    let metres = float.data.chunks_exact(4);
    for (metres, count) in metres.zip(&found).filter(|(_, count)| **count > 0) {
        let metres = f32::from_le_bytes(metres.try_into().unwrap());
        assert!((metres - f32::from(*count) * 0.001).abs() < 1e-5);
    }
    let vendor = Options { depth: DepthEncoding::Vendor, ..options(DEPTH) };
    let mut rig = Rig::open(&settings, vendor);
    rig.sensor.accept(FramePayload::Borrowed(&payload), &head(40, false)).unwrap();
    let raw = counts(&rig.only("img_depth"));
    assert!(raw.iter().zip(&found).all(|(raw, mm)| raw == mm || *raw == u16::MAX));
}

#[test]
fn the_files_of_a_noisy_depth_camera_do_not_give_the_truth_away() {
    let values: Vec<u16> = (0..64 * 48).map(|i| 2000 + i % 500).collect();
    let big_endian: Vec<u8> = values.iter().flat_map(|c| c.to_be_bytes()).collect();
    let file =
        super::cameras::png(64, 48, png::ColorType::Grayscale, png::BitDepth::Sixteen, &big_endian);
    let mut rig = Rig::open(&config(2, 64, 48, 1, &[]), options(DEPTH));
    rig.sensor.accept(FramePayload::Borrowed(&file), &head(7, true)).unwrap();
    let main = counts(&rig.only("img_depth"));
    assert!(main.iter().zip(&values).filter(|(a, b)| a != b).count() > 2500);
    for (suffix, head) in [("img_depth/compressed", 0), ("img_depth/compressedDepth", 12)] {
        let message: CompressedImage = rig.only(suffix);
        let decoded = image::load_from_memory(&message.data[head..]).unwrap();
        assert_eq!(decoded.into_luma16().into_raw(), main, "{suffix}");
    }
    // Also without another subscriber.
    rig.recorder.set_all_subscribers(0);
    rig.recorder.set_subscribers(&rig.topic("img_depth/compressed"), 1);
    rig.recorder.clear();
    rig.sensor.accept(FramePayload::Borrowed(&file), &head(7, true)).unwrap();
    let message: CompressedImage = rig.only("img_depth/compressed");
    let decoded = image::load_from_memory(&message.data).unwrap();
    assert_eq!(decoded.into_luma16().into_raw(), main);
}

#[test]
fn noise_of_a_depth_cloud_is_along_the_ray_and_that_of_its_depth() {
    let raw = [3000_i16, -1500, 500]; // 3 m ahead
    let mut payload = Vec::new();
    append_cloud([0.0; 6], vec![raw; 5000], &mut payload);
    let mut rig = Rig::open(&config(7, 100, 50, 1, &[32.767, 1.0]), options(DEPTH));
    rig.sensor.accept(FramePayload::Borrowed(&payload), &head(1, true)).unwrap();
    let cloud: PointCloud2 = rig.only("Depth_Cloud");
    assert_eq!((cloud.width, cloud.height, cloud.is_dense), (100, 50, true));
    let found = points(&cloud);
    let residuals: Vec<f64> = found.iter().map(|(p, _)| f64::from(p[0]) - 3.0).collect();
    assert_noise(&residuals, 0.01 + 0.004 * 9.0, "depth");
    for ([x, y, z], _) in found {
        assert!((y / x + 0.5).abs() < 1e-5 && (z / x - 1.0 / 6.0).abs() < 1e-5);
    }
}

/// Points on a ray of 5 m each, the third of every five without return; labels count.
fn rays() -> Vec<[i16; 4]> {
    let places = [[3000, 4000, 0], [0, -3000, 4000], [0, 0, 0], [-5000, 0, 0], [0, 0, -5000]];
    (0..5000)
        .map(|i: i16| {
            let [x, y, z] = places[i as usize % 5];
            [x, y, z, i]
        })
        .collect()
}

#[test]
fn noise_of_a_lidar_is_along_the_ray_in_both_forms_of_payload_and_in_every_layout() {
    let raw = rays();
    let metres: Vec<[f32; 4]> = (raw.iter())
        .map(|p| [f32::from(p[0]) / 1e3, f32::from(p[1]) / 1e3, f32::from(p[2]) / 1e3, p[3].into()])
        .collect();
    let payloads = [lidar(&raw), float_cloud([1, 0], [0.0; 6], &metres)];
    for type_id in [20, 22, 23] {
        let mut clouds = Vec::new();
        for payload in &payloads {
            let mut rig = Rig::open(&config(type_id, 100, 50, 1, &[32.767]), options(LIDAR));
            rig.sensor.accept(FramePayload::Borrowed(payload), &head(9, true)).unwrap();
            clouds.push(points(&rig.last::<PointCloud2>().unwrap()));
        }
        let here = |cloud: &[([f32; 3], Option<f32>)]| -> Vec<([f32; 3], f32)> {
            let known = cloud.iter().filter(|(p, _)| !p[0].is_nan());
            known.map(|(p, label)| (*p, label.unwrap())).collect()
        };
        let [short, float] = [here(&clouds[0]), here(&clouds[1])];
        assert_eq!(short.len(), 4000);
        for ((a, label), (b, other)) in short.iter().zip(&float) {
            assert_eq!(label, other);
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5));
        }
        let residuals: Vec<f64> = short.iter().map(|(p, _)| norm(*p) - 5.0).collect();
        assert_noise(&residuals, 0.05, &format!("type {type_id}"));
        for (p, label) in &short {
            let truth = metres[*label as usize];
            let stretch = (norm(*p) / 5.0) as f32;
            assert!((0..3).all(|i| (p[i] - truth[i] * stretch).abs() < 1e-4), "{p:?} {truth:?}");
        }
        // The same points in a driver's layout.
        let layout = Options { layout: CloudLayout::Velodyne, ..options(LIDAR) };
        let mut rig = Rig::open(&config(type_id, 100, 50, 1, &[32.767]), layout);
        rig.sensor.accept(FramePayload::Borrowed(&payloads[0]), &head(9, true)).unwrap();
        let cloud: PointCloud2 = rig.last().unwrap();
        assert_eq!((cloud.width, cloud.is_dense), (4000, true));
        for (point, (p, _)) in cloud.data.chunks_exact(22).zip(&short) {
            assert_eq!(point[..4], p[0].to_le_bytes());
        }
    }
}

#[test]
fn points_drop_out_as_nan_in_rows_and_are_left_out_elsewhere() {
    let payload = lidar(&[[3000, 4000, 0, 7]; 5000]);
    for (type_id, topic, rows) in
        [(20, "vehicle_lidar", 50), (21, "global_lidar", 50), (22, "livox_lidar", 1)]
    {
        let mut rig = Rig::open(&config(type_id, 100, 50, 1, &[32.767]), options(DROPOUT));
        rig.sensor.accept(FramePayload::Borrowed(&payload), &head(3, true)).unwrap();
        let cloud: PointCloud2 = rig.only(topic);
        let found = points(&cloud);
        let here: Vec<_> = found.iter().filter(|(p, _)| !p[0].is_nan()).collect();
        // Binomial: five standard deviations of 5000 points.
        let spread = 5.0 * (5000.0_f64 * 0.3 * 0.7).sqrt();
        assert!((here.len() as f64 - 3500.0).abs() < spread, "{}", here.len());
        assert_eq!(cloud.height, rows, "{topic}");
        let is_organised = rows > 1;
        assert_eq!(found.len(), if is_organised { 5000 } else { here.len() });
        assert_eq!(cloud.is_dense, !is_organised);
        assert!(here.iter().all(|(p, label)| (norm(*p) - 5.0).abs() < 1e-5 && *label == Some(7.0)));
    }
}

/// Points in the world frame have no ray.
#[test]
fn a_lidar_in_the_world_frame_has_no_noise() {
    let payload = lidar(&rays());
    let open = |degrade| {
        let mut rig = Rig::open(&config(21, 100, 50, 1, &[32.767]), options(degrade));
        rig.sensor.accept(FramePayload::Borrowed(&payload), &head(3, true)).unwrap();
        rig.only::<PointCloud2>("global_lidar").data
    };
    assert_eq!(open(LIDAR), open(DegradeParams::default()));
}

#[test]
fn noise_depends_on_seed_sensor_and_time_and_not_on_what_came_before() {
    let payload = lidar(&rays());
    let bytes = |seed, seq_id, earlier: &[i64], at| {
        let settings =
            rfly_bridge::config::SensorConfig { seq_id, ..config(20, 100, 50, 1, &[32.767]) };
        let mut rig = Rig::open(&settings, options(DegradeParams { seed, ..LIDAR }));
        for ms in earlier {
            rig.sensor.accept(FramePayload::Borrowed(&payload), &head(*ms, true)).unwrap();
        }
        rig.recorder.clear();
        rig.sensor.accept(FramePayload::Borrowed(&payload), &head(at, true)).unwrap();
        rig.only::<PointCloud2>("vehicle_lidar").data
    };
    let one = bytes(4, 3, &[], 50);
    assert_eq!(one, bytes(4, 3, &[10, 20, 70], 50));
    assert_ne!(one, bytes(5, 3, &[], 50));
    assert_ne!(one, bytes(4, 2, &[], 50));
    assert_ne!(one, bytes(4, 3, &[], 51));
}

fn unreliable(degrade: DegradeParams, size: (u16, u16)) -> Rig {
    let mut rig = Rig::open(&config(3, size.0, size.1, 2, &[]), options(degrade));
    rig.sensor.degrade(&degrade, 3);
    rig
}

const NOTHING: DegradeParams =
    DegradeParams { depth_noise_m: 0.0, depth_noise_per_m: 0.0, ..DEPTH };

#[test]
fn frames_are_dropped_as_often_as_asked_and_always_the_same_ones() {
    let drop = DegradeParams { drop: 0.25, ..NOTHING };
    let dropped = |times: &mut dyn Iterator<Item = i64>| -> Vec<i64> {
        let mut rig = unreliable(drop, (4, 4));
        let dropped = times.filter(|ms| {
            match rig.sensor.accept(FramePayload::Borrowed(&[0; 16]), &head(*ms, false)) {
                Ok(()) => false,
                Err(error) => {
                    assert!(matches!(error, SensorError::OnPurpose), "{error}");
                    true
                }
            }
        });
        dropped.collect()
    };
    let all = dropped(&mut (0..4000));
    let spread = 5.0 * (4000.0_f64 * 0.25 * 0.75).sqrt();
    assert!((all.len() as f64 - 1000.0).abs() < spread, "{}", all.len());
    let odd: Vec<_> = all.iter().copied().filter(|ms| ms % 2 == 1).collect();
    assert_eq!(dropped(&mut (0..4000).filter(|ms| ms % 2 == 1)), odd);
}

/// On virtual time: frames of 30 Hz, published by whoever looks every millisecond.
#[test]
fn frames_are_late_by_latency_and_jitter_in_order_and_keep_their_stamps() {
    let late = DegradeParams {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        ..NOTHING
    };
    let mut rig = unreliable(late, (2, 2));
    let mut delays = Vec::new();
    for now in 0..20_100_i64 {
        if now % 33 == 0 && now < 20_000 {
            let pixel = [(now / 33 % 251) as u8; 4];
            rig.sensor.accept(FramePayload::Borrowed(&pixel), &head(now, false)).unwrap();
        }
        if rig.sensor.due().is_some_and(|due| due.0 <= now * MS) {
            while let Some(released) = rig.sensor.release(RosTime(now * MS)) {
                released.unwrap();
            }
        }
        for image in rig.published::<Image>("img_gray") {
            let stamp = &image.header.stamp;
            let at = i64::from(stamp.sec) * 1000 + i64::from(stamp.nanosec) / MS;
            assert_eq!(at, 33 * delays.len() as i64, "every frame, in order");
            assert_eq!(image.data, [(at / 33 % 251) as u8; 4]);
            delays.push((now - at) as f64);
        }
        rig.recorder.clear();
    }
    assert_eq!(delays.len(), 607);
    assert!(delays.iter().all(|ms| (50.0..=71.0).contains(ms)), "{delays:?}");
    // Evenly distributed, and looked for every millisecond.
    let [mean, deviation] = moments(&delays);
    assert!((mean - 60.5).abs() < 1.2, "{mean}");
    assert!((deviation - 20.0 / 12_f64.sqrt()).abs() < 0.5, "{deviation}");
    assert_eq!(rig.sensor.due(), None);
}

#[test]
fn what_is_held_back_is_bounded_and_published_at_once_if_the_clock_is_set_back() {
    let late = DegradeParams { latency: Duration::from_secs(10), ..NOTHING };
    let size = 2048_usize;
    let mut rig = unreliable(late, (2048, 2048));
    rig.recorder.count_only();
    let payload = vec![1; size * size];
    let taken = |rig: &mut Rig| {
        let frames = (0..40).map(|ms| {
            rig.sensor.accept(FramePayload::Borrowed(&payload), &head(1_000_000 + ms, false))
        });
        let frames: Vec<_> = frames.collect();
        let refused: Vec<_> = frames.iter().filter_map(|f| f.as_ref().err()).collect();
        assert!(refused.iter().all(|error| error.cause().name() == "held_too_many"));
        frames.len() - refused.len()
    };
    let most = HOLD_BYTES / (size * size) + 1;
    assert_eq!(taken(&mut rig), most);
    assert!(rig.sensor.release(RosTime(1_000_000 * MS)).is_none());
    // An hour earlier than all of them arrived.
    let mut published = 0;
    while let Some(released) = rig.sensor.release(RosTime(1_000_000 * MS - 3_600_000 * MS)) {
        released.unwrap();
        published += 1;
    }
    assert_eq!(published, most);
    assert_eq!(taken(&mut rig), most, "memory is free again");
}

/// A loan is memory of the publisher: what is dropped is not published, what is held back is not lent.
#[test]
fn loans_are_dropped_and_never_held_back() {
    let open = |degrade| {
        let mut rig = Rig::open(&config(1, 8, 8, 2, &[]), Options::default());
        rig.sensor.degrade(&degrade, 3);
        rig
    };
    let drop = DegradeParams { drop: 1.0, ..NOTHING };
    let mut rig = open(drop);
    let loan = rig.sensor.lend().expect("as without drops");
    let result = rig.sensor.accept(FramePayload::Loaned { loan, len: 192 }, &head(1, false));
    assert!(matches!(result, Err(SensorError::OnPurpose)));
    assert_eq!(rig.recorder.raw(&rig.main).len(), 0);
    let late = DegradeParams { jitter: Duration::from_millis(1), ..NOTHING };
    assert!(open(late).sensor.lend().is_none());
    assert!(open(NOTHING).sensor.lend().is_some());
}
