use super::rig::{Rig, block, near, pose, still};
use crate::support::cloud_payload::{floats, shorts};
use nalgebra::{Rotation3, Vector3};
use rfly_bridge::emulator::world::{SceneBox, World};
use rfly_bridge::emulator::{
    BodyAxes, CloudFormat, EmulatorOptions, Faults, SensorTable, Streams, class_colour,
};
use rfly_bridge::wire::{
    CloudHead, CloudView, PointForm, RequestLayout, SendProtocol, SensorRequest,
};

const RANGE: f32 = 60.0;
/// Half a step of each coordinate.
const STEP: f64 = RANGE as f64 / 32767.0;

fn blocks() -> [SceneBox; 3] {
    [
        block([10.0, 2.0, -2.0], [1.0, 1.5, 2.0]),
        block([-7.0, 5.0, -1.5], [1.0, 1.0, 1.5]),
        block([3.0, -9.0, -3.0], [2.0, 0.5, 3.0]),
    ]
}

/// Distance of a point (NED) from the surface of what has this class.
fn distance_from_surface(point: &Vector3<f64>, class: i16) -> f64 {
    if class == 1 {
        return point.z.abs();
    }
    let solid = blocks()[usize::try_from(class - 10).expect("a box")];
    let outside = (point - solid.centre).abs() - solid.half;
    // 0 where the largest coordinate touches a face and no other is beyond its own
    outside.max().abs()
}

/// The simulator of April 2025.
fn oldest(world: World) -> Rig {
    let options = |options: &mut EmulatorOptions| options.cloud_format = CloudFormat::I16;
    Rig::with(world, options, Faults::default())
}

fn lidar(payload: &[u8]) -> CloudView<'_> {
    CloudView::parse(payload, PointForm::I16x4).unwrap()
}

fn request(rig: &Rig, type_id: u16) -> SensorRequest {
    let mut request = rig.request(1, type_id);
    (request.width, request.height) = (180, 24);
    request.position = [0.2, -0.1, 0.3];
    request.euler = [0.0, -12.0, -15.0];
    request.fov_deg = 70.432;
    request.other_params[..6].copy_from_slice(&[RANGE, 0.0, -120.0, 120.0, -30.0, 20.0]);
    if type_id == 22 {
        request.other_params[..6].copy_from_slice(&[RANGE, 2.956, 1.4, 1.18, 10.0, 5.0]);
    }
    request
}

#[test]
fn every_point_of_every_lidar_lies_on_the_surface_of_its_class() {
    let vehicle = pose([1.0, 0.5, -2.0], [8.0, -5.0, 20.0]);
    let rig = oldest(still(&[vehicle], &blocks()));
    for type_id in [20, 21, 22, 23] {
        let request = request(&rig, type_id);
        let payload = rig.shoot(&request).payload;
        let cloud = lidar(&payload);
        let rotation = |[r, p, y]: [f64; 3]| {
            Rotation3::from_euler_angles(r.to_radians(), p.to_radians(), y.to_radians())
        };
        let vehicle_attitude = rotation([8.0, -5.0, 20.0]);
        let attitude = vehicle_attitude * rotation([0.0, -12.0, -15.0]);
        let position =
            Vector3::new(1.0, 0.5, -2.0) + vehicle_attitude * Vector3::new(0.2, -0.1, 0.3);
        let mut classes = std::collections::BTreeSet::new();
        let mut returns = 0;
        for [x, y, z, class] in shorts::<4>(&cloud) {
            if class == 0 {
                assert_eq!([x, y, z], [0; 3], "no return is 0, 0, 0");
                continue;
            }
            let metres = Vector3::new(x, y, z).map(|c| f64::from(c) * STEP);
            let world = match type_id {
                21 => metres,
                _ => position + attitude * Vector3::new(metres.x, -metres.y, -metres.z),
            };
            near(distance_from_surface(&world, class), 0.0, STEP, "distance from the surface");
            returns += 1;
            classes.insert(class);
        }
        assert!(returns > 200, "type {type_id} saw only {returns} points");
        assert!(classes.contains(&1) && classes.len() >= 2, "type {type_id} saw only {classes:?}");
        let pose = cloud.head.pose().map(f64::from);
        for i in 0..3 {
            near(pose[i], position[i], 1e-5, "sensor position in the header");
        }
    }
}

#[test]
fn rings_go_left_and_up_at_the_documented_resolution() {
    // 20 m above the ground in the middle of nothing, looking down enough to see only ground.
    let rig = oldest(still(&[pose([0.0, 0.0, -20.0], [0.0; 3])], &[]));
    let mut request = rig.request(1, 20);
    (request.width, request.height) = (8, 4);
    request.other_params[..6].copy_from_slice(&[100.0, 0.0, -60.0, 60.0, -60.0, -40.0]);
    let payload = rig.shoot(&request).payload;
    let cloud = lidar(&payload);
    assert_eq!(cloud.points.len(), 32);
    for (i, point) in shorts::<4>(&cloud).into_iter().enumerate() {
        let azimuth = (-60.0 + (i % 8) as f64 * 120.0 / 8.0).to_radians();
        let elevation = (-60.0 + (i / 8) as f64 * 20.0 / 4.0).to_radians();
        let distance = 20.0 / -elevation.sin();
        let expected = [
            distance * elevation.cos() * azimuth.cos(),
            distance * elevation.cos() * azimuth.sin(),
            -20.0,
        ];
        for (found, expected) in point.into_iter().zip(expected) {
            near(f64::from(found) * 100.0 / 32767.0, expected, 0.0016, "coordinate in m");
        }
    }
}

#[test]
fn a_mid360_always_has_its_64_by_272_points_and_a_mid40_what_was_asked() {
    let rig = oldest(still(&[pose([0.0, 0.0, -2.0], [0.0; 3])], &blocks()));
    for (type_id, points) in [(23, 64 * 272), (22, 180 * 24)] {
        let payload = rig.shoot(&request(&rig, type_id)).payload;
        assert_eq!(lidar(&payload).points.len(), points);
        assert_eq!(payload.len(), 28 + 8 * points);
    }
}

#[test]
fn a_depth_cloud_is_the_depth_image_in_three_dimensions() {
    let rig = oldest(still(&[pose([0.0, 0.0, -2.0], [0.0, -10.0, 0.0])], &blocks()));
    let (width, height, step) = (64usize, 48usize, 4usize);
    let depth = rig.shoot(&rig.request(1, 2)).payload;
    let mut request = rig.request(1, 7);
    request.other_params[..2].copy_from_slice(&[RANGE, step as f32]);
    let payload = rig.shoot(&request).payload;
    let cloud = CloudView::parse(&payload, PointForm::I16x3).unwrap();
    assert_eq!(cloud.points.len(), (width / step) * (height / step));
    let mut compared = 0;
    for (i, point) in shorts::<3>(&cloud).into_iter().enumerate() {
        let (u, v) = ((i % (width / step)) * step, (i / (width / step)) * step);
        let at = 2 * (v * width + u);
        let counts = u16::from_le_bytes([depth[at], depth[at + 1]]);
        let [x, y, z] = point.map(|c| f64::from(c) * STEP);
        if counts == u16::MAX {
            continue;
        }
        if x == 0.0 {
            assert!(f64::from(counts) / 1000.0 * 1.5 > 40.0, "a near pixel has no point");
            continue;
        }
        let metres = f64::from(counts) / 1000.0;
        near(x, metres, 0.002, "depth");
        near(-y, metres * (u as f64 + 0.5 - 32.0) / 32.0, 0.003, "right");
        near(-z, metres * (v as f64 + 0.5 - 24.0) / 32.0, 0.003, "down");
        compared += 1;
    }
    assert!(compared > 50, "only {compared} points to compare");
}

#[test]
fn both_forms_of_a_cloud_have_the_points_of_one_scene() {
    let vehicle = pose([1.0, 0.5, -2.0], [8.0, -5.0, 20.0]);
    let old = oldest(still(&[vehicle], &blocks()));
    let new = Rig::with(
        still(&[vehicle], &blocks()),
        |options| options.cloud_format = CloudFormat::F32,
        Faults::default(),
    );
    for type_id in [7, 20, 21, 22, 23] {
        let of = |rig: &Rig| {
            let mut request = request(rig, type_id);
            if type_id == 7 {
                request.other_params[1] = 3.0;
            }
            rig.shoot(&request).payload
        };
        let (short, float) = (of(&old), of(&new));
        let float = CloudView::parse(&float, PointForm::I16x4).unwrap();
        let CloudHead::Odometry(header) = float.head else { panic!("type {type_id}: no odometry") };
        assert_eq!((header.copter_id.get(), header.axis_type.get()), (1, 1));
        let wanted = [1.0, 0.5, -2.0].into_iter();
        let wanted = wanted.chain([8.0_f64, -5.0, 20.0].map(f64::to_radians));
        for (found, wanted) in header.pose.iter().zip(wanted) {
            near(f64::from(found.get()), wanted, 1e-6, "pose of the vehicle");
        }
        let short: Vec<[i16; 4]> = match type_id {
            7 => shorts(&CloudView::parse(&short, PointForm::I16x3).unwrap())
                .into_iter()
                .map(|[x, y, z]| [x, y, z, -1])
                .collect(),
            _ => shorts(&lidar(&short)),
        };
        let float = floats::<4>(&float);
        assert_eq!(short.len(), float.len(), "type {type_id}");
        let mut returns = 0;
        for (short, float) in short.iter().zip(&float) {
            if type_id == 21 && float.iter().take(3).any(|c| c.abs() > RANGE) {
                continue; // beyond what an i16 can say
            }
            for (raw, metres) in short.iter().zip(float).take(3) {
                near(f64::from(*metres), f64::from(*raw) * STEP, STEP, "m");
            }
            if short[3] >= 0 {
                assert_eq!(float[3], f32::from(short[3]));
            }
            returns += usize::from(float[3] > 0.0);
        }
        assert!(returns > 200, "type {type_id} saw only {returns} points");
    }
}

/// Every form of a cloud is read as what it is, and shows the scene that the oldest form shows.
#[test]
fn every_form_shows_one_scene_with_the_fourth_number_that_was_asked_for() {
    let world = || still(&[pose([1.0, 0.5, -2.0], [8.0, -5.0, 20.0])], &blocks());
    let oldest = oldest(world());
    for head in ["28", "36"] {
        for numbers in ["i16", "f32"] {
            for fourth in ["none", "label", "rgb", "auto"] {
                let name = format!("{head}:{numbers}:{fourth}");
                let format: CloudFormat = name.parse().unwrap();
                let change = |options: &mut EmulatorOptions| options.cloud_format = format;
                let rig = Rig::with(world(), change, Faults::default());
                for (type_id, segmentation) in [(20, 0), (20, 1), (7, 1)] {
                    let mut request = request(&rig, type_id);
                    request.other_params[1] = 4.0;
                    request.send_protocol.segmentation = segmentation;
                    let payload = rig.shoot(&request).payload;
                    let cloud = lidar(&payload);
                    let with_odometry = matches!(cloud.head, CloudHead::Odometry(_));
                    assert_eq!(with_odometry, head == "36", "{name}");
                    let has_fourth = match fourth {
                        "none" => false,
                        "auto" => segmentation == 1,
                        _ => true,
                    };
                    assert_eq!(cloud.points.form().has_fourth(), has_fourth, "{name}");
                    let (places, numbers) = rows(&cloud);
                    request.send_protocol.port = oldest.request(1, 20).send_protocol.port;
                    let wanted = oldest.shoot(&request).payload;
                    let (wanted, classes) = rows(
                        &CloudView::parse(
                            &wanted,
                            if type_id == 7 { PointForm::I16x3 } else { PointForm::I16x4 },
                        )
                        .unwrap(),
                    );
                    assert_eq!(places.len(), wanted.len());
                    for (place, wanted) in places.iter().zip(&wanted) {
                        for (a, b) in place.iter().zip(wanted) {
                            near(*a, *b, STEP, &name);
                        }
                    }
                    if !has_fourth || type_id == 7 {
                        continue;
                    }
                    for (number, class) in numbers.iter().zip(&classes) {
                        let wanted = match fourth {
                            "label" => *class,
                            // RGB555 of the colour in segmentation images, which is blue, green, red.
                            _ => {
                                let [b, g, r] =
                                    class_colour(*class as u8).map(|c| u16::from(c) / 8);
                                r * 1024 + g * 32 + b
                            }
                        };
                        assert_eq!(*number, wanted, "{name}");
                    }
                }
            }
        }
    }
}

/// Places in m, and fourth numbers; 0 where there are none.
fn rows(cloud: &CloudView<'_>) -> (Vec<[f64; 3]>, Vec<u16>) {
    let metres = |[x, y, z]: [i16; 3]| [x, y, z].map(|c| f64::from(c) * STEP);
    match cloud.points.form() {
        PointForm::I16x3 => shorts(cloud).into_iter().map(|p| (metres(p), 0)).unzip(),
        PointForm::I16x4 => {
            let split = |[x, y, z, n]: [i16; 4]| (metres([x, y, z]), n as u16);
            shorts(cloud).into_iter().map(split).unzip()
        }
        PointForm::F32x3 => {
            floats(cloud).into_iter().map(|p: [f32; 3]| (p.map(f64::from), 0)).unzip()
        }
        PointForm::F32x4 => {
            let split = |[x, y, z, n]: [f32; 4]| ([x, y, z].map(f64::from), n as u16);
            floats(cloud).into_iter().map(split).unzip()
        }
    }
}

/// Depth clouds, accelerations and odometry in other axes are the same vectors.
#[test]
fn a_depth_cloud_in_other_axes_is_the_same_cloud() {
    let of = |axes: &str| {
        let change = |options: &mut EmulatorOptions| {
            options.axes.depth = axes.parse().unwrap();
            options.axes.odometry = if axes == "flu" { BodyAxes::Frd } else { BodyAxes::Flu };
        };
        let world = still(&[pose([1.0, 0.5, -2.0], [8.0, -5.0, 20.0])], &blocks());
        let rig = Rig::with(world, change, Faults::default());
        let mut request = request(&rig, 7);
        request.other_params[1] = 4.0;
        let payload = rig.shoot(&request).payload;
        let cloud = lidar(&payload);
        (rows(&cloud).0, cloud.head.pose())
    };
    let (flu, ned) = of("flu");
    let seen = flu.iter().filter(|p| **p != [0.0; 3]).count();
    assert!(seen > 100, "{seen} points");
    type Turn = fn([f64; 3]) -> [f64; 3];
    let cases: [(&str, Turn); 3] = [
        ("frd", |[x, y, z]| [x, -y, -z]),
        ("fru", |[x, y, z]| [x, -y, z]),
        ("rdf", |[x, y, z]| [-y, -z, x]),
    ];
    for (axes, turn) in cases {
        let (places, nwu) = of(axes);
        assert!(places.iter().zip(&flu).all(|(a, b)| *a == turn(*b)), "{axes}");
        let [x, y, z, roll, pitch, yaw] = ned;
        assert_eq!(nwu, [x, -y, -z, roll, -pitch, -yaw]);
    }
}

/// Polar angles, in degrees about the sensor's axis, of the points of the frames of a Mid-40 in a second.
fn polar_angles(seed: u64, amplitude: f32) -> Vec<(f64, Vec<f64>)> {
    let options =
        EmulatorOptions { cloud_format: CloudFormat::I16, seed, ..EmulatorOptions::default() };
    // Looks straight down on the ground: every ray returns.
    let world = still(&[pose([0.0, 0.0, -20.0], [0.0; 3])], &[]);
    let mut request = SensorRequest {
        layout: RequestLayout::New,
        seq_id: 3,
        bitmask: 0,
        type_id: 22,
        target_copter: 1,
        mount_type: 0,
        width: 10,
        height: 8,
        check_freq: 10,
        send_protocol: SendProtocol::default(),
        fov_deg: 40.0,
        position: [0.0; 3],
        eular_or_quat: 0.0,
        euler: [0.0, -90.0, 0.0],
        quaternion: [0.0; 4],
        other_params: [0.0; 16],
    };
    request.other_params[..7].copy_from_slice(&[RANGE, 2.956, 1.4, 1.18, 10.0, 5.0, amplitude]);
    let mut table = SensorTable::default();
    let source = ([127, 0, 0, 1], 9).into();
    table.request(request, 0, source, 0.0).unwrap();
    let mut streams = Streams::new(&options);
    let mut frames = Vec::new();
    while let Some(tick) = table.tick(1.0) {
        let snapshot = world.at(tick.time);
        for seen in streams.begin(&tick, &snapshot) {
            let frame = streams.frame(&seen, &snapshot).unwrap();
            let cloud = lidar(frame.raw);
            // The class tells a return from none.
            let points = shorts::<4>(&cloud);
            assert!(points.iter().all(|p| p[3] == 1));
            let raw = points.iter().map(|p| p.map(f64::from));
            let angles = raw.map(|[_, y, z, _]| z.atan2(y).to_degrees());
            frames.push((tick.time, angles.collect()));
        }
    }
    assert!(frames.len() >= 9);
    frames
}

#[test]
fn the_pattern_of_a_mid40_is_turned_by_a_random_angle_below_its_amplitude() {
    const AMPLITUDE: f32 = 30.0;
    let (plain, turned) = (polar_angles(7, 0.0), polar_angles(7, AMPLITUDE));
    assert!(plain.windows(2).all(|pair| pair[0].1 == pair[1].1));
    let mut angles = Vec::new();
    for ((_, plain), (_, turned)) in plain.iter().zip(&turned) {
        let differences = plain.iter().zip(turned);
        let differences = differences.map(|(a, b)| (b - a).abs().rem_euclid(360.0));
        // The other way round where one is beyond half a turn.
        let differences: Vec<_> = differences.map(|d| d.min(360.0 - d)).collect();
        let angle = differences[0];
        assert!(angle <= f64::from(AMPLITUDE) + 1.0, "{angle}");
        for difference in differences {
            near(difference, angle, 2.5, "all points of a frame by one angle");
        }
        angles.push(angle);
    }
    let spread = angles.iter().copied().fold(0.0, f64::max)
        - angles.iter().copied().fold(f64::MAX, f64::min);
    assert!(spread > 3.0, "each frame by its own: {angles:?}");
    assert_eq!(turned, polar_angles(7, AMPLITUDE), "as the seed says");
    assert_ne!(turned, polar_angles(8, AMPLITUDE));
}
