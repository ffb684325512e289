use super::rig::{Rig, block, near, pose, still};
use rfly_bridge::emulator::class_colour;
use rfly_bridge::wire::{Modes, SensorKind, SensorRequest};

const WIDTH: usize = 640;
const HEIGHT: usize = 480;

fn full_size(request: SensorRequest) -> SensorRequest {
    SensorRequest { width: WIDTH as u16, height: HEIGHT as u16, ..request }
}

/// First and last column and row that have this colour.
fn extent(image: &[u8], colour: [u8; 3]) -> [usize; 4] {
    let hits: Vec<_> = (0..WIDTH * HEIGHT).filter(|i| image[3 * i..3 * i + 3] == colour).collect();
    assert!(!hits.is_empty(), "the object is not in the image");
    let column = |f: fn(usize, usize) -> usize| hits.iter().map(|i| i % WIDTH).reduce(f).unwrap();
    let row = |f: fn(usize, usize) -> usize| hits.iter().map(|i| i / WIDTH).reduce(f).unwrap();
    [column(usize::min), row(usize::min), column(usize::max), row(usize::max)]
}

fn depth_at(image: &[u8], column: usize, row: usize) -> u16 {
    let i = 2 * (row * WIDTH + column);
    u16::from_le_bytes([image[i], image[i + 1]])
}

#[test]
fn a_box_appears_at_the_computed_pixels() {
    // 2 m above the ground, looking north at a cube of 1 m whose centre is 10 m ahead, 2 m right, level.
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[block([10.0, 2.0, -2.0], [0.5; 3])]);
    let rig = Rig::start(world);
    let image = rig.shoot(&full_size(rig.request(1, 4))).payload;
    // Focal length 320 px. The near face (9.5 m) spans 1.5 to 2.5 m right, the left face goes on to 10.5 m.
    let left = 320.0 + 320.0 * 1.5 / 10.5; // 365.7
    let right = 320.0 + 320.0 * 2.5 / 9.5; // 404.2
    let half_height = 320.0 * 0.5 / 9.5; // 16.8
    let first_centre = |edge: f64| (edge - 0.5).ceil() as usize;
    let last_centre = |edge: f64| (edge - 0.5).floor() as usize;
    let expected = [
        first_centre(left),
        first_centre(240.0 - half_height),
        last_centre(right),
        last_centre(240.0 + half_height),
    ];
    assert_eq!(extent(&image, class_colour(10)), expected);
}

#[test]
fn a_narrow_field_of_view_magnifies() {
    let world = still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[block([10.5, 0.0, -2.0], [0.5; 3])]);
    let rig = Rig::start(world);
    let request = SensorRequest { fov_deg: 60.0, ..full_size(rig.request(1, 4)) };
    let [left, _, right, _] = extent(&rig.shoot(&request).payload, class_colour(10));
    // 320 / tan 30 degrees = 554.3 px; 1 m at 10 m
    near((right - left + 1) as f64, 55.43, 1.0, "width of the cube in px");
}

#[test]
fn depth_of_the_ground_has_its_closed_form() {
    let rig = Rig::start(still(&[pose([3.0, -1.0, -2.5], [0.0, 0.0, 77.0])], &[]));
    let request = SensorRequest { euler: [0.0, -30.0, 0.0], ..full_size(rig.request(1, 2)) };
    let image = rig.shoot(&request).payload;
    let (sin, cos) = 30f64.to_radians().sin_cos();
    for row in [100, 200, 300, 479] {
        let y = (row as f64 + 0.5 - 240.0) / 320.0;
        let metres = 2.5 / (sin + cos * y);
        for column in [0, 100, 320, 639] {
            near(
                depth_at(&image, column, row).into(),
                (metres * 1000.0).round(),
                1.0,
                "depth in mm",
            );
        }
    }
}

#[test]
fn depth_beyond_its_limits_is_65535() {
    // Straight down from 10 m: every pixel is 10 m deep.
    let rig = Rig::start(still(&[pose([0.0, 0.0, -10.0], [0.0; 3])], &[]));
    let down = SensorRequest { euler: [0.0, -90.0, 0.0], ..rig.request(1, 2) };
    let with = |near: f32, far: f32, unit: f32| {
        let mut request = down;
        request.other_params[..3].copy_from_slice(&[near, far, unit]);
        let payload = rig.shoot(&request).payload;
        let counts: Vec<_> =
            payload.chunks_exact(2).map(|p| u16::from_le_bytes([p[0], p[1]])).collect();
        assert!(counts.iter().all(|c| *c == counts[0]), "a plane at one depth");
        counts[0]
    };
    assert_eq!(with(0.0, 0.0, 0.0), 10_000);
    assert_eq!(with(0.3, 12.0, 0.01), 1000);
    assert_eq!(with(10.5, 0.0, 0.0), u16::MAX, "too near");
    assert_eq!(with(0.0, 9.5, 0.0), u16::MAX, "too far");
    assert_eq!(with(0.0, 0.0, 0.000_1), u16::MAX, "100,000 counts do not fit");
}

/// r px from the centre at an angle from the axis, by the first of two calibrations of the real simulator (test/sensors/camera_infos.rs)
/// at this width and field of view.
fn calibrated_radius(theta: f64) -> f64 {
    let angle = |r: f64| {
        r.atan2(167.6389 - 0.0020 * r.powi(2) + 4.3925e-7 * r.powi(3) - 6.7036e-9 * r.powi(4))
    };
    let steps = (0..2200).map(|tenths| f64::from(tenths) / 10.0);
    steps.take_while(|r| angle(*r) < theta).last().unwrap_or_default()
}

#[test]
fn a_fisheye_is_that_of_the_real_simulator() {
    for degrees in [10.0, 20.0, 40.0, 60.0, 72.0f64] {
        // A thin post to the right.
        let (sin, cos) = degrees.to_radians().sin_cos();
        let post = block([20.0 * cos, 20.0 * sin, -2.0], [0.1, 0.1, 0.1]);
        let rig = Rig::start(still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &[post]));
        let request = SensorRequest { fov_deg: 200.0, ..full_size(rig.request(1, 8)) };
        let image = rig.shoot(&request).payload;
        const GROUND: [&[u8]; 2] = [&[60, 110, 70], &[85, 150, 100]];
        let sky = &image[..3];
        let row = &image[240 * WIDTH * 3..241 * WIDTH * 3];
        let above = &image[239 * WIDTH * 3..240 * WIDTH * 3];
        let of_post: Vec<_> = (0..WIDTH)
            .filter(|u| {
                let (a, b) = (&row[3 * u..3 * u + 3], &above[3 * u..3 * u + 3]);
                a == b && a != sky && !GROUND.contains(&a)
            })
            .collect();
        assert!(!of_post.is_empty(), "the post is not in the image");
        let centre = of_post.iter().sum::<usize>() as f64 / of_post.len() as f64 + 0.5;
        let expected = 320.0 + calibrated_radius(degrees.to_radians());
        near(centre, expected, 2.0, "column of the post");
    }
}

#[test]
fn grey_and_thermal_images_show_the_same_outlines_as_segmentation() {
    let world = still(
        &[pose([0.0, 0.0, -2.0], [0.0; 3]), pose([6.0, -1.0, -2.0], [10.0, 5.0, 30.0])],
        &[block([12.0, 2.0, -2.0], [1.0; 3])],
    );
    let rig = Rig::start(world);
    let classes = rig.shoot(&full_size(rig.request(1, 4))).payload;
    for (type_id, bytes) in [(40, 1), (41, 3)] {
        let image = rig.shoot(&full_size(rig.request(2, type_id))).payload;
        assert_eq!(image.len(), WIDTH * HEIGHT * bytes);
        let mut seen = std::collections::BTreeMap::new();
        for i in 0..WIDTH * HEIGHT {
            let value = &image[bytes * i..bytes * (i + 1)];
            let known = seen.entry(classes[3 * i..3 * i + 3].to_vec()).or_insert(value);
            assert_eq!(value, *known, "one class, one temperature");
        }
        assert_eq!(seen.len(), 4, "sky, ground, box and vehicle");
    }
}

#[test]
fn png_is_lossless_and_jpeg_is_close() {
    let rig = Rig::start(still(
        &[pose([0.0, 0.0, -2.0], [0.0; 3])],
        &[block([6.0, 1.0, -1.0], [1.0; 3])],
    ));
    let images = SensorKind::ALL.into_iter();
    for kind in images.filter(|kind| kind.row().modes == Modes::Image) {
        let type_id = kind.type_id();
        let mut request = full_size(rig.request(1, type_id));
        let raw = rig.shoot(&request).payload;
        request.send_protocol.mode = 1;
        let file = rig.shoot(&request).payload;
        assert_eq!(&file[..4], b"\x89PNG", "mode 1");
        assert_eq!(decoded(&file), raw, "type {type_id}");
        request.send_protocol.mode = 3;
        let file = rig.shoot(&request).payload;
        if type_id == 2 {
            assert_eq!(decoded(&file), raw, "depth must stay lossless");
        } else {
            assert_eq!(&file[..2], b"\xff\xd8", "mode 3");
            let other = decoded(&file);
            let squares: f64 =
                raw.iter().zip(&other).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
            let psnr = 10.0 * (255.0f64.powi(2) * raw.len() as f64 / squares.max(1.0)).log10();
            assert!(psnr > 28.0, "type {type_id}: PSNR {psnr}");
        }
    }
}

/// Pixels of a file in the layout of the raw transport.
fn decoded(file: &[u8]) -> Vec<u8> {
    match image::load_from_memory(file).expect("a picture") {
        image::DynamicImage::ImageLuma8(i) => i.into_raw(),
        image::DynamicImage::ImageLuma16(i) => {
            i.into_raw().into_iter().flat_map(u16::to_le_bytes).collect()
        }
        image::DynamicImage::ImageRgb8(i) => {
            i.into_raw().chunks_exact(3).flat_map(|p| [p[2], p[1], p[0]]).collect()
        }
        other => panic!("{:?} was never sent", other.color()),
    }
}
