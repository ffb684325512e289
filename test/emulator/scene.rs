//! The yard: what rays meet in it, and how it looks.
use super::rig::pose;
use super::shots::{request, shot, shots};
use crate::support::random::Random;
use rfly_bridge::emulator::world::{
    Caster, Hit, Object, Pixel, RayBundle, Scene, Shape, Snapshot, Solid, Vec3, World,
};
use rfly_bridge::emulator::{EmulatorOptions, class_colour};
use rfly_bridge::wire::SensorRequest;
use std::collections::{BTreeMap, BTreeSet};

fn seeded(seed: u64) -> EmulatorOptions {
    EmulatorOptions { seed, ..EmulatorOptions::default() }
}

/// Whether a point is inside of a solid, by its definition.
fn holds(solid: &Solid, point: &Vec3) -> bool {
    let own = solid.pose.attitude.inverse() * (point - solid.pose.position);
    let share = own.component_div(&solid.half);
    match solid.shape {
        Shape::Box => share.amax() <= 1.0,
        Shape::Cylinder => share.xy().norm() <= 1.0 && share.z.abs() <= 1.0,
        Shape::Ellipsoid => share.norm() <= 1.0,
    }
}

fn all(snapshot: &Snapshot) -> Vec<Solid> {
    let fixed = snapshot.scene.solids().iter();
    fixed.chain(&snapshot.moving).copied().collect()
}

fn directions(count: usize) -> Vec<Vec3> {
    let mut random = Random(7);
    let mut axis = || random.uniform() * 2.0 - 1.0;
    let mut found = Vec::new();
    while found.len() < count {
        let v = Vec3::new(axis(), axis(), axis() * 0.4);
        if (0.1..1.0).contains(&v.norm()) {
            found.push(v.normalize());
        }
    }
    found
}

#[test]
fn rays_end_where_they_enter_the_first_solid() {
    const STEP: f64 = 0.1;
    const NEAR: f64 = 1e-6;
    let snapshot = World::flying(2).at(3.0);
    let solids = all(&snapshot);
    let mut met = BTreeSet::new();
    for eye in [[-8.0, 5.0, -3.0], [17.0, -15.0, -1.5], [5.0, 14.0, -2.0]] {
        let from = pose(eye, [12.0, -7.0, 33.0]);
        let caster = Caster::new(&snapshot, &from, None);
        for direction in directions(700) {
            let hit = caster.ray(&direction);
            let world = from.attitude * direction;
            let at = |distance: f64| from.position + world * distance;
            let free = |point: &Vec3| point.z < 0.0 && !solids.iter().any(|s| holds(s, point));
            let far = hit.distance.min(80.0);
            for i in 0..(far / STEP) as u32 {
                let point = at(f64::from(i) * STEP);
                assert!(free(&point), "{point} is before {hit:?}");
            }
            let Some(object) = hit.object else { continue };
            assert!(free(&at(hit.distance - NEAR)), "{hit:?}");
            let behind = at(hit.distance + NEAR);
            let mut own = solids.iter().filter(|s| s.object == object);
            let inside = match object {
                Object::Ground => behind.z > 0.0,
                _ => own.any(|solid| holds(solid, &behind)),
            };
            assert!(inside, "{hit:?}");
            met.insert(object.class());
        }
    }
    // The ground, slope, walls, building, trunks and crowns.
    assert!(met.is_superset(&(1..=6).collect()), "{met:?}");
}

#[test]
fn bundles_meet_what_single_rays_meet() {
    let snapshot = World::flying(2).at(3.0);
    for (eye, angles) in [
        ([-8.0, 5.0, -3.0], [12.0, -7.0, 33.0]),
        ([18.0, -15.0, -1.5], [0.0, 0.0, 120.0]),
        ([-24.0, -24.0, -9.0], [0.0, -20.0, 45.0]),
    ] {
        let caster = Caster::new(&snapshot, &pose(eye, angles), Some(1));
        let rays = directions(4000);
        let image = (0..60).flat_map(|v| {
            (0..81).map(move |u| Vec3::new(40.0, f64::from(u) - 40.5, f64::from(v) - 30.0))
        });
        let pixel = Pixel::Plane(1.0 / 40.0);
        for bundle in [RayBundle::new(rays), RayBundle::image(81, pixel, image)] {
            let mut hits = Vec::new();
            caster.cast(&bundle, &mut hits);
            let single = |i| caster.ray(&bundle.direction(i));
            let expected: Vec<Hit> = (0..bundle.len()).map(single).collect();
            assert!(hits == expected, "a cone has left something out");
        }
    }
}

#[test]
fn depth_and_classes_are_those_of_the_ray_through_the_pixel() {
    let world = World::flying(2);
    let options = EmulatorOptions::default();
    let (width, height) = (160u16, 120u16);
    let depth = shot(&world, &options, request(2, width, height));
    let classes = shot(&world, &options, request(4, width, height));
    let snapshot = world.at(0.1);
    let from = snapshot.vehicle(1).unwrap().pose;
    let caster = Caster::new(&snapshot, &from, Some(1));
    let mut seen = BTreeSet::new();
    for i in 0..usize::from(width) * usize::from(height) {
        let (u, v) = (i % usize::from(width), i / usize::from(width));
        let ray = Vec3::new(80.0, u as f64 + 0.5 - 80.0, v as f64 + 0.5 - 60.0).normalize();
        let hit = caster.ray(&ray);
        let counts = (hit.distance * ray.x * 1000.0).round();
        let found = u16::from_le_bytes([depth[2 * i], depth[2 * i + 1]]);
        if counts < 65535.0 {
            // Directions are rounded to f32.
            let error = (f64::from(found) - counts).abs();
            let edge = error > 1.0 + 1e-5 * counts;
            assert!(!edge || near_an_edge(&caster, &ray), "{error} mm at {u}, {v}");
        }
        let class = hit.object.map_or(0, Object::class);
        let colour = class_colour(class);
        assert!(classes[3 * i..3 * i + 3] == colour || near_an_edge(&caster, &ray));
        seen.insert(class);
    }
    assert!(seen.len() >= 5, "{seen:?}");
}

/// Whether rays beside this one meet another object or another face.
fn near_an_edge(caster: &Caster, ray: &Vec3) -> bool {
    let beside = |y: f64, z: f64| {
        let hit = caster.ray(&(ray + Vec3::new(0.0, y, z) * 1e-6).normalize());
        (hit.object, hit.face)
    };
    let all: BTreeSet<_> = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .map(|(y, z)| format!("{:?}", beside(y, z)))
        .into();
    all.len() > 1
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_other_textures() {
    let world = World::flying(1);
    for type_id in [1, 3, 8, 9] {
        let of = |seed| shot(&world, &seeded(seed), request(type_id, 64, 48));
        assert!(of(5) == of(5), "type {type_id}");
        assert!(of(5) != of(6), "type {type_id}");
    }
    for type_id in [2, 4, 20, 40] {
        let of = |seed| shot(&world, &seeded(seed), request(type_id, 64, 48));
        assert!(of(5) == of(6), "type {type_id} has no texture");
    }
}

#[test]
fn the_simple_scene_is_nine_boxes_on_a_checkerboard() {
    let scene = Scene::simple();
    assert_eq!(scene.solids().len(), 9);
    let world = World::still(1).with_scene(scene);
    let image = shot(&world, &seeded(1), request(1, 160, 120));
    let colours: BTreeSet<_> = image.chunks_exact(3).collect();
    assert!(colours.len() < 30, "{}", colours.len());
    assert!(colours.contains(&[85u8, 150, 100][..]));
    // The yard has the same boxes.
    let yard = Scene::yard();
    assert_eq!(yard.solids()[..9], Scene::simple().solids()[..9]);
}

/// A camera that looks across the ground at a wall, so many pixels wide.
fn view(width: u16, yaw: f32) -> SensorRequest {
    SensorRequest {
        mount_type: 2,
        position: [-20.0, -3.0, -3.0],
        euler: [0.0, -15.0, yaw],
        fov_deg: 60.0,
        ..request(3, width, width / 2)
    }
}

/// An image as numbers.
fn picture(request: SensorRequest) -> Vec<f64> {
    let image = shot(&World::still(1), &seeded(3), request);
    image.into_iter().map(f64::from).collect()
}

/// The averages of squares of pixels, and the pixel in the middle of each.
fn supersampled(image: &[f64], width: usize, times: usize) -> (Vec<f64>, Vec<f64>) {
    let (columns, rows) = (width / times, image.len() / width / times);
    let mut means = Vec::new();
    let mut middles = Vec::new();
    for (row, column) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        let at = |y: usize, x: usize| image[(row * times + y) * width + column * times + x];
        let sum: f64 = (0..times).flat_map(|y| (0..times).map(move |x| at(y, x))).sum();
        means.push(sum / (times * times) as f64);
        middles.push(at(times / 2, times / 2));
    }
    (means, middles)
}

/// The 90th percentile of differences: edges of objects are not filtered.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<_> = a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() * 9 / 10]
}

#[test]
fn textures_have_no_aliases() {
    const WIDTH: u16 = 80;
    const TIMES: u16 = 16;
    let fine = |yaw| {
        let image = picture(view(WIDTH * TIMES, yaw));
        supersampled(&image, (WIDTH * TIMES).into(), TIMES.into())
    };
    let (rendered, (mean, middle)) = (picture(view(WIDTH, 0.0)), fine(0.0));
    let (filtered, sampled) = (difference(&rendered, &mean), difference(&middle, &mean));
    println!("filtered {filtered}, sampled {sampled}");
    assert!(filtered < 0.6 * sampled, "{filtered} {sampled}");
    // A turn by a fifth of a pixel changes as much as it does where every pixel is the mean of 256.
    let turn = 0.2 * 60.0 / f32::from(WIDTH);
    let (turned, (mean_turned, middle_turned)) = (picture(view(WIDTH, turn)), fine(turn));
    let changes = [
        difference(&rendered, &turned),
        difference(&mean, &mean_turned),
        difference(&middle, &middle_turned),
    ];
    println!("{changes:?}");
    assert!(changes[0] < 1.2 * changes[1] + 1.0, "{changes:?}");
}

#[test]
fn there_is_something_to_see_from_any_distance() {
    // Straight down on the ground, and away from all objects: contrast over some pixels is the same.
    for height in [1.0, 3.0, 10.0, 40.0] {
        let down = SensorRequest {
            mount_type: 2,
            position: [300.0, 300.0, -height],
            euler: [0.0, -90.0, 0.0],
            ..request(3, 128, 96)
        };
        let image = picture(down);
        let steps: Vec<_> = (image.chunks(128))
            .flat_map(|row| row.iter().zip(&row[6..]).map(|(a, b)| (a - b).powi(2)))
            .collect();
        let contrast = (steps.iter().sum::<f64>() / steps.len() as f64).sqrt();
        println!("{height} m: {contrast}");
        assert!((5.0..60.0).contains(&contrast), "{contrast} from {height} m");
    }
}

#[test]
fn a_texture_moves_with_its_object() {
    // The tail of one vehicle in the image of another that follows it: what it shows stays.
    let looks = |north: f64, yaw: f64| {
        let (sin, cos) = yaw.to_radians().sin_cos();
        let poses = [
            pose([north, 0.0, -50.0], [0.0, 0.0, yaw]),
            pose([north + 2.0 * cos, 2.0 * sin, -50.0], [0.0, 0.0, yaw]),
        ];
        let world = World::posed(poses);
        let [image, classes] = [3, 4].map(|id| shot(&world, &seeded(1), request(id, 96, 72)));
        let body = |i: &usize| classes[3 * i..3 * i + 3] == class_colour(102);
        let seen = (0..image.len()).filter(body).map(|i| (i, image[i]));
        seen.collect::<BTreeMap<_, _>>()
    };
    let first = looks(0.0, 0.0);
    let shades: BTreeSet<_> = first.values().collect();
    assert!(first.len() > 100 && shades.len() > 10, "{shades:?}");
    // Elsewhere it looks the same, but for the light when it is turned, which makes all brighter or darker by one factor.
    // Where its outline falls between two pixels, rounding decides.
    for (north, yaw) in [(3.7, 0.0), (3.7, 20.0)] {
        let other = looks(north, yaw);
        let both = first.iter().filter_map(|(i, a)| Some((a, other.get(i)?)));
        let ratios: Vec<_> = both.map(|(a, b)| f64::from(*a) / f64::from(*b)).collect();
        assert!(ratios.len() * 100 > first.len() * 99);
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        assert!(high / low < 1.1, "{low} to {high}");
    }
}

/// Levels per channel of the picture in the documents: what has waves of all lengths does not compress.
const LEVELS: u8 = 6;

/// Numbers of the colours of an image (blue, green, red), and the colours (red, green, blue).
fn reduced(image: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let level = |c: u8| ((u16::from(c) * u16::from(LEVELS - 1) + 127) / 255) as u8;
    let number = |p: &[u8]| (level(p[2]) * LEVELS + level(p[1])) * LEVELS + level(p[0]);
    let shade = |i: u8| i * (255 / (LEVELS - 1));
    let colour = |i: u8| {
        let (red, green) = (i / LEVELS / LEVELS, i / LEVELS % LEVELS);
        [red, green, i % LEVELS].map(shade)
    };
    let palette = (0..LEVELS.pow(3)).flat_map(colour).collect();
    (image.chunks_exact(3).map(number).collect(), palette)
}

#[test]
fn the_picture_in_the_documents_is_the_scene() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/img/scene.png");
    let (width, height) = (480, 240);
    let corner = SensorRequest {
        mount_type: 2,
        position: [-24.0, 22.0, -9.0],
        euler: [0.0, -18.0, -38.0],
        ..request(1, width, height)
    };
    let image = shot(&World::flying(3), &seeded(1), corner);
    let (pixels, palette) = reduced(&image);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width.into(), height.into());
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette.clone());
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        std::fs::write(path, file).unwrap();
    }
    let file = std::fs::read(path).expect("UPDATE_DOCS=1 draws it");
    assert!(file.len() < 200_000, "{} bytes", file.len());
    let drawn = image::load_from_memory(&file).unwrap().into_rgb8().into_raw();
    let shown = pixels.iter().flat_map(|i| {
        let at = 3 * usize::from(*i);
        palette[at..at + 3].to_vec()
    });
    let same = drawn.iter().zip(shown).filter(|(a, b)| **a == *b).count();
    assert!(same * 100 > drawn.len() * 99, "UPDATE_DOCS=1 draws it anew");
}

#[test]
fn frames_of_a_still_scene_are_the_same() {
    let frames = shots(&World::still(1), &seeded(1), request(1, 64, 48), 3);
    assert!(frames[0] == frames[1] && frames[1] == frames[2]);
}
