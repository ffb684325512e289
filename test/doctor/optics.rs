//! The field of view that pictures show, of a yard that is drawn here, ray by ray.
use crate::support::geometry::{Matrix, Vector, apply, euler_zyx, product, transpose};
use rfly_bridge::doctor::{Content, Evidence, Motion, Picture, Verdict};

const WIDTH: usize = 128;
const HEIGHT: usize = 96;

/// A number from 0 to 1 that follows from others.
fn random(parts: [i64; 3]) -> f64 {
    let mut bits = 0_u64;
    for part in parts {
        bits = (bits ^ part.unsigned_abs().wrapping_mul(2) ^ u64::from(part < 0))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits ^= bits >> 29;
    }
    (bits >> 40) as f64 / f64::from(1 << 24)
}

/// Smooth between numbers on a grid.
fn noise(x: f64, y: f64, seed: i64) -> f64 {
    let (i, j) = (x.floor(), y.floor());
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (a, b) = (smooth(x - i), smooth(y - j));
    let at = |u: f64, v: f64| random([(i + u) as i64, (j + v) as i64, seed]);
    let row = |v: f64| at(0.0, v) * (1.0 - a) + at(1.0, v) * a;
    row(0.0) * (1.0 - b) + row(1.0) * b
}

/// Brightness of a surface; what is far has no small detail.
fn paint(x: f64, y: f64, seed: i64, far: f64) -> f64 {
    let scales = [(8.0, 1), (2.0, 2), (0.5, 3), (0.15, 4)];
    let seen = scales.iter().filter(|(size, _)| *size > 0.02 * far);
    seen.map(|(size, layer)| noise(x / size, y / size, seed + layer) - 0.5)
        .sum()
}

/// Boxes on painted ground.
struct Yard {
    seed: i64,
    boxes: Vec<(Vector, Vector)>,
}

impl Yard {
    fn new(seed: i64) -> Self {
        let block = |i: i64| {
            let number = |of: i64| random([seed, i, of]);
            let (angle, far) = (number(1) * std::f64::consts::TAU, 8.0 + 32.0 * number(2));
            let [x, y] = [far * angle.cos(), far * angle.sin()];
            let [w, d, h] = [3, 4, 5].map(|of| 0.5 + 4.0 * number(of));
            ([x - w, y - d, 0.0], [x + w, y + d, 2.0 * h])
        };
        Self {
            seed: 1000 * (seed + 1),
            boxes: (0..40).map(block).collect(),
        }
    }

    /// Distance along the ray in its lengths, and brightness.
    fn look(&self, from: Vector, ray: Vector) -> (f64, f64) {
        let sky = (f64::INFINITY, 1.5);
        let below = -from[2] / ray[2];
        let mut found = match ray[2] < 0.0 {
            true => (
                below,
                paint(
                    from[0] + below * ray[0],
                    from[1] + below * ray[1],
                    self.seed,
                    below,
                ),
            ),
            false => sky,
        };
        for (number, (low, high)) in self.boxes.iter().enumerate() {
            let (mut enter, mut leave, mut side) = (0.0, found.0, 0);
            for axis in 0..3 {
                let mut ends = [low, high].map(|end| (end[axis] - from[axis]) / ray[axis]);
                ends.sort_by(f64::total_cmp);
                if ends[0] > enter {
                    (enter, side) = (ends[0], axis);
                }
                leave = leave.min(ends[1]);
            }
            if enter > 0.0 && enter < leave {
                let at: Vec<f64> = (0..3)
                    .filter(|axis| *axis != side)
                    .map(|axis| from[axis] + enter * ray[axis])
                    .collect();
                let seed = self.seed + 10 * (number as i64 + 1) + side as i64;
                found = (enter, 0.3 * side as f64 + paint(at[0], at[1], seed, enter));
            }
        }
        found
    }
}

/// A camera in the yard: the rotation of its optical frame (z forward, x right, y down), and its place.
type Pose = (Matrix, Vector);

fn looking(yaw: f64, pitch: f64, place: Vector) -> Pose {
    let optical = [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    (product(&euler_zyx([0.0, pitch, yaw]), &optical), place)
}

fn picture(yard: &Yard, (turned, place): &Pose, fov_deg: f64, content: Content) -> Picture {
    let focal = WIDTH as f64 / 2.0 / (fov_deg.to_radians() / 2.0).tan();
    let at = |x: usize, y: usize| {
        // Four rays for the brightness of a pixel, one for its depth.
        let ray = |u: f64, v: f64| {
            let across = (x as f64 + u - WIDTH as f64 / 2.0) / focal;
            let down = (y as f64 + v - HEIGHT as f64 / 2.0) / focal;
            yard.look(*place, apply(turned, [across, down, 1.0]))
        };
        let fine = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)];
        match content {
            Content::Depth => Some(ray(0.5, 0.5).0)
                .filter(|far| *far < 65.0)
                .unwrap_or(f64::NAN) as f32,
            Content::Brightness => fine.map(|(u, v)| ray(u, v).1).iter().sum::<f64>() as f32,
        }
    };
    Picture::reduced(content, (WIDTH, HEIGHT), at).expect("it has pixels")
}

fn between(first: &Pose, second: &Pose) -> Motion {
    let back = transpose(&second.0);
    let way = std::array::from_fn(|i| first.1[i] - second.1[i]);
    Motion {
        rotation: product(&back, &first.0),
        translation: apply(&back, way),
    }
}

/// What is said of a flight whose pictures have one field of view, with others configured.
fn verdicts(
    flight: impl Fn(f64) -> Pose,
    content: Content,
    seed: i64,
    shown: f64,
    configured: [f64; 3],
) -> [Verdict; 3] {
    let yard = Yard::new(seed);
    let poses: Vec<_> = (0..11).map(|i| flight(f64::from(i) * 0.15)).collect();
    let taken = poses
        .iter()
        .map(|pose| picture(&yard, pose, shown, content));
    let pictures: Vec<_> = taken.collect();
    configured.map(|fov| {
        let mut evidence = Evidence::new(content, fov);
        for i in 0..5 {
            let motion = between(&poses[i], &poses[i + 6]);
            evidence.add(&pictures[i], &pictures[i + 6], &motion);
        }
        evidence.verdict()
    })
}

/// Turns by 20 degrees a second, and drifts.
fn turning(time: f64) -> Pose {
    looking(0.35 * time, 0.05, [0.3 * time, 0.1, 2.0])
}

fn nodding(time: f64) -> Pose {
    looking(0.4, 0.25 * (1.4 * time).sin(), [0.4 * time, 0.0, 3.0])
}

const CONTENTS: [Content; 2] = [Content::Depth, Content::Brightness];

#[test]
fn a_camera_that_turns_shows_its_field_of_view() {
    let mut told = 0;
    for content in CONTENTS {
        for seed in 0..2 {
            for (flight, shown) in [(turning as fn(f64) -> Pose, 60.0), (nodding, 90.0)] {
                let configured = [shown, 0.75 * shown, 1.3 * shown];
                let said = verdicts(flight, content, seed, shown, configured);
                for (said, configured) in said.into_iter().zip(configured) {
                    let right = match said {
                        Verdict::Unknown => continue,
                        Verdict::Agrees => configured == shown,
                        Verdict::Differs(found) => {
                            configured != shown && (found / shown - 1.0).abs() < 0.06
                        }
                    };
                    assert!(right, "{content:?} {seed}: {shown}, {configured}: {said:?}");
                    told += 1;
                }
            }
        }
    }
    assert!(told >= 18, "of 24 nearly all are told: {told}");
}

#[test]
fn a_camera_that_does_not_turn_shows_nothing() {
    let still = |_| looking(0.3, 0.0, [0.0, 0.0, 2.0]);
    let forward = |time: f64| looking(0.0, 0.0, [2.0 * time, 0.0, 2.5]);
    let sideways = |time: f64| looking(1.57, 0.0, [2.0 * time, 0.0, 2.5]);
    let configured = [45.0, 60.0, 78.0];
    let nothing = [Verdict::Unknown; 3];
    for content in CONTENTS {
        assert_eq!(verdicts(still, content, 0, 60.0, configured), nothing);
        assert_eq!(verdicts(forward, content, 0, 60.0, configured), nothing);
    }
    let said = verdicts(sideways, Content::Brightness, 0, 60.0, configured);
    assert_eq!(said, nothing);
    let motion = between(&still(0.0), &still(1.0));
    assert!(!motion.tells(Content::Depth));
    assert!(!between(&turning(0.0), &turning(0.1)).tells(Content::Depth));
    let around = |yaw: f64| looking(yaw, 0.0, [-9.0 * yaw.cos(), -9.0 * yaw.sin(), 2.0]);
    for (motion, brightness) in [
        (between(&turning(0.0), &turning(1.0)), true),
        // Around something in front the whole picture may stay as it is.
        (between(&around(0.0), &around(0.2)), false),
    ] {
        assert!(motion.tells(Content::Depth));
        assert_eq!(motion.tells(Content::Brightness), brightness);
    }
}

#[test]
fn pictures_without_detail_and_of_other_places_show_nothing() {
    let one =
        |value: f32| Picture::reduced(Content::Brightness, (64, 48), |_, _| value).expect("pixels");
    let motion = between(&turning(0.0), &turning(1.0));
    let mut evidence = Evidence::new(Content::Brightness, 90.0);
    for value in 0..8 {
        evidence.add(&one(value as f32), &one(1.0), &motion);
    }
    assert_eq!(evidence.verdict(), Verdict::Unknown);
    assert_eq!(
        Evidence::new(Content::Depth, 90.0).verdict(),
        Verdict::Unknown
    );
    for content in CONTENTS {
        let mut evidence = Evidence::new(content, 90.0);
        for seed in 0..5 {
            let first = picture(&Yard::new(seed), &turning(0.0), 90.0, content);
            let second = picture(&Yard::new(seed + 100), &turning(1.0), 90.0, content);
            evidence.add(&first, &second, &motion);
        }
        assert_eq!(evidence.verdict(), Verdict::Unknown, "{content:?}");
    }
    assert!(Picture::reduced(Content::Depth, (0, 48), |_, _| 1.0).is_none());
}
