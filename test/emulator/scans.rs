//! Noise of lidars, and scans that never repeat.
use super::rig::{near, pose};
use super::shots::{request, shots};
use crate::support::cloud_payload::shorts;
use rfly_bridge::emulator::world::{Vec3, World};
use rfly_bridge::emulator::{CloudFormat, EmulatorOptions, LivoxPattern};
use rfly_bridge::wire::{CloudView, PointForm, SensorRequest};
use std::collections::BTreeSet;

const RANGE: f32 = 60.0;
const STEP: f64 = RANGE as f64 / 32767.0;

fn options(seed: u64, lidar_noise: f64, livox_pattern: LivoxPattern) -> EmulatorOptions {
    EmulatorOptions {
        seed,
        lidar_noise,
        livox_pattern,
        cloud_format: CloudFormat::I16,
        ..EmulatorOptions::default()
    }
}

fn noisy(seed: u64, deviation: f64) -> EmulatorOptions {
    options(seed, deviation, LivoxPattern::Repeating)
}

fn rosette() -> EmulatorOptions {
    options(1, 0.0, LivoxPattern::Rosette)
}

fn lidar(type_id: u16) -> SensorRequest {
    let mut request = SensorRequest { fov_deg: 70.432, ..request(type_id, 100, 40) };
    request.other_params[..6].copy_from_slice(&[RANGE, 0.0, -180.0, 180.0, -40.0, 20.0]);
    if type_id == 22 {
        request.other_params[..6].copy_from_slice(&[RANGE, 2.956, 1.4, 1.18, 10.0, 5.0]);
    }
    request
}

/// The points of a cloud in m, FLU, or NED for type 21; `None` where nothing was met.
fn points(payload: &[u8]) -> Vec<Option<Vec3>> {
    let cloud = CloudView::parse(payload, PointForm::I16x4).unwrap();
    let point = |p: [i16; 4]| {
        let [x, y, z, class] = p.map(f64::from);
        (class > 0.0).then(|| Vec3::new(x, y, z) * STEP)
    };
    shorts(&cloud).into_iter().map(point).collect()
}

#[test]
fn noise_of_lidars_is_along_their_rays_and_as_large_as_asked_for() {
    let world = World::posed([pose([-8.0, 5.0, -3.0], [5.0, -4.0, 30.0])]);
    for type_id in [20, 21, 22, 23] {
        let of = |options| points(&shots(&world, &options, lidar(type_id), 1)[0]);
        let (exact, measured) = (of(noisy(1, 0.0)), of(noisy(1, 0.02)));
        let eye = match type_id {
            21 => Vec3::new(-8.0, 5.0, -3.0),
            _ => Vec3::zeros(),
        };
        let mut errors = Vec::new();
        for (exact, measured) in exact.iter().zip(&measured) {
            assert_eq!(exact.is_some(), measured.is_some(), "a return is a return");
            let (Some(exact), Some(measured)) = (exact, measured) else {
                continue;
            };
            let (exact, off) = (exact - eye, measured - exact);
            let along = off.dot(&exact.normalize());
            let aside = (off - exact.normalize() * along).norm();
            assert!(aside < 2.0 * STEP, "{aside}");
            errors.push(along);
        }
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!(count > 1500.0, "type {type_id}: {count} returns");
        near(mean, 0.0, 4.0 * 0.02 / count.sqrt() + 1e-4, "mean");
        near(deviation, 0.02, 0.0015, "deviation");
        let farthest = errors.iter().fold(0.0, |far: f64, e| far.max(e.abs()));
        assert!((0.05..0.12).contains(&farthest), "{farthest}");
    }
}

#[test]
fn noise_follows_from_seed_sensor_and_time() {
    // Nothing moves: the noise alone makes frames differ.
    let world = World::still(1);
    let of = |seed, deviation| shots(&world, &noisy(seed, deviation), lidar(20), 3);
    let frames = of(4, 0.02);
    assert!(frames == of(4, 0.02));
    assert!(frames[0] != frames[1] && frames[1] != frames[2]);
    assert!(frames[0] != of(5, 0.02)[0]);
    let other = SensorRequest { seq_id: 2, ..lidar(20) };
    assert!(frames[0] != shots(&world, &noisy(4, 0.02), other, 1)[0]);
    // No noise, no randomness; and only lidars have it.
    assert!(of(4, 0.0) == of(5, 0.0));
    for type_id in [2, 7] {
        let of = |deviation| shots(&world, &noisy(4, deviation), lidar(type_id), 1);
        assert!(of(0.0) == of(0.02));
    }
    // The pose in the header is the true one.
    let pose = |frame: &[u8]| {
        let cloud = CloudView::parse(frame, PointForm::I16x4).unwrap();
        cloud.head.pose()
    };
    assert_eq!(pose(&frames[0]), pose(&of(4, 0.0)[0]));
}

/// Directions of the returns, as azimuth and elevation in degrees.
fn angles(payload: &[u8]) -> Vec<[f64; 2]> {
    let angle = |p: Vec3| {
        let elevation = (p.z / p.norm()).asin();
        [p.y.atan2(p.x), elevation].map(f64::to_degrees)
    };
    points(payload).into_iter().flatten().map(angle).collect()
}

/// Cells of one degree that have a point.
fn cells(frames: &[Vec<u8>]) -> BTreeSet<[i64; 2]> {
    let all = frames.iter().flat_map(|frame| angles(frame));
    all.map(|angles| angles.map(|a| a.floor() as i64)).collect()
}

#[test]
fn a_rosette_never_repeats_and_fills_its_field_of_view() {
    let world = World::still(1);
    for (type_id, count) in [(22, 100 * 40), (23, 64 * 272)] {
        let repeating = shots(&world, &noisy(1, 0.0), lidar(type_id), 10);
        assert!(repeating.iter().all(|frame| *frame == repeating[0]));
        let frames = shots(&world, &rosette(), lidar(type_id), 10);
        assert!(frames == shots(&world, &rosette(), lidar(type_id), 10));
        for (i, frame) in frames.iter().enumerate() {
            assert_eq!(points(frame).len(), count);
            assert!(frames[..i].iter().all(|before| before != frame));
        }
        let (one, ten) = (cells(&frames[..1]).len(), cells(&frames).len());
        println!("type {type_id}: {one} cells of a frame, {ten} of ten");
        assert!(ten as f64 > 1.2 * one as f64);
        let within = |[azimuth, elevation]: &[f64; 2]| match type_id {
            22 => azimuth.hypot(*elevation) < 36.5,
            _ => (-7.1..52.1).contains(elevation),
        };
        assert!(frames.iter().flat_map(|frame| angles(frame)).all(|a| within(&a)));
    }
}

#[test]
fn one_frame_of_a_mid360_looks_everywhere() {
    let frames = shots(&World::still(1), &rosette(), lidar(23), 1);
    let rays = angles(&frames[0]);
    // The walls are met below 10 degrees, all around.
    for sector in 0..72 {
        let low = -180.0 + 5.0 * f64::from(sector);
        let mut inside = rays.iter().filter(|[azimuth, _]| (low..low + 5.0).contains(azimuth));
        let first = inside.next().expect("rays in every sector");
        assert!(inside.any(|[_, elevation]| (elevation - first[1]).abs() > 1.0));
    }
}
