//! Which axes the simulator means, found by comparison with the true motion: each convention that a simulator may have, at
//! rest and in flight, with noise, within 5 s of simulation.
use super::rig::{Rig, config};
use crate::support::{cloud_payload::cloud_payload, random::Random};
use rfly_bridge::{
    config::params::{AccelerationAxes, DepthAxes, OdometryAxes, Organized},
    frames::{Attitude, Euler, Frd, Ned, Vector, VehiclePose},
    msgs::{nav_msgs::msg::Odometry, sensor_msgs::msg::PointCloud2},
    sensors::{
        AccelerationAxesFinder, ForceMeter, FrameHead, FramePayload, OdometryTopic, Options,
        TrueAttitude, Verdict,
    },
    time::{RosTime, SimTime},
    wire::PointForm,
};
use std::sync::{Arc, Mutex};

const LIMIT_S: f64 = 5.0;

/// Velocity in NED and attitude of a vehicle at a time in s.
type Motion = fn(f64) -> ([f64; 3], Euler);

fn level(_: f64) -> ([f64; 3], Euler) {
    ([0.0; 3], Euler::new(0.0, 0.0, 1.0))
}

/// On a slope of 4 degrees.
fn tilted(_: f64) -> ([f64; 3], Euler) {
    ([0.0; 3], Euler::new(0.05, -0.05, 1.0))
}

/// A circle at 4 m/s with less bank than balances it, so that it is felt sideways: in a balanced turn all of the force is
/// along z, and conventions that differ in x and y read the same.
fn circle(t: f64) -> ([f64; 3], Euler) {
    let yaw = 0.8 * t;
    ([4.0 * yaw.cos(), 4.0 * yaw.sin(), 0.0], Euler::new(0.2, 0.0, yaw))
}

/// A noise of an accelerometer of 0.3 m/s² and a bias of 0.2 m/s², which are bad ones.
fn noise(random: &mut Random) -> f64 {
    (random.uniform() - 0.5) + 0.2
}

fn sent_as(axes: AccelerationAxes, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match axes {
        AccelerationAxes::Bld => [-x, -y, z],
        AccelerationAxes::Flu => [x, -y, -z],
        AccelerationAxes::Frd | AccelerationAxes::Auto => [x, y, z],
    }
}

/// Flies with an IMU at 200 Hz and true states at 100 Hz.
fn fly(motion: Motion, sent: AccelerationAxes, given: AccelerationAxes) -> AccelerationAxesFinder {
    let (mut meter, mut finder) = (ForceMeter::default(), AccelerationAxesFinder::new(given));
    let mut random = Random(7);
    let mut force = None;
    for step in 0..(LIMIT_S * 200.0) as i64 {
        let at = SimTime(step * 5_000_000);
        let t = at.0 as f64 / 1e9;
        let (velocity, euler) = motion(t);
        let attitude = Attitude::<Frd, Ned>::from_euler(euler);
        if step % 2 == 0 {
            let [n, e, d] = velocity;
            force = meter.take(at, Vector::new(n, e, d), attitude).or(force);
        }
        // By definition: acceleration without gravity, in the body's axes.
        let (soon, _) = motion(t + 1e-4);
        let [x, y, z] = std::array::from_fn(|i| (soon[i] - velocity[i]) * 1e4);
        let felt = attitude.inverse().rotate(Vector::<Ned>::new(x, y, z - 9.806_65));
        let felt = felt.to_array().map(|x| x + noise(&mut random));
        if let Some(force) = force {
            finder.add(at, sent_as(sent, felt), force.force);
        }
    }
    finder
}

#[test]
fn axes_of_the_imu_are_found_at_rest_and_in_flight() {
    use AccelerationAxes::{Auto, Bld, Flu, Frd};
    for (name, motion) in [("tilted", tilted as Motion), ("circle", circle)] {
        for sent in [Frd, Bld, Flu] {
            let finder = fly(motion, sent, Auto);
            let found = (finder.verdict(), finder.in_use());
            assert_eq!(found, (Verdict::Found, sent), "{name}: {}", finder.text());
            assert_eq!(finder.text(), format!("{}, found", sent.name()));
        }
    }
}

/// Level and at rest, two conventions read the same: neither is excluded, and the messages are right either way.
#[test]
fn what_reads_the_same_is_not_decided() {
    use AccelerationAxes::{Auto, Bld, Flu, Frd};
    for sent in [Frd, Bld] {
        let finder = fly(level, sent, Auto);
        assert_eq!(finder.verdict(), Verdict::Some, "{}", finder.text());
        assert_eq!(finder.text(), "frd, measurements fit frd or bld");
    }
    assert_eq!(fly(level, Flu, Auto).text(), "flu, found");
}

#[test]
fn axes_of_the_imu_that_the_user_gives_stay_and_are_doubted() {
    use AccelerationAxes::{Bld, Frd};
    let finder = fly(circle, Bld, Frd);
    assert_eq!((finder.verdict(), finder.in_use()), (Verdict::Differs, Frd));
    assert_eq!(finder.text(), "frd configured, measurements fit bld");
    assert_eq!(fly(circle, Frd, Frd).text(), "frd, as configured and measured");
}

/// A vehicle whose pose is known, and what was told.
struct Around {
    pose: Option<VehiclePose>,
    down: Option<[f64; 3]>,
    told: Mutex<Vec<(&'static str, Verdict, String)>>,
}

impl Around {
    fn new(pose: Option<VehiclePose>, down: Option<[f64; 3]>) -> Arc<Self> {
        let told = Mutex::default();
        Arc::new(Self { pose, down, told })
    }

    fn last(&self) -> (&'static str, Verdict, String) {
        self.told.lock().unwrap().last().unwrap().clone()
    }
}

impl TrueAttitude for Around {
    fn pose(&self, _: SimTime) -> Option<VehiclePose> {
        self.pose
    }

    fn down(&self, _: SimTime) -> Option<[f64; 3]> {
        self.down
    }

    fn report(&self, what: &'static str, verdict: Verdict, text: &str) {
        (self.told.lock().unwrap()).push((what, verdict, text.to_owned()));
    }
}

const COLUMNS: u16 = 32;
const ROWS: u16 = 24;

/// The ground 6 m below a camera with 90 degrees of horizontal view, and nothing but a far hall above the horizon, in FLU.
fn ground(down: [f64; 3], is_complete: bool) -> Vec<[f64; 3]> {
    let mut points = Vec::new();
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let focal = f64::from(COLUMNS) / 2.0;
            let left = ((f64::from(COLUMNS) - 1.0) / 2.0 - f64::from(column)) / focal;
            let up = ((f64::from(ROWS) - 1.0) / 2.0 - f64::from(row)) / focal;
            let below = down[0] + down[1] * left + down[2] * up;
            let far = if below > 0.2 { 6.0 / below } else { 30.0 };
            if is_complete || below > 0.2 {
                points.push([far, far * left, far * up]);
            }
        }
    }
    points
}

fn in_axes(axes: DepthAxes, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match axes {
        DepthAxes::Flu | DepthAxes::Auto => [x, y, z],
        DepthAxes::Frd => [x, -y, -z],
        DepthAxes::Fru => [x, -y, z],
        DepthAxes::Rdf => [-y, -z, x],
    }
}

fn accept(rig: &mut Rig, payload: &[u8], at: SimTime) {
    let stamp = RosTime(1_700_000_000_000_000_000 + at.0);
    let head = FrameHead { sim_time: at, ..FrameHead::new(stamp, false) };
    rig.sensor.accept(FramePayload::Borrowed(payload), &head).unwrap();
}

/// Sends clouds at 10 Hz until the limit; returns what was told last, and the first point of the last message.
fn look(
    sent: DepthAxes,
    given: DepthAxes,
    is_complete: bool,
) -> ((&'static str, Verdict, String), [f32; 3]) {
    // The camera looks down by 30 degrees, on a vehicle that rolls a little.
    let down = [0.5, 0.1, -(1.0_f64 - 0.25 - 0.01).sqrt()];
    let around = Around::new(None, Some(down));
    let settings = config(7, COLUMNS, ROWS, 1, &[100.0, 1.0]);
    let options = Options { depth_axes: given, organized: Organized::Never, ..Options::default() };
    let mut rig = Rig::open_among(&settings, options, None, Some(around.clone()));
    let mut random = Random(3);
    for step in 0..(LIMIT_S * 10.0) as i64 {
        let points: Vec<_> = ground(down, is_complete)
            .into_iter()
            .map(|point| {
                let far = 1.0 + 0.01 * (random.uniform() - 0.5);
                let [x, y, z] = in_axes(sent, point.map(|x| x * far));
                [x as f32, y as f32, z as f32, 0.0]
            })
            .collect();
        let payload = cloud_payload(Some([1, 0]), [0.0; 6], PointForm::F32x3, &points);
        accept(&mut rig, &payload, SimTime(step * 100_000_000));
    }
    let cloud: PointCloud2 = rig.last().unwrap();
    let number = |at: usize| f32::from_le_bytes(cloud.data[at..at + 4].try_into().unwrap());
    (around.last(), [0, 4, 8].map(number))
}

#[test]
fn axes_of_the_clouds_of_a_depth_camera_are_found_by_pixels_and_by_the_ground() {
    use DepthAxes::{Auto, Flu, Frd, Fru, Rdf};
    for is_complete in [true, false] {
        for sent in [Flu, Frd, Fru, Rdf] {
            let ((what, verdict, text), [x, y, z]) = look(sent, Auto, is_complete);
            assert_eq!((what, verdict), ("cloud", Verdict::Found), "{text}");
            assert_eq!(text, format!("{}, found", sent.name()));
            // The first pixel is the left upper one of those that are sent.
            assert!(x > 0.0 && y > 0.5 * x, "{text}: {x} {y} {z}");
        }
    }
}

#[test]
fn axes_of_a_depth_cloud_that_the_user_gives_stay_and_are_doubted() {
    let ((_, verdict, text), [x, ..]) = look(DepthAxes::Rdf, DepthAxes::Flu, true);
    assert_eq!(verdict, Verdict::Differs);
    assert_eq!(text, "flu configured, measurements fit rdf");
    assert!(x < 0.0, "read as given: {x}");
}

fn odometry() -> OdometryTopic {
    OdometryTopic {
        local: "/local".to_owned(),
        global: "/global".to_owned(),
        start: "start".to_owned(),
        odom: "odom".to_owned(),
        world: "map".to_owned(),
        child: "base_link".to_owned(),
    }
}

/// 3 m north, 4 m east, 5 m up, in the axes of December 2025 or turned; a step of 1 m north and 2 m up later.
#[test]
fn odometry_is_turned_as_the_true_pose_tells_and_the_local_one_starts_at_its_first_pose() {
    for (axes, sign) in [(OdometryAxes::Ned, 1.0_f32), (OdometryAxes::Nwu, -1.0)] {
        let truth = VehiclePose {
            vehicle: 1,
            position: Vector::new(3.0, 4.0, -5.0),
            attitude: Attitude::from_euler(Euler::new(0.0, 0.0, 0.0)),
        };
        let around = Around::new(Some(truth), None);
        let settings = config(20, 2, 2, 1, &[100.0]);
        let topics = Some(odometry());
        let mut rig = Rig::open_among(&settings, Options::default(), topics, Some(around.clone()));
        let mut send = |[n, e, d]: [f32; 3], at: i64| {
            let pose = [n, sign * e, sign * d, 0.0, 0.0, 0.0];
            let payload = cloud_payload(Some([1, 1]), pose, PointForm::I16x3, &[[1.0; 4]; 4]);
            accept(&mut rig, &payload, SimTime(at));
            let last = |topic| rig.recorder.messages::<Odometry>(topic).unwrap().pop();
            ["/global", "/local"].map(|topic| {
                let odometry = last(topic).unwrap();
                let p = odometry.pose.pose.position;
                let place = [p.x, p.y, p.z].map(|x| (x * 1e9).round() / 1e9);
                (odometry.header.frame_id, place)
            })
        };
        let second = 1_000_000_000;
        for step in 0..50 {
            send([3.0, 4.0, -5.0], step * second / 10);
        }
        let [global, local] = send([4.0, 4.0, -7.0], 5 * second);
        assert_eq!(around.last().2, format!("{}, found", axes.name()));
        assert_eq!(global, ("map".to_owned(), [4.0, 4.0, 7.0]));
        // The vehicle faces north at its first pose.
        assert_eq!(local, ("start".to_owned(), [1.0, 0.0, 2.0]));
        // The simulation has restarted.
        let [_, local] = send([4.0, 4.0, -7.0], 0);
        assert_eq!(local.1, [0.0; 3]);
    }
}
